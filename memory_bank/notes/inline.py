"""Links and code in Markdown text, by the inline rules of markdown-it.

Wikilinks come before other brackets.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping
from functools import cache, cached_property
from html import unescape

from markdown_it import MarkdownIt
from markdown_it import rules_inline as rules
from markdown_it.common.utils import normalizeReference
from markdown_it.helpers import parseLinkDestination, parseLinkLabel
from markdown_it.rules_inline import StateInline

from memory_bank.base import NamedTuple, lazy_pattern
from memory_bank.base.text import ESCAPED
from memory_bank.notes.blocks import Blocks, InlineBlock, parse_blocks
from memory_bank.notes.relations import CODE, LINK

Rule = Callable[[StateInline, bool], bool]

_TICKS = lazy_pattern(r"`+")

_WIKILINK = lazy_pattern(r"\[\[[^\[\]\n]+\]\]")

# A text without these can have wikilinks only.
_SPECIAL = lazy_pattern(r"[`<\\]|\]\(")

_BLANKS = lazy_pattern(r"[ \t\n]*")

_SIZE = lazy_pattern(r"\s*\d+(?:x\d+)?\s*")

_MAX_NESTING = 32
"""Brackets that are nested deeper are text."""

_NOTED: Mapping[str, Rule] = {
    "backticks": rules.backtick,
    "link": rules.link,
    "image": rules.image,
    "autolink": rules.autolink,
    "html_inline": rules.html_inline,
}


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
        spans: list[InlineSpan] = []
        parser, references = _make_parser(), _References(labels)
        parser.inline.parse(text, parser, {"spans": spans, "references": references}, [])
        return sorted(spans)
    links = (_read_wikilink(text, *match.span()) for match in _WIKILINK.finditer(text))
    return [link for link in links if link]


def _read_wikilink(text: str, start: int, end: int, since: int = 0) -> InlineSpan | None:
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
    stops = (stop - len(words), stop)
    if bar >= 0:
        alias = text[bar + 1 : end - 2]
        # The size of an image is not its text.
        if alias.strip() and not (embed and _SIZE.fullmatch(alias)):
            stops = (end - 2 - len(alias.lstrip()), bar + 1 + len(alias.rstrip()))
    return InlineSpan(start - embed, end, "wiki", stops, target, embed)


class _Parser(MarkdownIt):
    """markdown-it, for which every URL is a link's destination as it is written."""

    def validateLink(self, _: str) -> bool:  # noqa: N802  (as markdown-it has it)
        """Accept any URL, such as `file:`: it is not followed here."""
        return True

    def normalizeLink(self, url: str) -> str:  # noqa: N802
        """Return a URL as it is."""
        return url


class _References:
    """The labels that have a definition, without footnotes, in the form that markdown-it reads."""

    def __init__(self, labels: Collection[str]) -> None:
        self._labels = labels

    def get(self, label: str, _: object = None) -> Mapping[str, str] | None:
        is_known = label in self._labels and not label.startswith("^")
        return {"href": "", "title": ""} if is_known else None


@cache
def _make_parser() -> MarkdownIt:
    """Return a parser of all that decides where links are; its rules record their spans."""
    parser = _Parser("commonmark", {"maxNesting": _MAX_NESTING})
    ruler = parser.inline.ruler
    for name, rule in _NOTED.items():
        ruler.at(name, _note_spans(rule))
    ruler.before("link", "wiki", _wiki_rule)
    ruler.enableOnly(["text", "escape", "wiki", *_NOTED])
    parser.inline.ruler2.enableOnly([])
    # The ruler sorts its rules at the first parse, without a lock: do it before threads share it.
    parser.inline.parse("[up](/)", parser, {"spans": []}, [])
    return parser


def _note_spans(rule: Rule) -> Rule:
    """Let a rule record the span of what it finds."""

    def note(state: StateInline, silent: bool) -> bool:  # noqa: FBT001
        start, count, spans = state.pos, len(state.tokens), state.env["spans"]
        inner = state.env["spans"] = []
        matched = rule(state, silent)
        state.env["spans"] = spans
        if matched and len(state.tokens) > count:  # backticks alone are text
            span = _make_span(state, start)
            moved = span.shown[0] if span.embed else 0  # an image's text is parsed by itself
            spans += [span, *(_move_span(inner_span, moved) for inner_span in inner)]
        return matched

    return note


def _make_span(state: StateInline, start: int) -> InlineSpan:
    """Return the span that a rule has read up to the position of the state."""
    end, first = state.pos, state.src[start]
    if first == "`":
        size = _match_end(_TICKS, state.src, start) - start
        return InlineSpan(start, end, "code", (start + size, end - size))
    if first == "<":
        is_html = state.tokens[-1].type == "html_inline"
        starts = (0, 0) if is_html else (start + 1, end - 1)
        return InlineSpan(start, end, "html" if is_html else "url", starts)
    embed = first == "!"
    starts = (start + embed + 1, parseLinkLabel(state, start + embed, not embed))
    at = starts[1] + 1
    if at < end and state.src[at] == "(":
        at = _match_end(_BLANKS, state.src, at + 1)
        goal = parseLinkDestination(state.src, at, end)
        return InlineSpan(start, end, "markdown", starts, (at, goal.pos if goal.ok else at), embed)
    label = state.src[at + 1 : end - 1] or state.src[slice(*starts)]
    return InlineSpan(start, end, "markdown", starts, embed=embed, label=normalizeReference(label))


def _wiki_rule(state: StateInline, silent: bool) -> bool:  # noqa: FBT001
    start = state.pos + (state.src[state.pos] == "!")
    match = _WIKILINK.match(state.src, start, state.posMax)
    link = _read_wikilink(state.src, start, match.end(), state.pos) if match else None
    if link and not silent:
        state.env["spans"].append(link)
    state.pos = link.end if link else state.pos
    return link is not None


def _match_end(pattern: re.Pattern[str], text: str, at: int) -> int:
    match = pattern.match(text, at)
    return match.end() if match else at


def code_spans(text: str) -> list[tuple[int, int]]:
    """Return the start and end of each piece of code, in order; none in a text that is too large.

    The language that is named behind a fence is not code: readers don't see it.
    """
    blocks = parse_blocks(text)
    ends = [*blocks.starts, len(text)]
    ranges = [
        (ends[min(first, len(ends) - 1)], ends[min(end, len(ends) - 1)])
        for first, end in blocks.code
    ]
    lines = (
        blocks.source.split("\n")
        if any(_has_code(inline_block) for inline_block in blocks.inline_blocks)
        else []
    )
    for inline_block in blocks.inline_blocks:
        if _has_code(inline_block):
            ranges += (
                _yield_code_in_row(inline_block, blocks, lines)
                if inline_block.row
                else _yield_code_in_paragraph(inline_block, blocks, text)
            )
    return sorted(ranges)


def _has_code(inline_block: InlineBlock) -> bool:
    return any("`" in cell for cell in inline_block.cells)


def _yield_code_in_paragraph(
    inline_block: InlineBlock, blocks: Blocks, text: str
) -> Iterator[tuple[int, int]]:
    """Yield the code of a paragraph or heading; marks of quotes and lists have no backticks."""
    after = inline_block.line + inline_block.cells[0].count("\n") + 1
    start = blocks.starts[inline_block.line]
    end = blocks.starts[after] if after < len(blocks.starts) else len(text)
    yield from _yield_code(text[start:end], start)


def _yield_code_in_row(
    inline_block: InlineBlock, blocks: Blocks, lines: list[str]
) -> Iterator[tuple[int, int]]:
    """Yield the code in the cells of a table's row; code does not go on in the next cell."""
    line, at = lines[inline_block.line], 0
    for cell in inline_block.cells:
        written = cell.replace("|", r"\|")
        column = line.find(written, at)
        if column >= 0:
            yield from _yield_code(written, blocks.starts[inline_block.line] + column)
            at = column + len(written)


def _yield_code(text: str, start: int) -> Iterator[tuple[int, int]]:
    return ((start + span.start, start + span.end) for span in scan(text) if span.kind == "code")


_BETWEEN_CELLS = " | "

# Characters of context on each side of a link, and of source read for them (white space folds).
_CONTEXT = 100

_REACH = 250

_MARKS = lazy_pattern(r"[\\`*_\[<&~=^!]")

# Bounded, so that time is linear in the length of a heading.
_EMPHASIS = lazy_pattern(
    r"(\*{1,3}|~~|==)(?=\S)(.{1,300}?)(?<=\S)\1|(?<!\w)(_{1,3})(?=\S)(.{1,300}?)(?<=\S)\3(?!\w)"
)

# Levels of emphasis in a heading that are removed.
_NESTED_EMPHASIS = 3

_BLOCK_ID = lazy_pattern(r"(?:^|\s)\^[\w-]+\s*$")


Shortened = tuple[str, dict[int, int]]
"""An inline block's text with parts removed, and a map of offsets of the full text to it."""


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
                self.spans += [_move_span(span, at) for span in scan(cell, labels)]
            at += len(cell) + len(_BETWEEN_CELLS)

    @property
    def links(self) -> list[InlineSpan]:
        """The spans that are links."""
        return [span for span in self.spans if span.kind in ("wiki", "markdown")]

    @cached_property
    def bare(self) -> Shortened:
        """The text with each link and code as one character, with the starts of all spans."""
        if not self.spans:
            return self.text, {}
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
        return "".join((*parts, mark, self.text[at:])), places

    @cached_property
    def plain(self) -> Shortened:
        """The text with links reduced to their visible text, with the ends of their parts."""
        cuts: list[tuple[int, int]] = []
        for span in self.links:
            cuts += ((span.start, span.shown[0]), (span.shown[1], span.end))
        parts, places, at, size = list[str](), dict[int, int](), 0, 0
        for start, end in sorted(cuts):
            parts.append(self.text[at:start])
            size += start - at
            places[start] = places[end] = size
            at = end
        return "".join((*parts, self.text[at:])), places

    def shown(self, span: InlineSpan) -> str:
        """Return the visible text of a link."""
        text, at = self.plain
        return _fold(text[at[span.shown[0]] : at[span.shown[1]]])

    def before(self, span: InlineSpan) -> str:
        """Return about 100 characters before a link, from the start of a word."""
        text, places = self.plain
        end = places[span.start]
        start = max(0, end - _REACH)
        words = _fold(text[start:end])
        if start or len(words) > _CONTEXT:
            head, space, tail = words[-_CONTEXT - 1 :].partition(" ")
            return tail if space else head[-_CONTEXT:]
        return words

    def after(self, span: InlineSpan) -> str:
        """Return about 100 characters after a link, up to the end of a word."""
        text, places = self.plain
        start = places[span.end]
        words = _fold(text[start : start + _REACH])
        if start + _REACH < len(text) or len(words) > _CONTEXT:
            head, space, tail = words[: _CONTEXT + 1].rpartition(" ")
            return head if space else tail[:_CONTEXT]
        return words


def plain_text(content: str, labels: Collection[str] = ()) -> str:
    """Return a heading's text in one line, without Markdown, HTML and block id."""
    if not _MARKS.search(content):
        return _fold(content)
    finished: list[str] = []

    def keep(text: str) -> str:
        # NUL stands for finished text; Markdown itself has none.
        finished.append(text)
        return "\0"

    content = _BLOCK_ID.sub("", content)
    parts, at = [], 0
    for start, end, text in sorted(_replacements(content, labels)):
        parts.append(ESCAPED.sub(lambda match: keep(match[1]), content[at:start]))
        parts.append(keep(text) if text else "")
        at = end
    parts.append(ESCAPED.sub(lambda match: keep(match[1]), content[at:]))
    words = unescape("".join(parts))
    for _ in range(_NESTED_EMPHASIS):
        words = _EMPHASIS.sub(r"\2\4", words)
    originals = iter(finished)
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


def _move_span(span: InlineSpan, by: int) -> InlineSpan:
    if not by:
        return span
    return span._replace(
        start=span.start + by,
        end=span.end + by,
        shown=(span.shown[0] + by, span.shown[1] + by),
        target=(span.target[0] + by, span.target[1] + by),
    )
