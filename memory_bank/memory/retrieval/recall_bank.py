"""Search one bank's notes for `recall`, and read the best section of each."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import cached_property

from memory_bank.bank.backlinks import (
    GHOST,
    LinkShown,
    map_linked_notes,
    name_files,
    sort_by_words,
)
from memory_bank.bank.bank import Bank
from memory_bank.bank.note_files import SESSION
from memory_bank.bank.open_index import BY_HAND, note_of
from memory_bank.bank.records import ShownNote
from memory_bank.base import lazy_pattern
from memory_bank.base.dates import seconds_to_iso
from memory_bank.base.documents import Section, Span
from memory_bank.base.text import estimate
from memory_bank.memory import amendments
from memory_bank.memory.retrieval.answers import Answer
from memory_bank.notes import okf
from memory_bank.search import snippets
from memory_bank.search.document_changes import Progress
from memory_bank.search.engine import Hit, SearchResult
from memory_bank.search.index import IndexView
from memory_bank.search.manifest import document_rows, entries, filters
from memory_bank.search.manifest.entries import read_session_id
from memory_bank.search.manifest.filters import Condition
from memory_bank.search.query import (
    Query,
    lacking_words,
    lifted_remark,
    list_remarks,
    nothing_within,
    parse,
    restriction_remark,
)
from memory_bank.search.ranking import MATCHES
from memory_bank.search.retrievers.base import Reason, Scope
from memory_bank.search.times import TimeWords
from memory_bank.sessions import note_text
from memory_bank.trust import trust
from memory_bank.trust.authors import list_editors
from memory_bank.trust.stale_cache import StaleHits, open_stale_hits


def read_lines(view: IndexView, hit: Hit, span: Span) -> str | None:
    """Return lines of a hit's document, of a session as people read them.

    Return None if the document changed since it was indexed.
    """
    text = view.source.text(hit.document.key, hit.document.hash, span)
    return note_text.show_text(text) if text and read_session_id(hit.document) else text


def join_headings(section: Section, questions: Collection[str] = ()) -> str:
    """Return the headings of a section, the outermost first, but none that a session was asked."""
    return " > ".join(heading for heading in section.headings if heading not in questions)


_CHANGING = "notes kept changing during the search: some may be missing"

# It begins with fixed text, which is found at once: a large note has few gaps.
_GAPS = lazy_pattern(r"\n\n\n+")

_DAY = 10
"""Characters of the date in a timestamp."""

_EVEN = 0.4
"""Likelihood of the best match below which a name that no note has says that nothing answers."""

_LAST_LINE = 1 << 40
"""A number after that of any line."""

_NEAREST = 10
"""Hits among which newer notes on the same subject are looked for."""

_TRIES = 5
"""Attempts to get an answer during which no note changes."""

_PAUSE = 0.02
"""Seconds before the second attempt, in which a writer may end; before the third, twice as many."""


_SearchedNotes = tuple[Answer, list[Hit], TimeWords | None]
"""An answer, the hits of its notes, and the words of time that restrict it."""


def search_notes(bank: Bank, query: Query, progress: Progress | None) -> tuple[Answer, list[Hit]]:
    """Search the notes of the time that the query names; if none answers it, those of all dates.

    With a target, only notes that link to it around words that match the query. The caller holds
    the bank's lock. Return the hits of the notes in the answer, too.
    """
    answer, hits, times = _search_unchanged(bank, query, progress)
    if times is None:
        return answer, hits
    notice = restriction_remark(times)
    if not answer.answered:
        anytime, hits_anytime, _ = _search_unchanged(
            bank, query._replace(reads_times=False), progress
        )
        if anytime.answered or not hits:
            answer, hits, notice = anytime, hits_anytime, lifted_remark(times)
    return answer._replace(notices=(notice, *answer.notices)) if hits else answer, hits


def _search_unchanged(bank: Bank, query: Query, progress: Progress | None) -> _SearchedNotes:
    """Search, and read the notes; repeat if one changed in between.

    The caller holds the bank's lock.
    """
    for attempt in range(_TRIES):
        time.sleep(_PAUSE * attempt)
        problem = bank.catch_up(progress, meaning=query.mode != "lexical")
        (answer, hits, times), changed = bank.read(lambda view: _checked_search(bank, view, query))
        if not changed or bank.is_hurried:  # a writer does not keep who waits for a short time
            break
    else:
        problem = problem or _CHANGING
    return answer._replace(problem=problem or None), hits, times


def _checked_search(bank: Bank, view: IndexView, query: Query) -> tuple[_SearchedNotes, bool]:
    """Search, and return whether a note changed, or another process changed the index meanwhile.

    Its manifest and its retrievers may then disagree about a note, which hides it.
    """
    manifest = view.manifest
    version = manifest.version()
    searched, changed = _search(bank, view, query)
    return searched, changed or manifest.version() != version or manifest.unfinished()


def known_keys(view: IndexView, *, across: bool) -> set[str]:
    """Return the keys of conditions that a bank's front matter has, and those on repositories."""
    return filters.list_fields(view.manifest) | ({filters.REPO} if across else set())


def _search(bank: Bank, view: IndexView, query: Query) -> tuple[_SearchedNotes, bool]:
    """Search, and return whether the file of a hit changed since it was indexed."""
    keys = known_keys(view, across=query.across) if ":" in query.typed else ()
    query = parse(query, keys)
    conditions = query.conditions
    if query.across:
        conditions = tuple(condition for condition in conditions if condition.key != filters.REPO)
    text = query.question.text
    links = map_linked_notes(view, query.node) if query.node else {}
    judge = open_stale_hits(bank, view)
    search_result = view.engine.search(
        query.question._replace(rarities=query.together[0] if query.together else None),
        _find_scope(bank, view, query, conditions, links),
        mode=query.mode,
        limit=max(query.limit, _NEAREST, len(links)) if text else query.limit,
        now=time.time(),
        stale=judge,
        scales=query.together[1] if query.together else {},
    )
    notices = list_remarks(view.manifest, query.unread, conditions)
    link_count = len(links)
    if links and text:
        links, search_result = _links_about(links, search_result, text)
    search_result, newer = _newest_first(bank, view, search_result, query)
    numbers = [hit.document.number for hit in search_result.hits]
    firsts = document_rows.first_passages(view.manifest, numbers)
    # another process may have removed a note meanwhile
    hits = [hit for hit in search_result.hits if hit.document.number in firsts]
    if not query.also:
        hits = [hit._replace(also=()) for hit in hits]
    notices += () if hits else nothing_within(conditions)
    if text and len(links) < link_count:
        notices += (_other_links(link_count - len(links)),)
    if not conditions and not query.node and _may_lack_names(query, hits):
        lacking = lacking_words(
            text,
            lambda words: view.engine.word_counts(words)[1],
            names=any(not hit.weak for hit in hits),
        )
        notices += (lacking,) if lacking else ()
        hits = [hit._replace(weak=True) for hit in hits] if lacking else hits
    editors = list_editors(bank, [note_of(hit.document) for hit in hits])
    tiers = trust.list_hit_tiers(bank, hits)
    pairs = [
        (hit, note._replace(trust=tier))
        for hit, tier in zip(hits, tiers, strict=True)
        if (
            note := _read_hit(
                _HitText(view, hit, firsts[hit.document.number].line, text),
                editors[hit.document.key],
                links.get(hit.document.number),
                whole=query.whole,
                newer=newer.get(hit.document.number),
                judge=judge,
            )
        )
    ]
    notes = tuple(
        note if query.texts else note._replace(content="", snippet="") for _, note in pairs
    )
    answer = Answer(
        query=query.typed,
        mode_used=search_result.mode,
        fallback_reason=search_result.fallback_reason or None,
        result_count=len(notes),
        notes=notes,
        answered=any(not note.weak for note in notes),
        notices=notices,
    )
    return (answer, [hit for hit, _ in pairs], query.times), len(notes) < len(hits)


def _find_scope(
    bank: Bank,
    view: IndexView,
    query: Query,
    conditions: Sequence[Condition],
    links: Collection[int],
) -> Scope:
    """Return the notes that meet the conditions and, if a node is asked for, link to it."""
    required = [name_files(bank, condition) for condition in conditions]
    dated = any(condition.key == "since" for condition in required)
    updates = bank.state.updates() if dated else {}
    scope = filters.find_scope(view.manifest, required, hidden=query.archived, written=updates)
    return scope.narrowed(links) if query.node else scope


def _may_lack_names(query: Query, hits: Sequence[Hit]) -> bool:
    """Return whether the hits may be unlikely because no note has a name that is asked for."""
    if not hits or query.mode == "semantic" or query.across or query.together:
        return False
    return all(hit.weak for hit in hits) or hits[0].score < _EVEN


def _links_about(
    links: Mapping[int, tuple[LinkShown, ...]], search_result: SearchResult[Hit], text: str
) -> tuple[dict[int, tuple[LinkShown, ...]], SearchResult[Hit]]:
    """Return the links that have to do with a question, and the hits that have such links.

    Words of the question stand around the link, or its passage matches by meaning. A reference in
    the front matter has to do with the whole note.
    """
    links_about = dict[int, tuple[LinkShown, ...]]()
    for hit in search_result.hits:
        near = [
            link
            for link in links.get(hit.document.number, ())
            if snippets.count_words(text, _words_around(link))
            or (
                hit.score >= MATCHES and (link.row.kind == "reference" or _is_in_passage(link, hit))
            )
        ]
        if near:
            links_about[hit.document.number] = sort_by_words(near, text)
    hits = tuple(hit for hit in search_result.hits if hit.document.number in links_about)
    return links_about, search_result._replace(hits=hits)


def _words_around(link: LinkShown) -> str:
    """Return the words around a link, without the name of its target."""
    return link.context.replace(f"[{link.target.removeprefix(GHOST)}]", " ")


def _is_in_passage(link: LinkShown, hit: Hit) -> bool:
    return hit.best.line <= link.row.line < hit.best.end_line


def _other_links(count: int) -> str:
    notes = "1 more note links" if count == 1 else f"{count} more notes link"
    return f"{notes} to it, but not where it is about this: ask without words to list all"


def _newest_first(
    bank: Bank, view: IndexView, search_result: SearchResult[Hit], query: Query
) -> tuple[SearchResult[Hit], dict[int, str]]:
    """Put hits that may amend another good hit before it, and cut the hits to the limit.

    Also return the path of the newer note by the number of the older one. Questions about the past
    keep their order.
    """
    hits = list(search_result.hits)
    near = hits[:_NEAREST]
    good = [at for at, hit in enumerate(near) if hit.score >= MATCHES]
    notes = amendments.date_notes(bank.roots, view, [hit.document for hit in near])
    if len(notes) < len(near):  # another process has just removed one
        return search_result._replace(hits=tuple(hits[: query.limit])), {}
    by_meaning = search_result.mode != "lexical"
    pairs = amendments.find_amended_by_meaning(view, notes, near) if by_meaning else {}
    by_words = amendments.map_amended(view, [notes[at] for at in good])
    pairs |= {good[old]: good[new] for old, new in by_words.items()}
    for old, new in () if query.asks_about_past else sorted(pairs.items()):
        if hits.index(near[old]) < hits.index(near[new]):
            hits.remove(near[new])
            likely = near[new]._replace(score=max(near[new].score, near[old].score), weak=False)
            likely = likely._replace(
                reasons=(*likely.reasons, Reason("newer", f"may amend {notes[old].row.key}", 1.0))
            )
            hits.insert(hits.index(near[old]), likely)
            near[new] = likely
    newer = {near[old].document.number: notes[new].row.key for old, new in pairs.items()}
    return search_result._replace(hits=tuple(hits[: query.limit])), newer


class _HitText:
    """The texts of a hit: its section, its note, and the sentences that answer best."""

    def __init__(self, view: IndexView, hit: Hit, first: int, query: str) -> None:
        """Read the texts; `first` is the line of the note's first passage."""
        self.view, self.hit, self.query = view, hit, query
        section = hit.best.section
        self.content = read_lines(view, hit, Span(section.line, section.end_line))
        """None if the file changed since it was indexed."""
        self.body, self.first = read_lines(view, hit, Span(first, _LAST_LINE)) or "", first
        if len(self.body) > snippets.LONGEST:
            self.body, self.first = self.content or "", section.line
        if len(self.body) > snippets.LONGEST:
            self.body, self.first = read_lines(view, hit, hit.best.span) or "", hit.best.line
        self.snippet = snippets.cut_snippet(self.body, query)

    @cached_property
    def line(self) -> int:
        """The line of the best passage if the snippet has a part of it, else the snippet's."""
        firsts, best = [self.first + line for line in self.snippet.lines], self.hit.best
        if not firsts or any(best.line <= line < best.end_line for line in firsts):
            return best.line
        return firsts[0]

    def lines(self, *, whole: bool) -> Collection[int]:
        """Return the lines that are shown: all from the first on if `whole`."""
        return (
            range(self.first, _LAST_LINE) if whole else [self.first + n for n in self.snippet.lines]
        )

    @cached_property
    def section(self) -> Section:
        """The section that has the line."""
        best = self.hit.best.section
        if best.line <= self.line < best.end_line:
            return best
        number = self.hit.document.number
        return document_rows.section_at(self.view.manifest, number, self.line) or best


def read_notes(view: IndexView, hits: Collection[Hit], text: str) -> list[ShownNote]:
    """Return the notes of hits with their texts, each with what answers best in all of it."""
    notes = (
        _read_hit(_HitText(view, hit, hit.best.line, text), (), None, whole=False, newer=None)
        for hit in hits
    )
    return [note for note in notes if note is not None]


def _tells(hit: Hit, section: Section) -> bool:
    """Return whether a section has something to say, as only observations of a session have."""
    return not read_session_id(hit.document) or section.name.startswith(entries.OBSERVATION)


def _read_hit(
    hit_text: _HitText,
    edited_by: tuple[str, ...],
    links: tuple[LinkShown, ...] | None,
    *,
    whole: bool,
    newer: str | None,
    judge: StaleHits | None = None,
) -> ShownNote | None:
    """Return a hit with its texts; None if its file changed since it was indexed."""
    view, hit, text, content = hit_text.view, hit_text.hit, hit_text.query, hit_text.content
    if content is None:
        return None
    note, section = note_of(hit.document), hit_text.section
    questions = note.data.get("asked", ())
    stale = hit.stale
    if judge and not stale:
        stale = judge.reason(hit.document.number, hit_text.lines(whole=whole))
    return ShownNote(
        note_id=note.note_id,
        path=note.path,
        line=hit_text.line,
        title=f"Session of {note.created_at[:_DAY]}" if note.title in questions else note.title,
        heading=join_headings(section, questions),
        content=_GAPS.sub("\n\n", hit_text.body if whole else content),
        snippet=hit_text.snippet.text,
        meta=note.meta._replace(source_type=note.source_type or BY_HAND),
        edited_by=edited_by,
        created_at=note.created_at,
        access_count=hit.access.times,
        last_accessed_at=seconds_to_iso(hit.access.last) if hit.access.times else "",
        opened_count=hit.access.opened,
        relevance_score=round(hit.score, 4),
        reasons=tuple(reason._replace(score=round(reason.score, 4)) for reason in hit.reasons),
        also=tuple(
            ShownNote(
                line=passage.line,
                heading=join_headings(passage.section, questions),
                snippet=snippets.cut_snippet(read_lines(view, hit, passage.span) or "", text).text,
                relevance_score=round(score, 4),
            )
            for passage, score in hit.also
            if passage.section.line != section.line and _tells(hit, passage.section)
        ),
        weak=hit.weak,
        observation_id=section.name if section.name.startswith(entries.OBSERVATION) else None,
        stale=stale or okf.past_review(note.data.get("extra") or {}, time.time()),
        superseded_by=hit.superseded_by or None,
        newer=None if hit.superseded_by else newer,
        links=links,
        description=note.description,
    )


_ENOUGH = 600
"""Tokens of a note's excerpt beyond which its other sentences say little about the question."""

_LEAST = 40
"""Fewest tokens that an excerpt is worth its frame."""

_WEAK = 80
"""Most tokens of a note that is only a weak match."""

_WEAK_SESSIONS, _OF_SESSION = 1, 400
"""Weak sessions that come with text, and most tokens of a good one."""

_FRAME = 60
"""Tokens of a note's place, type, author and dates in an answer."""


def shorten_sessions(answer: Answer) -> Answer:
    """Cut sessions to what answers best: the first weak one to a few sentences, others to none."""
    notes, weak_left = list[ShownNote](), _WEAK_SESSIONS
    for note in answer.notes:
        if note.meta.type != SESSION or not note.content:
            notes.append(note)
        elif note.weak and not weak_left:
            notes.append(note._replace(content="", snippet="", also=()))
        else:
            weak_left -= note.weak
            most = _WEAK if note.weak else _OF_SESSION
            text = snippets.cut_excerpt(note.content, answer.query, most).text
            snippet = "" if note.weak else note.snippet
            notes.append(note._replace(content=text, snippet=snippet, also=()))
    return answer._replace(notes=tuple(notes))


def fit_to_tokens(
    answer: Answer,
    tokens: int,
    frame: Callable[[ShownNote], int] = lambda _: _FRAME,
    *,
    most: int = _ENOUGH,
) -> Answer:
    """Replace the texts of notes by excerpts that fit a number of tokens together.

    The best note gets as much as it needs, `most` tokens at most, then the next; those that nothing
    is left for come without text. `frame` returns the tokens that a note takes besides its excerpt.
    """
    notes = []
    for note in answer.notes:
        room = min(tokens - frame(note), _WEAK if note.weak else most)
        text = snippets.cut_excerpt(note.content, answer.query, room).text if room >= _LEAST else ""
        tokens -= estimate(text) + frame(note) if text else 0
        notes.append(note._replace(content=text, snippet=note.snippet if text else "", also=()))
    return answer._replace(notes=tuple(notes))
