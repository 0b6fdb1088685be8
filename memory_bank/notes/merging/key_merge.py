"""Merge two changes of YAML front matter by keys."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from memory_bank.base import NamedTuple, lazy_pattern
from memory_bank.base.dates import to_datetime
from memory_bank.base.errors import BadInput
from memory_bank.notes import yaml
from memory_bank.notes.blocks import BlockError, line_end, line_start
from memory_bank.notes.merging.conflicts import ConflictingChange, Part, ThreeWay, merge_order
from memory_bank.notes.schema import plain_key
from memory_bank.notes.yaml import YamlNode

_COMMENT = lazy_pattern(r"(?:^|[ \t])(#[^\r\n]*)", re.MULTILINE)


class KeyLines(NamedTuple):
    """One key: its lines and what is above it."""

    above: str
    """The comments and blank lines above."""
    text: str
    """The lines of the key and its value."""
    value: object


@dataclass(frozen=True, slots=True)
class Keys:
    """The keys of a block in their order; all their texts, joined, are the block."""

    of: Mapping[str, KeyLines] = field(default_factory=dict)
    below: str = ""
    """What is below the last key."""


def read(block: str) -> Keys:
    """Return the keys of a block; raise BlockError if they are not one below the other."""
    root = yaml.parse(block)
    values, faults = yaml.read_values(root, block)
    if faults:
        raise BlockError(faults[0].reason)
    if root is None:
        return Keys(below=block)
    if root.flow or any(node.kind == "alias" for node in _walk_nodes(root)):
        raise BlockError("not one key below the other", root.start)
    key_lines: dict[str, KeyLines] = {}
    at = 0
    parts = iter(root.children)
    for key, value in zip(parts, parts, strict=True):
        start, end = line_start(block, key.start), line_end(block, max(key.end, value.end))
        if key.kind != "scalar" or start < at or block[start : key.start].strip():
            raise BlockError("not one key below the other", key.start)
        key_lines[key.text] = KeyLines(block[at:start], block[start:end], values[key.text])
        at = end
    return Keys(key_lines, block[at:])


def _walk_nodes(root: YamlNode) -> Iterator[YamlNode]:
    waiting = [root]
    while waiting:
        node = waiting.pop()
        yield node
        waiting += node.children


def find_comments(text: str) -> set[str]:
    """Return what may be comments in the lines of a key."""
    return {match.strip() for match in _COMMENT.findall(text)}


_LISTS = frozenset({
    "tags", "tag", "aliases", "alias", "entity_refs", "file_refs", "symbol_refs",
})  # fmt: skip

_TAGS = frozenset({"tags", "tag"})

_CREATED = ("created_at", "created", "date")

_UPDATED = frozenset({"updated_at", "updated", "modified", "lastmod"})

_VERIFIED = "verified_commit"

_ORIGIN = frozenset({"id", *_CREATED, "source_type", "source_agent", "session_id"})
"""Keys that say where a note comes from: of one that both sides made, the older ones stay."""


def is_list(key: str, values: ThreeWay[object]) -> bool:
    """Return whether a key has a list of tags, names or references on each side that has it."""
    return plain_key(key) in _LISTS and all(
        value is None or isinstance(value, list) for value in values
    )


def unite_lists(key: str, values: ThreeWay[object]) -> list[object]:
    """Return a list with what either side added and without what either side removed."""
    base, ours, theirs = (
        {_comparison_key(key, item): item for item in value} if isinstance(value, list) else {}
        for value in values
    )
    return [
        *(item for folded, item in ours.items() if folded in theirs or folded not in base),
        *(item for folded, item in theirs.items() if folded not in {*ours, *base}),
    ]


def _comparison_key(key: str, item: object) -> str:
    """Return by what an item of a list is compared."""
    if plain_key(key) in _TAGS and isinstance(item, str):
        return item.strip().lstrip("#").casefold()
    return repr(item)


def takes_theirs(key: str, values: ThreeWay[object], *, ours_is_older: bool | None) -> bool | None:
    """Return whether theirs is right for a key that both sides changed; None: it is a conflict.

    A date of creation is the earlier one, a date of update the later one. Of two commits at which a
    note was confirmed either may stay, since the code there is compared with the merged code: the
    choice is the same in both directions. `ours_is_older` tells which of two notes was made first;
    None if it is one note.
    """
    name = plain_key(key)
    if name == _VERIFIED and all(isinstance(value, str) for value in values[1:]):
        return str(values.theirs) > str(values.ours)
    if name in _ORIGIN and ours_is_older is not None:
        return not ours_is_older
    if name in _CREATED or name in _UPDATED:
        ours, theirs = to_datetime(values.ours), to_datetime(values.theirs)
        if ours is None or theirs is None or ours == theirs:
            return None
        return (theirs < ours) == (name in _CREATED)
    return None


def is_created_first(
    ours: Sequence[tuple[str, object]], theirs: Sequence[tuple[str, object]]
) -> bool:
    """Return whether ours was created first, by keys and values of front matter; else by id."""
    return _age_key(ours) <= _age_key(theirs)


def _age_key(keys: Sequence[tuple[str, object]]) -> tuple[bool, float, str]:
    values = {plain_key(key): value for key, value in keys}
    moments = (to_datetime(values.get(name)) for name in _CREATED)
    moment = next((moment for moment in moments if moment is not None), None)
    return moment is None, moment.timestamp() if moment else 0.0, str(values.get("id", ""))


_MISSING = KeyLines("", "", None)


def merge(base: str, ours: str, theirs: str, *, are_two_notes: bool = False) -> list[Part]:
    r"""Return the lines of a block with the changes of both sides; lines end with `\n`.

    The lines of a key stay as they are written. `are_two_notes` tells that both sides made the
    note: then the older one's id, date and author stay. Raises BlockError if a block can't be read
    key by key, or if the result would not say what it should.
    """
    if base in (ours, theirs) or ours == theirs:
        return _split_lines(ours if base == theirs else theirs)
    blocks = ThreeWay(read(base), read(ours), read(theirs))
    ours_is_older = _is_ours_older(blocks.ours, blocks.theirs) if are_two_notes else None
    parts: list[Part] = []
    fields: dict[str, object] = {}
    for key in merge_order(*(list(block.of) for block in blocks)):
        of_key = ThreeWay(*(block.of.get(key, _MISSING) for block in blocks))
        merged = _merge_key(key, of_key, ours_is_older=ours_is_older)
        parts += merged
        value = _read_value(merged, key)
        if value is not None:
            fields[key] = value[0]
    parts += _split_lines(_merge_comments(*(block.below for block in blocks)))
    parts = list(_drop_copies(parts, base, ours, theirs))
    _verify(parts, fields)
    return parts


def _drop_copies(parts: Iterable[Part], base: str, ours: str, theirs: str) -> Iterator[Part]:
    """Yield the parts without comments that are copies: a key moved, or was removed, below them."""
    old, mine, its = (Counter(block.split("\n")) for block in (base, ours, theirs))
    comments = Counter[str]()
    for part in parts:
        if isinstance(part, str) and part.startswith("#"):
            comments[part] += 1
            least, most = sorted((mine[part], its[part]))
            if comments[part] > min(most, max(least + most - old[part], least)):
                continue
        yield part


def _is_ours_older(ours: Keys, theirs: Keys) -> bool:
    mine, its = (
        [(key, key_lines.value) for key, key_lines in keys.of.items()] for keys in (ours, theirs)
    )
    return is_created_first(mine, its)


def _merge_key(key: str, three: ThreeWay[KeyLines], *, ours_is_older: bool | None) -> list[Part]:
    """Return a key's lines with those above it."""
    base, ours, theirs = three
    if base is _MISSING or (ours is not _MISSING and theirs is not _MISSING):
        above = _split_lines(_merge_comments(base.above, ours.above, theirs.above))
        return [*above, *_merge_changed(key, three, ours_is_older=ours_is_older)]
    key_lines = ours if theirs is _MISSING else theirs
    if key_lines[:2] == base[:2]:
        return []  # one side removed it
    return [
        *_split_lines(key_lines.above),
        *_merge_changed(key, three, ours_is_older=ours_is_older),
    ]


def _merge_changed(
    key: str, three: ThreeWay[KeyLines], *, ours_is_older: bool | None
) -> list[Part]:
    """Return the lines of a key that one side or both changed."""
    base, ours, theirs = (key_lines.text for key_lines in three)
    if theirs in (ours, base):
        return _split_lines(ours)
    if ours == base:
        return _split_lines(theirs)
    text = _choose_lines(key, three, ours_is_older=ours_is_older)
    if text is None or not _keeps_comments(text, three):
        return [
            ConflictingChange(*(tuple(map(str, _split_lines(t))) for t in (ours, theirs, base)))
        ]
    return _split_lines(text)


def _choose_lines(key: str, three: ThreeWay[KeyLines], *, ours_is_older: bool | None) -> str | None:
    """Return the lines of a key that both sides changed; None for a conflict."""
    base, ours, theirs = three
    values = ThreeWay[object](base.value, ours.value, theirs.value)
    if ours is not _MISSING and theirs is not _MISSING:
        texts = [repr(value) for value in values]
        if texts[1] == texts[2] or (base is not _MISSING and texts[0] == texts[2]):
            return ours.text
        if base is not _MISSING and texts[0] == texts[1]:
            return theirs.text
    if is_list(key, values):
        return _write_items(key, three, unite_lists(key, values))
    takes = None
    if ours is not _MISSING and theirs is not _MISSING:
        takes = takes_theirs(key, values, ours_is_older=ours_is_older)
    elif base is _MISSING:
        return ours.text or theirs.text
    return None if takes is None else three[1 + takes].text


def _write_items(key: str, three: ThreeWay[KeyLines], items: list[object]) -> str | None:
    """Return the lines of a list with these items, in the style of ours if that has the key."""
    _, ours, theirs = three
    for key_lines in (ours, theirs):
        if repr(key_lines.value) == repr(items):
            return key_lines.text
    if not items and _MISSING in (ours, theirs):
        return ""
    try:
        return yaml.edit(ours.text or theirs.text, {key: items}, "\n")
    except (BlockError, BadInput):
        return None


def _keeps_comments(text: str, three: ThreeWay[KeyLines]) -> bool:
    base, ours, theirs = (find_comments(key_lines.text) for key_lines in three)
    return (ours | theirs) - base <= find_comments(text)


def _merge_comments(base: str, ours: str, theirs: str) -> str:
    """Return comments and blank lines that one side changed, or those of both."""
    if theirs in (ours, base):
        return ours
    if ours == base:
        return theirs
    lines = ours.splitlines(keepends=True)
    return ours + "".join(
        line for line in theirs.splitlines(keepends=True) if line.strip() and line not in lines
    )


def _split_lines(text: str) -> list[Part]:
    return [*text.removesuffix("\n").split("\n")] if text else []


def _read_value(parts: Sequence[Part], key: str) -> tuple[object] | None:
    """Return the value that the lines of a key say, if it remains without a conflict."""
    if not parts or any(isinstance(part, ConflictingChange) for part in parts):
        return None
    text = "".join(f"{part}\n" for part in parts)
    values, _ = yaml.read_values(yaml.parse(text), text)
    return (values[key],) if key in values else None


def _verify(parts: Sequence[Part], fields: Mapping[str, object]) -> None:
    """Raise BlockError unless the lines outside of conflicts say what each key's lines say."""
    block = "".join(f"{part}\n" for part in parts if isinstance(part, str))
    values, faults = yaml.read_values(yaml.parse(block), block)
    if faults or {key: repr(value) for key, value in values.items()} != {
        key: repr(value) for key, value in fields.items()
    }:
        raise BlockError("the merged keys would not say what they should")
