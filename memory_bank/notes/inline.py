"""Links and code in Markdown text, found in one pass from left to right.

Follows CommonMark's precedence (escapes, code spans, HTML and autolinks before brackets; no link
inside a link); wikilinks come before other brackets. There is no backtracking, so that time is
linear even for 20,000 opening brackets.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from functools import cached_property
from html import unescape
from typing import NamedTuple

from markdown_it.common.utils import normalizeReference
from markdown_it.helpers import parseLinkDestination, parseLinkTitle

from memory_bank.notes.blocks import Blocks, InlineBlock, parse_blocks
from memory_bank.notes.relations import CODE, LINK

_TOKEN = re.compile(r"[\\`<\[\]]")

_PUNCTUATION = frozenset("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~")

_TICKS = re.compile(r"`+")

_WIKILINK = re.compile(r"\[\[[^\[\]\n]+\]\]")

# A text without these can have wikilinks only.
_SPECIAL = re.compile(r"[`<\\]|\]\(")

# Fast path: a destination without title, brackets and escapes.
_SIMPLE = re.compile(r"\([ \t\n]*([^\s()\\<\x00-\x1f\x7f][^\s()\\\x00-\x1f\x7f]*+)\)")

_BLANKS = re.compile(r"[ \t\n]*")

_LABEL = re.compile(r"\[((?:[^\[\]\\]|\\.){0,999}+)\]", re.DOTALL)

_LONGEST_LABEL = 999

_SIZE = re.compile(r"\s*\d+(?:x\d+)?\s*")

_ATTRIBUTE = r"""\s+[a-z_:][\w:.-]*+(?:\s*=\s*(?:[^"'=<>`\x00-\x20]++|'[^']*'|"[^"]*"))?"""

_TAG = re.compile(
    rf"<[a-z][a-z0-9-]*+(?:{_ATTRIBUTE})*+\s*/?>|</[a-z][a-z0-9-]*+\s*>",
    re.ASCII | re.IGNORECASE,
)

_AUTOLINK = re.compile(
    r"<(?:[a-z][a-z0-9+.-]{1,31}:[^<>\x00-\x20]*|[\w.!#$%&'*+/=?^`{|}~-]++@[\w.-]+)>",
    re.ASCII | re.IGNORECASE,
)

# HTML without inner structure: how it starts, and the text that ends it.
_RAW = re.compile(r"<!--|<\?|<!\[CDATA\[|<![A-Za-z]")

_RAW_ENDS = {"<!--": "-->", "<?": "?>", "<![CDATA[": "]]>"}


class InlineSpan(NamedTuple):
    """A link, or code, HTML or URL that can have no link inside, by its offsets in the text."""

    start: int
    end: int
    kind: str
    """wiki, markdown, code, html or url (`<https://…>`)."""
    shown: tuple[int, int] = (0, 0)
    """Offsets of the link's visible text."""
    target: tuple[int, int] = (0, 0)
    """Offsets of the destination; in a wikilink with heading and block."""
    embed: bool = False
    label: str = ""
    """Normalised label of a reference link, whose definition has the destination."""


def scan(text: str, labels: Collection[str] = ()) -> list[InlineSpan]:
    """Return the spans of a text in order; `labels` are those with a definition."""
    if labels or _SPECIAL.search(text):
        return _Scan(text, labels).run()
    links = (_wikilink(text, *found.span()) for found in _WIKILINK.finditer(text))
    return [link for link in links if link]


def _wikilink(text: str, start: int, end: int, since: int = 0) -> InlineSpan | None:
    """Read `[[target|text]]`; a `!` before it, if not before `since`, makes it an embed."""
    bar = text.find("|", start, end)
    stop = bar if bar >= 0 else end - 2
    if bar >= 0 and text[bar - 1] == "\\":
        # In a table the bar is escaped; the backslash is not part of the target.
        stop -= 1
    target = (start + 2, stop)
    words = text[start + 2 : stop].lstrip(" \t#^")
    if not words or words.isspace():
        return None
    embed = start > since and text[start - 1] == "!"
    # A link within the note shows its heading without `#`.
    shown = (stop - len(words), stop)
    if bar >= 0:
        alias = text[bar + 1 : end - 2]
        # The size of an image is not its text.
        if alias.strip() and not (embed and _SIZE.fullmatch(alias)):
            shown = (end - 2 - len(alias.lstrip()), bar + 1 + len(alias.rstrip()))
    return InlineSpan(start - embed, end, "wiki", shown, target, embed)


class _Scan:
    """One pass over one text."""

    def __init__(self, text: str, labels: Collection[str]) -> None:
        self.text = text
        self.labels = labels
        self.spans: list[InlineSpan] = []
        self.openers: list[tuple[int, bool]] = []
        """Offsets of unclosed brackets, and whether each starts an image."""
        self.linked = 0
        """Openers before this index have a link inside, so that they can't be links."""
        self.ticks: dict[int, list[int]] | None = None
        """Length of a run of backticks to the offsets of such runs, last first."""
        self.missing: set[str] = set()
        """Closing marks of comments and the like that don't occur in the rest of the text."""

    def run(self) -> list[InlineSpan]:
        """Return the spans of the text."""
        text, at = self.text, 0
        while found := _TOKEN.search(text, at):
            start, first = found.start(), found[0]
            if first == "[":
                at = self._open(start, at)
            elif first == "]":
                at = self._close(start)
            elif first == "`":
                at = self._code(start)
            elif first == "<":
                at = self._html(start)
            else:
                at = start + 1 + (text[start + 1 : start + 2] in _PUNCTUATION)
        self.spans.sort()
        return self.spans

    def _open(self, start: int, since: int) -> int:
        """Read a wikilink, or record the bracket; return the offset behind it."""
        found = _WIKILINK.match(self.text, start)
        if found and (link := _wikilink(self.text, start, found.end(), since)):
            self.spans.append(link)
            if not link.embed:
                self.linked = len(self.openers)
            return link.end
        self.openers.append((start, start > since and self.text[start - 1] == "!"))
        return start + 1

    def _code(self, start: int) -> int:
        """Read a code span; backticks without a closing run are text."""
        if self.ticks is None:
            self.ticks = {}
            for run in _TICKS.finditer(self.text):
                self.ticks.setdefault(len(run[0]), []).append(run.start())
            for starts in self.ticks.values():
                starts.reverse()
        end = _end(_TICKS, self.text, start)
        size = end - start
        partners = self.ticks.get(size, [])
        while partners and partners[-1] < end:
            partners.pop()
        if not partners:
            return end
        stop = partners.pop() + size
        self.spans.append(InlineSpan(start, stop, "code", (end, stop - size)))
        return stop

    def _html(self, start: int) -> int:
        """Read a tag, a comment or an autolink; any other `<` is text."""
        text = self.text
        if raw := _RAW.match(text, start):
            closing = _RAW_ENDS.get(raw[0], ">")
            # The shortest comments are `<!-->` and `<!--->`: the marks may overlap.
            at = -1 if closing in self.missing else text.find(closing, start + 2)
            if at < 0:
                self.missing.add(closing)
                return raw.end()
            span = InlineSpan(start, at + len(closing), "html")
        elif found := _TAG.match(text, start):
            span = InlineSpan(start, found.end(), "html")
        elif found := _AUTOLINK.match(text, start):
            span = InlineSpan(start, found.end(), "url", (start + 1, found.end() - 1))
        else:
            return start + 1
        self.spans.append(span)
        return span.end

    def _close(self, at: int) -> int:
        """Read what follows a closing bracket; return the offset behind it."""
        if not self.openers:
            return at + 1
        start, embed = self.openers.pop()
        dead = len(self.openers) < self.linked and not embed
        self.linked = min(self.linked, len(self.openers))
        if dead:
            return at + 1
        shown = (start + 1, at)
        link = self._inline_link(start, shown) or self._reference_link(start, shown)
        if not link:
            return at + 1
        self.spans.append(link._replace(start=start - 1, embed=True) if embed else link)
        if not embed:
            self.linked = len(self.openers)
        return link.end

    def _inline_link(self, start: int, shown: tuple[int, int]) -> InlineSpan | None:
        """Read `(destination "title")`."""
        text, at = self.text, shown[1] + 1
        if not text.startswith("(", at):
            return None
        if found := _SIMPLE.match(text, at):
            return InlineSpan(start, found.end(), "markdown", shown, found.span(1))
        at = _end(_BLANKS, text, at + 1)
        target = (at, at)
        goal = parseLinkDestination(text, at, len(text))
        if goal.ok:
            target = (at, goal.pos)
            at = _end(_BLANKS, text, goal.pos)
            title = parseLinkTitle(text, at, len(text))
            if title.ok and at > goal.pos:
                at = _end(_BLANKS, text, title.pos)
        if not text.startswith(")", at):
            return None
        return InlineSpan(start, at + 1, "markdown", shown, target)

    def _reference_link(self, start: int, shown: tuple[int, int]) -> InlineSpan | None:
        """Read `[label]`, `[]` or nothing behind a link's text, if the label is defined."""
        if not self.labels:
            return None
        end = shown[1] + 1
        label = ""
        if found := _LABEL.match(self.text, end):
            label, end = found[1], found.end()
        if not label:
            if shown[1] - shown[0] > _LONGEST_LABEL:
                return None
            label = self.text[slice(*shown)]
        label = normalizeReference(label)
        if label not in self.labels or label.startswith("^"):
            return None
        return InlineSpan(start, end, "markdown", shown, label=label)


def _end(pattern: re.Pattern[str], text: str, at: int) -> int:
    found = pattern.match(text, at)
    return found.end() if found else at


def code_spans(text: str) -> list[tuple[int, int]]:
    """Return the start and end of each piece of code, in order; none in a text that is too large.

    The language that is named behind a fence is not code: readers don't see it.
    """
    blocks = parse_blocks(text)
    ends = [*blocks.starts, len(text)]
    found = [
        (ends[min(first, len(ends) - 1)], ends[min(end, len(ends) - 1)])
        for first, end in blocks.code
    ]
    lines = blocks.source.split("\n") if any(_has_code(one) for one in blocks.inline_blocks) else []
    for one in blocks.inline_blocks:
        if _has_code(one):
            found += _in_row(one, blocks, lines) if one.row else _in_paragraph(one, blocks, text)
    return sorted(found)


def _has_code(inline_block: InlineBlock) -> bool:
    return any("`" in cell for cell in inline_block.cells)


def _in_paragraph(one: InlineBlock, blocks: Blocks, text: str) -> Iterator[tuple[int, int]]:
    """Yield the code of a paragraph or heading; marks of quotes and lists have no backticks."""
    after = one.line + one.cells[0].count("\n") + 1
    start = blocks.starts[one.line]
    end = blocks.starts[after] if after < len(blocks.starts) else len(text)
    yield from _spans(text[start:end], start)


def _in_row(one: InlineBlock, blocks: Blocks, lines: list[str]) -> Iterator[tuple[int, int]]:
    """Yield the code in the cells of a table's row; code does not go on in the next cell."""
    line, at = lines[one.line], 0
    for cell in one.cells:
        written = cell.replace("|", r"\|")
        column = line.find(written, at)
        if column >= 0:
            yield from _spans(written, blocks.starts[one.line] + column)
            at = column + len(written)


def _spans(text: str, start: int) -> Iterator[tuple[int, int]]:
    return ((start + one.start, start + one.end) for one in scan(text) if one.kind == "code")


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
        self.spans: list[InlineSpan] = []
        """The spans of the text, in order."""
        at = 0
        for cell in inline_block.cells:
            self.cells.append(at)
            if "[" in cell or "`" in cell or "<" in cell:
                self.spans += [_moved(span, at) for span in scan(cell, labels)]
            at += len(cell) + len(_BETWEEN_CELLS)

    @property
    def links(self) -> list[InlineSpan]:
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

    def shown(self, span: InlineSpan) -> str:
        """Return the visible text of a link."""
        text, at = self.plain
        return _fold(text[at[span.shown[0]] : at[span.shown[1]]])

    def before(self, span: InlineSpan) -> str:
        """Return about 100 characters before a link, from the start of a word."""
        end = self.plain.at[span.start]
        start = max(0, end - _REACH)
        words = _fold(self.plain.text[start:end])
        if start or len(words) > _CONTEXT:
            head, space, tail = words[-_CONTEXT - 1 :].partition(" ")
            return tail if space else head[-_CONTEXT:]
        return words

    def after(self, span: InlineSpan) -> str:
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


def _moved(span: InlineSpan, by: int) -> InlineSpan:
    if not by:
        return span
    return span._replace(
        start=span.start + by,
        end=span.end + by,
        shown=(span.shown[0] + by, span.shown[1] + by),
        target=(span.target[0] + by, span.target[1] + by),
    )
