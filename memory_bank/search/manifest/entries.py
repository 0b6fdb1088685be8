"""Read observations, sessions and other documents by time, conditions and names."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from memory_bank.base import NamedTuple
from memory_bank.base.documents import Document, Section
from memory_bank.notes.names import lookup_key as link_key
from memory_bank.notes.roots import SESSIONS as SESSIONS_FOLDER
from memory_bank.search.manifest import link_rows
from memory_bank.search.manifest.link_rows import name_number
from memory_bank.search.manifest.manifest import DONE, PENDING, SEPARATOR, Manifest
from memory_bank.search.retrievers.base import Scope

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

_PASSAGES_IN_SECTIONS = (
    "passages AS p JOIN sections AS s ON s.document = p.document AND ordinal = section"
)


def any_observation(manifest: Manifest) -> bool:
    """Tell whether any section may be an observation."""
    sql = f"SELECT 1 FROM sections AS s WHERE {NAMED} LIMIT 1"
    return manifest.execute(sql).fetchone() is not None


def count_observations(manifest: Manifest) -> tuple[int, int, int]:
    """Count the observations that are not archived, and estimate tokens: to read, and of the work.

    Those of the work are of the events that they were made of.
    """
    sql = (
        f"SELECT count(*), coalesce(sum(s.tokens), 0), coalesce(sum({WORK_TOKENS}), 0)"
        " FROM sections AS s JOIN documents AS d ON d.id = s.document"
        f" WHERE {IS_OBSERVATION} AND d.state IN ({DONE}, {PENDING}) AND NOT d.hidden"
    )
    number, read, work = map(int, manifest.execute(sql).fetchone())
    return number, read, work


def map_observed(manifest: Manifest, rows: Collection[int]) -> dict[int, int]:
    """Map those of some passages that are in an observation to the number of its section."""
    if not any_observation(manifest):
        return {}
    sql = (
        f"SELECT row, ordinal FROM {_PASSAGES_IN_SECTIONS} WHERE row IN ({{}}) AND {IS_OBSERVATION}"
    )
    return dict(manifest.chunked(sql, list(rows)))


def filter_observed(manifest: Manifest, documents: Collection[int]) -> set[int]:
    """Return those of some documents that have observations: notes of sessions."""
    if not any_observation(manifest):
        return set()
    sql = (
        "SELECT id FROM documents WHERE id IN ({}) AND EXISTS"
        f" (SELECT 1 FROM sections AS s WHERE s.document = id AND {NAMED})"
    )
    return {document for (document,) in manifest.chunked(sql, list(documents))}


def map_ordinals(manifest: Manifest, rows: Collection[int]) -> dict[int, int]:
    """Map some passages to the numbers of their sections; -1 for a passage in none."""
    sql = "SELECT row, section FROM passages WHERE row IN ({})"
    return dict(manifest.chunked(sql, list(rows)))


def map_names(manifest: Manifest, rows: Collection[int]) -> dict[int, str]:
    """Map those of some passages that are in a section with a name to that name."""
    sql = f"SELECT row, name FROM {_PASSAGES_IN_SECTIONS} WHERE row IN ({{}}) AND s.name <> ''"
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


def list_superseded(manifest: Manifest, documents: Collection[int]) -> set[str]:
    """Return the names of those sections of some documents that something supersedes.

    It links to the section as superseding it, or the section links to it as its successor, or to
    a document that was promoted from the section and is superseded.
    """
    numbers = list(documents)
    from_new = (
        "SELECT dest, anchor FROM links WHERE type = 'supersedes' AND anchor <> '' AND dest IN ({})"
    )
    from_old = (
        "SELECT s.name, l.type, l.dest FROM links AS l JOIN sections AS s"
        " ON s.document = l.document AND l.line >= s.line AND l.line < s.end_line"
        " WHERE l.type IN ('superseded_by', 'promoted_to') AND s.name <> '' AND l.document IN ({})"
    )
    superseded = {name for _, name in manifest.chunked(from_new, numbers)}
    links = manifest.chunked(from_old, numbers)
    promoted = [dest for _, kind, dest in links if kind == "promoted_to" and dest is not None]
    old = link_rows.map_superseded(manifest, promoted)
    return superseded | {
        name for name, kind, dest in links if kind == "superseded_by" or dest in old
    }


OBSERVATIONS, SESSIONS, NOTES = "observation", "session", "note"
"""Kinds of entries."""

ALL = frozenset((OBSERVATIONS, SESSIONS, NOTES))

WHOLE = -1
"""The number of the section of an entry that is a whole document."""

CONCEPTS = "concepts"

FILES = ("reads", "modifies")

PROJECT = "project"
"""Keys of fields."""

_LIVE = f"d.state IN ({DONE}, {PENDING}) AND NOT d.hidden"

SESSION_ID = "session_id"

_SESSION = (
    "EXISTS (SELECT 1 FROM fields WHERE document = d.id AND key = 'type' AND value = 'session')"
    f" AND EXISTS (SELECT 1 FROM fields WHERE document = d.id AND key = '{SESSION_ID}')"
    f" AND EXISTS (SELECT 1 FROM fields WHERE document = d.id AND key = '{PROJECT}')"
)
"""Is a session's note: other notes of type session are those that an agent wrote in one."""

_HAS_FIELD = "EXISTS (SELECT 1 FROM fields WHERE document = d.id AND key = ? AND value = ?)"

_TIE = f"CASE WHEN d.known_as <> '' AND {_SESSION} THEN d.known_as ELSE d.key END"
"""The id of a document as a row has it, but for the suffix."""

_LINKS = (
    "EXISTS (SELECT 1 FROM links WHERE document = d.id AND (lower(ghost) IN (?1, ?1 || '.md')"
    " OR dest IN (SELECT document FROM names WHERE name = ?2)))"
)

_OBSERVATION_PASSAGES = (
    "sections AS s CROSS JOIN documents AS d ON d.id = s.document"
    " CROSS JOIN passages AS p ON p.document = s.document AND p.section = s.ordinal"
)
"""CROSS JOIN keeps the order: SQLite, which has no statistics, would begin with all passages."""

_OTHER_PASSAGES = "documents AS d JOIN passages AS p ON p.document = d.id"

_OF_PASSAGE = f"s.document = p.document AND s.ordinal = p.section AND {IS_OBSERVATION}"

_PART = "document, ordinal, line, end_line, headings, name, created, tokens"


class DocumentEntry(NamedTuple):
    """An observation, or a document as a whole."""

    document: int
    section: int
    """WHOLE for the document."""
    created: float
    name: str
    """Orders entries of one time."""


class EntryConditions(NamedTuple):
    """Conditions that an entry must meet all."""

    kinds: frozenset[str] = ALL
    project: str = ""
    session_id: str = ""
    obs_types: tuple[str, ...] = ()
    """One of them; then only observations, and the notes of `types`."""
    types: tuple[str, ...] = ()
    """Types of notes, one of them."""
    concepts: tuple[str, ...] = ()
    """All of them: an observation's concepts, a document's tags."""
    files: tuple[str, ...] = ()
    """One of them: read or modified in an observation or session, linked from a note."""
    modified: bool = False
    """Whether files must have been modified."""
    since: float | None = None
    before: float | None = None
    """Seconds: the time of an observation or session; a note may also have changed `since`."""
    changed: frozenset[int] = frozenset()
    """Notes that changed since then, by the log of updates."""

    @property
    def of_documents(self) -> bool:
        """Tell whether all conditions are those of whole documents, so that no passage differs."""
        beyond = self.session_id or self.obs_types or self.types or self.concepts or self.files
        return self.kinds == ALL and not (beyond or self.since or self.before)


class _Condition:
    """The text of a condition in SQL, with its values."""

    def __init__(self, *parts: str) -> None:
        self.parts = [*parts]
        self.values: list[object] = []

    def add(self, part: str, *values: object) -> None:
        self.parts.append(part)
        self.values += values

    @property
    def text(self) -> str:
        return " AND ".join(f"({part})" for part in self.parts)


def read_session_id(document: Document) -> str:
    """Return the id of the session whose note a document is; empty if it is no session's note."""
    extra = document.data.get("extra") or {}
    is_session = extra.get(PROJECT) is not None and document.data.get("type") == SESSIONS
    return str(extra.get(SESSION_ID) or "") if is_session else ""


def is_of_session(document: Document) -> bool:
    """Tell whether a note is of a session, by its folder or by its front matter."""
    return document.key.startswith(SESSIONS_FOLDER) or bool(read_session_id(document))


def list_entries(
    manifest: Manifest,
    entry_conditions: EntryConditions,
    limit: int,
    offset: int = 0,
    *,
    ascending: bool = False,
    start: tuple[float, str] | None = None,
) -> list[DocumentEntry]:
    """Return the entries that meet all conditions by time, those of one time by name.

    The newest come first unless `ascending`; `start` is a time and name that they must be beyond.
    """
    entries: list[DocumentEntry] = []
    way, beyond = ("ASC", ">") if ascending else ("DESC", "<")
    for kind, (columns, condition) in _queries(entry_conditions).items():
        time, name = ("s.created", "s.name") if kind == OBSERVATIONS else ("d.created", _TIE)
        if start is not None:
            within = f"{time} {beyond}= ? AND ({time} {beyond} ? OR {name} {beyond} ?)"
            condition.add(within, start[0], *start)
        sql = f"SELECT {columns} WHERE {condition.text} ORDER BY {time} {way}, {name} {way} LIMIT ?"
        rows = manifest.execute(sql, [*condition.values, limit + offset])
        entries += (DocumentEntry(*row) for row in rows)
    entries.sort(key=lambda entry: (entry.created, entry.name), reverse=not ascending)
    return entries[offset : offset + limit]


def count(manifest: Manifest, kind: str) -> int:
    """Count the entries of a kind; archived ones are left out."""
    columns, condition = _queries(EntryConditions(kinds=frozenset([kind])))[kind]
    sql = f"SELECT count(*) FROM (SELECT {columns} WHERE {condition.text})"
    (number,) = manifest.execute(sql, condition.values).fetchone()
    return int(number)


def changed_notes(manifest: Manifest, since: float) -> dict[str, float]:
    """Map the keys of the notes that were created or changed since a time to when they were.

    Archived ones are among them, notes of sessions are not.
    """
    sql = (
        "SELECT d.key, max(d.created, d.updated) FROM documents AS d WHERE"
        f" d.state IN ({DONE}, {PENDING}) AND max(d.created, d.updated) >= ? AND NOT ({_SESSION})"
    )
    return dict(manifest.execute(sql, (since,)))


def read_place(manifest: Manifest, document: int, section: int = WHOLE) -> tuple[float, str]:
    """Return the time and the name by which a document, or an observation in it, is ordered."""
    sql = f"SELECT d.created, {_TIE} FROM documents AS d WHERE d.id = ?"
    values = [document]
    if section != WHOLE:
        sql = "SELECT created, name FROM sections WHERE document = ? AND ordinal = ?"
        values.append(section)
    created, name = manifest.execute(sql, values).fetchone()
    return created, name


def find_scope(manifest: Manifest, entry_conditions: EntryConditions) -> Scope:
    """Return the passages of the entries that meet all conditions."""
    if entry_conditions.of_documents and not entry_conditions.project:
        hidden = manifest.execute("SELECT id FROM documents WHERE hidden = 1")
        return Scope(without=frozenset(number for (number,) in hidden))
    if entry_conditions.of_documents:
        condition = _Condition(_LIVE)
        _add_origin(condition, entry_conditions)
        sql = f"SELECT d.id FROM documents AS d WHERE {condition.text}"
        return Scope(only=frozenset(n for (n,) in manifest.execute(sql, condition.values)))
    owners: dict[int, int] = {}
    for kind, (_, condition) in _queries(entry_conditions).items():
        tables = _OBSERVATION_PASSAGES if kind == OBSERVATIONS else _OTHER_PASSAGES
        sql = f"SELECT p.row, p.document FROM {tables} WHERE {condition.text}"
        if kind != OBSERVATIONS:
            sql += f" AND NOT EXISTS (SELECT 1 FROM sections AS s WHERE {_OF_PASSAGE})"
        owners.update(manifest.execute(sql, condition.values))
    return Scope(only=frozenset(owners.values()), rows=frozenset(owners))


def narrow_scope(manifest: Manifest, within: Scope, documents: Collection[int]) -> Scope:
    """Return the intersection of a scope, with its passages, and some documents."""
    scope = within.narrowed(documents)
    if scope.rows is None:
        return scope
    sql = "SELECT row, document FROM passages WHERE row IN ({})"
    rows = [row for row, document in manifest.chunked(sql, list(scope.rows)) if document in scope]
    return Scope(only=scope.only, rows=frozenset(rows))


def find_named(manifest: Manifest, names: Collection[str]) -> dict[str, DocumentEntry]:
    """Return the sections with some names; of several, that of the first document."""
    sql = (
        "SELECT s.name, s.document, s.ordinal, s.created FROM sections AS s JOIN documents AS d"
        f" ON d.id = s.document WHERE d.state IN ({DONE}, {PENDING}) AND s.name <> ''"
        " AND s.name IN ({})"
    )
    rows = sorted(set(manifest.chunked(sql, list(names))), reverse=True)
    return {
        name: DocumentEntry(document, at, created, name) for name, document, at, created in rows
    }


def read_parts(
    manifest: Manifest, documents: Collection[int], observations: Collection[tuple[int, int]] = ()
) -> dict[int, dict[int, Section]]:
    """Return the sections of some documents by their numbers, in their order.

    Of the observations, only those with the given documents and sections are among them.
    """
    sql = (
        f"SELECT {_PART} FROM sections AS s WHERE (s.name < 'obs-' OR s.name >= 'obs.' OR NOT"
        f" {IS_OBSERVATION}) AND document IN ({{}})"
    )
    rows = set(manifest.chunked(sql, list(documents)))
    text = f"SELECT {_PART} FROM sections AS s WHERE document = ? AND ordinal = ?"
    for place in observations:
        rows.update(manifest.execute(text, place))
    sections: dict[int, dict[int, Section]] = {document: {} for document in documents}
    for document, at, line, end, headings, name, created, tokens in sorted(rows):
        above = tuple(filter(None, headings.split(SEPARATOR)))
        sections[document][at] = Section(line, end, above, name, created=created, tokens=tokens)
    return sections


def observation_type(manifest: Manifest, document: int, section: int) -> str | None:
    """Return the type of the observation that a section is; None if it is none."""
    sql = (
        f"SELECT value FROM section_fields AS f JOIN sections AS s ON s.document = f.document AND"
        f" s.ordinal = f.ordinal WHERE f.document = ? AND f.ordinal = ? AND f.key = '{OBS_TYPE}'"
        f" AND {NAMED}"
    )
    row = manifest.execute(sql, (document, section)).fetchone()
    return None if row is None else str(row[0])


def list_observations(manifest: Manifest, document: int) -> list[int]:
    """Return the numbers of the sections of a document that are observations."""
    sql = f"SELECT ordinal FROM sections AS s WHERE s.document = ? AND {IS_OBSERVATION}"
    return sorted(at for (at,) in manifest.execute(sql, (document,)))


def _queries(entry_conditions: EntryConditions) -> dict[str, tuple[str, _Condition]]:
    """Return columns, tables and conditions of each kind of entries."""
    queries = {}
    if OBSERVATIONS in entry_conditions.kinds:
        columns = (
            "s.document, s.ordinal, s.created, s.name FROM sections AS s"
            " INDEXED BY sections_created CROSS JOIN documents AS d ON d.id = s.document"
        )
        queries[OBSERVATIONS] = columns, _observation_condition(entry_conditions)
    columns = f"d.id, {WHOLE}, d.created, {_TIE} FROM documents AS d"
    if SESSIONS in entry_conditions.kinds and not (
        entry_conditions.obs_types or entry_conditions.types
    ):
        queries[SESSIONS] = columns, _document_condition(entry_conditions, sessions=True)
    if NOTES in entry_conditions.kinds and (
        entry_conditions.types or not entry_conditions.obs_types
    ):
        queries[NOTES] = columns, _document_condition(entry_conditions, sessions=False)
    return queries


def _observation_condition(entry_conditions: EntryConditions) -> _Condition:
    condition = _Condition(_LIVE, NAMED if entry_conditions.obs_types else IS_OBSERVATION)
    _add_origin(condition, entry_conditions)
    if entry_conditions.obs_types:
        _has(condition, (OBS_TYPE,), entry_conditions.obs_types)
    for concept in entry_conditions.concepts:
        _has(condition, (CONCEPTS,), (concept,))
    if entry_conditions.files:
        _has(condition, FILES[1:] if entry_conditions.modified else FILES, entry_conditions.files)
    _add_time(condition, entry_conditions, "s.created", "s.created")
    return condition


def _document_condition(entry_conditions: EntryConditions, *, sessions: bool) -> _Condition:
    condition = _Condition(_LIVE, _SESSION if sessions else f"NOT ({_SESSION})")
    _add_origin(condition, entry_conditions)
    if entry_conditions.types:
        values = (value for name in entry_conditions.types for value in ("type", name.casefold()))
        condition.add(" OR ".join(_HAS_FIELD for _ in entry_conditions.types), *values)
    for concept in entry_conditions.concepts:
        condition.add(_HAS_FIELD, "tag", concept.casefold())
    if entry_conditions.files and sessions:
        keys = FILES[1:] if entry_conditions.modified else FILES
        inside = _among(keys, entry_conditions.files)
        condition.add(
            "EXISTS (SELECT 1 FROM sections AS s JOIN section_fields AS f ON f.document"
            " = s.document AND f.ordinal = s.ordinal WHERE s.document = d.id AND s.name >= 'sum-'"
            f" AND s.name < 'sum.' AND {inside})",
            *keys,
            *map(str.casefold, entry_conditions.files),
        )
    elif entry_conditions.files:
        tests = " OR ".join(
            _LINKS.replace("?1", "?").replace("?2", "?") for _ in entry_conditions.files
        )
        names = (link_key(file) for file in entry_conditions.files)
        condition.add(tests, *(v for name in names for v in (name, name, name_number(name))))
    _add_time(
        condition,
        entry_conditions,
        "d.created",
        "d.created" if sessions else "max(d.created, d.updated)",
    )
    return condition


def _add_origin(condition: _Condition, entry_conditions: EntryConditions) -> None:
    if entry_conditions.project:
        condition.add(_HAS_FIELD, PROJECT, entry_conditions.project.casefold())
    if entry_conditions.session_id:
        condition.add(_HAS_FIELD, SESSION_ID, entry_conditions.session_id.casefold())


def _add_time(
    condition: _Condition, entry_conditions: EntryConditions, created: str, changed: str
) -> None:
    if entry_conditions.since is not None:
        late = ",".join(map(str, entry_conditions.changed)) if created != changed else ""
        condition.add(f"{changed} >= ? OR d.id IN ({late})", entry_conditions.since)
    if entry_conditions.before is not None:
        condition.add(f"{created} < ?", entry_conditions.before)


def _has(condition: _Condition, keys: Sequence[str], values: Sequence[str]) -> None:
    inside = (
        "EXISTS (SELECT 1 FROM section_fields AS f WHERE f.document = s.document"
        f" AND f.ordinal = s.ordinal AND {_among(keys, values)})"
    )
    condition.add(inside, *keys, *map(str.casefold, values))


def _among(keys: Sequence[str], values: Sequence[str]) -> str:
    marks = (",".join("?" * len(key)) for key in (keys, values))
    return "f.key IN ({}) AND f.value IN ({})".format(*marks)


class SessionCounts(NamedTuple):
    """What the note of a session has."""

    prompts: int = 0
    observations: int = 0
    read_tokens: int = 0
    """Estimated, to read the observations."""
    work_tokens: int = 0
    """Those of the events that they were made of."""
    last: float = 0.0
    """The time of the last observation; 0 without one."""
    summary: bool = False
    """Whether it has one."""


def session_counts(manifest: Manifest, documents: Collection[int]) -> dict[int, SessionCounts]:
    """Count what some notes of sessions have."""
    numbers = list(documents)
    observations = (
        # the plus keeps SQLite from reading the sections of all documents by their names
        f"SELECT s.document, count(*), sum(s.tokens), sum({WORK_TOKENS}), max(s.created)"
        " FROM sections AS s WHERE s.document IN ({}) AND +s.name >= 'obs-' AND"
        f" {IS_OBSERVATION} GROUP BY s.document"
    )
    prompts = (
        "SELECT document, count(DISTINCT key) FROM section_fields WHERE document IN ({})"
        " AND key GLOB 'prompt_[0-9]*' GROUP BY document"
    )
    summaries = "SELECT document FROM sections WHERE document IN ({}) AND +name GLOB 'sum-*'"
    counts = dict.fromkeys(numbers, SessionCounts())
    for document, number, read, work, last in manifest.chunked(observations, numbers):
        counts[document] = SessionCounts(0, number, read, work or 0, last)
    for document, number in manifest.chunked(prompts, numbers):
        counts[document] = counts[document]._replace(prompts=number)
    for (document,) in manifest.chunked(summaries, numbers):
        counts[document] = counts[document]._replace(summary=True)
    return counts
