"""Parse Markdown into headings and inline blocks, by markdown-it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import Any

from markdown_it import MarkdownIt
from markdown_it import rules_block as rules
from markdown_it.common.utils import mdTrim
from markdown_it.rules_block import StateBlock
from markdown_it.token import Token

from memory_bank.base import NamedTuple
from memory_bank.notes.characters import BREAK

Rule = Callable[[StateBlock, int, int, bool], bool]

MAX_LINES = 200_000

MAX_MARKS = 200_000
"""Limits of a text that is parsed: lines, and characters that may start a link, code or HTML."""

_MAX_NESTING = 32
"""Containers that are nested deeper are read as paragraphs. markdown-it would drop the rest."""

_ENDED = ["paragraph", "reference", "blockquote"]
"""Blocks that a list can end."""

_CODE = frozenset({"fence", "code_block"})


class InlineBlock(NamedTuple):
    """The inline text of one paragraph, heading or table row."""

    cells: tuple[str, ...]
    """The text, container marks removed; a table row has one for each cell."""
    line: int
    """0-based line of the text where it starts."""
    level: int
    """Level of a heading that starts a section, else 0."""
    row: bool = False
    """Whether it is a table row; the parser has removed the backslash of `\\|` there."""


class Blocks(NamedTuple):
    """A text's inline blocks in order, and the data to map them to the text."""

    source: str
    """The text with `\\n` as line ends and U+FFFD for NUL; its lines have the same lengths."""
    starts: list[int]
    """Offset in the text of each of its lines."""
    inline_blocks: list[InlineBlock]
    definitions: Mapping[str, tuple[int, int]]
    """Label of each link reference definition to its first line and the line after its last."""
    unread: str = ""
    """Why the text was not parsed."""
    code: tuple[tuple[int, int], ...] = ()
    """The first line of each block of code, fences left out, and the line after its last."""


def parse_blocks(text: str) -> Blocks:
    """Parse the blocks of a Markdown text with any line ends; none if it exceeds a limit."""
    starts = [0, *(match.end() for match in BREAK.finditer(text))]
    source = BREAK.sub("\n", text) if "\r" in text else text
    source = source.replace("\0", "\ufffd")
    if unread := find_exceeded_limit(source, len(starts)):
        return Blocks(source, starts, [], {}, unread)
    parser, tokens, env = _make_parser(), list[Token](), dict[str, Any]()
    parser.block.parse(source, parser, env, tokens)
    references = env.get("references", {})
    definitions = {
        label: (reference["map"][0], reference["map"][1]) for label, reference in references.items()
    }
    code = tuple(_yield_code(tokens))
    inline_blocks = list(_yield_inline_blocks(tokens, source))
    return Blocks(source, starts, inline_blocks, definitions, code=code)


def find_exceeded_limit(source: str, lines: int) -> str:
    """Return which limit a text exceeds; empty if none."""
    if lines > MAX_LINES:
        return f"{lines:,} lines, more than {MAX_LINES:,}"
    marks = sum(map(source.count, "[`<"))
    return f"{marks:,} of the signs [ ` <, more than {MAX_MARKS:,}" if marks > MAX_MARKS else ""


def _yield_inline_blocks(tokens: list[Token], source: str) -> Iterator[InlineBlock]:
    cells: list[str] = []
    row = 0
    previous = Token("", "", 0)
    for token in tokens:
        kind = token.type
        if kind == "inline":
            if previous.type in ("th_open", "td_open"):
                cells.append(token.content)
            else:
                top = previous.type == "heading_open" and not previous.level
                level = int(previous.tag[1]) if top else 0
                yield InlineBlock((token.content,), _first_line(token, source), level)
        elif kind == "tr_open" and token.map:
            row = token.map[0]
        elif kind == "tr_close":
            yield InlineBlock(tuple(cells), row, 0, row=True)
            cells = []
        previous = token


def _yield_code(tokens: list[Token]) -> Iterator[tuple[int, int]]:
    for token in tokens:
        if token.type in _CODE and token.map:
            first = token.map[0] + (token.type == "fence")
            yield first, max(first, token.map[1])


def _first_line(token: Token, source: str) -> int:
    """Return the first line of a text after lines of only white space such as form feeds."""
    first, end = token.map or (0, 0)
    if token.content.count("\n") + 1 < end - first:
        lines = source.split("\n")
        while first + 1 < end and not mdTrim(lines[first]):
            first += 1
    return first


@cache
def _make_parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"maxNesting": 1_000_000}).enable("table")
    ruler = parser.block.ruler
    ruler.at("blockquote", _limit_nesting(rules.blockquote), {"alt": [*_ENDED, "list"]})
    ruler.at("list", _limit_nesting(rules.list_block), {"alt": _ENDED})
    # The ruler sorts its rules at the first parse, without a lock: do it before threads share it.
    parser.parse("- warm\n\n[up]: /")
    return parser


def _limit_nesting(rule: Rule) -> Rule:
    """Let a rule begin no container that is nested too deep."""

    def limited(state: StateBlock, line: int, end: int, silent: bool) -> bool:  # noqa: FBT001
        deep = state.level >= _MAX_NESTING and not silent
        return not deep and rule(state, line, end, silent)

    return limited


_STEP = 200
"""Characters that are searched at a time."""


class BlockError(Exception):
    """A block can't be read or edited: the reason, and the offset in the block."""

    def __init__(self, reason: str, index: int = 0) -> None:
        super().__init__(reason)
        self.reason = reason
        self.index = index


def line_at(block: str, index: int) -> int:
    """Return the file's 1-based line of an offset in a block; the block starts on line 2."""
    return 2 + len(BREAK.findall(block, 0, index))


def line_start(text: str, index: int) -> int:
    """Return where the line that holds `index` starts."""
    while index and text[index - 1] not in "\r\n":
        # In steps: otherwise a search for \r in a text without any would scan all of it.
        step = max(0, index - _STEP)
        position = max(text.rfind("\n", step, index), text.rfind("\r", step, index))
        index = step if position < 0 else position + 1
    return index


def line_end(text: str, index: int) -> int:
    """Return where the next line starts."""
    match = BREAK.search(text, index)
    return match.end() if match else len(text)


def last_break(text: str, default: str) -> str:
    """Return the line end that the text ends with."""
    if text.endswith("\r\n"):
        return "\r\n"
    return text[-1] if text.endswith(("\n", "\r")) else default


def splice(text: str, edits: list[tuple[int, int, str]]) -> str:
    """Replace pieces of a text; raise BlockError when two of them overlap.

    Insertions at the same offset keep their order.
    """
    parts: list[str] = []
    at = 0
    for start, end, new in sorted(edits, key=lambda edit: edit[:2]):
        if start < at:
            raise BlockError("two changes overlap", start)
        parts += text[at:start], new
        at = end
    return "".join(parts) + text[at:]
