"""What every front-end shows: values as JSON, errors as JSON, and text that can do no harm."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import date
from os import PathLike, fspath

from memory_bank.errors import MemoryBankError

# Control characters (newline and tab aside), line and paragraph separators, what turns the order
# of text around, halves of surrogate pairs, and letters that nobody can see.
_HARMFUL = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ufeff\ud800-\udfff\U000e0000-\U000e007f]"
)
_NAMED = {"\r": r"\r", "\n": r"\n", "\t": r"\t"}
_WIDE = 0x10000


def plain(value: object) -> object:
    """Return a value as JSON has it: fields in their order, those that are None left out."""
    fields = getattr(type(value), "__dataclass_fields__", None)
    if fields is not None:
        pairs = ((name, getattr(value, name)) for name in fields)
        return {name: plain(item) for name, item in pairs if item is not None}
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, set | frozenset):
        return sorted((plain(item) for item in value), key=str)
    if isinstance(value, date):  # datetimes are dates
        return value.isoformat()
    return fspath(value) if isinstance(value, PathLike) else value


def document(value: object, *, indent: int | None = 2, ascii_only: bool = False) -> str:
    """Return a value as one JSON document, every script readable and harmful characters escaped."""
    import json

    text = json.dumps(plain(value), ensure_ascii=ascii_only, indent=indent)
    return _HARMFUL.sub(lambda found: json.dumps(found[0])[1:-1], text)


def failure(code: str, message: str, hint: str = "") -> dict[str, object]:
    """Return what a program is told when something went wrong."""
    return {"error": {"code": code, "message": message, "hint": hint}}


def error(problem: MemoryBankError) -> dict[str, object]:
    """Return what a program is told about an error of ours."""
    return failure(problem.code, problem.message, problem.hint)


def visible(text: str) -> str:
    r"""Return a text with its harmful characters written out, as `\x1b`; it keeps its lines."""
    return _HARMFUL.sub(_written_out, text)


def one_line(text: str) -> str:
    r"""Return a text as `visible` does, line ends and tabs written out as well."""
    return visible(text).replace("\n", r"\n").replace("\t", r"\t")


def _written_out(found: re.Match[str]) -> str:
    number = ord(found[0])
    if found[0] in _NAMED:
        return _NAMED[found[0]]
    if number > 0xFFFF:  # noqa: PLR2004  (the first plane ends there)
        return f"\\U{number:08x}"
    return f"\\x{number:02x}" if number < 0x100 else f"\\u{number:04x}"  # noqa: PLR2004
