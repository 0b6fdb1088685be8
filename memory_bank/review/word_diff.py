"""Compare two texts by words."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from memory_bank.review.alignment import runs
from memory_bank.review.note_change import TextSpan

_CJK = "\u3040-\u9fff\uac00-\ud7af"
_TOKEN = re.compile(rf"\s+\Z|\s*(?:[{_CJK}]|\d+(?:[.,]\d+)+|[^\W{_CJK}]+|[^\w\s])")
"""White space belongs to the word behind it."""
MAX_CHARACTERS = 20_000
"""Length of both texts beyond which one replaces the other."""
_FEW = 2
"""Number of words."""


def diff(before: str, after: str) -> tuple[TextSpan, ...]:
    """Return the spans that make one text of another.

    Equal and inserted spans joined are `after`; equal and deleted ones are `before` up to white
    space.
    """
    if len(before) + len(after) > MAX_CHARACTERS:
        return joined([TextSpan("delete", before), TextSpan("insert", after)])
    old, new = _TOKEN.findall(before), _TOKEN.findall(after)
    found: list[_Part] = []
    for run in runs([word.strip() for word in old], [word.strip() for word in new]):
        deleted = "".join(old[run.start : run.end])
        inserted = "".join(new[run.other_start : run.other_end])
        words = run.end - run.start
        found.append(_Part(run.kind == "equal", deleted, inserted, words))
    return joined(span for part in _readable(found) for span in _spans(part))


def joined(spans: Iterable[TextSpan]) -> tuple[TextSpan, ...]:
    """Join adjacent spans of a kind, and drop empty ones; deleted text comes before inserted."""
    found: list[TextSpan] = []
    deleted = inserted = ""
    for kind, text in spans:
        if kind == "delete":
            deleted += text
        elif kind == "insert":
            inserted += text
        elif text:
            found += _change(deleted, inserted)
            deleted = inserted = ""
            if found and found[-1].kind == "equal":
                text = found.pop().text + text  # noqa: PLW2901
            found.append(TextSpan("equal", text))
    return (*found, *_change(deleted, inserted))


class _Part(NamedTuple):
    equal: bool
    before: str
    after: str
    words: int


def _readable(parts: Sequence[_Part]) -> Iterator[_Part]:
    """Yield the parts; a word or two that stay between longer changes count as changed."""
    held: _Part | None = None
    """The last change, which may grow."""
    for number, part in enumerate(parts):
        if not part.equal:
            held = _both(held, part) if held else part
        elif held and number + 1 < len(parts) and _is_small(part, held, parts[number + 1]):
            held = _both(held, part)
        else:
            yield from (held,) if held else ()
            held = None
            yield part
    yield from (held,) if held else ()


def _is_small(part: _Part, left: _Part, right: _Part) -> bool:
    least = min(max(len(one.before), len(one.after)) for one in (left, right))
    return part.words <= _FEW and len(part.after.strip()) < least


def _both(one: _Part, other: _Part) -> _Part:
    return _Part(False, one.before + other.before, one.after + other.after, 0)


def _spans(part: _Part) -> tuple[TextSpan, ...]:
    """Return a part's spans; white space before both sides of a change stays."""
    if part.equal:
        return (TextSpan("equal", part.after),)
    deleted, inserted = part.before.lstrip(), part.after.lstrip()
    if not deleted or not inserted:
        return TextSpan("delete", part.before), TextSpan("insert", part.after)
    blank = part.after[: len(part.after) - len(inserted)]
    return TextSpan("equal", blank), TextSpan("delete", deleted), TextSpan("insert", inserted)


def _change(deleted: str, inserted: str) -> list[TextSpan]:
    made = (TextSpan("delete", deleted), TextSpan("insert", inserted))
    return [span for span in made if span.text]
