"""Split a note's body into sections, and collect its links, block ids, tags and title."""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice, pairwise

from memory_bank.base import lazy_pattern, shorten
from memory_bank.base.documents import Fault, Link, Section
from memory_bank.base.text import join_link
from memory_bank.notes.blocks import Blocks, InlineBlock, parse_blocks
from memory_bank.notes.front_matter import MARK, MAX_FIELDS, Field, yield_fields
from memory_bank.notes.inline import InlineText, plain_text
from memory_bank.notes.links import links_in, locate_links
from memory_bank.notes.note import Body
from memory_bank.notes.passages import read_definitions

MAX_LINKS = 20_000

MAX_HEADINGS = 20_000
"""Limits for one note; further links and headings are read as text."""

LONGEST_HEADING = 300
"""Maximum length of a heading, which is indexed with each passage of its section."""

_READ = 10 * LONGEST_HEADING
"""Maximum number of characters of a heading that are parsed."""

# At the end of a line; Obsidian's own ids are letters, digits and hyphens.
_BLOCK_ID = lazy_pattern(r"(?:^|(?<=\s))\^([\w-]+)[ \t]*$", re.MULTILINE)

# Obsidian's rule for the start of a tag and for characters it can't have; `_cut_tag` drops others.
_TAG = lazy_pattern(r"(?<![^\s(])#([^\s!-,.:-@\[-^`{-~]+)")


def read_body(text: str, first_line: int = 1, offset: int = 0) -> Body:
    """Read a note's Markdown without its front matter.

    `first_line` is the file's line, counted from 1, where the text starts, and `offset` the number
    of characters before it. The sections' texts joined are the text.
    """
    if not text or text.isspace():
        return Body(())
    blocks = parse_blocks(text)
    link_definitions = read_definitions(blocks)
    reader = _ContentReader(blocks.unread)
    for inline_block in blocks.inline_blocks:
        if _may_have_content(inline_block):
            reader.add(
                InlineText(inline_block, link_definitions),
                link_definitions,
                first_line + inline_block.line,
            )
            if inline_block.level:  # a heading names its section, it has no fields
                reader.fields.pop(first_line + inline_block.line, None)
    heads = [inline_block for inline_block in blocks.inline_blocks if inline_block.level]
    reader.headings = len(heads)
    heads = heads[:MAX_HEADINGS]
    names = [
        plain_text(head.cells[0][:_READ], link_definitions)[:LONGEST_HEADING] for head in heads
    ]
    places = list(zip(heads, names, strict=True))
    sections = tuple(_yield_sections(text, blocks, places, first_line, offset))
    if reader.fields or reader.alone:
        sections = reader.describe_sections(sections)
    title = names[0] if heads and heads[0].level == 1 else ""
    links, tags = tuple(reader.links), tuple(reader.tags)
    first = "" if title else naming_sentence(blocks.inline_blocks, link_definitions)
    return Body(sections, links, reader.ids, tags, title, tuple(reader.faults()), first)


class _ContentReader:
    """The links, block ids and tags of a text, within the limits."""

    def __init__(self, unread: str) -> None:
        self.unread = unread
        self.links: list[Link] = []
        self.skipped = 0
        """Number of links beyond the limit."""
        self.ids: dict[str, int] = {}
        self.alone: dict[int, str] = {}
        """Lines that have nothing but a block id, with it."""
        self.fields: dict[int, Field] = {}
        """Inline fields by line."""
        self.tags: dict[str, None] = {}
        self.headings = 0

    def add(
        self, inline: InlineText, link_definitions: Mapping[str, tuple[str, int]], line: int
    ) -> None:
        """Add the content of an inline block that starts at a line of the file."""
        room = MAX_LINKS - len(self.links)
        if room > 0:
            self.links += islice(links_in(inline, link_definitions, line), room)
        self.skipped += max(0, len(inline.links) - room)
        for name, row, alone in _yield_block_ids(inline):
            self.ids.setdefault(name, line + row)
            if alone:
                self.alone[line + row] = name
        if MARK in inline.text:
            room = MAX_FIELDS - len(self.fields)
            self.fields.update(
                (line + field.row, field) for field in islice(yield_fields(inline), room)
            )
        self.tags.update(dict.fromkeys(_yield_tags(inline)))

    def describe_sections(self, sections: Iterable[Section]) -> tuple[Section, ...]:
        """Return the sections with their names and inline fields.

        A name belongs to the section with the fields, which headings may divide: a section without
        fields gives its name to the section around it that has some.
        """
        named: list[Section] = []
        names, lines = sorted(self.alone), sorted(self.fields)
        for section in sections:
            last = _lines_in(names, section)[-1:]
            name = self.alone[last[0]] if last else ""
            fields = (self.fields[line] for line in _lines_in(lines, section))
            keys = [(field.key, value) for field in fields for value in field.values]
            enclosing = None if keys or not name else _enclosing_section(named, section)
            if enclosing is not None:
                named[enclosing] = named[enclosing]._replace(name=name)
                name = ""
            named.append(section._replace(name=name, fields=tuple(keys)))
        return tuple(named)

    def faults(self) -> Iterator[Fault]:
        """Yield a fault for each limit that was exceeded."""
        if self.unread:
            yield Fault(f"{self.unread}: read as plain text, without headings, links and tags")
        for kind, count_kept, count in (
            ("links were read", MAX_LINKS, len(self.links) + self.skipped),
            ("headings start a section", MAX_HEADINGS, self.headings),
        ):
            if count > count_kept:
                yield Fault(f"only the first {count_kept:,} of {count:,} {kind}")


def _lines_in(lines: Sequence[int], section: Section) -> Sequence[int]:
    """Return those of some sorted lines that are in a section."""
    return lines[bisect_left(lines, section.line) : bisect_left(lines, section.end_line)]


def _enclosing_section(sections: Sequence[Section], inner: Section) -> int | None:
    """Return the number of the section around another one that has fields but no name."""
    level = inner.level
    for number in range(len(sections) - 1, -1, -1):
        section = sections[number]
        if section.level < level:
            level = section.level
            if section.fields:
                return None if section.name else number
    return None


def _may_have_content(inline_block: InlineBlock) -> bool:
    """Return whether an inline block may have a link, a block id or a tag; it is not parsed."""
    return any(
        "[" in cell or "#" in cell or "^" in cell or MARK in cell for cell in inline_block.cells
    )


def _yield_block_ids(inline: InlineText) -> Iterator[tuple[str, int, bool]]:
    """Yield each `^id` at the end of a line, its line in the block, and whether it is alone."""
    if "^" in inline.text:
        text = inline.bare[0]
        row = start = 0
        for match in _BLOCK_ID.finditer(text):
            row += text.count("\n", start, match.start())
            start = match.start()
            yield match[1], row, not text[text.rfind("\n", 0, start) + 1 : start].strip()


def _yield_tags(inline: InlineText) -> Iterator[str]:
    if "#" in inline.text:
        for match in _TAG.finditer(inline.bare[0]):
            if tag := _cut_tag(match[1]):
                yield tag


def _cut_tag(written: str) -> str:
    """Return a tag of letters, marks, digits, emoji, `_`, `-` and `/`; empty for a number."""
    end = 0
    while end < len(written) and (
        written[end] in "_-/\u200d"
        or unicodedata.category(written[end])[0] in "LMN"
        or unicodedata.category(written[end]) in {"So", "Sk"}
    ):
        end += 1
    tag = written[:end].rstrip("/").lower()
    return "" if tag.isnumeric() else tag


def _yield_sections(
    text: str,
    blocks: Blocks,
    heads: Sequence[tuple[InlineBlock, str]],
    first_line: int,
    offset: int,
) -> Iterator[Section]:
    """Split the text at its headings; text before the first is a section unless it is blank."""
    starts = blocks.starts
    # The last line end starts no further line.
    count = len(starts) - (starts[-1] == len(text))
    places = [(head.line, head.level, name) for head, name in heads]
    if not places or text[: starts[places[0][0]]].strip():
        places.insert(0, (0, 0, ""))
    else:
        places[0] = (0, *places[0][1:])
    path: list[tuple[int, str]] = []
    for (line, level, name), (following, _, _) in pairwise([*places, (count, 0, "")]):
        path = [(above, title) for above, title in path if above < level]
        if level:
            path.append((level, name))
        start = starts[line]
        end = starts[following] if following < len(starts) else len(text)
        yield Section(
            headings=tuple(title for _, title in path),
            level=level,
            line=first_line + line,
            end_line=first_line + following,
            start=offset + start,
            text=text[start:end],
        )


LONGEST = 100
"""Maximum number of characters of a sentence that names a note."""

# Characters in which a first sentence ends.
_MOST_READ = 2_000

_SENTENCE_END = lazy_pattern(
    r"(?<![.!?])[.!?]+[\"')\]\u00bb\u201d\u2019]*(?=\s|\Z)|[\u3002\uff01\uff1f]"
)

_INITIALS = lazy_pattern(r"[(\[\"']*(?:[^\W\d_]\.)*[^\W\d_]")
"""A word of single letters with dots between them: e.g, i.e, U.S, and J of J. Smith."""

_SHORT = frozenset(
    ["al", "approx", "ca", "cf", "dr", "esp", "fig", "incl", "mr", "mrs", "ms", "no", "nr", "prof",
     "resp", "sec", "st", "vol", "vs"]
)  # fmt: skip
"""Words whose dot ends no sentence."""

_NO_WORDS = lazy_pattern(
    r"[ \t>*+-]*+(?:\w[^:\n]{0,40}+::.*+"
    r"|(?:(?:#\S++|\^\S++|!?\[\[[^\[\]\n]*+\]\]|!\[[^\]\n]*+\]\([^)\n]*+\))[ \t,]*+)*+)"
)
"""A line of a field, or of nothing but tags, links, images or a block id."""


def first_sentence(text: str) -> str:
    """Return a text up to the end of its first sentence, on one line."""
    line = " ".join(text[:_MOST_READ].split())
    for end in _SENTENCE_END.finditer(line):
        word = line[: end.start()].rpartition(" ")[2]
        dot = end[0] == "."
        if dot and (_INITIALS.fullmatch(word) or word.lstrip("(").casefold() in _SHORT):
            continue
        if dot and line[end.end() :].lstrip()[:1].islower():
            continue
        return line[: end.end()]
    return line


_CITED_END = lazy_pattern(r"[.!?\u3002](?=\s|$)")

_LEADING_HEADINGS = lazy_pattern(r"\A(?:[ ]{0,3}#{1,6}[ \t][^\n]*(?:\n|\Z)|[ \t]*\n)+")

_LEADING_MARKS = "#>*-+ \t"
"""Signs of Markdown at the start of a line."""

_FEW = 3
"""Number of words besides its link below which a sentence says nothing."""


def sentence_below(text: str) -> str:
    """Return the first sentence of a text below its headings, on one line."""
    paragraph = (_LEADING_HEADINGS.sub("", text) or text).strip().partition("\n\n")[0]
    return first_sentence(paragraph).lstrip(_LEADING_MARKS)


_FIELD_LINE = lazy_pattern(r"[ \t]*(?:[-*+][ \t]+)?\w[\w -]{0,39}::")

_MARKS = lazy_pattern(r"\*\*|`|\[\[|\]\]")

# Characters: lists show a line of it.
_LONGEST_DESCRIPTION = 300


def describe_note(text: str) -> str:
    """Return the first sentence of a note's text, without marks of Markdown and no fields."""
    lines = [line for line in text.splitlines() if not _FIELD_LINE.match(line)]
    sentence = sentence_below("\n".join(lines))
    for located in reversed(locate_links(sentence)):
        words = located.link.text or located.link.target or located.link.heading
        sentence = sentence[: located.first] + words + sentence[located.last :]
    return shorten(" ".join(_MARKS.sub("", sentence).split()), _LONGEST_DESCRIPTION)


def sentence_around(before: str, link: str, after: str) -> str:
    """Return the sentence of a link with the text before and after it; empty if it says nothing."""
    starts = [end.end() for end in _CITED_END.finditer(before)]
    start = before[starts[-1] :] if starts else before
    end = _CITED_END.search(after)
    rest = after[: end.end()] if end else after
    if len(f"{start} {rest}".split()) < _FEW:
        return ""
    return " ".join(join_link(start, link, rest).split()).lstrip(_LEADING_MARKS)


def naming_sentence(
    blocks: Iterable[InlineBlock], link_definitions: Mapping[str, tuple[str, int]]
) -> str:
    """Return the first sentence of a note, without Markdown and dot; empty behind a heading."""
    for block in blocks:
        if block.level:
            return ""
        if len(block.cells) > 1:  # a table
            continue
        lines = block.cells[0][:_MOST_READ].splitlines()
        text = " ".join(line for line in lines if not _NO_WORDS.fullmatch(line))
        sentence = first_sentence(plain_text(text, link_definitions)).rstrip(".\u3002")
        if any(map(str.isalpha, sentence)):
            return _shorten_name(sentence)
    return ""


def _shorten_name(text: str) -> str:
    if len(text) <= LONGEST:
        return text
    words = text[:LONGEST].rpartition(" ")[0] or text[: LONGEST - 1]
    return f"{words.rstrip(' ,;:')}…"
