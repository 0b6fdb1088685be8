"""The short text of each answer: what an agent reads of it, in few tokens."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from memory_bank.frontends.mcp.quoting import Quotes, named, one_line
from memory_bank.frontends.present import count

if TYPE_CHECKING:
    from memory_bank.actions.doctor import Health
    from memory_bank.actions.joined import LinkShown
    from memory_bank.actions.listing import Listing, Shown
    from memory_bank.actions.organise import Merged, Renamed, Trashed
    from memory_bank.actions.recall import Recalled, RecalledNote
    from memory_bank.actions.remember import Remembered
    from memory_bank.actions.stats import Stats
    from memory_bank.actions.upkeep import SyncReport
    from memory_bank.actions.writing import Written
    from memory_bank.frontends.mcp.tools.bank import Restored

_WHOLE = 800
"""Characters up to which a section of a good hit is shown whole; of others their snippet is."""
_GOOD = 0.5
"""Score, the best hit having 1, from which a hit is a good one."""
_ALSO = 120
_ETAG = 16
"""Digits of an etag that stand for the whole of it."""
_MOST = 20
"""Lines of a list."""
_FALLBACKS = {
    "embeddings_disabled": "embeddings are off",
    "vectors_pending": "vectors are still being made",
    "embedder_unavailable": "the embedder is not available",
}
_SPANS = ((365, "year"), (30, "month"), (7, "week"), (1, "day"))


def recalled(answer: Recalled) -> str:
    """Show hits: each a quote that names its place, who wrote it, when."""
    why = answer.fallback_reason
    by = f", by words only: {_FALLBACKS.get(why, 'the embedder gave no answer')}" if why else ""
    if not answer.notes:
        found = [f"Nothing found ({answer.mode_used}{by}). Try other or fewer words or filters."]
    else:
        quotes = Quotes()
        hits = count(answer.result_count, "note")
        found = [f"{hits}, best first ({answer.mode_used}{by}). {quotes.notice}"]
        found += [_hit(quotes, note) for note in answer.notes]
    if answer.problem:
        found.append(f"Incomplete: {one_line(answer.problem)}.")
    return "\n".join(found)


def remembered(done: Remembered) -> str:
    """Say which note a content is in."""
    verb = "Created" if done.action == "created" else "The same content was there; updated"
    other = f" {named(done.same_as)} has the same content, unchanged." if done.same_as else ""
    return f"{verb} {named(done.path)}{_version(done.etag)}{other}"


def written(done: Written) -> str:
    """Say which note was changed."""
    verb = "Changed" if done.changed else "Nothing to change in"
    return f"{verb} {named(done.path)}{_version(done.etag)}"


def shown(note: Shown) -> str:
    """Show a note whole, as a quote."""
    quotes = Quotes()
    about = {
        "path": note.path,
        "etag": note.etag[:_ETAG],
        "by": author(note.source_type, note.source_agent),
        "age": age(note.created_at),
        "status": note.status if note.status != "active" else "",
        "backlinks": note.backlinks_count,
    }
    found = [quotes.notice, quotes.quote(note.content, about)]
    found += [f"Fault on line {fault.line}: {one_line(fault.reason)}." for fault in note.faults]
    if not note.writable:
        found.append("No tool can change this file: it is not plain UTF-8.")
    return "\n".join(found)


def listed(listing: Listing) -> str:
    """Show a list of notes, as a quote: their titles are theirs."""
    lines = [
        f"{note.path}: {one_line(note.title)} ({age(note.updated_at)})" for note in listing.notes
    ]
    quotes = Quotes()
    return f"{quotes.notice}\n{quotes.quote(chr(10).join(lines), {'what': 'notes changed last'})}"


def renamed(done: Renamed) -> str:
    """Say where a note went, and which links followed."""
    return f"Moved {named(done.old_path)} to {named(done.path)}.{_relinked(done.relinked)}"


def trashed(done: Trashed) -> str:
    """Say that a note can come back."""
    return f"Moved {named(done.path)} to the trash; restore_memory brings it back."


def restored(done: Restored) -> str:
    """Say where a note is again."""
    return f"Restored {named(done.path)}."


def merged(done: Merged) -> str:
    """Say which note several became."""
    paths = ", ".join(map(named, done.merged))
    return f"Merged {paths} into {named(done.path)}{_version(done.etag)}{_relinked(done.relinked)}"


def stats(found: Stats) -> str:
    """Show counts; tags and types are quoted, for notes name them."""
    quotes = Quotes()
    tags = ", ".join(f"{tag} {many}" for tag, many in list(found.tags.items())[:_MOST])
    types = ", ".join(f"{kind} {many}" for kind, many in list(found.types.items())[:_MOST])
    counts = (
        f"{count(found.count, 'note')} ({found.archived} archived), {found.total_size},"
        f" {count(found.ghosts, 'ghost')}, {count(found.broken_links, 'broken link')},"
        f" {count(found.orphans, 'orphan')}, {count(found.unindexed, 'file')} not indexed."
    )
    named_by_notes = quotes.quote(f"types: {types}\ntags: {tags}")
    return f"{counts} {quotes.notice}\n{named_by_notes}"


def synced(report: SyncReport) -> str:
    """Say what an index run did."""
    told = (
        f"Indexed {report.indexed}, removed {report.removed}, not indexable {report.unindexed},"
        f" waiting for vectors {report.waiting}; {report.seconds:.1f} s."
    )
    return f"{told} {one_line(report.problem)}".strip()


def health(found: Health) -> str:
    """Show what is wrong, in quotes where notes say it."""
    lines = [
        *(f"not indexed: {one.path}: {one.reason}" for one in found.unindexed),
        *(f"fault: {one.path}:{one.line}: {one.reason}" for one in found.faults),
        *(f"broken link: {one.source}:{one.line}: {one.problem}" for one in found.broken_links),
        *(f"same id {one.note_id}: {', '.join(one.paths)}" for one in found.same_ids),
    ]
    head = f"{count(found.notes, 'note')}, {count(found.passages, 'passage')}."
    if found.problem:
        head += f" {one_line(found.problem)}."
    if found.git:
        head += f" {one_line(found.git)}."
    if not lines:
        return f"{head} All is well." if found.healthy else head
    quotes = Quotes()
    more = f"\nand {len(lines) - _MOST} more" if len(lines) > _MOST else ""
    body = "\n".join(map(one_line, lines[:_MOST])) + more
    return f"{head} {quotes.notice}\n{quotes.quote(body)}"


def age(moment: str) -> str:
    """Return how long ago a moment of an answer was: `3 days`, `2 months`."""
    days = (datetime.now(UTC) - datetime.fromisoformat(moment)).days
    span, word = next((one for one in _SPANS if days >= one[0]), (0, ""))
    return count(days // span, word) if span else "today"


def author(source_type: str, source_agent: str) -> str:
    """Return who wrote a note, as far as it says."""
    return f"{source_type} {source_agent}".strip()


def _hit(quotes: Quotes, note: RecalledNote) -> str:
    about = {
        "at": f"{note.path}:{note.line}",
        "score": note.relevance_score,
        "type": note.type,
        "tags": " ".join(note.tags),
        "by": author(note.source_type, note.source_agent),
        "age": age(note.created_at),
        "status": note.status if note.status != "active" else "",
        "superseded_by": note.superseded_by or "",
    }
    lines = [*_links(note.links or ()), *_section(note)]
    lines += [f"also line {one.line}: {_short(one.snippet)}" for one in note.also]
    return quotes.quote("\n".join(lines), about)


def _section(note: RecalledNote) -> list[str]:
    """Return a hit's headings and its section, whole if it is short."""
    short = len(note.content) <= len(note.snippet) + _ALSO
    whole = short or (len(note.content) <= _WHOLE and note.relevance_score >= _GOOD)
    headings = [part for part in note.heading.split(" > ") if part]
    if note.title and note.title not in headings[:1]:
        headings.insert(0, note.title)
    if whole and note.content.lstrip("# ").startswith(headings[-1:][0] if headings else ""):
        headings = headings[:-1]  # the section starts with it
    head = [" > ".join(headings)] if headings else []
    if whole:
        return [*head, note.content]
    return [*head, note.snippet, f"({len(note.content):,} characters in this section)"]


def _links(links: Iterable[LinkShown]) -> list[str]:
    return [f"link: {link.source}:{link.line} {link.type} {link.context}" for link in links]


def _relinked(paths: tuple[str, ...]) -> str:
    if not paths:
        return ""
    more = f" and {len(paths) - _MOST} more" if len(paths) > _MOST else ""
    return f" Links changed in {', '.join(map(named, paths[:_MOST]))}{more}."


def _version(etag: str) -> str:
    return f" (etag {etag[:_ETAG]})."


def _short(text: str) -> str:
    return text if len(text) <= _ALSO else f"{text[:_ALSO]}…"
