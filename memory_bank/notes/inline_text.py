"""The text of one inline block: its links, and views with links removed or collapsed."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from functools import cached_property
from html import unescape
from typing import NamedTuple

from memory_bank.notes.blocks import InlineBlock
from memory_bank.notes.inline_parser import Span, scan
from memory_bank.notes.relations import CODE, LINK

_BETWEEN_CELLS = " | "
# Characters of context on each side of a link, and of source read for them (white space folds).
_CONTEXT = 100
_REACH = 250

_MARKS = re.compile(r"[\\`*_\[<&~=^!]")
_ESCAPE = re.compile(r"\\([!-/:-@\[-`{-~])")
# Bounded, so that time is linear in the length of a heading.
_EMPHASIS = re.compile(
    r"(\*{1,3}|~~|==)(?=\S)(.{1,300}?)(?<=\S)\1|(?<!\w)(_{1,3})(?=\S)(.{1,300}?)(?<=\S)\3(?!\w)"
)
_NESTED_EMPHASIS = 3
_BLOCK_ID = re.compile(r"(?:^|\s)\^[\w-]+\s*$")


class Shortened(NamedTuple):
    """An inline block's text with parts removed, and a map of offsets of the full text to it."""

    text: str
    at: dict[int, int]


class InlineText:
    """The text of an inline block, all cells joined, and its spans."""

    def __init__(self, inline_block: InlineBlock, labels: Collection[str] = ()) -> None:
        """Scan the cells; `labels` are those of the note's link reference definitions."""
        self.text = _BETWEEN_CELLS.join(inline_block.cells)
        self.cells: list[int] = []
        """Offset of each cell in the text."""
        self.spans: list[Span] = []
        """The spans of the text, in order."""
        at = 0
        for cell in inline_block.cells:
            self.cells.append(at)
            if "[" in cell or "`" in cell or "<" in cell:
                self.spans += [_moved(span, at) for span in scan(cell, labels)]
            at += len(cell) + len(_BETWEEN_CELLS)

    @property
    def links(self) -> list[Span]:
        """The spans that are links."""
        return [span for span in self.spans if span.kind in ("wiki", "markdown")]

    @cached_property
    def bare(self) -> Shortened:
        """The text with each link and code as one character; `at` has the starts of all spans."""
        if not self.spans:
            return Shortened(self.text, {})
        parts, places, at, size, mark = list[str](), dict[int, int](), 0, 0, ""
        for span in self.spans:
            if span.start >= at:
                parts += (mark, self.text[at : span.start])
                size += len(mark) + span.start - at
                # Line ends stay, since block ids and fields belong to lines.
                breaks = self.text.count("\n", span.start, span.end)
                mark = (CODE if span.kind in ("code", "html") else LINK) + "\n" * breaks
                at = span.end
            # A link inside another has the position of the outer one.
            places[span.start] = size
        return Shortened("".join((*parts, mark, self.text[at:])), places)

    @cached_property
    def plain(self) -> Shortened:
        """The text with links reduced to their visible text; `at` has the ends of their parts."""
        cuts: list[tuple[int, int]] = []
        for span in self.links:
            cuts += ((span.start, span.shown[0]), (span.shown[1], span.end))
        parts, places, at, size = list[str](), dict[int, int](), 0, 0
        for start, end in sorted(cuts):
            parts.append(self.text[at:start])
            size += start - at
            places[start] = places[end] = size
            at = end
        return Shortened("".join((*parts, self.text[at:])), places)

    def shown(self, span: Span) -> str:
        """Return the visible text of a link."""
        text, at = self.plain
        return _fold(text[at[span.shown[0]] : at[span.shown[1]]])

    def before(self, span: Span) -> str:
        """Return about 100 characters before a link, from the start of a word."""
        end = self.plain.at[span.start]
        start = max(0, end - _REACH)
        words = _fold(self.plain.text[start:end])
        if start or len(words) > _CONTEXT:
            head, space, tail = words[-_CONTEXT - 1 :].partition(" ")
            return tail if space else head[-_CONTEXT:]
        return words

    def after(self, span: Span) -> str:
        """Return about 100 characters after a link, up to the end of a word."""
        start = self.plain.at[span.end]
        words = _fold(self.plain.text[start : start + _REACH])
        if start + _REACH < len(self.plain.text) or len(words) > _CONTEXT:
            head, space, tail = words[: _CONTEXT + 1].rpartition(" ")
            return head if space else tail[:_CONTEXT]
        return words


def plain_text(content: str, labels: Collection[str] = ()) -> str:
    """Return a heading's text in one line, without Markdown, HTML and block id."""
    if not _MARKS.search(content):
        return _fold(content)
    kept: list[str] = []

    def keep(text: str) -> str:
        # NUL stands for finished text; Markdown itself has none.
        kept.append(text)
        return "\0"

    content = _BLOCK_ID.sub("", content)
    parts, at = [], 0
    for start, end, text in sorted(_replacements(content, labels)):
        parts.append(_ESCAPE.sub(lambda found: keep(found[1]), content[at:start]))
        parts.append(keep(text) if text else "")
        at = end
    parts.append(_ESCAPE.sub(lambda found: keep(found[1]), content[at:]))
    words = unescape("".join(parts))
    for _ in range(_NESTED_EMPHASIS):
        words = _EMPHASIS.sub(r"\2\4", words)
    originals = iter(kept)
    return _fold(re.sub("\0", lambda _: next(originals), words))


def _replacements(content: str, labels: Collection[str]) -> Iterator[tuple[int, int, str]]:
    """Yield the replacements of code, HTML and link syntax in a heading: start, end, text."""
    for span in scan(content, labels):
        if span.kind in ("wiki", "markdown"):
            yield span.start, span.shown[0], ""
            yield span.shown[1], span.end, ""
        elif span.kind == "html":
            yield span.start, span.end, " " if content.startswith("<br", span.start) else ""
        else:
            yield span.start, span.end, content[slice(*span.shown)]


def _fold(text: str) -> str:
    return " ".join(text.split())


def _moved(span: Span, by: int) -> Span:
    if not by:
        return span
    return span._replace(
        start=span.start + by,
        end=span.end + by,
        shown=(span.shown[0] + by, span.shown[1] + by),
        target=(span.target[0] + by, span.target[1] + by),
    )
