"""Cut a note's body into sections, and gather its links, block ids, tags and title."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from itertools import pairwise

from memory_bank.notes.blocks import Blocks, Stretch, cut
from memory_bank.notes.links import links_in
from memory_bank.notes.note import Body, Link, Section
from memory_bank.notes.offsets import definitions
from memory_bank.notes.reading import Reading, plain_text

# At the end of a line; Obsidian's own ids are letters, digits and hyphens.
_BLOCK_ID = re.compile(r"(?:^|(?<=\s))\^([\w-]+)[ \t]*$", re.MULTILINE)
# Obsidian's rule where a tag starts and what it can't hold; `_tag` leaves out the rest.
_TAG = re.compile(r"(?<![^\s(])#([^\s!-,.:-@\[-^`{-~]+)")


def read_body(text: str, first_line: int = 1, offset: int = 0) -> Body:
    """Read a note's Markdown without its front matter.

    `first_line` is the file's line, counted from 1, where the text starts, and `offset` the number
    of characters before it. The sections' texts joined are the text.
    """
    if not text or text.isspace():
        return Body(())
    blocks = cut(text)
    known = definitions(blocks)
    links: list[Link] = []
    ids: dict[str, int] = {}
    tags: dict[str, None] = {}
    for stretch in blocks.stretches:
        if not _may_say(stretch):
            continue
        reading = Reading(stretch, known)
        line = first_line + stretch.line
        links.extend(links_in(reading, known, line))
        for name, row in _block_ids(reading):
            ids.setdefault(name, line + row)
        tags.update(dict.fromkeys(_tags(reading)))
    heads = [stretch for stretch in blocks.stretches if stretch.level]
    names = [plain_text(head.cells[0], known) for head in heads]
    sections = _sections(text, blocks, list(zip(heads, names, strict=True)), first_line, offset)
    title = names[0] if heads and heads[0].level == 1 else ""
    return Body(tuple(sections), tuple(links), ids, tuple(tags), title)


def _may_say(stretch: Stretch) -> bool:
    """Tell at little cost whether a stretch may hold a link, a block id or a tag."""
    return any("[" in cell or "#" in cell or "^" in cell for cell in stretch.cells)


def _block_ids(reading: Reading) -> Iterator[tuple[str, int]]:
    """Yield each `^id` at the end of a line, and its line counted from the stretch's first."""
    if "^" in reading.text:
        text = reading.bare.text
        row = seen = 0
        for found in _BLOCK_ID.finditer(text):
            row += text.count("\n", seen, found.start())
            seen = found.start()
            yield found[1], row


def _tags(reading: Reading) -> Iterator[str]:
    if "#" in reading.text:
        for found in _TAG.finditer(reading.bare.text):
            if tag := _tag(found[1]):
                yield tag


def _tag(written: str) -> str:
    """Keep letters, marks and digits of any script, `_`, `-` and `/`; a number is no tag."""
    end = 0
    while end < len(written) and (
        written[end] in "_-/" or unicodedata.category(written[end])[0] in "LMN"
    ):
        end += 1
    tag = written[:end].rstrip("/").lower()
    return "" if tag.isnumeric() else tag


def _sections(
    text: str, blocks: Blocks, heads: Sequence[tuple[Stretch, str]], first_line: int, offset: int
) -> Iterator[Section]:
    """Cut the text at its headings; what stands before the first is a section if it says a word."""
    starts = blocks.starts
    # The last line end starts no further line.
    count = len(starts) - (starts[-1] == len(text))
    places = [(head.line, head.level, name) for head, name in heads]
    if not places or _says_something(text[: starts[places[0][0]]]):
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


def _says_something(text: str) -> bool:
    return bool(text) and not text.isspace()
