"""Rendering for every front-end: values and errors as JSON, harmful characters escaped."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator, Mapping
from datetime import date
from functools import partial, reduce
from math import isfinite
from os import PathLike, fspath
from types import UnionType
from typing import Any, Literal, Union, cast, get_args, get_origin, get_type_hints
from unicodedata import category

from memory_bank.base.errors import BadInput

# Control characters (except newline and tab), line and paragraph separators, characters that
# change the direction of text, halves of surrogate pairs, and invisible letters.
_HARMFUL = (
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ufeff\ud800-\udfff"
    "\U000e0000-\U000e007f]"
)

# What makes an emoji of the character before it: only behind one of these signs, or in a keycap.
_EMOJI = (
    "[\u00a9\u00ae\u203c\u2049\u2122\u2139\u2194-\u21aa\u231a-\u23ff\u24c2\u25aa-\u25fe\u2600-\u27bf"
    "\u2934\u2935\u2b05-\u2b55\u3030\u303d\u3297\u3299\U0001f000-\U0001faff]"
)

# Further characters that an agent reads but its user does not see: zero-width and filler
# characters, all format characters but the signs that stand over or below a number in Arabic,
# Syriac and Kaithi, variation selectors (except one that makes an emoji), and unassigned
# characters. `\r\n` is one line end.
_UNSEEN = (
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f"
    "\u200b-\u200f\u2028-\u202e\u2060-\u206f\u2800\u3164\ufe00-\ufe0e\ufeff\uffa0\ufff0-\ufffb"
    "\ud800-\udfff\U00013430-\U00013440\U00016fe4\U0001bca0-\U0001bca3\U0001d159"
    "\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
    f"|(?<!{_EMOJI})\ufe0f(?!\u20e3)|\r(?!\n)"
)

_SURROGATE = "[\ud800-\udfff]"

_NOT_ASCII = "[^\n\x20-\x7e]"

_UNSEEN_IN_NAMES = frozenset(["Cc", "Cf", "Cs", "Zl", "Zp"])

_NAMED = {"\r": r"\r", "\n": r"\n", "\t": r"\t"}

_JSON_TYPES = {str: "string", int: "integer", float: "number", bool: "boolean"}


def to_plain(value: object) -> object:
    """Return a value as JSON types: fields in their order, without those that are None.

    A record may name fields in `nullable` that are then null, and in `sparse` fields that are left
    out when they are empty, too.
    """
    fields = read_fields(type(value))
    if fields is not None:
        names = yield_fields(value, fields)
        return {name: to_plain(item) for name, item in names}
    if isinstance(value, Mapping):
        return {str(key): to_plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        items = [to_plain(item) for item in value]
        return items if isinstance(value, list | tuple) else sorted(items, key=str)
    if isinstance(value, date):  # datetimes are dates
        return value.isoformat().replace("+00:00", "Z")
    if isinstance(value, PathLike):
        return fspath(value)
    # JSON has only finite numbers
    return None if isinstance(value, float) and not isfinite(value) else value


def build_schema(kind: Any, *, depth: int, without: Collection[str] = ()) -> dict[str, Any]:  # noqa: ANN401  (any type)
    """Return the JSON schema of `to_plain` for values of a type.

    Fields of nested records are described down to `depth`; no field is required. Fields in
    `without` are omitted at every depth.
    """
    inside = partial(build_schema, without=without)
    kind = str if get_origin(kind) is Literal else kind
    if origin := get_origin(kind):
        first, *rest = [item for item in get_args(kind) if item not in {type(None), Ellipsis}]
        if origin is UnionType or origin is Union:
            return {} if rest else _allow_null(inside(first, depth=depth))
        if issubclass(origin, Mapping):
            return {"type": "object", "additionalProperties": inside(rest[0], depth=depth)}
        return {"type": "array", "items": inside(first, depth=depth)}
    names = read_fields(kind)
    if names is None:
        return {"type": _JSON_TYPES[kind]} if kind in _JSON_TYPES else {}
    if not depth:
        return {"type": "object"}
    fields = {
        short: inside(reduce(_read_type, name.split("."), kind), depth=depth - 1)
        for name in names
        if (short := name.rpartition(".")[2]) not in without
    }
    return {"type": "object", "properties": fields}


def yield_fields(value: object, names: Collection[str]) -> Iterator[tuple[str, Any]]:
    """Yield the fields of a record that are not None, or may be null; not empty `sparse` ones.

    Of a name such as `row.title` it is the field of a record in the record; without one it is None.
    """
    nullable: Collection[str] = getattr(value, "nullable", ())
    sparse: Collection[str] = getattr(value, "sparse", ())
    for path in names:
        *around, name = path.split(".")
        record = reduce(getattr, around, value)
        item = getattr(record, name, None) if around else getattr(record, name)
        if (item is not None or name in nullable) and (item or name not in sparse):
            yield name, item


def read_fields(kind: type) -> Collection[str] | None:
    """Return the fields of a named tuple or dataclass in JSON; None for any other type.

    They are all of them, unless `in_json` names others; and first the version of its schema, if it
    has one.
    """
    own = getattr(kind, "_fields", getattr(kind, "__dataclass_fields__", None))
    fields: Any = getattr(kind, "in_json", own)
    version = isinstance(getattr(kind, "schema_version", None), str)
    return ("schema_version", *fields) if version else cast("Collection[str] | None", fields)


def _read_type(kind: type, name: str) -> Any:  # noqa: ANN401  (any type)
    """Return the type of a field or property of a record, or of one of several that has it."""
    kinds = get_args(kind) or (kind,)
    kind = next((record for record in kinds if hasattr(record, name)), kind)
    field = getattr(kind, name, None)
    if isinstance(field, property):
        return get_type_hints(field.fget)["return"]
    if isinstance(field, str):  # the version of its schema
        return str
    return get_type_hints(kind)[name]


def _allow_null(schema: dict[str, Any]) -> dict[str, Any]:
    return {**schema, "type": [schema["type"], "null"]} if "type" in schema else schema


def render_document(value: object, *, indent: int | None = 2, ascii_only: bool = False) -> str:
    """Return a value as a JSON document in UTF-8 with harmful characters escaped.

    It is valid for any parser (RFC 8259, RFC 7493): no NaN, and U+FFFD for halves of surrogate
    pairs.
    """
    text = json.dumps(to_plain(value), ensure_ascii=False, indent=indent, allow_nan=False)
    if ascii_only or not _all_printable(text):
        text = re.sub(_SURROGATE, "\ufffd", text)
        escaped = _NOT_ASCII if ascii_only else _HARMFUL
        text = re.sub(escaped, lambda match: json.dumps(match[0])[1:-1], text)
    return text


def count(number: int, word: str) -> str:
    """Return a number with its noun, in the plural unless it is 1: `3 notes`."""
    plural = "es" if word.endswith("ch") else "s"
    return f"{number:,} {word}{'' if number == 1 else plural}"


def describe_alike(alike: int) -> str:
    """Return what is known of a call that is not resolved, by the symbols of its name."""
    return f"{count(alike, 'symbol')} of that name"


def warn_of_namesakes(number: int) -> str:
    """Return that others have the name of a symbol, too; empty if none has."""
    return f", one of {number + 1} of that name" if number else ""


def describe_unclear(callers: int) -> str:
    """Return what is known of callers of something of a symbol's name."""
    verb = "calls" if callers == 1 else "call"
    return f"{callers:,} more {verb} something of that name, which may be another"


def render_failure(code: str, message: str, hint: str = "") -> dict[str, object]:
    """Return the JSON of a failure."""
    return {"error": {"code": code, "message": message, "hint": hint}}


def make_visible(text: str) -> str:
    r"""Return a text with harmful characters escaped, as `\x1b`; line ends stay."""
    return text if _all_printable(text) else re.sub(_HARMFUL, _written_out, text)


def one_line(text: str) -> str:
    r"""Return a text as `make_visible` does, with line ends and tabs escaped as well."""
    return make_visible(text).replace("\n", r"\n").replace("\t", r"\t")


_LEAST_WORDS = 4
"""Words of a title that can be a text's sentence rather than a heading that it repeats."""


def has_same_words(text: str, other: str) -> bool:
    """Tell whether two texts have the same words in the same order, as a title and its text."""
    return re.findall(r"\w+", text.casefold()) == re.findall(r"\w+", other.casefold())


def starts_text(title: str, text: str) -> bool:
    """Tell whether a title is the start of a text, as that of a note without a heading."""
    start = " ".join(title.removesuffix("…").split()).rstrip(" .。")
    is_sentence = title.endswith("…") or len(start.split()) >= _LEAST_WORDS
    return is_sentence and " ".join(text.split()).casefold().startswith(start.casefold())


def quote_path(path: str) -> str:
    r"""Return a file's name on one line, with invisible characters escaped."""
    if path.isprintable():
        return path
    return "".join(_write_character(c) if category(c) in _UNSEEN_IN_NAMES else c for c in path)


def escape_hidden(value: object) -> object:
    r"""Return a JSON value with every invisible character escaped, as `\u200b`.

    Line ends and tabs stay. So an agent reads no more than its user sees. `hidden_again` is the
    inverse.
    """
    if isinstance(value, str):
        return re.sub(_UNSEEN, lambda match: _code(match[0]), value)
    if isinstance(value, Mapping):
        return {str(escape_hidden(key)): escape_hidden(item) for key, item in value.items()}
    return [escape_hidden(item) for item in value] if isinstance(value, list) else value


def hidden_again(text: str, current: str) -> str:
    r"""Return a text with escapes changed back to the characters that `current` contains.

    So an agent can write back what it has read: `\u200b` becomes the character, if `current` has
    it. Raises BadInput if `current` has both the character and its escape.
    """
    for character in dict.fromkeys(re.findall(_UNSEEN, current)):
        code = _code(character)
        if code in text and code in current:
            raise BadInput(
                f"the note has both the text {code} and that character: which one is meant?",
                "change another part of the note with edit_memory",
            )
        text = text.replace(code, character)
    return text


def _all_printable(text: str) -> bool:
    """Tell whether a text has no harmful character, without compiling a pattern."""
    return text.replace("\n", "").replace("\t", "").isprintable()


def _written_out(match: re.Match[str]) -> str:
    return _write_character(match[0])


def _write_character(character: str) -> str:
    return _NAMED.get(character) or _code(character)


def _code(character: str) -> str:
    number = ord(character)
    if number > 0xFFFF:  # noqa: PLR2004  (the first plane ends there)
        return f"\\U{number:08x}"
    return f"\\x{number:02x}" if number < 0x100 else f"\\u{number:04x}"  # noqa: PLR2004
