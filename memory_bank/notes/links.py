"""Find the links of a note with the words around them, and rewrite those to notes that move."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from html import unescape
from urllib.parse import quote, unquote

from memory_bank.base import NamedTuple, lazy_pattern
from memory_bank.base.documents import Link, LinkKind
from memory_bank.base.errors import BadInput
from memory_bank.base.text import ESCAPED
from memory_bank.notes import okf
from memory_bank.notes.blocks import parse_blocks
from memory_bank.notes.characters import BREAK
from memory_bank.notes.front_matter import split
from memory_bank.notes.inline import InlineSpan, InlineText
from memory_bank.notes.note import Meta
from memory_bank.notes.passages import SourceMap, read_definitions
from memory_bank.notes.relations import DEFAULT, TYPES, Fields, find_relation, normalise_type

WIKILINK = lazy_pattern(r"!?\[\[([^\[\]\n]+)\]\]")

_FRAGMENT = lazy_pattern(r"(?<!&)\\?#")

# Other words before a colon are part of a name: [[Project: Alpha]], [[person:alice]].
_EXTERNAL = lazy_pattern(
    r"//|[a-z][a-z0-9+.-]*+://"
    r"|(?:https?|mailto|tel|sms|file|data|javascript|vbscript|urn|about|blob|cid|magnet|geo|xmpp):(?!\s|\Z)",
    re.IGNORECASE,
)


_KINDS: dict[tuple[bool, bool], LinkKind] = {
    (True, False): "wiki",
    (True, True): "embed",
    (False, False): "markdown",
    (False, True): "image",
}


class WholeLink(NamedTuple):
    """A link with the offsets of its target and of all of it, brackets included."""

    link: Link
    start: int
    end: int
    first: int
    last: int
    """For a reference link, `first` and `last` are in the text, its target in the definition."""

    def holds(self, offset: int) -> bool:
        """Return whether a cursor at an offset is on the link, or on its target."""
        return self.first <= offset <= self.last or self.start <= offset <= self.end


class _WrittenTarget(NamedTuple):
    """The target of a link, with its offsets in the inline text."""

    target: str
    heading: str
    block: str
    start: int
    end: int


def locate_links(text: str, first_line: int = 1) -> list[WholeLink]:
    """Return the links of a Markdown text in order, with the offsets of each and of its target.

    A reference link has the offsets of the path in its definition `[label]: path`.
    """
    blocks = parse_blocks(text)
    if "[" not in text:
        return []
    link_definitions = read_definitions(blocks)
    lines = blocks.source.split("\n")
    located = []
    for inline_block in blocks.inline_blocks:
        inline = InlineText(inline_block, link_definitions)
        source_map = None
        for span, link, target in _yield_links(
            inline, link_definitions, first_line + inline_block.line
        ):
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
            extent = (start, end) if first is None or last is None else (first, last + 1)
            located.append(WholeLink(link, start, end, *extent))
    return located


def links_in(
    inline: InlineText, link_definitions: Mapping[str, tuple[str, int]], line: int
) -> Iterator[Link]:
    """Yield the links of an inline block that starts at a line of the file."""
    for _span, link, _target in _yield_links(inline, link_definitions, line):
        yield link


def _yield_links(
    inline: InlineText, link_definitions: Mapping[str, tuple[str, int]], line: int
) -> Iterator[tuple[InlineSpan, Link, _WrittenTarget]]:
    field = counted = searched = 0
    fields = Fields(inline.bare[0])
    for span in inline.links:
        wiki = span.kind == "wiki"
        target = (
            _read_wiki_target(inline.text, span)
            if wiki
            else _read_markdown_target(inline, span, link_definitions)
        )
        if not target:
            continue
        bare, places = inline.bare
        at = places[span.start]
        field = max(field, bare.rfind("\n", searched, at) + 1)
        searched = at
        line += inline.text.count("\n", counted, span.start)
        counted = span.start
        link = Link(
            target=target.target,
            kind=_KINDS[wiki, span.embed],
            line=line,
            type=find_relation(fields, bare, field, at, at + 1),
            heading=target.heading,
            block=target.block,
            text=inline.shown(span),
            before=inline.before(span),
            after=inline.after(span),
        )
        yield span, link, target


def _read_wiki_target(text: str, span: InlineSpan) -> _WrittenTarget | None:
    """Read the target of a wikilink; None if it leads out of the bank."""
    start, end = span.target
    target, heading, block = wiki_parts(text[start:end])
    if _EXTERNAL.match(target):
        return None
    while target and text[start].isspace():
        start += 1
    return _WrittenTarget(target, heading, block, start, start + len(target))


def wiki_parts(written: str) -> tuple[str, str, str]:
    """Split the inside of a wikilink into target, heading and block."""
    mark = min((at for at in (written.find("#"), written.find("^")) if at >= 0), default=-1)
    if mark < 0:
        return written.strip(), "", ""
    heading, _, block = written[mark:].partition("^")
    return written[:mark].strip(), heading.strip("# \t"), block.strip()


def _read_markdown_target(
    inline: InlineText, span: InlineSpan, link_definitions: Mapping[str, tuple[str, int]]
) -> _WrittenTarget | None:
    """Read a Markdown link's destination; None if it is empty or leads out of the bank."""
    if span.label:
        written, start = link_definitions[span.label]
    else:
        written, start = inline.text[slice(*span.target)], span.target[0]
    if written.startswith("<"):
        written, start = written[1:-1], start + 1
    mark = _FRAGMENT.search(written)
    end = mark.start() if mark else len(written)
    query = _QUERY.search(written, 0, end)
    end = query.start() if query else end
    target = decode_target(written[:end])
    fragment = decode_target(written[mark.end() :]) if mark else ""
    if _EXTERNAL.match(target) or not (target or fragment):
        return None
    return _WrittenTarget(target, *split_fragment(fragment), start, start + end)


def split_fragment(fragment: str) -> tuple[str, str]:
    """Return the heading and the block that a fragment names; one of them is empty."""
    return ("", fragment[1:]) if fragment.startswith("^") else (fragment, "")


_QUERY = lazy_pattern(r"(?<=\.md)\?[^#]*", re.IGNORECASE)
"""A query for a code host behind a path: `note.md?plain=1`."""


def decode_target(written: str) -> str:
    """Undo the escapes, entities and percent-encoding of a destination."""
    if "\\" in written:
        written = ESCAPED.sub(r"\1", written)
    if "&" in written:
        written = unescape(written)
    return unquote(written) if "%" in written else written


def reference_links(meta: Meta) -> tuple[Link, ...]:
    """Return links for the references in front matter and the wikilinks in its other keys."""
    links = [Link(file, "reference", 1, "mentions", names_file=True) for file in meta.file_refs]
    targets = [
        *(f"symbol:{name}" for name in meta.symbol_refs),
        *(f"{entity.kind}:{entity.id}" for entity in meta.entity_refs),
    ]
    links.extend(Link(target, "reference", 1, "mentions") for target in targets)
    links.extend(okf.path_links(meta.extra))
    links.extend(_yield_key_links(meta.extra, DEFAULT))
    return tuple(dict.fromkeys(links))


def locate_in_front_matter(references: Sequence[Link], head: str) -> tuple[Link, ...]:
    """Return links of front matter with the lines where their targets stand; else the first."""
    if not references:
        return ()
    lines = BREAK.split(head)

    def line_of(target: str) -> int:
        for name in filter(None, (f"[[{target}", target, target.partition(":")[2])):
            written = re.compile(rf"(?<![\w./-]){re.escape(name)}(?![\w./-])")
            for number, line in enumerate(lines, 1):
                if name in line and written.search(line):
                    return number
        return 1

    return tuple(link._replace(line=line_of(link.target)) for link in references)


_NAMING = frozenset({"supersedes", "superseded_by"})
"""Types of links whose key in front matter may have a note's plain name or path."""

_NAME = lazy_pattern(r"(?!(?:none|null|no|n/a|tbd|-)\Z)[^\s\[\]|#:,;]{2,200}", re.IGNORECASE)


def _yield_key_links(value: object, kind: str) -> Iterator[Link]:
    """Yield the wikilinks in a value, recursively, typed by the nearest key."""
    if isinstance(value, Mapping):
        for key, inside in value.items():
            name = normalise_type(str(key))
            yield from _yield_key_links(inside, name if name in TYPES else kind)
    elif isinstance(value, list | tuple):
        # YAML reads an unquoted [[x]] as a list in a list.
        for inside in value:
            alone = isinstance(inside, list) and len(inside) == 1 and isinstance(inside[0], str)
            yield from _yield_key_links(f"[[{inside[0]}]]" if alone else inside, kind)
    elif isinstance(value, str):
        insides = [match[1] for match in WIKILINK.finditer(value)]
        if not insides and kind in _NAMING and _NAME.fullmatch(value.strip()):
            insides = [value.strip()]
        for inside in insides:
            if link := reference_link(inside, 1, kind):
                yield link


def reference_link(inner: str, line: int, kind: str = DEFAULT) -> Link | None:
    """Read the inside of a wikilink in front matter."""
    written, _, alias = inner.partition("|")
    target, heading, block = wiki_parts(written)
    if _EXTERNAL.match(target) or not (target or heading or block):
        return None
    return Link(target, "reference", line, kind, heading, block, alias.strip())


# Strings and comments in a line of front matter. A string that is open at the end of the line
# continues in the next match, so that each character is read once.
_STRING = lazy_pattern(
    r"""(?<!\w)"(?:[^"\\\r\n]|\\.)*+(?:"|\\?(?=[\r\n]|\Z))"""
    r"""|(?<!\w)'(?:[^'\r\n]|'')*+(?:'|(?=[\r\n]|\Z))|(?<!\S)\#[^\r\n]*"""
)

_HEAD_LINE = lazy_pattern(
    r"^(?:(?P<key>[A-Za-z][\w-]*)[ \t]*:|(?P<item>[ \t]*-[ \t]|[ \t]+(?=\S)|[ \t]*[\]#]))?"
    r"(?P<value>[^\r\n]*)(?:\r?\n|\Z)",
    re.MULTILINE,
)
"""A line of front matter: a key with a value, or an item of a list."""

_PLAIN = lazy_pattern(
    r"""\#.*|[ \t\[]*(?P<quote>["']?)(?P<name>[^\s\[\]|\#:,;"']{2,200})(?P=quote)"""
    r"""(?=[ \t]*(?:[,\]]|\Z)|[ \t]+\#)|[^,]+"""
)
"""A comment, a name that is a whole value or item, or something else."""

_MD = lazy_pattern(r"\.md\Z", re.IGNORECASE)

NOT_IN_WIKILINK = lazy_pattern(r"[\[\]|#^\r\n]")

_BALANCED = lazy_pattern(r"[^()]*(?:\([^()]*\)[^()]*)*")

# Must be escaped in a destination; `<`…`>` allows spaces and parentheses.
_ESCAPED = r"[\x00-\x1f\x7f<>\\#|]|%(?=[0-9a-fA-F]{2})|&(?=[#\w]+;)"

_UNSAFE, _UNSAFE_BARE = lazy_pattern(_ESCAPED), lazy_pattern(rf"{_ESCAPED}|\s")


def relink(text: str, rename: Callable[[Link], str | None], body_start: int | None = None) -> str:
    """Rewrite those links of a note for which `rename` returns a new target.

    A link keeps its heading, block, text, title, angle brackets, percent-encoding, and its `.md` or
    the lack of it. In front matter, which ends at `body_start`, wikilinks are replaced. Raises
    BadInput if a wikilink can't have the new target.
    """
    parts, position = list[str](), 0
    for (start, end), target in sorted(plan_edits(text, rename, body_start).items()):
        parts += (text[position:start], target)
        position = end
    return "".join((*parts, text[position:]))


def plan_edits(
    text: str, rename: Callable[[Link], str | None], body_start: int | None = None
) -> dict[tuple[int, int], str]:
    """Map the offsets of each target that `relink` replaces to the new text; raise BadInput."""
    body = len(text) - len(split(text).body) if body_start is None else body_start
    edits: dict[tuple[int, int], str] = {}
    for link, start, end, mark in front_matter_links(text[:body]):
        if (target := rename(link)) is not None:
            new = _retarget_in_front_matter(link, text[start:end], target, mark)
            is_plain = not text[:start].rstrip().endswith("[[")
            if is_plain and okf.is_path(link.target):
                new = new if mark or okf.is_path(new) else f'"{new}"'
            elif is_plain and not _NAME.fullmatch(new):
                new = f"[[{new}]]" if mark else f'"[[{new}]]"'
            edits[start, end] = new
    first_line = 1 + sum(1 for _ in BREAK.finditer(text, 0, body))
    for located in locate_links(text[body:], first_line):
        if (target := rename(located.link)) is not None:
            start, end = body + located.start, body + located.end
            edits[start, end] = _retarget_in_body(text, start, end, located.link, target)
    return edits


def front_matter_links(text: str) -> Iterator[tuple[Link, int, int, str]]:
    """Yield each link outside comments, its target's offsets, and the quotes around it.

    Links are wikilinks, and the plain names of notes that this one supersedes or is superseded by.
    """
    yield from _yield_plain_names(text)
    strings = list(_STRING.finditer(text))
    starts = [string.start() for string in strings]
    comments = [string.span() for string in strings if string[0].startswith("#")]
    yield from _yield_resources(text, comments)
    line, line_start = 1, 0
    for match in WIKILINK.finditer(text):
        line += sum(1 for _ in BREAK.finditer(text, line_start, match.start()))
        line_start = match.start()
        around = bisect_right(starts, line_start) - 1
        inside = around >= 0 and strings[around].end() > line_start
        mark = strings[around][0][0] if inside else ""
        inner = _unescape_string(match[1], mark)
        link = reference_link(inner, line) if mark != "#" else None
        if link:
            written = re.split(r"[#^|]", match[1], maxsplit=1)[0]
            start = match.start(1) + len(written) - len(written.lstrip())
            yield link, start, start + len(written.strip()), mark


def _yield_plain_names(text: str) -> Iterator[tuple[Link, int, int, str]]:
    """Yield the plain names of notes in the keys that may have some, as a value or in a list."""
    kind = ""
    for line, match in enumerate(_HEAD_LINE.finditer(text), 1):
        if match["key"] is not None:
            kind = normalise_type(match["key"])
        elif not match["item"]:
            kind = ""
        if kind not in _NAMING or "[[" in match["value"]:
            continue
        for name in _PLAIN.finditer(text, *match.span("value")):
            if name["name"] is not None and _NAME.fullmatch(name["name"]):
                link = reference_link(name["name"], line, kind)
                if link is not None:
                    yield link, *name.span("name"), name["quote"] or ""


_RESOURCE = lazy_pattern(
    r"""(?<![\w-])["']?(?:resource|computation)["']?[ \t]*:[ \t]+(?P<quote>["']?)"""
    r"""(?P<path>[^\s"'{}\[\],|<>]{1,500})(?P=quote)(?=[ \t]*(?:[,}\r\n]|\Z)|[ \t]+\#)"""
)
"""A key that has a path or a URL, in a line or in a mapping."""


def _yield_resources(
    text: str, comments: list[tuple[int, int]]
) -> Iterator[tuple[Link, int, int, str]]:
    """Yield the paths of what a note derives from, as `okf.path_links` does."""
    line, line_start = 1, 0
    for match in _RESOURCE.finditer(text):
        before = bisect_right(comments, (match.start(), len(text))) - 1
        in_comment = before >= 0 and match.start() < comments[before][1]
        if in_comment or not okf.is_path(match["path"]):
            continue
        line += sum(1 for _ in BREAK.finditer(text, line_start, match.start()))
        line_start = match.start()
        path, _, heading = match["path"].partition("#")
        start = match.start("path")
        link = Link(path, "reference", line, "mentions", heading)
        yield link, start, start + len(path), match["quote"]


def _unescape_string(written: str, mark: str) -> str:
    if mark == '"':
        return re.sub(r'\\(["\\/])', r"\1", written)
    return written.replace("''", "'") if mark == "'" else written


def _retarget_in_front_matter(link: Link, written: str, target: str, mark: str) -> str:
    """Return a wikilink's new target, escaped for its string of YAML."""
    target = _match_suffix(link.target, target)
    if target == link.target:
        return written
    _check_wikilink(link, target)
    if mark == '"':
        return re.sub(r'(["\\])', r"\\\1", target)
    return target.replace("'", "''") if mark == "'" else target


def _retarget_in_body(text: str, start: int, end: int, link: Link, target: str) -> str:
    """Return a new target in the syntax of the old one: in a wikilink, in `<>`, or bare."""
    written = text[start:end]
    target = _match_suffix(link.target, target)
    if target == link.target:
        return written
    before = start
    while text[before - 1].isspace():
        before -= 1
    if text.startswith("[[", before - 2):
        _check_wikilink(link, target)
        return target
    unsafe = _UNSAFE if text.startswith("<", start - 1) else _UNSAFE_BARE
    if unsafe is _UNSAFE_BARE and written.isascii() and unquote(written) != written:
        return quote(target, safe="/!$*+,;=:@~")
    new = unsafe.sub(_percent, target)
    if unsafe is _UNSAFE_BARE and not _BALANCED.fullmatch(new):
        new = new.replace("(", "%28").replace(")", "%29")
    return new if decode_target(new) == target else quote(target)


def _percent(match: re.Match[str]) -> str:
    return quote(match[0], safe="")


def _match_suffix(written: str, target: str) -> str:
    """Let the target end in `.md` exactly if the old one did; an empty one stays."""
    suffix = _MD.search(written)
    bare = _MD.sub("", target)
    return bare + suffix[0] if bare and suffix else bare


def _check_wikilink(link: Link, target: str) -> None:
    is_empty = not (target or link.heading or link.block)
    if is_empty or target != target.strip() or NOT_IN_WIKILINK.search(target):
        raise BadInput(
            f"[[{target}]] would not be read as a link to {target!r}",
            "choose a name without [ ] | # ^ and without spaces at its ends",
        )
