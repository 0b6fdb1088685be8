"""Search one bank's notes for `recall`, and read the sections found."""

from __future__ import annotations

import re
import time
from collections.abc import Collection, Mapping
from typing import NamedTuple

from memory_bank.bank.backlinks import GHOST, LinkShown, by_words, linked, with_file_names
from memory_bank.bank.bank import Bank
from memory_bank.bank.hits import Also, RecalledNote, Wanted
from memory_bank.bank.open_index import BY_HAND, note_of
from memory_bank.base.dates import iso_of
from memory_bank.base.documents import Section, Span
from memory_bank.memory import amendments
from memory_bank.memory.retrieval.hits import SCHEMA_VERSION, Recalled
from memory_bank.notes import okf
from memory_bank.notes.note import Entity
from memory_bank.search import snippets
from memory_bank.search.document_changes import Progress
from memory_bank.search.engine import Hit, SearchResult
from memory_bank.search.index import View
from memory_bank.search.manifest import document_rows, entries, filters
from memory_bank.search.manifest.document_rows import PassageRow
from memory_bank.search.manifest.entries import session_id_of
from memory_bank.search.query import Query, lacking_words, lifted, parse, remarks, restricted
from memory_bank.search.retrievers.base import Reason
from memory_bank.sessions import note_text
from memory_bank.trust import trust
from memory_bank.trust.authors import editors
from memory_bank.trust.stale_cache import stale_hits


def lines(view: View, hit: Hit, span: Span) -> str | None:
    """Return lines of a hit's document, those of a session as people read them.

    None if it changed since it was indexed.
    """
    found = view.source.text(hit.document.key, hit.document.hash, span)
    return note_text.shown(found) if found and session_id_of(hit.document) else found


def snippet(view: View, hit: Hit, passage: PassageRow, text: str) -> str:
    """Return the sentences of a passage that answer a query best."""
    return snippets.snippet(lines(view, hit, passage.span) or "", text).text


def heading(place: Section, asked: Collection[str] = ()) -> str:
    """Return the headings above a place, the outermost first, without those that were asked."""
    return " > ".join(one for one in place.headings if one not in asked)


_CHANGING = "notes kept changing during the search: some may be missing"

_GAPS = re.compile(r"\n{3,}")

_DAY = 10
"""Characters of the date in a timestamp."""

_EVEN = 0.5
"""Likelihood of the best match below which a name that no note has says that nothing answers."""

_LAST_LINE = 1 << 40
"""A number after that of any line."""

_NEAREST = 10
"""Hits among which newer notes on the same subject are looked for."""

_TRIES = 5
"""Attempts to get an answer during which no note changes."""


class BankAnswer(NamedTuple):
    """An answer, with what its notes were found by."""

    recalled: Recalled
    hits: list[Hit]
    """Of the notes in the answer."""
    query: Query

    @property
    def good(self) -> bool:
        """Tell whether a hit is likely to answer the query."""
        return any(not hit.weak for hit in self.hits)


def linked_or_found(
    bank: Bank, wanted: Wanted, progress: Progress | None
) -> tuple[Recalled, list[Hit]]:
    """Search all notes, or those that link to the target around words that match the query."""
    answer, hits, _ = _of_that_time(bank, wanted, progress)
    return answer, hits


def _of_that_time(bank: Bank, wanted: Wanted, progress: Progress | None) -> BankAnswer:
    """Search the notes of the time that the query names; if none answers it, those of all dates.

    The caller holds the bank's lock.
    """
    found = _answer(bank, wanted, progress)
    times = found.query.times
    if times is None:
        return found
    notice = restricted(times)
    if not found.good:
        others = _answer(bank, wanted._replace(times=False), progress)
        if others.good or not found.hits:
            found, notice = others, lifted(times)
    if not found.hits:
        return found
    notices = (notice, *found.recalled.notices)
    return found._replace(recalled=found.recalled._replace(notices=notices))


def _answer(bank: Bank, wanted: Wanted, progress: Progress | None) -> BankAnswer:
    """Search, and read the sections found; repeat if a note changed in between.

    The caller holds the bank's lock.
    """
    for _ in range(_TRIES):
        problem = bank.catch_up(progress)
        found, changed = bank.read(lambda view: _checked_search(bank, view, wanted))
        if None not in found.notes and not changed:
            break
    else:
        problem = problem or _CHANGING
    kept = tuple(note for note in found.notes if note is not None)
    answer = Recalled(
        schema_version=SCHEMA_VERSION,
        query=wanted.query,
        mode_used=found.result.mode,
        fallback_reason=found.result.fallback_reason or None,
        result_count=len(kept),
        notes=kept,
        answered=any(not note.weak for note in kept),
        problem=problem or None,
        notices=found.notices,
    )
    pairs = zip(found.result.hits, found.notes, strict=True)
    return BankAnswer(answer, [hit for hit, note in pairs if note is not None], found.query)


class _BankAnswer(NamedTuple):
    result: SearchResult
    notes: list[RecalledNote | None]
    """One for each hit; None if its file changed since it was indexed."""
    query: Query
    notices: tuple[str, ...]


def _checked_search(bank: Bank, view: View, wanted: Wanted) -> tuple[_BankAnswer, bool]:
    """Search, and tell whether another process changed the index meanwhile.

    Its manifest and its retrievers may then disagree about a note, which hides it.
    """
    manifest = view.manifest
    before = manifest.version()
    found = _search(bank, view, wanted)
    return found, manifest.version() != before or manifest.unfinished()


def keys_of(view: View, *, across: bool) -> set[str]:
    """Return the keys of conditions that a bank's front matter has, and those on repositories."""
    return filters.fields(view.manifest) | (filters.ACROSS if across else set())


def _search(bank: Bank, view: View, wanted: Wanted) -> _BankAnswer:
    known = keys_of(view, across=wanted.across) if ":" in wanted.query else ()
    parsed = parse(wanted.query, known, times=wanted.times)
    conditions = (*parsed.conditions, *wanted.conditions)
    if wanted.across:
        conditions = tuple(one for one in conditions if one.key not in filters.ACROSS)
    required = [with_file_names(bank, one) for one in conditions]
    written = bank.logs.updates.all() if any(one.key == "since" for one in required) else {}
    within = filters.scope(view.manifest, required, hidden=wanted.archived, written=written)
    links = linked(view, wanted.node) if wanted.node else {}
    text = parsed.question.text
    within = within.narrowed(links) if wanted.node else within
    rarities, scales = wanted.together or (None, {})
    found = view.engine.search(
        parsed.question._replace(rarities=rarities),
        within,
        mode=wanted.mode,
        limit=max(wanted.limit, _NEAREST, len(links)) if text else wanted.limit,
        now=time.time(),
        stale=stale_hits(bank, view),
        scales=scales,
    )
    linking = len(links)
    if links and text:
        links, found = _links_about(links, found, text)
    found, newer = _newest_first(bank, view, found, wanted)
    edited = editors(bank, [note_of(hit.document) for hit in found.hits])
    firsts = document_rows.first_passages(
        view.manifest, [hit.document.number for hit in found.hits]
    )
    # another process may have removed a note meanwhile
    found = found._replace(hits=tuple(hit for hit in found.hits if hit.document.number in firsts))
    notes = [
        _recalled(
            _HitText(view, hit, firsts[hit.document.number].line, text),
            edited[hit.document.key],
            links.get(hit.document.number),
            whole=wanted.whole,
            newer=newer.get(hit.document.number),
        )
        for hit in found.hits
    ]
    notices = remarks(view.manifest, parsed.unread, conditions)
    badges = trust.badges(bank, found.hits)
    notes = [note and note._replace(trust=tier) for note, tier in zip(notes, badges, strict=True)]
    if not wanted.texts:
        notes = [note and note._replace(content="", snippet="", also=()) for note in notes]
    if text and len(links) < linking:
        notices += (_other_links(linking - len(links)),)
    whole = not conditions and not wanted.node and wanted.mode != "semantic"
    if whole and found.hits and not (wanted.across or wanted.together):
        likely = any(not hit.weak for hit in found.hits)
        if not likely or found.hits[0].score < _EVEN:
            lacking = lacking_words(
                text, lambda words: view.engine.word_counts(words)[1], names=likely
            )
            notices += (lacking,) if lacking else ()
            found, notes = _weakened(found, notes) if lacking else (found, notes)
    return _BankAnswer(found, notes, parsed, notices)


def _links_about(
    links: Mapping[int, tuple[LinkShown, ...]], found: SearchResult, text: str
) -> tuple[dict[int, tuple[LinkShown, ...]], SearchResult]:
    """Return the links that have to do with a question, and the hits that have such links.

    Words of the question stand around the link, or its passage matches by meaning. All of a note
    is about a reference in its front matter.
    """
    about = dict[int, tuple[LinkShown, ...]]()
    for hit in found.hits:
        kept = [
            link
            for link in links.get(hit.document.number, ())
            if snippets.count_words(text, _around_link(link))
            or (not hit.weak and (link.kind == "reference" or _is_in_passage(link, hit)))
        ]
        if kept:
            about[hit.document.number] = by_words(kept, text)
    hits = tuple(hit for hit in found.hits if hit.document.number in about)
    return about, found._replace(hits=hits)


def _around_link(link: LinkShown) -> str:
    """Return the words around a link, without the name of its target."""
    return link.context.replace(f"[{link.target.removeprefix(GHOST)}]", " ")


def _is_in_passage(link: LinkShown, hit: Hit) -> bool:
    return hit.best.line <= link.line < hit.best.end_line


def _other_links(count: int) -> str:
    notes = "1 more note links" if count == 1 else f"{count} more notes link"
    return f"{notes} to it, but not where it is about this: ask without words to list all"


def _weakened(
    found: SearchResult, notes: list[RecalledNote | None]
) -> tuple[SearchResult, list[RecalledNote | None]]:
    """Mark all matches as weak: no note has a name that the question asks for."""
    hits = tuple(hit._replace(weak=True) for hit in found.hits)
    return found._replace(hits=hits), [note and note._replace(weak=True) for note in notes]


def _newest_first(
    bank: Bank, view: View, found: SearchResult, wanted: Wanted
) -> tuple[SearchResult, dict[int, str]]:
    """Put hits that may amend another good hit before it, and cut the hits to those wanted.

    Also returns the path of the newer note by the number of the older one. Questions about the past
    keep their order.
    """
    hits = list(found.hits)
    near = hits[:_NEAREST]
    good = [at for at, hit in enumerate(near) if not hit.weak]
    notes = amendments.dated(bank.roots, view, [hit.document for hit in near])
    if len(notes) < len(near):  # another process has just removed one
        return found._replace(hits=tuple(hits[: wanted.limit])), {}
    by_meaning = found.mode != "lexical"
    pairs = amendments.amended_by_meaning(view, notes, near) if by_meaning else {}
    by_words = amendments.amended(view, [notes[at] for at in good])
    pairs |= {good[old]: good[new] for old, new in by_words.items()}
    for old, new in () if amendments.asks_about_past(wanted.query) else sorted(pairs.items()):
        if hits.index(near[old]) < hits.index(near[new]):
            hits.remove(near[new])
            likely = near[new]._replace(score=max(near[new].score, near[old].score), weak=False)
            likely = likely._replace(
                reasons=(*likely.reasons, Reason("newer", f"may amend {notes[old].row.key}", 1.0))
            )
            hits.insert(hits.index(near[old]), likely)
            near[new] = likely
    newer = {near[old].document.number: notes[new].row.key for old, new in pairs.items()}
    return found._replace(hits=tuple(hits[: wanted.limit])), newer


class _HitText:
    """The texts of a hit: its section, its note, and the sentences that answer best."""

    def __init__(self, view: View, hit: Hit, first: int, query: str) -> None:
        """Read them; `first` is the line of the note's first passage."""
        self.view, self.hit, self.query = view, hit, query
        section = hit.best.section
        self.content = lines(view, hit, Span(section.line, section.end_line))
        """None if the file changed since it was indexed."""
        self.body, self.first = lines(view, hit, Span(first, _LAST_LINE)) or "", first
        if len(self.body) > snippets.LONGEST:
            self.body, self.first = self.content or "", section.line
        if len(self.body) > snippets.LONGEST:
            self.body, self.first = lines(view, hit, hit.best.span) or "", hit.best.line
        self.snippet = snippets.snippet(self.body, query)

    @property
    def line(self) -> int:
        """The line of the best passage if the snippet has a part of it, else the snippet's."""
        shown, best = [self.first + line for line in self.snippet.lines], self.hit.best
        if not shown or any(best.line <= line < best.end_line for line in shown):
            return best.line
        return shown[0]

    @property
    def section(self) -> Section:
        """The section of that line."""
        best = self.hit.best.section
        if best.line <= self.line < best.end_line:
            return best
        number = self.hit.document.number
        return document_rows.section_at(self.view.manifest, number, self.line) or best


def _tells(hit: Hit, section: Section) -> bool:
    """Tell whether a section has something to say: of a session, its observations do."""
    return not session_id_of(hit.document) or section.name.startswith(entries.OBSERVATION)


def _recalled(
    shown: _HitText,
    edited_by: tuple[str, ...],
    links: tuple[LinkShown, ...] | None,
    *,
    whole: bool,
    newer: str | None,
) -> RecalledNote | None:
    """Return a hit with its texts; None if its file changed since it was indexed."""
    view, hit, text, content = shown.view, shown.hit, shown.query, shown.content
    if content is None:
        return None
    note, section = note_of(hit.document), shown.section
    asked = note.data.get("asked", ())
    return RecalledNote(
        note_id=note.note_id,
        path=note.path,
        line=shown.line,
        title=f"Session of {note.created_at[:_DAY]}" if note.title in asked else note.title,
        heading=heading(section, asked),
        content=_GAPS.sub("\n\n", shown.body if whole else content),
        snippet=shown.snippet.text,
        tags=note.tags,
        type=note.type,
        status=note.status,
        file_refs=tuple(note.data.get("file_refs", ())),
        symbol_refs=tuple(note.data.get("symbol_refs", ())),
        entity_refs=tuple(Entity(**item) for item in note.data.get("entity_refs", ())),
        source_type=note.source_type or BY_HAND,
        source_agent=str(note.data.get("source_agent", "")),
        edited_by=edited_by,
        created_at=note.created_at,
        access_count=hit.access.times,
        last_accessed_at=iso_of(hit.access.last) if hit.access.times else "",
        opened_count=hit.access.opened,
        relevance_score=round(hit.score, 4),
        reasons=tuple(one._replace(score=round(one.score, 4)) for one in hit.reasons),
        also=tuple(
            Also(
                line=passage.line,
                heading=heading(passage.section, asked),
                snippet=snippet(view, hit, passage, text),
                relevance_score=round(score, 4),
            )
            for passage, score in hit.also
            if passage.section.line != section.line and _tells(hit, passage.section)
        ),
        weak=hit.weak,
        stale=hit.stale or okf.past_review(note.data.get("extra") or {}, time.time()),
        superseded_by=hit.superseded_by or None,
        newer=None if hit.superseded_by else newer,
        links=links,
    )
