"""What answers of `recall` and `ask` say, to people and to agents."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, Annotated
from urllib.parse import quote

from memory_bank.bank.bank import Bank
from memory_bank.bank.note_files import SESSION
from memory_bank.bank.records import Origin, ShownNote
from memory_bank.base import lazy_pattern
from memory_bank.base.dates import format_iso
from memory_bank.base.hit_view import WEAKER, Place, ShownHit, format_place
from memory_bank.base.operation import Param
from memory_bank.base.rendering import count, has_same_words, quote_path, starts_text, to_plain
from memory_bank.base.screen import FOUND, NOTHING, Call, Piece, show_place
from memory_bank.base.text import one_line
from memory_bank.base.view import Entry, View
from memory_bank.memory.retrieval.answers import (
    UNANSWERED,
    Answer,
    Result,
    format_age,
    match_words,
    name_authors,
    own_id,
    read_query,
    result_file,
    result_line,
)
from memory_bank.search.query import Query
from memory_bank.search.retrievers.base import CONDITIONS

if TYPE_CHECKING:  # start-up: a search in notes needs no code
    from memory_bank.code.index.codebase import Codebase

FORMS = ("paths", "md", "json")

_COMMIT, _DAY = 16, 10
"""Digits of an abbreviated commit, and characters of the date in a timestamp."""

# Characters of a title for agents.
_MOST_TITLE = 100

_MARKUP = lazy_pattern(r"[\\`*_{}\[\]<>#!|~&$]")

_KINDS = {"test_guard": "test", "coupled_file": "coupled file"}
"""Kinds as a person calls them."""

_FALLBACKS = {
    "embeddings_disabled": "embeddings are off",
    "vectors_pending": "some vectors are not computed yet",
    "embedder_unavailable": "the embedder is not available",
}


def view_recall(
    answer: Answer,
    bank: Bank | None = None,
    call: Call | None = None,
    query: str = "",
    since: str | datetime | None = None,
    before: str | datetime | None = None,
    *,
    form: Annotated[
        str | None, Param("paths, md, json", flags="--format", metavar="FORM", choices=FORMS)
    ] = None,
    explain: Annotated[bool, Param("Show the parsed query and each note's scores")] = False,
) -> View:
    """Describe the hits of a search in notes, and what limits the answer."""
    parsed = read_query(bank, query, times=since is None and before is None) if bank else None
    hits = [_hit(note, explain=explain) for note in answer.notes]
    hits += [_result_hit(commit, result_file(commit)) for commit in answer.commits or ()]
    unanswered = answer.notes and not answer.answered
    parts: Sequence[Entry | ShownHit | str] = hits
    if form == "paths":
        parts = [Entry(_place(note, None)) for note in answer.notes]
    elif explain and parsed is not None:
        parts = [f"read as: {_describe_query(parsed)}; mode: {answer.mode_used}", *hits]
    fields = to_plain(answer)
    read_as = _query_fields(parsed) if parsed else None
    return View(
        _describe_search(answer),
        parts,
        advice="" if answer.notes else "Try other or fewer words or filters.",
        notices=answer.notices,
        problem=answer.problem,
        fallback=answer.fallback_reason or "",
        mode=answer.mode_used,
        remarks=[
            *([f"as of {answer.rev.asked}: {answer.rev.commit}, {answer.rev.committed_at}"]
              if answer.rev else []),
            *([_say_unanswered(answer)] if unanswered else []),
            *([] if answer.notes or answer.commits else ["nothing found"]),
        ],
        text=_write_markdown(call, answer) if form == "md" and call and answer.notes else "",
        code=FOUND if answer.notes or answer.commits else NOTHING,
        document={**fields, "read_as": read_as} if explain and isinstance(fields, dict) else None,
        spans=partial(match_words, words=parsed.question.text) if parsed else None,
    )  # fmt: skip


def _describe_search(answer: Answer) -> str:
    """Return how many notes were found, and how it was searched."""
    how, why = answer.mode_used, answer.fallback_reason
    if why and why.startswith("shared_"):
        how += f"; only this bank was searched, fallback_reason: {why}"
    elif why:
        how = f"lexical only: {_FALLBACKS.get(why, 'the embedder gave no answer')}"
        how += f" (fallback_reason: {why})"
    if not answer.notes:
        return f"Nothing found ({how})"
    head = f"{count(answer.result_count, 'note')}, best first ({how})"
    head += "" if answer.answered else ": probably nothing in the bank answers this"
    return head if answer.rev is None else f"{head}. As of the commit {answer.rev.commit}"


def _say_unanswered(answer: Answer) -> str:
    elsewhere = any(note.origin is not None for note in answer.notes)
    return f"probably nothing {'' if elsewhere else 'in the bank '}answers this"


def view_linked(answer: Answer) -> View:
    """Describe the notes that link to something."""
    if answer.notes or answer.problem or answer.notices:
        return view_recall(answer)
    return View("No note links to it")


def _hit(note: ShownNote, *, explain: bool) -> ShownHit:
    """Return a note with what people and agents read of it."""
    about = {
        **_origin_fields(note.origin),
        "at": f"{note.path}:{note.line}",
        "id": own_id(note.note_id, note.path),
        "observation": note.observation_id or "",
        "score": note.relevance_score,
        "type": note.meta.type,
        "tags": " ".join(note.meta.tags),
        "files": " ".join(note.meta.file_refs),
        "symbols": " ".join(note.meta.symbol_refs),
        "entities": " ".join(f"{entity.kind}:{entity.id}" for entity in note.meta.entity_refs),
        "by": name_authors(note),
        "trust": note.trust,
        "created_at": note.created_at[:_DAY],
        "age": format_age(note.created_at),
        "status": note.meta.status if note.meta.status != "active" else "",
        "superseded_by": note.superseded_by or "",
        "newer": note.newer or "",
        "stale": note.stale,
    }
    text = _titled_text(note)
    if note.meta.type == SESSION and not note.content:  # only named, as weak sessions are
        about = {key: about[key] for key in ("id", "score", "type", "created_at")}
        text = [note.title]
    links = [f"link: {link.source}:{link.row.line} {link.row.type} {link.context}"
             for link in note.links or ()]  # fmt: skip
    details: list[Sequence[Piece | Place]] = [
        (("why  ", "dim"), f"{reason.source:<12}{reason.detail:<24}{reason.score:>6.2f}")
        for reason in (note.reasons if explain else ())
    ]
    details += [
        (
            ("link ", "dim"),
            Place(link.source, link.row.line),
            f"  {link.row.type}: {link.context}",
        )
        for link in note.links or ()
    ]
    return ShownHit(
        _place(note, note.line),
        None if note.reasons and note.reasons[0].source == CONDITIONS else note.relevance_score,
        _join_heading(note.title, note.heading),
        note.snippet,
        note.created_at[:_DAY],
        _list_facts(note),
        _list_marks(note),
        details,
        about,
        "\n".join([*links, *text]),
        note.weak,
        "" if has_same_words(note.title, note.description or "") else note.description or "",
    )


def _list_facts(note: ShownNote) -> list[str]:
    return [
        note.meta.type,
        *(f"#{tag}" for tag in note.meta.tags),
        "" if note.trust == "unknown" else note.trust,
        f"edited by {', '.join(note.edited_by)}" if note.edited_by else "",
        "" if note.meta.status == "active" else note.meta.status,
    ]


def _list_marks(note: ShownNote) -> list[tuple[str, Place | str]]:
    """Return where a note of another repository is, and what speaks against a note."""
    marks: list[tuple[str, Place | str]] = []
    if note.origin is not None and (address := _describe_origin(note.origin)):
        marks.append(("", address))
    if note.superseded_by:
        marks.append(("superseded by ", _place_beside(note, note.superseded_by, None)))
    if note.newer:
        marks.append(("newer: ", Place(note.newer)))
    return [*marks, *([("stale: ", note.stale)] if note.stale else [])]


def _origin_fields(origin: Origin | None) -> dict[str, object]:
    """Return the fields that say in which other bank or repository a note is."""
    if origin is None:
        return {}
    if not origin.repository:
        return {"bank": origin.bank}
    commit = origin.commit[:_COMMIT]
    return {"repository": origin.repository, "url": origin.url, "commit": commit}


def _describe_origin(origin: Origin) -> str:
    """Return the commit and the age of a hit's repository, then the hit's web address."""
    facts: list[str] = []
    if origin.repository:
        facts = [f"commit {origin.commit[:12]}", f"{count(origin.age_days, 'day')} old"]
    return " · ".join(filter(None, (*facts, quote_path(origin.url))))


def _place(note: ShownNote, line: int | None) -> Place | str:
    return _place_beside(note, note.path, line)


def _place_beside(note: ShownNote, path: str, line: int | None) -> Place | str:
    """Return a file beside a note; of another bank or repository, after its name."""
    if note.origin is None:
        return Place(path, line)
    where = f"{note.origin.repository or note.origin.bank}:{path}"
    return quote_path(where if line is None else f"{where}:{line}")


def _join_heading(title: str, heading: str) -> str:
    """Return a note's title and the headings below it."""
    parts = heading.split(" > ") if heading else []
    if title and not (parts and parts[0].endswith(title)):  # "2. Use a pump" has a record's number
        parts.insert(0, title)
    return " › ".join(parts)


def _titled_text(note: ShownNote) -> list[str]:
    """Return a hit's title and headings, unless its text starts with one, and its text."""
    headings = [part for part in note.heading.split(" > ") if part]
    if note.title and note.title not in headings[:1]:
        headings.insert(0, note.title)
    above = " > ".join(headings)
    titled = (
        note.content.startswith("#")
        or has_same_words(above, note.content)
        or starts_text(above, note.content)
    )
    description = note.description or ""
    if has_same_words(note.title, description) or description in note.content:
        description = ""
    above = "" if titled and not description else above
    return list(filter(None, (above, description, note.content)))


def _format_value(value: str | datetime) -> str:
    return value if isinstance(value, str) else format_iso(value)


def _query_fields(query: Query) -> dict[str, str | Sequence[str]]:
    """Return how a query was read; a condition as `key:value`, a negated one after a `-`."""
    return {
        "words": query.question.text,
        "phrases": query.question.required + query.question.preferred,
        "without": query.question.excluded,
        "conditions": [
            f"{'-' * condition.negated}{condition.key}:{_format_value(condition.value)}"
            for condition in query.conditions
        ],
    }


def _describe_query(query: Query) -> str:
    words, phrases, excluded, conditions = _query_fields(query).values()
    parts = [f"words {words!r}"] if words else []
    parts += [f"phrase {phrase!r}" for phrase in phrases]
    parts += [f"without {word!r}" for word in excluded]
    return ", ".join([*parts, *conditions]) or "nothing to look for"


def _write_markdown(call: Call, answer: Answer) -> str:
    """Return a numbered list with links; markup of the notes is escaped."""
    lines = []
    for rank, note in enumerate(answer.notes, 1):
        if note.weak and (rank == 1 or not answer.notes[rank - 2].weak):
            lines += [*([""] if rank > 1 else []), f"{WEAKER}:", ""]
        title = _escape_markup(_join_heading(note.title, note.heading) or note.path)
        link = quote_path(note.origin.url) if note.origin else ""
        link = link or quote(format_place(call, _place(note, None)), safe="/")
        about = [note.meta.type, *(f"#{tag}" for tag in note.meta.tags), note.created_at[:_DAY]]
        lines.append(
            f"{rank}. [{title}]({link}) ({_escape_markup(', '.join(filter(None, about)))})"
        )
        lines += [f"   {_escape_markup(note.description)}"] if note.description else []
        lines.append(f"   {_escape_markup(note.snippet)}")
    return "\n".join(lines)


def _escape_markup(text: str) -> str:
    return _MARKUP.sub(r"\\\g<0>", one_line(text))


def view_ask(answer: Answer, codebase: Codebase | None = None, query: str = "") -> View:
    """Describe what answers a question: notes, documents, symbols, tests, files, commits."""
    from memory_bank.code.records import plain_words  # start-up: a search in notes needs no code

    hits = []
    for result in answer.results or ():
        where: Place | str = Place(result_file(result), result_line(result) or None)
        if result.kind == "commit":
            where = result_file(result)
        elif codebase is not None and result.kind != "note":
            where = show_place(codebase.root / result_file(result), result_line(result) or None)
        hit = _result_hit(result, where)
        hits.append(hit._replace(snippet=" ".join(plain_words(hit.snippet).split())))
    head = f"{count(answer.result_count, 'match')}: kind | score | place | title, then a line of it"
    if not answer.answered:
        head = f"{UNANSWERED[0].upper()}{UNANSWERED[1:]}. {head}"
    notes = any(result.kind == "note" for result in answer.results or ())
    why = f"fallback_reason: {answer.fallback_reason}" if answer.fallback_reason else ""
    words = "By" if answer.mode_used == "lexical" else "Some kinds by"
    return View(
        head if hits else "Nothing found",
        hits,
        advice=" ".join(
            filter(
                None,
                (
                    "" if hits else "Try other or fewer words, or other kinds.",
                    f"{words} words only ({why})." if why else "",
                ),
            )
        ),
        problem=answer.problem,
        fallback=answer.fallback_reason or "",
        mode=answer.mode_used,
        remarks=[] if answer.answered else [UNANSWERED if hits else "nothing found"],
        then="`read_memory` shows a note whole."
        if notes
        else "Read the files at these lines." * bool(hits),
        code=FOUND if hits else NOTHING,
        spans=partial(match_words, words=query),
    )


def _result_hit(result: Result, where: Place | str) -> ShownHit:
    """Return a result of `ask`; an agent reads a row, and below a line of it."""
    line, title = result_line(result), result.title or ""
    at = one_line(f"{result_file(result)}:{line}" if line else result_file(result))
    short = one_line(title)[:_MOST_TITLE]
    if starts_text(title, result.snippet):
        short = one_line(result.snippet)
    row = f"{result.kind} | {result.relevance_score:.2f} | {at}"
    row += f" | {short}" if short and short != at else ""
    description = result.description or ""
    row += f"\n  {one_line(description)}" if description else ""
    row += "" if has_same_words(short, result.snippet) else f"\n  {one_line(result.snippet)}"
    return ShownHit(
        where,
        result.relevance_score,
        "" if title == result_file(result) else title,
        "" if has_same_words(title, result.snippet) else result.snippet,
        (result.created_at or "")[:_DAY] if result.kind == "note" else "",
        [_KINDS.get(result.kind, result.kind)],
        text=row,
        description=description,
    )
