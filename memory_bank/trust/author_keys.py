"""Front-matter keys that record a note's author; agents can't set them by the text they write."""

from __future__ import annotations

from collections.abc import Mapping

from memory_bank.base.errors import BadInput
from memory_bank.notes import front_matter
from memory_bank.notes.front_matter import Split
from memory_bank.notes.schema import spelled_keys

PROTECTED = ("id", "created_at", "source_type", "source_agent")
"""The protected keys."""

_ABSENT = object()


def keep_author_keys(old: str, new: str) -> str:
    """Return a note's new text with the author keys of its old text.

    Raises BadInput if the front matter of the new text can't be parsed.
    """
    old_parts, new_parts = front_matter.split(old), front_matter.split(new)
    if old_parts[:3] == new_parts[:3]:
        return new
    old_values, new_values = _read_values(old_parts), _read_values(new_parts)
    changes = {
        key: old_values.get(key)
        for name in PROTECTED
        for key in (*spelled_keys(old_values, name), *spelled_keys(new_values, name))
        if repr(old_values.get(key, _ABSENT)) != repr(new_values.get(key, _ABSENT))
    }
    return front_matter.set_keys(new, changes) if changes else new


def copy_author_keys(content: str, metadata: Mapping[str, object]) -> str:
    """Return the content with the author keys of `metadata` in its front matter.

    Content without front matter is unchanged. Raises BadInput if front matter can't be parsed.
    """
    parts = front_matter.split(content)
    if parts.format == "none":
        return content
    changes: dict[str, object | None] = {
        key: None for name in PROTECTED for key in spelled_keys(_read_values(parts), name)
    }
    changes |= {name: metadata[name] for name in PROTECTED if metadata.get(name)}
    return front_matter.set_keys(content, changes)


def _read_values(parts: Split) -> dict[str, object]:
    """Return the values of front matter; raise BadInput if it can't be parsed."""
    values, faults = front_matter.read_metadata(parts)
    if faults and not values and parts.format != "none":
        raise BadInput(
            f"{faults[0].reason} (line {faults[0].line})", "leave the front matter as it is"
        )
    return values
