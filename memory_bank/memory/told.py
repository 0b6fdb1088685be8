"""Compact text of answers about notes, for agents."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime

from memory_bank.bank.backlinks import LinkShown
from memory_bank.bank.hits import Origin, RecalledNote
from memory_bank.bank.note_files import SESSION
from memory_bank.base.rendering import count, same_words
from memory_bank.base.text import Quotes, estimate, one_line
from memory_bank.memory.records import (
    Behind,
    Confirmation,
    Listing,
    Merged,
    Remembered,
    Renamed,
    RestoredNote,
    SeveralShown,
    ShownNote,
    ShownSection,
    Stats,
    TrashedNote,
    Why,
    WrittenNote,
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

_DIGITS = 12
"""Digits of an abbreviated commit."""

_ETAG = 16
"""Digits of an abbreviated etag."""

_DAY = 10
"""Characters of the date in a timestamp."""

_MOST = 20
"""Most lines of a list."""

_MOST_TITLE = 100

_LONGEST_ROW, _MOST_BEHIND = 200, 450
"""Most characters of a line of `why`, and bytes of all: dense code has a token in two."""

_AMENDS = (
    " It may amend the older note may_amend: if it replaces that, append"
    " `- supersedes:: [[name]]` to it, else `- related_to:: [[name]]`."
)

_FALLBACKS = {
    "embeddings_disabled": "embeddings are off",
    "vectors_pending": "some vectors are not computed yet",
    "embedder_unavailable": "the embedder is not available",
}

_SPANS = ((365, "year"), (30, "month"), (7, "week"), (1, "day"))


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


def remembered(done_remembered: Remembered, quotes: Quotes) -> str:
    """Say which note has the content."""
    verb = (
        "Created"
        if done_remembered.action == "created"
        else "A note had the same content; updated it"
    )
    about = {
        "path": done_remembered.path,
        "id": _id(done_remembered.note_id, done_remembered.path),
        "etag": done_remembered.etag[:_ETAG],
        "type": done_remembered.type,
        "tags": " ".join(done_remembered.tags),
        "by": done_remembered.source_type,
        "created_at": done_remembered.created_at,
        "same_as": done_remembered.same_as or "",
        "similar_to": done_remembered.similar_to or "",
        "may_amend": done_remembered.may_amend or "",
        "session": done_remembered.session_id or "",
    }
    head = f"{verb} (action: {done_remembered.action})."
    if done_remembered.same_as:
        head += " Another note, same_as, has the same content."
    if done_remembered.similar_to:
        head += " Another note, similar_to, says nearly the same: read it, then merge or edit."
    head += _AMENDS if done_remembered.may_amend else ""
    return quotes.answer(head + _warning(done_remembered.warning), quotes.quote("", about))


def written(done_note: WrittenNote, quotes: Quotes) -> str:
    """Say which note was changed."""
    verb = "Changed." if done_note.changed else "Nothing to change."
    amends = done_note.may_amend or ""
    note = _note(quotes, path=done_note.path, etag=done_note.etag[:_ETAG], may_amend=amends)
    verb += _AMENDS if amends else ""
    return quotes.answer(verb + _warning(done_note.warning), note)


def read(note_view: ShownNote | ShownSection | SeveralShown, quotes: Quotes) -> str:
    """Show notes or sections, each as a quote, and which names are no notes."""
    if not isinstance(note_view, SeveralShown):
        return quotes.answer("", *_quoted(note_view, quotes))
    quoted = [part for note in note_view.notes for part in _quoted(note, quotes)]
    missing = lines_of(
        "",
        [
            f"{current_missing.name}: {current_missing.reason}"
            for current_missing in note_view.missing
        ],
    )
    unread = quotes.quote(missing, {"what": "not read"}) if missing else ""
    return quotes.answer("", *quoted, unread)


def listed(listing: Listing, quotes: Quotes) -> str:
    """List notes, a line for each."""
    lines = [
        f"{note.path} | {note.type} | {note.updated_at[:_DAY]} | {one_line(note.title)}"
        for note in listing.notes
    ]
    head = f"{count(listing.result_count, 'note')}, the last changed first."
    notices = quotes.remarks(listing.notices)
    return quotes.answer(head, *notices, quotes.quote("\n".join(lines)) if lines else "")


def renamed(done_renamed: Renamed, quotes: Quotes) -> str:
    """Show a note's new path, and the notes whose links were rewritten."""
    moved = _note(quotes, old_path=done_renamed.old_path, path=done_renamed.path)
    head = "Moved." + _warning(done_renamed.warning)
    relinked = _relinked(quotes, done_renamed.relinked)
    return quotes.answer(head, moved, *relinked, *_broken(quotes, done_renamed.broken_links))


def trashed(note: TrashedNote, quotes: Quotes) -> str:
    """Say that a note is in the trash, and how to restore it."""
    head = "Moved to the trash; restore_memory brings it back."
    return quotes.answer(head, _note(quotes, path=note.path))


def restored(note: RestoredNote, quotes: Quotes) -> str:
    """Show the path of a restored note."""
    return quotes.answer("Restored.", _note(quotes, path=note.path))


def merged(done_merged: Merged, quotes: Quotes) -> str:
    """Show the merged note and its sources."""
    entries = {
        "path": done_merged.path,
        "id": done_merged.note_id,
        "etag": done_merged.etag[:_ETAG],
    }
    whole = quotes.quote(lines_of("merged: ", done_merged.merged), entries)
    head = "Merged; the sources are in the trash." + _warning(done_merged.warning)
    relinked = _relinked(quotes, done_merged.relinked)
    return quotes.answer(head, whole, *relinked, *_broken(quotes, done_merged.broken_links))


def stats(counts: Stats, quotes: Quotes) -> str:
    """Show counts; tags and types are quoted, since they come from notes."""
    tags = ", ".join(f"{tag} {many}" for tag, many in list(counts.tags.items())[:_MOST])
    types = ", ".join(f"{kind} {many}" for kind, many in list(counts.types.items())[:_MOST])
    summary = (
        f"{count(counts.count, 'note')} ({counts.archived} archived), {counts.total_size},"
        f" {count(counts.ghosts, 'ghost')}, {count(counts.broken_links, 'broken link')},"
        f" {count(counts.orphans, 'orphan')}, {count(counts.unindexed, 'file')} not indexed."
    )
    return quotes.answer(summary, quotes.quote(f"types: {types}\ntags: {tags}"))


def synced(report: SyncReport, quotes: Quotes) -> str:
    """Show what was indexed."""
    head = (
        f"Indexed {report.indexed}, removed {report.removed}, not indexable {report.unindexed},"
        f" embedded passages {report.embedded}, waiting for vectors {report.waiting};"
        f" {report.seconds:.1f} s."
    )
    return quotes.answer(head, *quotes.remarks(problem=report.problem))


def age(moment: str) -> str:
    """Return the age of a timestamp: `3 days`, `2 months`."""
    days = (datetime.now(UTC) - datetime.fromisoformat(moment)).days
    span, word = next((current_span for current_span in _SPANS if days >= current_span[0]), (0, ""))
    return count(days // span, word) if span else "today"


def author(note: ShownNote | RecalledNote) -> str:
    """Return the recorded author of a note, and the agents known to have changed it."""
    source = "person" if note.source_type == "manual" else note.source_type
    wrote = f"{source} {note.source_agent}".strip()
    return f"{wrote}, edited by {', '.join(note.edited_by)}" if note.edited_by else wrote


def _warning(warning: str | None) -> str:
    """Return a warning as a sentence; it contains no text of notes, so it is not quoted."""
    return f" Warning: {warning}." if warning else ""


def _note(quotes: Quotes, **about: object) -> str:
    """Return a quote with only the attributes of a note."""
    return quotes.quote("", about)


def _id(note_id: str, path: str) -> str:
    """Return a note's id; empty if its path serves as the id."""
    return "" if note_id == path else note_id


def _quoted(note: ShownNote | ShownSection, quotes: Quotes) -> list[str]:
    """Quote a whole note and its faults, or a section."""
    if isinstance(note, ShownSection):
        about = {"path": note.path, "line": note.line, "etag": note.etag[:_ETAG]}
        return [quotes.quote(note.content, {**about, "stale": note.stale})]
    about = {
        "path": note.path,
        "id": _id(note.note_id, note.path),
        "etag": note.etag[:_ETAG],
        "type": note.type,
        "tags": " ".join(note.tags),
        "by": author(note),
        "created_at": note.created_at,
        "updated_at": note.updated_at if note.updated_at != note.created_at else "",
        "age": age(note.created_at),
        "status": note.status if note.status != "active" else "",
        "backlinks": note.backlinks_count,
        "stale": note.stale,
        "claims": "; ".join(note.claims),
    }
    faults = "\n".join(f"line {fault.line}: {one_line(fault.reason)}" for fault in note.faults)
    return [
        quotes.quote(note.content, about),
        quotes.quote(faults, {"what": "faults in the file"}) if faults else "",
        _unwritable(note),
    ]


def _hit(quotes: Quotes, note: RecalledNote) -> str:
    about = {
        **_origin(note.origin),
        "at": f"{note.path}:{note.line}",
        "id": _id(note.note_id, note.path),
        "score": note.relevance_score,
        "type": note.type,
        "tags": " ".join(note.tags),
        "files": " ".join(note.file_refs),
        "symbols": " ".join(note.symbol_refs),
        "entities": " ".join(f"{entity.kind}:{entity.id}" for entity in note.entity_refs),
        "by": author(note),
        "trust": note.trust,
        "created_at": note.created_at[:_DAY],
        "age": age(note.created_at),
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
    return list(filter(None, ("" if startswith else above, note.content)))


def _links(links: Iterable[LinkShown]) -> list[str]:
    return [f"link: {link.source}:{link.line} {link.type} {link.context}" for link in links]


def _relinked(quotes: Quotes, paths: tuple[str, ...]) -> list[str]:
    entries = {"what": "notes whose links were changed"}
    return [quotes.quote(lines_of("", paths), entries)] if paths else []


def _broken(quotes: Quotes, links: Sequence[LinkShown] | None) -> list[str]:
    """Quote the places of links in included files that a move has broken."""
    entries = {"what": "links to the old name in files that are only included: unchanged"}
    places = [f"{link.source}:{link.line}" for link in links or ()]
    return [quotes.quote(lines_of("", places), entries)] if places else []


def _unwritable(note: ShownNote) -> str:
    if note.writable:
        return ""
    reason = "it is only included from the project" if note.included else "it is not valid UTF-8"
    return f"No tool can change this file: {reason}."


def lines_of(before: str, items: Sequence[str]) -> str:
    """Return the first items, each on a line, and the number of the others."""
    more = [f"and {len(items) - _MOST} more"] if len(items) > _MOST else []
    return "\n".join([*(before + one_line(item) for item in items[:_MOST]), *more])


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
    said_text = "" if same_words(title, entry.snippet) else f"\n  {one_line(entry.snippet)}"
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


def confirmed(confirmation: Confirmation, quotes: Quotes) -> str:
    """Say which notes were confirmed."""
    lines = []
    for note in confirmation.notes:
        warning = f" warning: {one_line(note.warning)}" if note.warning else ""
        moved = f" wrote {one_line(', '.join(note.targets))}" if note.targets else ""
        lines.append(f"{one_line(note.path)}{moved}{warning}")
    head = (
        f"{count(len(confirmation.notes), 'note')} confirmed as of {confirmation.commit[:_DIGITS]}."
    )
    return quotes.answer(head, quotes.quote("\n".join(lines)))
