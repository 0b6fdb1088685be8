"""The retriever `acronyms`: passages by the first letters of their words, else by their words."""

import json
import re

from memory_bank.base.errors import IndexDamaged
from memory_bank.search.retrievers.base import Match, Matches

MODES = ("lexical", "hybrid")


def fingerprint(settings):
    return "1"


def load(folder, owner, settings):
    return Acronyms(folder / "acronyms.json", owner)


class Acronyms:
    name, unit = "acronyms", "passages"
    version, slow, weight, explanation = "1", False, 0.5, "its first letters"

    def __init__(self, file, owner):
        self.file, self.owner, self.new, self.gone = file, owner, [], set()

    def rows(self):
        try:
            owner, rows = json.loads(self.file.read_text())
        except (OSError, ValueError) as error:
            raise IndexDamaged(str(self.file), "it is rebuilt") from error
        if owner != self.owner:
            raise IndexDamaged(str(self.file), "it is rebuilt")
        return rows

    def put(self, entries, replaced):
        self.gone |= {*replaced, *(one.document for one in entries)}
        self.new = [one for one in self.new if one[1] not in self.gone]
        self.new += [(one.row, one.document, _words(one.text)) for one in entries]

    def commit(self):
        rows = [row for row in self.rows() if row[1] not in self.gone] + self.new
        self.file.write_text(json.dumps([self.owner, rows]))
        self.close()

    def find(self, question, limit, scope):
        asked = _words(question.text)
        found = [
            Match(row, document, score)
            for row, document, words in self.rows()
            if (score := _score(asked, words)) and _is_in(scope, row, document)
        ]
        return Matches.of(sorted(found, key=lambda one: -one.score)[:limit])

    def holds(self, entries):
        return {row: document for row, document, _ in self.rows()} == dict(entries)

    def clear(self):
        self.file.parent.mkdir(parents=True, exist_ok=True)
        self.file.write_text(json.dumps([self.owner, []]))

    def state(self):
        return str(self.file.stat().st_mtime_ns)

    def check(self):
        self.rows()

    def close(self):
        self.new, self.gone = [], set()

    def to_compact(self):
        return ()

    def waiting(self):
        return 0

    def unsearchable(self):
        return 0

    def catch_up(self, seconds):
        return 0


def _words(text):
    return re.findall(r"\w+", text.lower())


def _score(asked, words):
    if len(asked) == 1 and len(asked[0]) > 2:
        return float(asked[0] in "".join(word[0] for word in words) or asked[0] in words)
    return len({*asked} & {*words}) / len(asked) if asked else 0.0


def _is_in(scope, row, document):
    return document in scope and (scope.rows is None or row in scope.rows)
