"""Let notes that the best hits link to, or that link to them, take a small share of their score."""

from __future__ import annotations

from memory_bank.search.candidates import Candidate
from memory_bank.search.manifest import document_rows
from memory_bank.search.manifest.manifest import IS_SUPERSEDING, Manifest
from memory_bank.search.retrievers.base import Reason, Scope

SHARE = 0.3
"""Of the score of a hit that a note gets which is found only by its link with that."""

RAISE = 0.2
"""The share that a note gets on top of its own score: with more, it passes hits that answer."""

BEST = 5
"""Hits whose links are followed."""

_MOST_LINKS = 40
"""Linked notes of a hit from which on its links say little: an index links to everything."""


def add_linked(manifest: Manifest, candidates: list[Candidate], scope: Scope) -> None:
    """Raise the candidates that are linked with the best ones, and add notes that are.

    A note gets the share of the best hit that it is linked with, in either direction.
    """
    best = sorted(candidates, key=lambda candidate: -candidate.score)[:BEST]
    linked = _linked_with(manifest, [candidate.document for candidate in best])
    by_document = {candidate.document: candidate for candidate in candidates}
    gains: dict[int, tuple[float, int]] = {}
    for hit in best:
        for document in linked.get(hit.document, ()):
            gain = (RAISE if document in by_document else SHARE) * hit.score
            if gain > gains.get(document, (0.0, 0))[0]:
                gains[document] = gain, hit.document
    missing = [number for number in gains if number not in by_document and scope.holds(0, number)]
    places = document_rows.first_passages(manifest, missing)
    for number in missing:
        if number in places:
            by_document[number] = Candidate(number, places[number].row, 0.0)
            by_document[number].worded = False
            candidates.append(by_document[number])
    names = document_rows.read_documents(manifest, {source for _, source in gains.values()})
    for document, (gain, source) in gains.items():
        if document in by_document and source in names:
            reason = Reason("linked", f"linked with {names[source].key}", gain)
            by_document[document].link(reason)


def _linked_with(manifest: Manifest, documents: list[int]) -> dict[int, list[int]]:
    """Map some documents to those that they link to or that link to them."""
    sql = (
        "SELECT DISTINCT {0}, {1} FROM links JOIN documents ON documents.id = {1}"
        f" WHERE {{0}} IN ({{{{}}}}) AND {{1}} IS NOT NULL AND NOT {IS_SUPERSEDING}"
        " AND NOT hidden AND links.document <> links.dest"
    )
    linked: dict[int, list[int]] = {}
    for columns in (("links.document", "links.dest"), ("links.dest", "links.document")):
        for document, neighbour in manifest.chunked(sql.format(*columns), documents):
            linked.setdefault(document, []).append(neighbour)
    return {
        number: neighbours
        for number, neighbours in linked.items()
        if len(neighbours) <= _MOST_LINKS
    }
