"""The first sentence of a text, and of a note that no heading names."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from memory_bank.notes.blocks import InlineBlock
from memory_bank.notes.inline import plain_text
from memory_bank.notes.passages import LinkDefinition

LONGEST = 100
"""Maximum number of characters of a sentence that names a note."""

_READ = 2_000

_END = re.compile(r"[.!?]+[\"')\]\u00bb\u201d\u2019]*(?=\s|\Z)|[\u3002\uff01\uff1f]")

_INITIALS = re.compile(r"[(\[\"']*(?:[^\W\d_]\.)*[^\W\d_]")
"""A word of single letters with dots between them: e.g, i.e, U.S, and J of J. Smith."""

_SHORT = frozenset(
    ["al", "approx", "ca", "cf", "dr", "esp", "fig", "incl", "mr", "mrs", "ms", "no", "nr", "prof",
     "resp", "sec", "st", "vol", "vs"]
)  # fmt: skip
"""Words whose dot ends no sentence."""

_NO_WORDS = re.compile(
    r"[ \t>*+-]*+(?:\w[^:\n]{0,40}+::.*+"
    r"|(?:(?:#\S++|\^\S++|!?\[\[[^\[\]\n]*+\]\]|!\[[^\]\n]*+\]\([^)\n]*+\))[ \t,]*+)*+)"
)
"""A line of a field, or of nothing but tags, links, images or a block id."""


def first_sentence(text: str) -> str:
    """Return a text up to the end of its first sentence, on one line."""
    line = " ".join(text[:_READ].split())
    for end in _END.finditer(line):
        word = line[: end.start()].rpartition(" ")[2]
        dot = end[0] == "."
        if dot and (_INITIALS.fullmatch(word) or word.lstrip("(").casefold() in _SHORT):
            continue
        if dot and line[end.end() :].lstrip()[:1].islower():
            continue
        return line[: end.end()]
    return line


def naming_sentence(blocks: Iterable[InlineBlock], known: Mapping[str, LinkDefinition]) -> str:
    """Return the first sentence of a note, without Markdown and dot; empty behind a heading."""
    for block in blocks:
        if block.level:
            return ""
        if len(block.cells) > 1:  # a table
            continue
        lines = block.cells[0][:_READ].splitlines()
        text = " ".join(line for line in lines if not _NO_WORDS.fullmatch(line))
        found = first_sentence(plain_text(text, known)).rstrip(".\u3002")
        if any(map(str.isalpha, found)):
            return _cut(found)
    return ""


def _cut(text: str) -> str:
    if len(text) <= LONGEST:
        return text
    words = text[:LONGEST].rpartition(" ")[0] or text[: LONGEST - 1]
    return f"{words.rstrip(' ,;:')}…"
