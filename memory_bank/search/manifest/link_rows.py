"""Read the table of links, and resolve links as documents change."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from itertools import takewhile
from typing import Any
from unicodedata import category

from memory_bank.base.documents import Link
from memory_bank.notes.characters import written_words
from memory_bank.notes.decision_records import ENDED
from memory_bank.notes.identity import number_text
from memory_bank.notes.note import RELATIVE_KINDS
from memory_bank.search.manifest.document_rows import with_status
from memory_bank.search.manifest.manifest import (
    DONE,
    GONE,
    IS_SUPERSEDING,
    PENDING,
    SEPARATOR,
    Manifest,
)

NO_NAME = 0
"""The number of a missing name."""


def name_number(name: str) -> int:
    """Return the hash by which the manifest stores a name, or NO_NAME for an empty one.

    Hashes take a third of the space; names are only looked up as a whole.
    """
    return number_text(name) if name else NO_NAME


def read_names(manifest: Manifest, documents: Iterable[int]) -> set[int]:
    """Return the names of these documents."""
    sql = "SELECT DISTINCT name FROM names WHERE document IN ({})"
    return {name for (name,) in manifest.chunked(sql, list(documents))}


def resolve_links(manifest: Manifest, documents: Iterable[int], names: Iterable[int]) -> None:
    """Resolve the links of these documents, and all links with one of these names."""
    links: dict[int, tuple[int, int]] = {}
    text = "SELECT id, name, second_name FROM links WHERE {column} IN ({{}})"
    for column, values in (
        ("document", list(documents)),
        ("name", list(names)),
        # the first condition makes SQLite use the partial index, which has the same text
        (f"second_name <> {NO_NAME} AND second_name", list(names)),
    ):
        for number, first, second in manifest.chunked(text.format(column=column), values):
            links[number] = (first, second)
    resolved = _documents_of_names(manifest, {name for pair in links.values() for name in pair})
    manifest.executemany(
        "UPDATE links SET dest = ?, ambiguous = ? WHERE id = ?",
        ((*_target(resolved, first, second), number) for number, (first, second) in links.items()),
    )


def find_keys(manifest: Manifest, name: str) -> list[str]:
    """Return the keys of the documents with a name: several if it is ambiguous.

    `name` is as `Document.names` has it.
    """
    rows = manifest.execute(
        "SELECT DISTINCT key FROM names JOIN documents ON id = document WHERE name = ?1"
        f" AND state <> {GONE} AND rank = (SELECT min(rank) FROM names WHERE name = ?1)"
        " ORDER BY key",
        (name_number(name),),
    )
    return [key for (key,) in rows]


def map_candidates(
    manifest: Manifest, names: Iterable[tuple[int, int]]
) -> dict[tuple[int, int], list[str]]:
    """Map the names of ambiguous links, as the links have them, to the keys of the documents."""
    pairs = set(names)
    resolved = _documents_of_names(manifest, {name for pair in pairs for name in pair})
    resolveds = {(first, second): resolved(first) or resolved(second) for first, second in pairs}
    sql = f"SELECT id, key FROM documents WHERE state <> {GONE} AND id IN ({{}})"
    numbers = {number for resolved in resolveds.values() for number in resolved}
    keys = dict(manifest.chunked(sql, sorted(numbers)))
    return {
        pair: [keys[key] for key in resolved if key in keys] for pair, resolved in resolveds.items()
    }


def has_key(manifest: Manifest, key: str) -> bool:
    """Tell whether there is a document with a key, readable or not."""
    sql = f"SELECT 1 FROM documents WHERE key = ? AND state <> {GONE}"
    return manifest.execute(sql, (key,)).fetchone() is not None


def _documents_of_names(manifest: Manifest, names: set[int]) -> Callable[[int], list[int]]:
    """Return a function from a name to its documents: those of the lowest rank."""
    best: dict[int, tuple[int, list[int]]] = {}
    rows = manifest.chunked(
        "SELECT name, rank, document FROM names WHERE name IN ({})", sorted(names)
    )
    for name, rank, document in rows:
        ranked = best.get(name)
        if ranked is None or rank < ranked[0]:
            best[name] = (rank, [document])
        elif rank == ranked[0]:
            ranked[1].append(document)
    return lambda name: best.get(name, (0, []))[1]


def _target(
    resolved: Callable[[int], list[int]], first: int, second: int
) -> tuple[int | None, int]:
    for name in (first, second):
        documents = resolved(name)
        if len(documents) == 1:
            return documents[0], 0
        if documents:
            return None, 1
    return None, 0


_COLUMNS = (
    "links.target, links.kind, links.line, links.type, links.heading, links.anchor, links.text,"
    " links.before, links.after, CASE WHEN goal.id IS NULL THEN links.ghost ELSE '' END, source.id,"
    " source.key, links.ambiguous, goal.id, ifnull(goal.key, ''), links.name, links.second_name"
)

_FROM = (
    "FROM links JOIN documents AS source ON source.id = links.document"
    " LEFT JOIN documents AS goal ON goal.id = links.dest"
)

_MAX_LISTED = 5
"""Maximum number of notes that the problem of an ambiguous link lists."""

_MAX_SORTED = 20
"""Number of notes that may be meant by a link up to which the nearest comes first: a hostile change
has thousands of notes of one name, and as many links to it."""

_LIVE = f"source.state IN ({DONE}, {PENDING})"


def read_outgoing(manifest: Manifest, document: int) -> list[Link]:
    """Return the links of a document in their order."""
    return _rows(manifest, "links.document = ? ORDER BY links.line, links.id", [document])


def read_incoming(manifest: Manifest, document: int) -> list[Link]:
    """Return the links of other documents that lead to a document."""
    where = f"links.dest = ?1 AND links.document <> ?1 AND {_LIVE} ORDER BY source.key, links.line"
    return _rows(manifest, where, [document])


def find_to_ghost(manifest: Manifest, ghost: str) -> list[Link]:
    """Return the links that lead to a ghost; case is ignored."""
    where = f"links.dest IS NULL AND lower(links.ghost) = lower(?) AND {_LIVE}"
    return _rows(manifest, f"{where} ORDER BY source.key, links.line", [ghost])


def find_to_code(manifest: Manifest, file: str, start: str) -> list[Link]:
    """Return the links to the ghost of a file, case ignored, and to ghosts that start so."""
    where = (
        "links.dest IS NULL AND (lower(links.ghost) = lower(?1)"
        f" OR substr(links.ghost, 1, length(?2)) = ?2) AND {_LIVE}"
    )
    return _rows(manifest, f"{where} ORDER BY source.key, links.line", [file, start])


def find_to_ghosts(manifest: Manifest, documents: Sequence[int] | None = None) -> list[Link]:
    """Return the links to ghosts of some documents, by default of all that are not hidden."""
    # the plus keeps SQLite from reading the links of all documents that have no destination
    where = f"+links.dest IS NULL AND NOT links.ambiguous AND links.ghost <> '' AND {_LIVE}"
    if documents is None:
        return _rows(manifest, f"{where} AND NOT source.hidden ORDER BY source.key, links.id", [])
    chosen = f"links.document IN ({','.join('?' * len(documents))})"
    return _rows(manifest, f"{where} AND {chosen} ORDER BY source.key, links.id", documents)


def all_links(manifest: Manifest) -> list[Link]:
    """Return every link of every document."""
    return _rows(manifest, f"{_LIVE} ORDER BY source.key, links.line, links.id", [])


def read_links_of(manifest: Manifest, keys: Iterable[str]) -> list[Link]:
    """Return the links of the documents with some keys."""
    sql = (
        f"SELECT {_COLUMNS} {_FROM} WHERE {_LIVE} AND source.key IN ({{}})"
        " ORDER BY source.key, links.line, links.id"
    )
    return [_row(row) for row in manifest.chunked(sql, sorted(keys))]


def find_taken(
    manifest: Manifest, names: Mapping[str, int], leaving: Collection[int]
) -> list[Link]:
    """Return the links that a new document would take from others: it has their names too.

    `names` maps the new document's names to their ranks. The documents `leaving` lose theirs, and
    links to them are left out.
    """
    ranks = {name_number(name): rank for name, rank in names.items()}
    rows: list[Link] = []
    for column in ("name", "second_name"):
        sql = (
            f"SELECT {_COLUMNS} {_FROM} WHERE {_LIVE} AND links.dest IS NOT NULL"
            f" AND links.{column} <> {NO_NAME} AND links.{column} IN ({{}})"
        )
        rows += [_row(row) for row in manifest.chunked(sql, sorted(ranks))]
    rows = [row for row in dict.fromkeys(rows) if row.dest not in leaving]
    sql = "SELECT name, rank, document FROM names WHERE name IN ({})"
    others: dict[int, int] = {}
    for name, rank, document in manifest.chunked(
        sql, sorted({name for row in rows for name in row.hashes})
    ):
        if document not in leaving:
            others[name] = min(rank, others.get(name, rank))

    def is_taken(row: Link) -> bool:
        for name in row.hashes:
            if name in ranks and ranks[name] <= others.get(name, ranks[name]):
                return True
            if name in others:
                return False
        return False

    return [row for row in rows if is_taken(row)]


def map_destinations(manifest: Manifest) -> dict[str, list[Link]]:
    """Return the links of each document in their order, without texts; faster than all links."""
    sql = (
        "SELECT source.key, links.kind, links.heading, links.anchor, iif(goal.id, '', links.ghost),"
        f" links.ambiguous, coalesce(goal.key, '') {_FROM} WHERE {_LIVE}"
        " ORDER BY source.key, links.line, links.id"
    )
    links: dict[str, list[Link]] = {}
    for source, kind, heading, block, ghost, ambiguous, dest in manifest.execute(sql):
        link = Link(
            "", kind, 0, "", heading, block,
            ghost=ghost, ambiguous=bool(ambiguous), dest_key=dest,
        )  # fmt: skip
        links.setdefault(source, []).append(link)
    return links


def list_edges(manifest: Manifest) -> list[tuple[str, str | None, str, str, str]]:
    """Return the ends of all links: source, target or None, name of the ghost, kind and type."""
    sql = (
        "SELECT DISTINCT source.key, goal.key, iif(goal.key IS NULL, links.ghost, ''),"
        " links.kind, links.type"
        f" {_FROM} WHERE {_LIVE} AND NOT links.ambiguous AND links.dest IS NOT links.document"
        f" AND (goal.state IN ({DONE}, {PENDING}) OR links.dest IS NULL AND links.ghost <> '')"
        " ORDER BY source.key, links.line, links.id"
    )
    return manifest.execute(sql).fetchall()


def read_anchors(
    manifest: Manifest, documents: Sequence[int]
) -> tuple[set[tuple[int, str]], set[tuple[int, str]]]:
    """Return the headings and the anchors of some documents, both case folded."""
    sql = "SELECT document, headings FROM sections WHERE document IN ({})"
    headings = {
        (document, path.split(SEPARATOR)[-1].casefold())
        for document, path in manifest.chunked(sql, documents)
    }
    sql = "SELECT document, anchor FROM anchors WHERE document IN ({})"
    return headings, {(document, anchor) for document, anchor in manifest.chunked(sql, documents)}


def find_problems(manifest: Manifest, rows: Sequence[Link]) -> list[str]:
    """Return for each link what is wrong with it, empty when nothing is.

    Wrong is a target that several notes answer to, which are listed, the nearest first unless they
    are very many, and a heading or block that its note lacks. A ghost is not wrong: it may be a
    file, a person, a note to be written.
    """
    goals = sorted(
        {row.dest for row in rows if row.dest is not None and (row.heading or row.block)}
    )
    headings, blocks = read_anchors(manifest, goals) if goals else (set(), set())
    slugs = _slugs(manifest, goals) if goals else set()  # Markdown links name them so
    words = {(document, heading_words(name)) for document, name in headings}
    many = map_candidates(manifest, [row.hashes for row in rows if row.ambiguous])
    meant_keys = {names: sorted(keys) for names, keys in many.items()}
    problems = []
    for row in rows:
        last = row.heading.split("#")[-1].strip().casefold()
        if row.ambiguous:
            near = meant_keys[row.hashes]
            if len(near) <= _MAX_SORTED:
                near = nearest_first(row.source_key, near)
            problems.append(f"several notes answer to {row.target!r}: {cut_list(near)}")
        elif row.dest is not None and row.block and (row.dest, row.block.casefold()) not in blocks:
            problems.append(f"{row.dest_key} has no block ^{row.block}")
        elif (
            row.dest is not None
            and last
            and (row.dest, last) not in headings
            and not {(row.dest, form) for form in _slug_forms(last)} & slugs
            and not (row.kind not in RELATIVE_KINDS and (row.dest, heading_words(last)) in words)
            and (row.dest, f"#{written_words(last)}") not in blocks
        ):
            problems.append(f"{row.dest_key} has no heading {row.heading!r}")
        else:
            problems.append("")
    return problems


def nearest_first(source: str, keys: Iterable[str]) -> list[str]:
    """Sort keys by the number of steps from folder to folder between them and a source."""
    home = source.split("/")[:-1]

    def steps(key: str) -> tuple[int, str]:
        folders = key.split("/")[:-1]
        pairs = takewhile(lambda pair: pair[0] == pair[1], zip(home, folders, strict=False))
        shared = sum(1 for _ in pairs)
        return len(home) + len(folders) - 2 * shared, key

    return sorted(keys, key=steps)


def cut_list(keys: Sequence[str]) -> str:
    """Return the first keys of several, and how many more there are."""
    more = f" and {len(keys) - _MAX_LISTED:,} more" if len(keys) > _MAX_LISTED else ""
    return ", ".join(keys[:_MAX_LISTED]) + more


def _slugs(manifest: Manifest, documents: Sequence[int]) -> set[tuple[int, str]]:
    """Return the slugs of all headings, of which a repeated one has a number: `added-1`."""
    sql = "SELECT document, headings FROM sections WHERE document IN ({}) ORDER BY document, line"
    counts = Counter[tuple[int, str]]()
    slugs = set()
    for document, path in manifest.chunked(sql, documents):
        name = heading_slug(path.split(SEPARATOR)[-1].casefold()).replace(_EMOJI_SIGN, "")
        repeated = counts[document, name]
        counts[document, name] += 1
        slugs |= {(document, form) for form in (name, name.strip("-"))}
        if repeated:
            slugs.add((document, f"{name}-{repeated}"))
    return slugs


_IN_SLUGS = frozenset(["Ll", "Lm", "Lo", "Lt", "Lu", "Mc", "Me", "Mn", "Nd", "Nl", "Pc"])
"""Categories of characters that GitHub leaves in a slug: of words."""

_EMOJI_SIGN = "\ufe0f"
"""Follows an emoji, which a slug has not: some programs leave it out of the slug, too."""


def heading_slug(heading: str) -> str:
    """Return a heading's slug, by which Markdown links name it; letters keep their case.

    What is left out leaves its blanks, as on GitHub: `🚀 Launch` is `-launch`.
    """
    text = "".join(char for char in heading.strip() if char in " -" or category(char) in _IN_SLUGS)
    return text.replace(" ", "-")


def _slug_forms(written: str) -> set[str]:
    """Return the forms in which programs write the slug of a heading."""
    plain = heading_slug(written).replace(_EMOJI_SIGN, "")
    return {plain, re.sub("-+", "-", plain)}


def heading_words(heading: str) -> str:
    """Return the words of a heading: a wikilink can't write some of its characters.

    Obsidian writes `[[note#A B]]` for the heading `A | B`, and likewise for `^`, `:` and `[[ ]]`.
    """
    from memory_bank.notes.inline import plain_text  # start-up: most links name no heading

    return written_words(plain_text(heading))


def _rows(manifest: Manifest, where: str, values: Sequence[Any]) -> list[Link]:
    rows = manifest.execute(f"SELECT {_COLUMNS} {_FROM} WHERE {where}", values)
    return [_row(row) for row in rows]


def _row(row: tuple[Any, ...]) -> Link:
    *written, ghost, source, key, ambiguous, dest, dest_key, name, second_name = row
    ends = (source, key, bool(ambiguous), dest, dest_key, (name, second_name))
    return Link._make((*written, False, (), ghost, *ends))


def map_superseded(manifest: Manifest, numbers: Collection[int]) -> dict[int, tuple[int, str]]:
    """Map the superseded documents among these to number and key of their successor.

    A hidden document supersedes nothing. Of several successors, the newest counts; of equally new
    ones, the first by key, so that a rebuild gives the same.
    """
    from_new = (
        "SELECT created, key, links.dest, links.document FROM links JOIN documents"
        " ON documents.id = links.document WHERE links.type = 'supersedes' AND NOT hidden"
        " AND links.dest IN ({})"
    )
    from_old = (
        "SELECT created, key, links.document, links.dest FROM links JOIN documents"
        " ON documents.id = links.dest WHERE links.type = 'superseded_by' AND NOT hidden"
        " AND links.document IN ({})"
    )
    older = list(numbers)
    rows = [row for sql in (from_new, from_old) for row in manifest.chunked(sql, older)]
    successors: dict[int, tuple[int, str]] = {}
    for _, key, old, new in sorted(rows, key=lambda row: (-row[0], row[1])):
        if old != new:
            successors.setdefault(old, (new, key))
    return successors


def map_ended(manifest: Manifest, numbers: Collection[int]) -> dict[int, str]:
    """Map the documents among these that no longer hold by their status to that status.

    Of a note that is no decision record, it is among the user's own keys.
    """
    sql = (
        "SELECT id, coalesce(json_extract(data, '$.extra.status'), json_extract(data, '$.status'),"
        " '') FROM documents WHERE id IN ({})"
    )
    words = (
        (number, str(status).casefold().split()[:1])
        for number, status in manifest.chunked(sql, with_status(manifest, numbers, ENDED))
    )
    return {number: word[0] for number, word in words if not ENDED.isdisjoint(word)}


def linked_pairs(manifest: Manifest, numbers: Collection[int]) -> set[tuple[int, int]]:
    """Return the links among some documents, as source and target."""
    sql = "SELECT DISTINCT document, dest FROM links WHERE document IN ({}) AND dest IS NOT NULL"
    among = set(numbers)
    return {
        (source, target) for source, target in manifest.chunked(sql, list(among)) if target in among
    }


def any_supersedes(manifest: Manifest) -> bool:
    """Tell whether any document supersedes another."""
    text = f"SELECT 1 FROM links WHERE {IS_SUPERSEDING} LIMIT 1"
    return manifest.execute(text).fetchone() is not None


def links_of_sections(manifest: Manifest, document: int, kind: str) -> dict[str, str]:
    """Map names of the sections of a document to the keys of the documents they link to.

    Only links of that type count.
    """
    sql = (
        "SELECT s.name, d.key FROM links AS l JOIN sections AS s ON s.document = l.document"
        " AND l.line >= s.line AND l.line < s.end_line JOIN documents AS d ON d.id = l.dest"
        " WHERE l.document = ? AND l.type = ? AND s.name <> ''"
    )
    return dict(manifest.execute(sql, (document, kind)))
