"""The text of a note as a form shows it, and what a changed form makes of the file.

Soft line breaks of a paragraph are shown as spaces: a text and what is shown of it have the same
length. So what was not edited is taken from the file, byte for byte, also in an edited paragraph.
"""

from __future__ import annotations

from collections.abc import Mapping
from difflib import SequenceMatcher
from functools import cache

from markdown_it import MarkdownIt

from memory_bank.base import NamedTuple, lazy_pattern
from memory_bank.base.rendering import has_same_words
from memory_bank.notes import front_matter
from memory_bank.notes.inline import plain_text
from memory_bank.notes.schema import read_meta, spelled_key
from memory_bank.notes.sections import read_body

_NEWLINE = lazy_pattern(r"\r\n?")

_TITLE = lazy_pattern(r"\A(\ufeff?\s*#[ \t]+)([^\n]*)\n?")

_BLANK = lazy_pattern(r"\A\ufeff?(?:[ \t]*\n)*")

_STAYS = lazy_pattern(r"::|(?:  |\\|\s\^[\w-]+)$|^[ \t]")
"""A mark of a line that is not joined: a relation, a hard break, a block id, or an indent."""

_WORD = lazy_pattern(r"\s|[^\s]+")

_MOST_WORDS = 4000
"""Words between the first and the last edit that are compared."""


class NoteFields(NamedTuple):
    """The fields of the form of a note."""

    title: str = ""
    text: str = ""
    type: str = ""
    tags: str = ""
    """The tags, separated by commas."""
    files: str = ""
    """The files, separated by commas."""

    @classmethod
    def from_form(cls, form: Mapping[str, str]) -> NoteFields:
        """Return the fields that a browser sent."""
        texts = {name: _NEWLINE.sub("\n", form.get(name, "")) for name in cls._fields}
        texts["title"] = " ".join(texts["title"].split())
        return cls(**texts | {name: texts[name].strip() for name in ("type", "tags", "files")})

    @property
    def content(self) -> str:
        """The text of a new note, without front matter."""
        return f"# {self.title}\n\n{self.text}".strip() + "\n" if self.title else self.text


def split_items(text: str) -> list[str]:
    """Return what commas separate."""
    return [part.strip() for part in text.split(",") if part.strip()]


def read_fields(content: str) -> NoteFields | None:
    """Return the fields of a note; None if its front matter can't be edited key by key."""
    parts = _read_parts(_NEWLINE.sub("\n", content))
    return parts.fields if parts else None


def rewrite_fields(content: str, fields: NoteFields) -> str:
    r"""Return the text of a note with changed fields, with `\n` as line ends.

    Raises UnreadableNote if its front matter can't be edited.
    """
    text = _NEWLINE.sub("\n", content)
    parts = _read_parts(text)
    if parts is None:
        raise front_matter.rewrite_error("its front matter can't be read", 1)
    old, head, body = parts.fields, parts.head, parts.body
    if fields.title != old.title and fields.title and parts.heading:
        head = head[: parts.heading[0]] + fields.title + head[parts.heading[1] :]
    elif fields.title != old.title and fields.title and not parts.title_key:
        head = f"{head}# {fields.title}\n\n"
    if parts.sentence and fields.text:
        head = head.rstrip("\n") + "\n\n"
    text = head + merge_edited(body, fields.text)
    changes: dict[str, object] = {}
    for name, value in (("type", fields.type), ("tags", fields.tags), ("file_refs", fields.files)):
        if value != {"type": old.type, "tags": old.tags, "file_refs": old.files}[name]:
            changes[spelled_key(parts.raw, name)] = (
                value if name == "type" else split_items(value)
            ) or None
    if parts.title_key and fields.title != old.title:
        changes[parts.title_key] = fields.title or None
    return front_matter.set_keys(text, changes) if changes else text


class _NoteParts(NamedTuple):
    """A note in parts: `head` and `body` joined are its text."""

    fields: NoteFields
    raw: Mapping[str, object]
    head: str
    body: str
    heading: tuple[int, int] | None
    """Where the words of the first heading stand in the head."""
    title_key: str
    sentence: bool = False
    """Whether all of its text is the sentence that is its title."""


def _read_parts(text: str) -> _NoteParts | None:
    parts = front_matter.split(text)
    raw, faults = front_matter.read_metadata(parts)
    meta, meta_faults = read_meta(raw)
    if faults or meta_faults:
        return None
    start = len(text) - len(parts.body)
    key = spelled_key(raw, "title") if meta.title else ""
    match = _TITLE.match(parts.body)
    heading, sentence = None, False
    words = match[2].rstrip(" \t").rstrip("#").rstrip(" \t") if match else ""
    if match and not key and words.strip():
        heading = (start + match.start(2), start + match.start(2) + len(words))
        start += match.end()
    blank = _BLANK.match(text[start:])
    start += blank.end() if blank else 0
    sentence_name = "" if key or heading else read_body(text[start:]).first
    line = text[start:].strip()
    if sentence_name and "\n" not in line and has_same_words(plain_text(line), sentence_name):
        heading, sentence = (start, start + len(line.rstrip(".\u3002"))), True
        start = len(text)
    title = meta.title or (text[slice(*heading)] if heading else sentence_name)
    tags = ", ".join(meta.tags)
    files = ", ".join(meta.file_refs)
    fields = NoteFields(title, join_lines(text[start:]), meta.type, tags, files)
    return _NoteParts(fields, raw, text[:start], text[start:], heading, key, sentence)


def join_lines(text: str) -> str:
    """Return a text with the lines of each of its paragraphs joined; its length is the same."""
    lines = text.split("\n")
    ends = ["\n"] * (len(lines) - 1) + [""]
    for token in _make_parser().parse(text):
        if token.type != "paragraph_open" or token.level or not token.map:
            continue
        first, last = token.map
        if any(_STAYS.search(line) for line in lines[first:last]):
            continue
        ends[first : last - 1] = [" "] * (last - 1 - first)
    return "".join(line + end for line, end in zip(lines, ends, strict=True))


@cache
def _make_parser() -> MarkdownIt:
    markdown = MarkdownIt("commonmark").enable("table")
    markdown.core.ruler.disable("inline")
    markdown.parse("warm")  # the ruler sorts its rules at the first parse, without a lock
    return markdown


def merge_edited(text: str, edited: str) -> str:
    """Return a text with the edits that were made to its joined lines; the rest stays as it is.

    The joined lines of the answer are the edited text. If a line break would now mean something
    else, the answer is the edited text with its own line breaks.
    """
    shown_text = join_lines(text)
    start = _count_common(shown_text, edited)
    end = _count_common(shown_text[start:][::-1], edited[start:][::-1])
    for merged in (
        _merge_by_words(text, shown_text, edited, start, end),
        _merge_by_place(text, edited, start, end),
    ):
        if join_lines(merged) == edited:
            return merged
    return edited


def _count_common(text: str, other_text: str) -> int:
    """Return how many characters two texts begin with alike."""
    size = min(len(text), len(other_text))
    return next((at for at in range(size) if text[at] != other_text[at]), size)


def _merge_by_place(text: str, edited: str, start: int, end: int) -> str:
    return text[:start] + edited[start : len(edited) - end] + text[len(text) - end :]


def _merge_by_words(text: str, shown_text: str, edited: str, start: int, end: int) -> str:
    old = _WORD.findall(shown_text[start : len(shown_text) - end])
    new = _WORD.findall(edited[start : len(edited) - end])
    if max(len(old), len(new)) > _MOST_WORDS:
        return _merge_by_place(text, edited, start, end)
    pieces, at = [], start
    places = []
    for word in old:
        places.append(at)
        at += len(word)
    for kind, a, b, c, d in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if kind == "equal":
            pieces.append(text[places[a] : places[b - 1] + len(old[b - 1])])
        else:
            pieces.append("".join(new[c:d]))
    return text[:start] + "".join(pieces) + text[len(text) - end :]
