"""Compare the documents of a source with the manifest, by signatures."""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple

from memory_bank.manifest import document_writer, documents
from memory_bank.manifest.manifest import Manifest
from memory_bank.source import Scan, Signature


class Changes(NamedTuple):
    """Documents that may have changed, and documents that no longer exist."""

    changed: dict[str, Signature]
    gone: tuple[int, ...] = ()
    refused: dict[str, str] | None = None
    """Files that can't be documents, with reasons; None if they are as recorded."""

    def __bool__(self) -> bool:
        """Tell whether there is anything to do."""
        return bool(self.changed or self.gone or self.refused is not None)


NONE = Changes({})


def compare(manifest: Manifest, scan: Scan) -> Changes:
    """Compare a scan of all documents with the manifest; hashes are compared when they are read."""
    changes = _compare(
        manifest,
        document_writer.signatures(manifest),
        document_writer.unfinished_keys(manifest),
        scan,
    )
    same = document_writer.refused(manifest) == scan.refused
    return changes if same else changes._replace(refused=scan.refused)


def compare_some(manifest: Manifest, scan: Scan, keys: Collection[str]) -> Changes | None:
    """Compare some documents with the manifest; None if one is or was refused.

    The manifest must have no unfinished batch.
    """
    wanted = list(keys)
    if document_writer.any_refused(manifest, scan, wanted):
        return None
    return _compare(manifest, document_writer.signatures(manifest, wanted), (), scan)


def _compare(
    manifest: Manifest, known: dict[str, Signature], unfinished: Collection[str], scan: Scan
) -> Changes:
    changed = {
        key: signature
        for key, signature in scan.signatures.items()
        if not signature or known.get(key) != signature
    }
    gone = [key for key in (*known, *unfinished) if key not in scan.signatures]
    return Changes(changed, tuple(documents.numbers_of(manifest, gone)))
