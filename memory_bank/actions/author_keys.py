"""The keys that say whose note it is: an agent sets them by nothing that it writes."""

from __future__ import annotations

from collections.abc import Mapping

from memory_bank.errors import BadInput
from memory_bank.notes import frontmatter
from memory_bank.notes.frontmatter import Split
from memory_bank.notes.schema import keys_of

OWN = ("id", "created_at", "source_type", "source_agent")
"""Keys that a note's author does not write but has: no agent sets them by what it writes."""
_ABSENT = object()


def kept(old: str, new: str) -> str:
    """Return a note's new text with the keys of its author as they were in the old one.

    Raises BadInput where they could not be read in the new text any more.
    """
    before, after = frontmatter.split(old), frontmatter.split(new)
    if before[:3] == after[:3]:
        return new
    had, has = _readable(before), _readable(after)
    changes = {
        key: had.get(key)
        for name in OWN
        for key in (*keys_of(had, name), *keys_of(has, name))
        if repr(had.get(key, _ABSENT)) != repr(has.get(key, _ABSENT))
    }
    return frontmatter.set_keys(new, changes) if changes else new


def with_author_keys(content: str, metadata: Mapping[str, object]) -> str:
    """Return a content whose front matter says of the author's keys what metadata says.

    A content without front matter stays as it is. Raises BadInput for one that can't be parsed.
    """
    parts = frontmatter.split(content)
    if parts.format == "none":
        return content
    changes: dict[str, object | None] = {
        key: None for name in OWN for key in keys_of(_readable(parts), name)
    }
    changes |= {name: metadata[name] for name in OWN if metadata.get(name)}
    return frontmatter.set_keys(content, changes)


def _readable(parts: Split) -> dict[str, object]:
    """Return what front matter says; raise BadInput when it can't be parsed as a whole."""
    raw, faults = frontmatter.metadata(parts)
    if faults and not raw and parts.format != "none":
        raise BadInput(
            f"{faults[0].reason} (line {faults[0].line})", "leave the front matter as it is"
        )
    return raw
