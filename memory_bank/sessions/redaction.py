"""Redact private spans and secrets before anything of a session is stored.

Part of a hook's fast path: patterns are compiled at first use, the detection of secrets is loaded
when there is a text.
"""

from __future__ import annotations

import json
from bisect import bisect_right
from collections.abc import Callable, Collection, Iterator, Sequence
from itertools import accumulate
from typing import Any, TypeAlias, TypeVar

from memory_bank.base import NamedTuple, lazy_pattern
from memory_bank.base.errors import BadInput

PRIVATE, SECRET = "[private]", "[redacted]"
"""What replaces a private span and a secret."""

Json: TypeAlias = "bool | int | float | str | list[Json] | dict[str, Json] | None"

_Span: TypeAlias = "tuple[int, int, str]"

_TAG = lazy_pattern(
    r"<[ \t]{0,8}(/?)[ \t]{0,8}private(?![\w:.-])[^<>]{0,200}(?<!/)>", 2
)  # IGNORECASE

_NAMED = lazy_pattern(r"`<private>(?:[^`<>\n]{0,40}</private>)?`|`</private>`", 2)
"""The tag in code, where a text is about it; with an ellipsis or a few words in it."""

_LEAST = 5
"""Fewest characters of a text that has a secret, with what tells it: `pw: 1` has none."""

LEAST_VALUE = 8
"""Fewest characters of a secret that is also redacted where nothing tells it: not common words."""

_DEEPEST = 60
"""Levels of a JSON value; what is deeper is redacted as the text of its JSON."""


def redact(
    text: str, allowed: Collection[str] = (), values: set[str] | None = None
) -> tuple[str, int]:
    """Replace `<private>…</private>` by `[private]`, secrets by `[redacted]`, and count them.

    A private span that isn't closed reaches to the text's end; one within another belongs to it.
    `allowed` has the fingerprints of values that are no secrets (setting `secrets.allow`);
    `values` gets the secrets that were found, to redact them in what was stored before.
    """
    text = _make_encodable(text)
    spans = list(_yield_private(text, [(0, len(text))]))
    replaced = _replace_spans(text, spans)
    secrets = _find_secrets(replaced, allowed, values)
    return _replace_spans(replaced, secrets), len(spans) + len(secrets)


def hide_private(text: str) -> str:
    """Replace `<private>…</private>` in a text for a note by `[private]`.

    A tag that is named in code, `` `<private>` ``, stays. Raises BadInput for one that isn't
    closed: what it hides is not known.
    """
    if "<" not in text or not _TAG.search(text):
        return text
    named = _NAMED.sub(lambda code: "." * len(code[0]), text)
    spans = list(_yield_private(named, [(0, len(named))]))
    closed = {tag.end() for tag in _TAG.finditer(named) if tag[1]}
    if not closed.issuperset(end for _, end, _ in spans):
        raise BadInput(
            "a <private> is not closed: what it hides is not known",
            "write </private> behind it, or `<private>` in backticks to name the tag",
        )
    return _replace_spans(text, spans)


def redact_value(
    value: Json, allowed: Collection[str] = (), values: set[str] | None = None
) -> tuple[Json, int]:
    """Redact all strings, keys and numbers of a JSON value, and count them; its structure stays.

    A secret is also found by its key, and if a list has its lines. A private span that isn't
    closed reaches to the end of its string, or of its list of strings. `values` as for `redact`.
    """
    pieces = _Pieces([], [], [])
    value = _collect(value, pieces, 0)
    private = _redact_pieces(pieces, _yield_private(*pieces.joined()))
    secret = _redact_pieces(pieces, _find_secrets(pieces.joined()[0], allowed, values))
    if not private + secret:
        return value, 0
    return _rebuild(value, iter(pieces.texts)), private + secret


def redact_json(text: str, allowed: Collection[str] = ()) -> tuple[str, int]:
    """Redact a JSON text, which stays JSON; any other text as `redact` does."""
    if text.lstrip()[:1] in ("{", "[", '"'):
        try:
            value, count = redact_value(json.loads(text), allowed)
            return json.dumps(value, ensure_ascii=False), count
        except (ValueError, RecursionError):
            pass  # not JSON, or too deep for the parser
    return redact(text, allowed)


def redact_id(text: str, allowed: Collection[str] = ()) -> tuple[str, int]:
    """Replace an id that has a secret by its digest, so that different ids stay different."""
    clean, count = redact(text, allowed)
    if not count:
        return clean, 0
    from hashlib import sha256  # start-up: OpenSSL comes with it

    return f"{SECRET}{sha256(text.encode(errors='replace')).hexdigest()[:24]}", count


def _yield_private(text: str, groups: Sequence[tuple[int, int]]) -> Iterator[_Span]:
    """Find private spans; the start and end of each group bound those that aren't closed."""
    if "<" not in text:
        return
    starts = [start for start, _ in groups]
    opened, depth, limit = 0, 0, 0
    for tag in _TAG.finditer(text):
        if depth and tag.start() >= limit:
            yield opened, limit, PRIVATE
            depth = 0
        if tag[1]:
            depth -= depth > 0
            if not depth and limit > tag.start():
                yield opened, tag.end(), PRIVATE
                limit = 0
        else:
            if not depth:
                opened = tag.start()
                limit = groups[bisect_right(starts, opened) - 1][1]
            depth += 1
    if depth:
        yield opened, limit, PRIVATE


def _find_secrets(text: str, allowed: Collection[str], values: set[str] | None) -> list[_Span]:
    if len(text) < _LEAST:
        return []
    from memory_bank.notes.secrets.secrets import find

    starts = [(secret.start, secret.end, SECRET) for secret in find(text, allowed)]
    if values is not None:
        texts = (text[start:end] for start, end, _ in starts)
        values.update(word for word in texts if len(word) >= LEAST_VALUE and "\n" not in word)
    return starts


def _make_encodable(text: str) -> str:
    """Replace halves of surrogate pairs, which no file and no database can hold."""
    return text if text.isascii() else text.encode(errors="replace").decode()


def _replace_spans(text: str, spans: Sequence[_Span]) -> str:
    parts, at = list[str](), 0
    for start, end, mark in spans:
        parts += (text[at:start], mark)
        at = end
    return "".join((*parts, text[at:])) if parts else text


class _Pieces(NamedTuple):
    """The texts of a JSON value in order, what stands before each, and the group of each."""

    texts: list[str]
    before: list[str]
    groups: list[int]

    def add(self, text: str, before: str = "\n", *, same_group: bool = False) -> None:
        """Add a text, perhaps to the group of the one before it."""
        last = self.groups[-1] if self.groups else -1
        self.groups.append(last if same_group else last + 1)
        self.before.append(before)
        self.texts.append(text)

    def starts(self) -> list[int]:
        """Return the position of each text in the joined ones."""
        ends = accumulate(len(a) + len(b) for a, b in zip(self.before, self.texts, strict=True))
        return [end - len(text) for end, text in zip(ends, self.texts, strict=True)]

    def joined(self) -> tuple[str, list[tuple[int, int]]]:
        """Return all texts as one, and where each group starts and ends in it."""
        bounds = dict[int, tuple[int, int]]()
        for group, start, text in zip(self.groups, self.starts(), self.texts, strict=True):
            bounds[group] = bounds.get(group, (start,))[0], start + len(text)
        whole = "".join(part for pair in zip(self.before, self.texts, strict=True) for part in pair)
        return whole, list(bounds.values())


def _collect(value: Json, pieces: _Pieces, depth: int, before: str = "\n") -> Json:
    """Add the texts of a value; return it with what is too deep as text."""
    if isinstance(value, dict | list) and depth >= _DEEPEST:
        value = json.dumps(value, ensure_ascii=False)
    if isinstance(value, str):
        value = _make_encodable(value)
        pieces.add(value, before)
    elif isinstance(value, int | float) and not isinstance(value, bool):
        pieces.add(str(value), before)
    elif isinstance(value, dict):
        entries = dict[str, Json]()
        for key, item in value.items():
            name = _make_encodable(key)
            pieces.add(name)
            plain = not isinstance(item, dict | list)
            entries[name] = _collect(item, pieces, depth + 1, ": " if plain else "\n")
        return entries
    elif isinstance(value, list):
        lines = all(isinstance(item, str) for item in value)
        if not lines:
            return [_collect(item, pieces, depth + 1) for item in value]
        value = [_make_encodable(str(item)) for item in value]
        for number, item in enumerate(value):
            pieces.add(str(item), same_group=number > 0)
    return value


def _redact_pieces(pieces: _Pieces, spans: Iterator[_Span] | list[_Span]) -> int:
    """Replace spans of the joined texts in each text they touch; return how many there were."""
    starts = pieces.starts()
    within = dict[int, list[_Span]]()
    count = 0
    for start, end, mark in spans:
        count += 1
        number = max(0, bisect_right(starts, start) - 1)
        while number < len(starts) and starts[number] < end:
            begin = max(0, start - starts[number])
            stop = min(end - starts[number], len(pieces.texts[number]))
            if begin < stop:
                within.setdefault(number, []).append((begin, stop, mark))
            number += 1
    for number, secrets in within.items():
        pieces.texts[number] = _replace_spans(pieces.texts[number], secrets)
    return count


def _rebuild(value: Json, texts: Iterator[str]) -> Json:
    """Put redacted texts in the place of those of a value, in the order of `_collect`."""
    if isinstance(value, str):
        return next(texts)
    if isinstance(value, bool) or value is None:
        return value
    if isinstance(value, int | float):
        text = next(texts)
        return value if text == str(value) else text
    if isinstance(value, list):
        return [_rebuild(item, texts) for item in value]
    keys = dict[str, Json]()
    for item in value.values():
        key = next(texts)
        while key in keys:  # two keys that were redacted
            key += "_"
        keys[key] = _rebuild(item, texts)
    return keys


Redact = Callable[[str], tuple[str, int]]

_KEPT = frozenset({"id", "session_id", "obs_type", "path", "commit", "repository_id", "agent"})

Record = TypeVar("Record")


def redact_record(record: Record, redact: Redact) -> tuple[Record, int]:
    """Return a record, such as an observation, with all its texts redacted, and how many were.

    Ids and paths of notes stay.
    """
    original: Any = record
    changes: dict[str, Any] = {}
    total = 0
    for name, value in original._asdict().items():
        if name not in _KEPT:
            changes[name], count = _redact_any(value, redact)
            total += count
    copy: Record = original._replace(**changes)
    return copy, total


def _redact_any(value: object, redact: Redact) -> tuple[object, int]:
    if isinstance(value, str):
        return redact(value)
    if hasattr(value, "_replace"):
        return redact_record(value, redact)
    if isinstance(value, tuple):
        pairs = [_redact_any(item, redact) for item in value]
        return tuple(item for item, _ in pairs), sum(count for _, count in pairs)
    return value, 0
