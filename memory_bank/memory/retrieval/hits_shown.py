"""Show the hits of `recall`: on one screen of a terminal, all in a pipe, and for other programs."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import datetime
from typing import Annotated, NamedTuple
from urllib.parse import quote

from memory_bank.bank.bank import Bank
from memory_bank.bank.hits import RecalledNote
from memory_bank.base.operation import Param
from memory_bank.base.rendering import named, one_line, plain, same_words, visible
from memory_bank.base.screen import FOUND, NOTHING, Call, Piece, cells, cut
from memory_bank.memory.retrieval.ask_results import file_of
from memory_bank.memory.retrieval.hits import ReadQuery, Recalled, matching_words, read_query

FORMS = ("paths", "md", "json")

WEAKER = "Weaker matches"


_INDENT = "   "


_PROMPTS = 2
"""Rows of a screen for the command line and for the next prompt."""


_MOST_LINES = 4
"""Most lines of a snippet that is shown on a terminal."""


_SCROLLING = 2
"""Lines of each snippet if the answer is longer than the screen anyway."""


_MARKUP = re.compile(r"[\\`*_{}\[\]<>#!|~&$]")


def found(
    call: Call,
    answer: Recalled,
    bank: Bank,
    query: str,
    since: str | datetime | None = None,
    before: str | datetime | None = None,
    *,
    form: Annotated[
        str | None, Param("paths, md, json", flags="--format", metavar="FORM", choices=FORMS)
    ] = None,
    explain: Annotated[bool, Param("Show the parsed query and each note's scores")] = False,
) -> int:
    """Show the notes that were found, and what limits the answer."""
    read = read_query(bank, query, times=since is None and before is None)
    if call.json:
        shown_plain = plain(answer)
        fields = shown_plain if isinstance(shown_plain, dict) else {}
        call.document({**fields, **({"read_as": read} if explain else {})})
    elif form is not None:
        {"paths": _paths, "md": _markdown}[form](call, answer)
    else:
        _show(call, answer, _ShownFields(read, explain=explain))
    _remark(call, answer)
    return FOUND if answer.notes or answer.commits else NOTHING


def _remark(call: Call, recalled: Recalled) -> None:
    """Say what limits the answer, and whether it is one."""
    call.incomplete(recalled.fallback_reason, recalled.problem, mode=recalled.mode_used)
    call.notices(recalled.notices)
    if call.json:
        return
    if recalled.rev is not None:
        call.remark(
            f"as of {recalled.rev.asked}: {recalled.rev.commit}, {recalled.rev.committed_at}"
        )
    if not (recalled.notes or recalled.commits):
        call.remark("nothing found")
    elif recalled.notes and not recalled.answered:
        call.remark(
            "probably nothing answers this"
            if any(note.origin is not None for note in recalled.notes)
            else "probably nothing in the bank answers this"
        )


class _ShownFields(NamedTuple):
    """What of each hit is shown beside its place, title and snippet."""

    read: ReadQuery
    explain: bool = False


def _show(call: Call, answer: Recalled, fields: _ShownFields) -> None:
    """Print the hits of an answer, best first."""
    if fields.explain:
        mode = answer.mode_used
        call.console.line(("read as: ", "dim"), _read(fields.read), ("; mode: ", "dim"), mode)
    hits = [_Hit(call, rank, note, fields) for rank, note in enumerate(answer.notes, 1)]
    if call.console.terminal:
        _fit(call, answer, hits, fields)
    for place, hit in enumerate(hits):
        if place or fields.explain:
            call.console.line()
        if hit.note.weak and not (place and hits[place - 1].note.weak):
            call.console.line((WEAKER, "warn"))
        hit.show()
    for number, commit_result in enumerate(answer.commits or ()):
        if number or hits:
            call.console.line()
        score = f"{commit_result.relevance_score:.2f}"
        call.console.line(_INDENT, (file_of(commit_result), "place"), "  ", (score, "dim"))
        call.console.line(_INDENT, (commit_result.title, "bold"))
        call.console.block(commit_result.snippet, _INDENT)


class _Hit:
    """A hit, and the lines of its snippet."""

    def __init__(self, call: Call, rank: int, note: RecalledNote, fields: _ShownFields) -> None:
        self.console = call.console
        self.call, self.rank, self.note, self.shown = call, rank, note, fields
        text = visible(note.snippet.replace("\r\n", "\n"))
        self.title = one_line(_headed(note.title, note.heading))
        fits = not self.console.terminal or self._cut(self.title) == self.title
        lines = [] if fits and same_words(self.title, text) else text.split("\n")
        self.snippet = [part for line in lines for part in self.console.folded(line, len(_INDENT))]
        words = visible(note.description or "")
        self.description = "" if same_words(note.title, words) else words
        self.lines = len(self.snippet)
        """How many lines of the snippet are shown."""

    @property
    def rows(self) -> int:
        """The rows of the screen that it takes, apart from its snippet."""
        place = cells(f"{_INDENT}{_place(self.call, self.note, self.note.line)}  0.00")
        heading = 1 + (place - 1) // self.console.columns
        marks = (
            bool(self.note.superseded_by or self.note.newer)
            + bool(self.note.stale)
            + bool(_address(self.note))
            + bool(self.description)
        )
        return heading + 1 + marks + len(self.note.links or ())

    def show(self) -> None:
        note = self.note
        self._heading()
        if self.description:
            text = self.description
            text = self._cut(text) if self.console.terminal else text
            self.console.line(_INDENT, *self._marked(text, "dim"))
        for line in self._snippet_lines():
            self.console.line(_INDENT, *self._marked(line))
        if not self.console.terminal:
            self.console.line(_INDENT, (" · ".join(_about(note)), "tag"))
        if address := _address(note):
            self.console.line(_INDENT, (address, "dim"))
        if note.superseded_by:
            successor = _placed(self.call, note, note.superseded_by, None)
            self.console.line(_INDENT, (f"superseded by {successor}", "warn"))
        if note.newer:
            self.console.line(_INDENT, (f"newer: {self.call.place(note.newer)}", "warn"))
        if note.stale:
            self.console.line(_INDENT, (f"stale: {note.stale}", "warn"))
        for reason in note.reasons if self.shown.explain else ():
            why = f"{reason.source:<12}{reason.detail:<24}{reason.score:>6.2f}"
            self.console.line(_INDENT, ("why  ", "dim"), why)
        for link in note.links or ():
            where = (self.call.place(link.source, link.line), "place")
            self.console.line(_INDENT, ("link ", "dim"), where, f"  {link.type}: {link.context}")

    def _heading(self) -> None:
        """Print place, score and title; on a terminal with type, date and tags if they fit."""
        place = _place(self.call, self.note, self.note.line)
        score = f"{self.note.relevance_score:.2f}"
        first = f"{self.rank:<{len(_INDENT)}}"
        about = ""
        if self.console.terminal:
            columns = self.console.columns - cells(f"{first}{place}  {score}  ")
            about = _fitting(self.note, columns)
        gap = "  " if about else ""
        self.console.line(first, (place, "place"), "  ", (score, "dim"), gap, (about, "tag"))
        title = self._cut(self.title) if self.console.terminal else self.title
        self.console.line(_INDENT, *self._marked(title, "bold"))

    def _snippet_lines(self) -> list[str]:
        """Return the lines of the snippet with most words of the query."""
        lines = self.snippet
        if self.lines >= len(lines):
            return lines
        words = self.shown.read.words
        matches = [len(matching_words(line, words)) for line in lines]
        starts = range(len(lines) - self.lines + 1)
        start = max(starts, key=lambda number: sum(matches[number : number + self.lines]))
        kept_lines = lines[start : start + self.lines]
        if start and not kept_lines[0].startswith("…"):
            kept_lines[0] = self._cut(f"… {kept_lines[0]}")
        if start + self.lines < len(lines):
            kept_lines[-1] = self._cut(f"{kept_lines[-1]} …")
        return kept_lines

    def _cut(self, text: str) -> str:
        return cut(text, self.console.width - len(_INDENT))

    def _marked(self, text: str, style: str = "") -> list[Piece]:
        """Return a text as pieces, of which those that match the query are highlighted."""
        if not self.console.coloured:
            return [(text, style)]
        pieces: list[Piece] = []
        last = 0
        for start, end in matching_words(text, self.shown.read.words):
            pieces += [(text[last:start], style), (text[start:end], "match")]
            last = end
        return [*pieces, (text[last:], style)]


def _fit(call: Call, answer: Recalled, hits: Sequence[_Hit], fields: _ShownFields) -> None:
    """Shorten the snippets so that the answer fits the screen, the last ones most."""
    remarks = sum(1 + len(notice) // call.console.columns for notice in answer.notices)
    remarks += (not answer.answered) + any(hit.note.weak for hit in hits)
    rows = call.console.rows - _PROMPTS - remarks - sum(hit.rows + 1 for hit in hits) + 1
    good = any(not hit.note.weak for hit in hits)
    most = [min(len(hit.snippet), _MOST_LINES) for hit in hits]
    if rows < len(hits) or fields.explain:
        for hit, lines in zip(hits, most, strict=True):
            hit.lines = min(lines, _SCROLLING)
        return
    for hit in hits:
        hit.lines = 1
    rows -= len(hits)
    for lines in range(2, _MOST_LINES + 1):
        for hit, longest in zip(hits, most, strict=True):
            if rows and lines <= longest and not (hit.note.weak and good):
                hit.lines, rows = lines, rows - 1


def _headed(title: str, heading: str) -> str:
    """Return a note's title and the headings below it."""
    parts = heading.split(" > ") if heading else []
    if title and not (parts and parts[0].endswith(title)):  # "2. Use a pump" has a record's number
        parts.insert(0, title)
    return " › ".join(parts)


def _about(note: RecalledNote, *, tags_last: bool = False) -> list[str]:
    about = [note.type, *(f"#{tag}" for tag in note.tags), note.created_at[:10]]
    if tags_last:  # they are cut if there is no room
        about = [note.type, note.created_at[:10], *about[1:-1]]
    if note.trust not in {"", "unknown"}:
        about.append(note.trust)
    if note.edited_by:
        about.append(f"edited by {', '.join(note.edited_by)}")
    if note.status != "active":
        about.append(note.status)
    return list(filter(None, about))


def _fitting(note: RecalledNote, columns: int) -> str:
    """Return as many whole parts of what is known of a note as fit; the date before all others."""
    parts = _about(note, tags_last=True)
    choices = [*(parts[:most] for most in range(len(parts), 1, -1)), [note.created_at[:10]]]
    lines = (" · ".join(choice) for choice in choices)
    return next((line for line in lines if cells(line) <= columns), "")


def _address(note: RecalledNote) -> str:
    """Return a hit's web address, or its commit, after what is known of its repository."""
    return " · ".join(filter(None, (*_of_repository(note), _url(note))))


def _read(read: ReadQuery) -> str:
    parts = [f"words {read.words!r}"] if read.words else []
    parts += [f"phrase {phrase!r}" for phrase in read.phrases]
    parts += [f"without {word!r}" for word in read.without]
    return ", ".join([*parts, *read.conditions]) or "nothing to look for"


def _paths(call: Call, answer: Recalled) -> None:
    """Print the path of each note, as seen from the working directory; of others, their place."""
    for note in answer.notes:
        call.console.line(_place(call, note))


def _markdown(call: Call, answer: Recalled) -> None:
    """Print a numbered list with links; markup of the notes is escaped."""
    for rank, note in enumerate(answer.notes, 1):
        if note.weak and (rank == 1 or not answer.notes[rank - 2].weak):
            for line in [*([""] if rank > 1 else []), f"{WEAKER}:", ""]:
                call.console.line(line)
        title = _escaped(_headed(note.title, note.heading) or note.path)
        link = _url(note) or quote(_place(call, note), safe="/")
        about = [note.type, *(f"#{tag}" for tag in note.tags), note.created_at[:10]]
        call.console.line(f"{rank}. [{title}]({link}) ({_escaped(', '.join(filter(None, about)))})")
        if note.description:
            call.console.line(f"   {_escaped(note.description)}")
        call.console.line(f"   {_escaped(note.snippet)}")


def _escaped(text: str) -> str:
    return _MARKUP.sub(r"\\\g<0>", one_line(text))


def _place(call: Call, note: RecalledNote, line: int | None = None) -> str:
    """Return a hit's file as seen from the working directory; of others, after their name."""
    return _placed(call, note, note.path, line)


def _url(note: RecalledNote) -> str:
    """Return the web address of a hit; empty if it has none."""
    return named(note.origin.url) if note.origin is not None else ""


def _of_repository(note: RecalledNote) -> list[str]:
    """Return what is known of a hit's repository beside its name: commit, teams, age."""
    if note.origin is None or not note.origin.repository:
        return []
    days = note.origin.age_days
    age = f"{days} day{'' if days == 1 else 's'} old"
    return [f"commit {note.origin.commit[:12]}", *note.origin.teams, age]


def _placed(call: Call, note: RecalledNote, path: str, line: int | None) -> str:
    if note.origin is None:
        return call.place(path, line)
    where = f"{note.origin.repository or note.origin.bank}:{path}"
    return named(where if line is None else f"{where}:{line}")
