"""The source `rows`: CSV files of a work tree, each row a passage."""

import hashlib

from memory_bank.base.documents import (
    Document,
    Passage,
    Scan,
    Span,
    Unchanged,
    Unreadable,
    read_lines,
)


def open_source(tree, files):
    return Rows(tree, files)


class Rows:
    name, fingerprint = "rows", "1"

    def __init__(self, tree, files):
        self.tree, self.files = tree, files

    def scan(self):
        found = {path: one for path, one in self.files().items() if path.endswith(".csv")}
        return Scan({path: " ".join(map(str, one)) for path, one in found.items()})

    def refresh(self, *, again=False):
        return False

    def read(self, key, known=""):
        found = self.tree.read(key)
        if found is None:
            return None
        signature = self.scan().signatures.get(key, "")
        if found.reason:
            return Unreadable(found.reason, signature)
        if (now := _hash(found.data)) == known:
            return Unchanged(signature, Document(key, now, key, ()).dates)
        rows = enumerate(found.data.decode("utf-8", "replace").split("\n"), 1)
        passages = tuple(Passage(line, line + 1, row) for line, row in rows if row.strip())
        return Document(key, now, key, passages, size=len(found.data), signature=signature)

    def text(self, key, hash, span: Span):  # noqa: A002  (the contract's word)
        found = self.tree.read(key)
        if found is None or _hash(found.data) != hash:
            return None
        return read_lines(found.data.decode("utf-8", "replace"), span)

    def close(self):
        self.seen = None


def _hash(data):
    return hashlib.sha256(data).hexdigest()
