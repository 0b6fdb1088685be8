"""Find the links of a note, with their targets and the words around them."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping
from html import unescape
from typing import NamedTuple
from urllib.parse import unquote

from memory_bank.notes.blocks import parse_blocks
from memory_bank.notes.inline import InlineSpan, InlineText
from memory_bank.notes.note import Meta, NoteLink
from memory_bank.notes.passages import LinkDefinition, SourceMap, definitions
from memory_bank.notes.relations import DEFAULT, TYPES, Fields, as_type, relation

WIKILINK = re.compile(r"!?\[\[([^\[\]\n]+)\]\]")

_ESCAPE = re.compile(r"\\([!-/:-@\[-`{-~])")

_FRAGMENT = re.compile(r"(?<!&)\\?#")

# Other words before a colon are part of a name: [[Project: Alpha]], [[person:alice]].
_EXTERNAL = re.compile(
    r"//|[a-z][a-z0-9+.-]*+://"
    r"|(?:https?|mailto|tel|sms|file|data|javascript|vbscript|urn|about|blob|cid|magnet|geo|xmpp):(?!\s|\Z)",
    re.IGNORECASE,
)


class LocatedLink(NamedTuple):
    """A link, and the offsets of its target in the source text."""

    link: NoteLink
    start: int
    end: int


class WholeLink(NamedTuple):
    """A link with the offsets of its target and of all of it, brackets included."""

    link: NoteLink
    start: int
    end: int
    first: int
    last: int
    """`first` and `last` are not in the definition of a reference link, as its target is."""


class _Target(NamedTuple):
    """The target of a link, with its offsets in the inline text."""

    target: str
    heading: str
    block: str
    start: int
    end: int


def locate_links(text: str, first_line: int = 1) -> list[LocatedLink]:
    """Return the links of a Markdown text in order, with the offsets of their targets.

    A reference link has the offsets of the path in its definition `[label]: path`.
    """
    return [LocatedLink(*one[:3]) for one in locate_whole_links(text, first_line)]


def locate_whole_links(text: str, first_line: int = 1) -> list[WholeLink]:
    """Return the links of a Markdown text as `locate_links` does, with the offsets of each."""
    blocks = parse_blocks(text)
    if "[" not in text:
        return []
    known = definitions(blocks)
    lines = blocks.source.split("\n")
    found = []
    for inline_block in blocks.inline_blocks:
        inline = InlineText(inline_block, known)
        source_map = None
        for span, link, target in _read(inline, known, first_line + inline_block.line):
            source_map = source_map or SourceMap(inline_block, blocks, lines)
            cell = bisect_right(inline.cells, span.start) - 1
            base = inline.cells[cell]
            labelled = target.start if span.label else None
            start = labelled or source_map.offset(cell, target.start - base)
            if start is None:
                continue
            end = start + target.end - target.start
            first = source_map.offset(cell, span.start - base)
            last = source_map.offset(cell, span.end - 1 - base)
            whole = (start, end) if first is None or last is None else (first, last + 1)
            found.append(WholeLink(link, start, end, *whole))
    return found


def links_in(
    inline: InlineText, known: Mapping[str, LinkDefinition], line: int
) -> Iterator[NoteLink]:
    """Yield the links of an inline block that starts at a line of the file."""
    for _span, link, _target in _read(inline, known, line):
        yield link


def _read(
    inline: InlineText, known: Mapping[str, LinkDefinition], line: int
) -> Iterator[tuple[InlineSpan, NoteLink, _Target]]:
    field = counted = searched = 0
    fields = Fields(inline.bare.text)
    for span in inline.links:
        wiki = span.kind == "wiki"
        target = _wiki_target(inline.text, span) if wiki else _markdown_target(inline, span, known)
        if not target:
            continue
        bare, places = inline.bare
        at = places[span.start]
        field = max(field, bare.rfind("\n", searched, at) + 1)
        searched = at
        line += inline.text.count("\n", counted, span.start)
        counted = span.start
        link = NoteLink(
            target=target.target,
            kind="embed" if span.embed else "wiki" if wiki else "markdown",
            line=line,
            type=relation(fields, bare, field, at, at + 1),
            heading=target.heading,
            block=target.block,
            text=inline.shown(span),
            before=inline.before(span),
            after=inline.after(span),
        )
        yield span, link, target


def _wiki_target(text: str, span: InlineSpan) -> _Target | None:
    """Read the target of a wikilink; None if it leads out of the bank."""
    start, end = span.target
    target, heading, block = wiki_parts(text[start:end])
    if _EXTERNAL.match(target):
        return None
    while target and text[start].isspace():
        start += 1
    return _Target(target, heading, block, start, start + len(target))


def wiki_parts(written: str) -> tuple[str, str, str]:
    """Split the inside of a wikilink into target, heading and block."""
    mark = min((at for at in (written.find("#"), written.find("^")) if at >= 0), default=-1)
    if mark < 0:
        return written.strip(), "", ""
    heading, _, block = written[mark:].partition("^")
    return written[:mark].strip(), heading.strip("# \t"), block.strip()


def _markdown_target(
    inline: InlineText, span: InlineSpan, known: Mapping[str, LinkDefinition]
) -> _Target | None:
    """Read a Markdown link's destination; None if it is empty or leads out of the bank."""
    if span.label:
        written, start = known[span.label]
    else:
        written, start = inline.text[slice(*span.target)], span.target[0]
    if written.startswith("<"):
        written, start = written[1:-1], start + 1
    mark = _FRAGMENT.search(written)
    end = mark.start() if mark else len(written)
    target = decoded(written[:end])
    fragment = decoded(written[mark.end() :]) if mark else ""
    if _EXTERNAL.match(target) or not (target or fragment):
        return None
    heading, block = ("", fragment[1:]) if fragment.startswith("^") else (fragment, "")
    return _Target(target, heading, block, start, start + end)


def decoded(written: str) -> str:
    """Undo the escapes, entities and percent-encoding of a destination."""
    if "\\" in written:
        written = _ESCAPE.sub(r"\1", written)
    if "&" in written:
        written = unescape(written)
    return unquote(written) if "%" in written else written


def reference_links(meta: Meta) -> tuple[NoteLink, ...]:
    """Return links for the references in front matter and the wikilinks in its other keys."""
    links = [NoteLink(file, "reference", 1, "mentions", names_file=True) for file in meta.file_refs]
    targets = [
        *(f"symbol:{name}" for name in meta.symbol_refs),
        *(f"{entity.kind}:{entity.id}" for entity in meta.entity_refs),
    ]
    links.extend(NoteLink(target, "reference", 1, "mentions") for target in targets)
    links.extend(_key_links(meta.extra, DEFAULT))
    return tuple(links)


def _key_links(value: object, kind: str) -> Iterator[NoteLink]:
    """Yield the wikilinks in a value, recursively, typed by the nearest key."""
    if isinstance(value, Mapping):
        for key, inner in value.items():
            name = as_type(str(key))
            yield from _key_links(inner, name if name in TYPES else kind)
    elif isinstance(value, list | tuple):
        # YAML reads an unquoted [[x]] as a list in a list.
        for inner in value:
            alone = isinstance(inner, list) and len(inner) == 1 and isinstance(inner[0], str)
            yield from _key_links(f"[[{inner[0]}]]" if alone else inner, kind)
    elif isinstance(value, str):
        for found in WIKILINK.finditer(value):
            if link := reference_link(found[1], 1, kind):
                yield link


def reference_link(inner: str, line: int, kind: str = DEFAULT) -> NoteLink | None:
    """Read the inside of a wikilink in front matter."""
    written, _, alias = inner.partition("|")
    target, heading, block = wiki_parts(written)
    if _EXTERNAL.match(target) or not (target or heading or block):
        return None
    return NoteLink(target, "reference", line, kind, heading, block, alias.strip())
