"""Compact text of answers about notes, for agents."""

from __future__ import annotations

from collections.abc import Iterable

from memory_bank.bank.backlinks import LinkShown
from memory_bank.bank.hits import Origin, RecalledNote
from memory_bank.bank.note_files import SESSION
from memory_bank.base.rendering import count, same_words
from memory_bank.base.text import Quotes, estimate, one_line
from memory_bank.memory import views
from memory_bank.memory.records import (
    Behind,
    Listing,
    Why,
)
from memory_bank.memory.retrieval.ask_results import (
    UNANSWERED,
    Answer,
    NoteResult,
    Result,
    file_of,
    line_of,
)
from memory_bank.memory.retrieval.hits import Recalled
from memory_bank.search.document_changes import SyncReport

_ETAG = 16
"""Digits of an abbreviated etag."""

_DAY = 10
"""Characters of the date in a timestamp."""

_MOST = 20
"""Most lines of a list."""

_MOST_TITLE = 100

_LONGEST_ROW, _MOST_BEHIND = 200, 450
"""Most characters of a line of `why`, and bytes of all: dense code has a token in two."""


_FALLBACKS = {
    "embeddings_disabled": "embeddings are off",
    "vectors_pending": "some vectors are not computed yet",
    "embedder_unavailable": "the embedder is not available",
}


def recalled(answer: Recalled, quotes: Quotes) -> str:
    """Show hits, each as a quote with its path, author and date."""
    how = answer.mode_used
    why = answer.fallback_reason
    if why and why.startswith("shared_"):
        how += f"; only this bank was searched, fallback_reason: {why}"
    elif why:
        how = f"lexical only: {_FALLBACKS.get(why, 'the embedder gave no answer')}"
        how += f" (fallback_reason: {why})"
    if answer.notes:
        head = f"{count(answer.result_count, 'note')}, best first ({how})"
    else:
        head = f"Nothing found ({how})"
    unanswered = answer.notes and not answer.answered
    head += ": probably nothing in the bank answers this." if unanswered else "."
    if not answer.notes:
        head += " Try other or fewer words or filters."
    if answer.rev is not None:
        head += f" As of the commit {answer.rev.commit}, {quotes.inside(answer.rev.asked)}."
    good = [_hit(quotes, note) for note in answer.notes if not note.weak]
    weaker = [_hit(quotes, note) for note in answer.notes if note.weak]
    hits = [*good, *(["Weaker matches:"] if weaker else []), *weaker]
    notices = quotes.remarks(answer.notices)
    rows = "\n".join(map(_result_row, answer.commits or ()))
    commits = [quotes.quote(rows, {"what": "commits"})] if rows else []
    return quotes.answer(head, *notices, *hits, *commits, *quotes.remarks(problem=answer.problem))


def linked(answer: Recalled, quotes: Quotes) -> str:
    """Show the notes that link to something, as `recalled` does."""
    if answer.notes or answer.problem or answer.notices:
        return recalled(answer, quotes)
    return "No note links to it."


def listed(listing: Listing, quotes: Quotes) -> str:
    """List notes, a line for each."""
    lines = [
        f"{note.path} | {note.type} | {note.updated_at[:_DAY]} | {one_line(note.title)}"
        + (f"\n  {one_line(note.description)}" if note.description else "")
        for note in listing.notes
    ]
    head = f"{count(listing.result_count, 'note')}, the last changed first."
    notices = quotes.remarks(listing.notices)
    return quotes.answer(head, *notices, quotes.quote("\n".join(lines)) if lines else "")


def synced(report: SyncReport, quotes: Quotes) -> str:
    """Show what was indexed."""
    head = (
        f"Indexed {report.indexed}, removed {report.removed}, not indexable {report.unindexed},"
        f" embedded passages {report.embedded}, waiting for vectors {report.waiting};"
        f" {report.seconds:.1f} s."
    )
    return quotes.answer(head, *quotes.remarks(problem=report.problem))


def _hit(quotes: Quotes, note: RecalledNote) -> str:
    about = {
        **_origin(note.origin),
        "at": f"{note.path}:{note.line}",
        "id": views.own_id(note.note_id, note.path),
        "score": note.relevance_score,
        "type": note.type,
        "tags": " ".join(note.tags),
        "files": " ".join(note.file_refs),
        "symbols": " ".join(note.symbol_refs),
        "entities": " ".join(f"{entity.kind}:{entity.id}" for entity in note.entity_refs),
        "by": views.author(note),
        "trust": note.trust,
        "created_at": note.created_at[:_DAY],
        "age": views.age(note.created_at),
        "status": note.status if note.status != "active" else "",
        "superseded_by": note.superseded_by or "",
        "newer": note.newer or "",
        "stale": note.stale,
    }
    lines = [*_links(note.links or ()), *_section(note)]
    if note.type == SESSION and not note.content:  # only named, as weak sessions are
        about = {key: about[key] for key in ("id", "score", "type", "created_at")}
        lines = [*_links(note.links or ()), note.title]
    return quotes.quote("\n".join(lines), about)


def _origin(origin: Origin | None) -> dict[str, object]:
    """Return where a note is that is not in the bank."""
    if origin is None:
        return {}
    if not origin.repository:
        return {"bank": origin.bank}
    return {"repository": origin.repository, "url": origin.url, "commit": origin.commit[:_ETAG]}


def _section(note: RecalledNote) -> list[str]:
    """Return a hit's title and headings, unless its text starts with one, and its text."""
    headings = [part for part in note.heading.split(" > ") if part]
    if note.title and note.title not in headings[:1]:
        headings.insert(0, note.title)
    above = " > ".join(headings)
    startswith = note.content.startswith("#") or same_words(above, note.content)
    words = note.description or ""
    described = "" if same_words(note.title, words) or words in note.content else words
    return list(
        filter(None, ("" if startswith and not described else above, described, note.content))
    )


def _links(links: Iterable[LinkShown]) -> list[str]:
    return [f"link: {link.source}:{link.line} {link.type} {link.context}" for link in links]


def answer(response: Answer, quotes: Quotes) -> str:
    """Show each result: its kind, score, place and title, and below a line of it."""
    how = f" (fallback_reason: {response.fallback_reason})" if response.fallback_reason else ""
    remarks = []
    if response.problem:
        remarks = [f"{remark}{how}" for remark in quotes.remarks(problem=response.problem)]
    elif how:
        text = "By" if response.mode_used == "lexical" else "Some kinds by"
        remarks = [f"{text} words only{how}"]
    if not response.results:
        return "\n".join(["Nothing found. Try other or fewer words, or other kinds.", *remarks])
    head = (
        f"{count(response.result_count, 'match')}: kind | score | place | title, then a line of it."
    )
    if not response.answered:
        head = f"{UNANSWERED[0].upper()}{UNANSWERED[1:]}. {head}"
    rows = quotes.quote("\n".join(map(_result_row, response.results)))
    return quotes.answer(head, rows, *remarks)


def _result_row(entry: Result) -> str:
    line = line_of(entry)
    place = one_line(f"{file_of(entry)}:{line}" if line else file_of(entry))
    title = one_line(entry.title or "")[:_MOST_TITLE]
    text = f" | {title}" if title and title != place else ""
    described = entry.description if isinstance(entry, NoteResult) else None
    said_text = f"\n  {one_line(described)}" if described else ""
    said_text += "" if same_words(title, entry.snippet) else f"\n  {one_line(entry.snippet)}"
    return f"{entry.kind} | {entry.relevance_score:.2f} | {place}{text}{said_text}"


def then(response: Answer) -> str:
    """Return what to do after an answer."""
    if any(isinstance(entry, NoteResult) for entry in response.results):
        return "`read_memory` shows a note whole."
    return "Read the files at these lines." if response.results else ""


def behind(why: Why, quotes: Quotes) -> str:
    """Show the definition, what is behind it and what hangs on it, in less than 800 tokens."""
    symbol, parts = why.definition, [f"{why.path}:{why.line}" if why.line else why.path]
    if symbol:
        place = f"{symbol.path}:{symbol.line}-{symbol.end_line - 1}"
        parts = [f"{symbol.name} | {symbol.kind} | {place}", symbol.signature]
    callers = ", ".join(f"{call.name} ({call.path}:{call.line})" for call in why.called_by)
    parts += [f"called by {callers}"] if callers else []
    coupled = ", ".join(
        f"{coupled_file.file} ({coupled_file.snippet})" for coupled_file in why.coupled
    )
    parts += [f"may change with it: {coupled}"] if coupled else []
    parts += [_behind_row(commit) for commit in why.behind]
    parts += [f"rule {rule.path}: {rule.sentence or rule.title}" for rule in why.rules]
    parts += [f"test {test.test_file}:{test.line} {test.title} ({test.how})" for test in why.tests]
    rows, room = [], _MOST_BEHIND
    for part in parts:
        row = one_line(part)
        row = row if len(row) <= _LONGEST_ROW else f"{row[: _LONGEST_ROW - 1]}…"
        room -= estimate(row) + 1
        if room < 0:
            break
        rows.append(row)
    left_count = len(parts) - len(rows)
    head = "What is behind it, the newest first."
    more = [f"{count(left_count, 'line')} left out."] if left_count else []
    remarks = [*more, *quotes.remarks(problem=why.problem)]
    return quotes.answer(head, quotes.quote("\n".join(rows)), *remarks)


def _behind_row(commit: Behind) -> str:
    name = f"commit {commit.id[:8]}" if commit.kind == "commit" else commit.id
    request = f" #{commit.pull_request}" if commit.pull_request else ""
    reason = f": {commit.reason}" if commit.reason else ""
    return f"{name} {commit.date[:_DAY]}{request} | {commit.title}{reason}"
