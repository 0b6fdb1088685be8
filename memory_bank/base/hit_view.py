"""A hit of a search, and how hits are printed: on one screen of a terminal, all in a pipe."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from memory_bank.base import NamedTuple
from memory_bank.base.rendering import has_same_words, make_visible, one_line, starts_text
from memory_bank.base.screen import Call, Piece, count_cells, cut

_INDENT = "   "

_PROMPTS = 2
"""Rows of a screen for the command line and for the next prompt."""

_MOST_LINES = 4
"""Most lines of a snippet that is shown on a terminal."""

_SCROLLING = 2
"""Lines of each snippet if the answer is longer than the screen anyway."""

WEAKER = "Weaker matches"

Spans = Callable[[str], Sequence[tuple[int, int]]]
"""Returns where the words of a query stand in a text, as start and end."""


class Place(NamedTuple):
    """A note's file: a person reads where it is from the working directory, an agent its path."""

    path: str
    line: int | None = None


class ShownHit(NamedTuple):
    """Something that a search found."""

    place: Place | str
    score: float | None
    """How likely it answers, 0 to 1; None where nothing was asked but conditions."""
    title: str
    snippet: str
    """The sentences that answer best, for people."""
    date: str = ""
    facts: Sequence[str] = ()
    """What a person reads of it, the most important first."""
    marks: Sequence[tuple[str, Place | str]] = ()
    """What speaks against it, and what a person reads of that."""
    details: Sequence[Sequence[Piece | Place]] = ()
    """More lines for people."""
    about: Mapping[str, object] = {}
    """What is known of it, for agents; without it, its text is a row among others."""
    text: str = ""
    """What an agent reads."""
    weak: bool = False
    description: str = ""
    """What it says of itself, for people."""


def format_place(call: Call, place: Place | str) -> str:
    """Return a place as a person reads it."""
    return call.place(*place) if isinstance(place, Place) else one_line(place)


def style_piece(call: Call, piece: Piece | Place) -> Piece:
    """Return a piece of a line, of a place with its style."""
    return (format_place(call, piece), "place") if isinstance(piece, Place) else piece


def print_hits(
    call: Call, hits: Sequence[ShownHit], spans: Spans, *, remarks: int, whole: bool
) -> None:
    """Print hits, best first; on a terminal, snippets are shortened to fit the screen.

    `remarks` is the number of lines that follow; if `whole`, the answer may be longer.
    """
    printed = [_PrintedHit(call, rank, hit, spans) for rank, hit in enumerate(hits, 1)]
    if call.console.terminal:
        _fit(call, printed, remarks, whole=whole)
    for number, hit in enumerate(printed):
        if number:
            call.console.line()
        if hit.hit.weak and not (number and hits[number - 1].weak):
            call.console.line((WEAKER, "warn"))
        hit.show()


class _PrintedHit:
    """A hit, and the lines of its snippet."""

    def __init__(self, call: Call, rank: int, hit: ShownHit, spans: Spans) -> None:
        self.console, self.call, self.rank, self.hit = call.console, call, rank, hit
        self.spans = spans
        text = make_visible(hit.snippet.replace("\r\n", "\n"))
        self.title = "" if starts_text(hit.title, text) else one_line(hit.title)
        fits = not self.console.terminal or self._cut(self.title) == self.title
        lines = [] if not text or (fits and has_same_words(self.title, text)) else text.split("\n")
        self.snippet = [
            part for line in lines for part in self.console.fold_line(line, len(_INDENT))
        ]
        self.lines = len(self.snippet)
        """How many lines of the snippet are shown."""

    @property
    def rows(self) -> int:
        """The rows of the screen that it takes, apart from its snippet."""
        place = count_cells(f"{_INDENT}{format_place(self.call, self.hit.place)}  0.00")
        heading = 1 + (place - 1) // self.console.columns
        heading += bool(self.title) + bool(self.hit.description)
        return heading + len(self.hit.marks) + len(self.hit.details)

    def show(self) -> None:
        hit, line = self.hit, self.console.line
        self._heading()
        if description := make_visible(hit.description):
            text = self._cut(description) if self.console.terminal else description
            line(_INDENT, *self._mark_matches(text, "dim"))
        for text in self._snippet_lines():
            line(_INDENT, *self._mark_matches(text))
        if not self.console.terminal and len(facts := self._facts()) > 1:
            line(_INDENT, (" · ".join(facts), "tag"))
        for mark, value in hit.marks:
            text = format_place(self.call, value)
            line(_INDENT, (f"{mark}{text}", "warn" if mark else "dim"))
        for detail in hit.details:
            line(_INDENT, *(style_piece(self.call, piece) for piece in detail))

    def _facts(self) -> list[str]:
        kind, *others = self.hit.facts or [""]
        if self.console.terminal:  # what does not fit is cut at the end
            return list(filter(None, [kind, self.hit.date, *others]))
        tags = [fact for fact in others if fact.startswith("#")]
        rest = [fact for fact in others if not fact.startswith("#")]
        return list(filter(None, [kind, *tags, self.hit.date, *rest]))

    def _heading(self) -> None:
        """Print place, score and title; on a terminal with as many facts as fit."""
        place = format_place(self.call, self.hit.place)
        score = "" if self.hit.score is None else f"  {self.hit.score:.0%}"
        first = f"{self.rank:<{len(_INDENT)}}"
        about = "".join(facts) if len(facts := self._facts()) == 1 else ""
        if self.console.terminal:
            columns = self.console.columns - count_cells(f"{first}{place}{score}  ")
            about = next((facts for facts in self._shorter() if count_cells(facts) <= columns), "")
        gap = "  " if about else ""
        self.console.line(first, (place, "place"), (score, "dim"), gap, (about, "tag"))
        if self.title:
            title = self._cut(self.title) if self.console.terminal else self.title
            self.console.line(_INDENT, *self._mark_matches(title, "bold"))

    def _shorter(self) -> Iterator[str]:
        facts = self._facts()
        for most in range(len(facts), 1, -1):
            yield " · ".join(facts[:most])
        yield self.hit.date or "".join(facts[:1])

    def _snippet_lines(self) -> list[str]:
        """Return the lines of the snippet with most words of the query."""
        lines = self.snippet
        if self.lines >= len(lines):
            return lines
        matches = [len(self.spans(line)) for line in lines]
        starts = range(len(lines) - self.lines + 1)
        start = max(starts, key=lambda number: sum(matches[number : number + self.lines]))
        lines_shown = lines[start : start + self.lines]
        if start and not lines_shown[0].startswith("…"):
            lines_shown[0] = self._cut(f"… {lines_shown[0]}")
        if start + self.lines < len(lines):
            lines_shown[-1] = self._cut(f"{lines_shown[-1]} …")
        return lines_shown

    def _cut(self, text: str) -> str:
        return cut(text, self.console.width - len(_INDENT))

    def _mark_matches(self, text: str, style: str = "") -> list[Piece]:
        """Return a text as pieces, of which those that match the query are highlighted."""
        if not self.console.coloured:
            return [(text, style)]
        pieces: list[Piece] = []
        last = 0
        for start, end in self.spans(text):
            pieces += [(text[last:start], style), (text[start:end], "match")]
            last = end
        return [*pieces, (text[last:], style)]


def _fit(call: Call, hits: Sequence[_PrintedHit], remarks: int, *, whole: bool) -> None:
    """Shorten the snippets so that the answer fits the screen, the last ones most."""
    remarks += any(hit.hit.weak for hit in hits)
    rows = call.console.rows - _PROMPTS - remarks - sum(hit.rows + 1 for hit in hits) + 1
    good = any(not hit.hit.weak for hit in hits)
    most = [min(len(hit.snippet), _MOST_LINES) for hit in hits]
    if rows < len(hits) or whole:
        for hit, lines in zip(hits, most, strict=True):
            hit.lines = min(lines, _SCROLLING)
        return
    for hit in hits:
        hit.lines = 1
    rows -= len(hits)
    for lines in range(2, _MOST_LINES + 1):
        for hit, longest in zip(hits, most, strict=True):
            if rows and lines <= longest and not (hit.hit.weak and good):
                hit.lines, rows = lines, rows - 1
