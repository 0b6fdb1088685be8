"""Read the sections that have a name, such as observations of sessions."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import NamedTuple

from memory_bank.manifest import neighbourhood
from memory_bank.manifest.manifest import DONE, PENDING, SEPARATOR, Manifest

OBSERVATION = "obs-"
"""Start of the name of a section that is an observation: it also has the field OBS_TYPE."""
OBS_TYPE = "obs_type"

# the last condition makes SQLite use the partial index
NAMED = "s.name >= 'obs-' AND s.name < 'obs.' AND s.name <> ''"
IS_OBSERVATION = (
    f"{NAMED} AND EXISTS (SELECT 1 FROM section_fields AS f WHERE f.document = s.document"
    f" AND f.ordinal = s.ordinal AND f.key = '{OBS_TYPE}')"
)
"""Condition of a section `s`."""
WORK_TOKENS = (
    "(SELECT max(CAST(f.value AS INTEGER)) FROM section_fields AS f WHERE f.document = s.document"
    " AND f.ordinal = s.ordinal AND f.key = 'discovery_tokens' AND length(f.value) < 10"
    " AND f.value NOT GLOB '*[^0-9]*')"
)
"""The tokens of the events of which a section `s` was made; NULL if it doesn't say."""
_OF_PASSAGE = "passages AS p JOIN sections AS s ON s.document = p.document AND ordinal = section"


def any_observation(manifest: Manifest) -> bool:
    """Tell whether any section may be an observation."""
    sql = f"SELECT 1 FROM sections AS s WHERE {NAMED} LIMIT 1"
    return manifest.execute(sql).fetchone() is not None


class Work(NamedTuple):
    """Estimated tokens of all observations."""

    observations: int
    read: int
    """To read them."""
    work: int
    """Of the events that they were made of."""


def work(manifest: Manifest) -> Work:
    """Return the tokens of all observations that are not archived."""
    sql = (
        f"SELECT count(*), coalesce(sum(s.tokens), 0), coalesce(sum({WORK_TOKENS}), 0)"
        " FROM sections AS s JOIN documents AS d ON d.id = s.document"
        f" WHERE {IS_OBSERVATION} AND d.state IN ({DONE}, {PENDING}) AND NOT d.hidden"
    )
    return Work(*map(int, manifest.execute(sql).fetchone()))


def observed(manifest: Manifest, rows: Collection[int]) -> dict[int, int]:
    """Map those of some passages that are in an observation to the number of its section."""
    if not any_observation(manifest):
        return {}
    sql = f"SELECT row, ordinal FROM {_OF_PASSAGE} WHERE row IN ({{}}) AND {IS_OBSERVATION}"
    return dict(manifest.chunked(sql, list(rows)))


def with_observations(manifest: Manifest, documents: Collection[int]) -> set[int]:
    """Return those of some documents that have observations: notes of sessions."""
    if not any_observation(manifest):
        return set()
    sql = (
        "SELECT id FROM documents WHERE id IN ({}) AND EXISTS"
        f" (SELECT 1 FROM sections AS s WHERE s.document = id AND {NAMED})"
    )
    return {document for (document,) in manifest.chunked(sql, list(documents))}


def ordinals(manifest: Manifest, rows: Collection[int]) -> dict[int, int]:
    """Map some passages to the numbers of their sections; -1 for a passage in none."""
    sql = "SELECT row, section FROM passages WHERE row IN ({})"
    return dict(manifest.chunked(sql, list(rows)))


def names(manifest: Manifest, rows: Collection[int]) -> dict[int, str]:
    """Map those of some passages that are in a section with a name to that name."""
    sql = f"SELECT row, name FROM {_OF_PASSAGE} WHERE row IN ({{}}) AND s.name <> ''"
    return dict(manifest.chunked(sql, list(rows)))


def passages_with(manifest: Manifest, key: str, values: Collection[str]) -> dict[int, int]:
    """Map the passages of sections with one of some values of a field to their documents."""
    sql = (
        "SELECT row, p.document FROM section_fields AS f JOIN passages AS p"
        " ON p.document = f.document AND p.section = f.ordinal WHERE f.key = ? AND f.value = ?"
    )
    return {
        row: document for value in values for row, document in manifest.execute(sql, (key, value))
    }


def superseded(manifest: Manifest, documents: Collection[int]) -> set[str]:
    """Return the names of those sections of some documents that something supersedes.

    It links to the section as superseding it, or the section links to it as its successor, or to
    a document that was promoted from the section and is superseded.
    """
    wanted = list(documents)
    from_new = (
        "SELECT dest, anchor FROM links WHERE type = 'supersedes' AND anchor <> '' AND dest IN ({})"
    )
    from_old = (
        "SELECT s.name, l.type, l.dest FROM links AS l JOIN sections AS s"
        " ON s.document = l.document AND l.line >= s.line AND l.line < s.end_line"
        " WHERE l.type IN ('superseded_by', 'promoted_to') AND s.name <> '' AND l.document IN ({})"
    )
    found = {name for _, name in manifest.chunked(from_new, wanted)}
    links = manifest.chunked(from_old, wanted)
    promoted = [dest for _, kind, dest in links if kind == "promoted_to" and dest is not None]
    old = neighbourhood.superseded(manifest, promoted)
    return found | {name for name, kind, dest in links if kind == "superseded_by" or dest in old}


def headings(manifest: Manifest) -> Iterator[tuple[str, int, tuple[str, ...]]]:
    """Yield key, line and headings, outermost first, of each section under a heading."""
    rows = manifest.execute(
        "SELECT key, s.line, headings FROM sections AS s JOIN documents ON id = s.document"
        f" WHERE headings <> '' AND state IN ({DONE}, {PENDING}) ORDER BY key, ordinal"
    )
    for key, line, path in rows:
        yield key, line, tuple(filter(None, path.split(SEPARATOR)))
