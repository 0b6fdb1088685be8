"""Archive a note's text, and undo that byte for byte.

A text without a status gets `status: archived`. One that has a status keeps it and gets
`archived: true`; so does empty front matter, which is then told from front matter that was added.
"""

from __future__ import annotations

from memory_bank.actions.remember import with_keys
from memory_bank.notes import frontmatter
from memory_bank.notes.schema import keys_of, read_meta

_STATUS, _ARCHIVED = "status", "archived"
_MARK = "\ufeff"


def archived(text: str) -> str:
    """Return the text of an archived note; raise UnreadableNote if its block can't be read."""
    parts = frontmatter.split(text)
    raw, _ = frontmatter.metadata(parts)
    if read_meta(raw)[0].status == _ARCHIVED:
        return text
    is_empty = parts.format != "none" and not raw
    if is_empty or keys_of(raw, _STATUS):
        return with_keys(text, {_ARCHIVED: True})
    return with_keys(text, {_STATUS: _ARCHIVED})


def active(text: str) -> str:
    """Return the text of a note that is no longer archived: as before `archived`."""
    raw, _ = frontmatter.metadata(frontmatter.split(text))
    if read_meta(raw)[0].status != _ARCHIVED:
        return text
    only_status = set(raw) == set(keys_of(raw, _STATUS))
    removed = [key for key in keys_of(raw, _STATUS) if _is_archived({_STATUS: raw[key]})]
    removed += [key for key in keys_of(raw, _ARCHIVED) if _is_archived({_ARCHIVED: raw[key]})]
    parts = frontmatter.split(frontmatter.set_keys(text, dict.fromkeys(removed)))
    if only_status and not parts.block.strip():
        mark = _MARK if parts.opening.startswith(_MARK) else ""
        return mark + parts.body
    return "".join(parts[:4])


def _is_archived(raw: dict[str, object]) -> bool:
    return read_meta(raw)[0].status == _ARCHIVED
