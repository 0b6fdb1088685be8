"""The engine `nest`: a shared index in the memory of one process, `nest:NAME`."""

from contextlib import nullcontext

from memory_bank.base.errors import Conflict, SharedUnavailable
from memory_bank.shared.engines.base import (
    NO_INDEX,
    IndexInfo,
    KnownBank,
    SharedMatch,
    SharedPassage,
    Where,
)

FORMS = ("nest:",)

_nests = {}


def load():
    """Nothing is to be installed for it."""


def connect(url, *, seconds=0.0):
    return Nest(_nests.setdefault(url, {}), url)


class Nest:
    """A connection; what it holds is `info`, and `banks` by their names."""

    def __init__(self, held, place):
        self.held, self.place = held, place

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass

    def is_made(self):
        return bool(self.held)

    def make(self, embedder, dimension):
        if not self.held:
            info = IndexInfo("nest", 1, embedder, dimension)
            self.held |= {"info": info, "banks": {}, "next": 1}
        return self.held["info"]

    def drop(self):
        there = bool(self.held)
        self.held.clear()
        return there

    def info(self):
        if not self.held:
            raise SharedUnavailable(f"{self.place} has no index", "make it", NO_INDEX)
        return self.held["info"]

    def one_state(self):
        return nullcontext()

    def heads(self):
        self.info()
        return [bank["head"] for bank in self._banks(Where())]

    def known(self, repo, bank):
        found = self._bank(repo, bank)
        notes = {path: one.hash for path, one in found["notes"].items()}
        return KnownBank(found["head"].commit if found["head"] else "", notes, len(found["rows"]))

    def positions(self, repo, bank, paths):
        rows = self._bank(repo, bank)["rows"].values()
        return {one.key: one.position for one in rows if one.path in paths}

    def publish(self, publication):
        head = publication.head
        bank = self._bank(head.repo, head.bank)
        if publication.base != (bank["head"].commit if bank["head"] else ""):
            raise Conflict("another commit was published meanwhile", "publish again")
        bank["head"] = head
        for path in publication.gone_notes:
            bank["notes"].pop(path)
        bank["notes"] |= {one.path: one for one in publication.notes}
        kept = {
            row: one._replace(position=publication.moved.get(one.key, one.position))
            for row, one in bank["rows"].items()
            if one.key not in publication.gone_passages
        }
        first = self.held["next"]
        self.held["next"] += len(publication.passages)
        bank["rows"] = kept | dict(enumerate(publication.passages, first))

    def remove(self, repo, bank):
        return self.held["banks"].pop((repo, bank), None) is not None

    def size(self):
        return len(self._rows(Where(hidden=True)))

    def frequencies(self, words):
        rows = [one for _, one, _ in self._rows(Where(hidden=True))]
        counts = {word: sum(word in one.terms for one in rows) for word in words}
        return {word: count for word, count in counts.items() if count}

    def words(self, asked, limit, where):
        def score(one):
            return sum(word.weight * one.terms.get(word.number, 0) for word in asked)

        return self._best(score, limit, where)

    def nearest(self, vector, limit, where):
        def score(one):
            return sum(a * b for a, b in zip(one.vector or (), vector, strict=False))

        return self._best(score, limit, where)

    def passages(self, rows):
        return {
            row: self._shown(row, one, bank)
            for row, one, bank in self._rows(Where(hidden=True))
            if row in rows
        }

    def _bank(self, repo, bank):
        self.info()
        new = {"head": None, "notes": {}, "rows": {}}
        return self.held["banks"].setdefault((repo, bank), new)

    def _banks(self, where):
        for (repo, _), bank in sorted(self.held["banks"].items()):
            named = any(name and f"/{repo}".endswith(f"/{name}") for name in where.repos)
            if bank["head"] and (named or not where.repos) and repo != where.without_repo:
                yield bank

    def _rows(self, where):
        """Return what may be found: row, passage and bank."""
        return [
            (row, one, bank)
            for bank in self._banks(where)
            for row, one in bank["rows"].items()
            if _meets(bank["notes"][one.path], where)
        ]

    def _best(self, score, limit, where):
        found = [
            SharedMatch(row, hash((bank["head"].repo, one.path)), score(one), one.words)
            for row, one, bank in self._rows(where)
        ]
        return sorted((one for one in found if one.score > 0), key=lambda one: -one.score)[:limit]

    def _shown(self, row, one, bank):
        head, note = bank["head"], bank["notes"][one.path]
        return SharedPassage(
            row, head, note, one.position, one.headings, one.text, one.text, one.words
        )


def _meets(note, where):
    tags = {tag.casefold() for tag in note.tags}
    return (
        (not where.types or note.type in {one.casefold() for one in where.types})
        and {tag.casefold() for tag in where.tags} <= tags
        and (where.since is None or max(note.created, note.updated) >= where.since)
        and (where.before is None or note.created < where.before)
        and (where.hidden or not note.hidden)
    )
