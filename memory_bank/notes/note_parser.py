"""Parse a file's bytes to a note, and encode its text."""

from __future__ import annotations

from collections.abc import Callable

from memory_bank.errors import BadInput
from memory_bank.notes import frontmatter, link_parser, merge_conflicts, schema, sections
from memory_bank.notes.identity import etag
from memory_bank.notes.merge_conflicts import UNRESOLVED
from memory_bank.notes.names import name_of
from memory_bank.notes.note import Fault, Meta, Note
from memory_bank.notes.unicode_form import nfc


def parse(path: str, data: bytes) -> Note:
    """Parse a file, with faults for parts that can't be read; raise UnreadableNote for a binary."""
    decoded = frontmatter.decode(data)
    parts = frontmatter.split(decoded.text)
    raw, faults = frontmatter.metadata(parts)
    head = parts.opening + parts.block + parts.closing
    body = sections.read_body(parts.body, 1 + count_lines(head), len(head))
    meta, meta_faults = schema.read_meta(raw, body.tags)
    references = link_parser.reference_links(meta)
    conflicts = (Fault(UNRESOLVED, found.line) for found in merge_conflicts.find(decoded.text))
    return Note(
        name=nfc(name_of(path)),
        path=path,
        meta=meta,
        body=body._replace(links=body.links + references) if references else body,
        text=decoded.text,
        body_start=len(head),
        etag=etag(data),
        content_hash=schema.content_hash(parts.body),
        size=len(data),
        faults=tuple(
            dict.fromkeys((*decoded.faults, *conflicts, *faults, *meta_faults, *body.faults))
        ),
        writable=decoded.writable,
    )


def front_matter(data: bytes) -> Meta:
    """Parse a file's front matter only; raise UnreadableNote."""
    raw, _ = frontmatter.metadata(frontmatter.split(frontmatter.decode(data).text))
    return schema.read_meta(raw)[0]


def count_lines(text: str) -> int:
    r"""Count line ends as Markdown does: \r\n, \r and \n."""
    return text.count("\n") + text.count("\r") - text.count("\r\n")


def edited(data: bytes, change: Callable[[str], str]) -> bytes:
    """Return the file's bytes after a change of its text; the byte order mark stays.

    Raises UnreadableNote if a file that isn't valid UTF-8 would change, since a rewrite would lose
    bytes, and BadInput for text that a note can't have.
    """
    decoded = frontmatter.decode(data)
    text = change(decoded.text)
    if text == decoded.text:
        return data
    if not decoded.writable:
        fault = decoded.faults[0]
        raise frontmatter.not_rewritten(fault.reason, fault.line)
    mark = frontmatter.BOM if data.startswith(frontmatter.BOM) else b""
    return mark + encoded(text)


def encoded(text: str) -> bytes:
    """Return the bytes of a note's text; raise BadInput for text that could not be read again."""
    if "\0" in text:
        raise BadInput("a note can't hold NUL characters", "leave them out")
    try:
        return text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise BadInput(
            f"the text has half a surrogate pair at character {error.start}", "it was cut wrongly"
        ) from error
