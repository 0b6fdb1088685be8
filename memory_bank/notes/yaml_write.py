"""Write values as YAML on one line, quoted only where a parser would read another value."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from datetime import date, datetime

from memory_bank.errors import BadInput
from memory_bank.notes.dates import iso
from memory_bank.notes.yaml_tree import plain

# A word that any parser of YAML 1.1 or 1.2 reads as something else than text.
_OTHER = re.compile(
    r"~|null|true|false|yes|no|on|off|y|n|<<|="
    r"|[-+]?\.(?:inf|nan)"
    r"|[-+]?0(?:b[01_]+|o[0-7_]+|x[0-9a-f_]+)"
    r"|[-+]?(?:[0-9][0-9_,]*(?:\.[0-9_]*)?|\.[0-9_]+)(?:e[-+]?[0-9]+)?"
    r"|[-+]?[0-9][0-9_]*(?::[0-9]{1,2})+(?:\.[0-9_]*)?"
    r"|[0-9]{4}-[0-9]{1,2}(?:-[0-9]{1,2}(?:[t \t].*)?)?",
    re.IGNORECASE,
)
_MARKS = "-?:,[]{}#&*!|>'\"%@`"
_INSIDE = re.compile(r":(?:\s|\Z)|\s#")
_FLOW_INSIDE = re.compile(r"[,:?\[\]{}]")  # libyaml is more lenient than others
_UNSEEN = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]")
_ESCAPED = re.compile(rf'[\\"]|{_UNSEEN.pattern}')
_ESCAPES = {
    "\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "\\r", "\t": "\\t", "\0": "\\0",
    "\x85": "\\N", "\u2028": "\\L", "\u2029": "\\P",
}  # fmt: skip
_SURROGATE = re.compile(r"[\ud800-\udfff]")
_INTEGER_LIMIT = 10**18


def line(key: str, value: object) -> str:
    """Return `key: value` without a line end."""
    text = render(value)
    return f"{_text(key, flow=False)}: {text}" if text else f"{_text(key, flow=False)}:"


def render(value: object, *, flow: bool = False) -> str:
    """Return a value on one line; `flow` if it is inside brackets. Raises BadInput."""
    if value is None:
        return "null" if flow else ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return _text(value, flow=flow)
    if isinstance(value, Mapping):
        pairs = (
            f"{_text(str(key), flow=True)}: {render(item, flow=True)}"
            for key, item in value.items()
        )
        return f"{{{', '.join(pairs)}}}"
    if isinstance(value, list | tuple):
        inside = ", ".join(render(item, flow=True) for item in value)
        # `[[a]]` would be read as an unquoted wikilink.
        return f"[ {inside} ]" if inside.startswith("[") else f"[{inside}]"
    return str(expected(value))


def expected(value: object) -> object:
    """Return the value that reading a written value gives; raise BadInput."""
    if isinstance(value, Mapping):
        return {str(key): expected(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [expected(item) for item in value]
    if isinstance(value, datetime):
        return iso(value)
    if isinstance(value, date):
        return value.isoformat()
    if not _fits(value):
        raise BadInput(
            f"{str(value)[:60]!a} ({type(value).__name__}) can't be written into front matter",
            "use text, a number of up to 18 digits, true, false, a date, a list or a mapping",
        )
    return value


def _fits(value: object) -> bool:
    if isinstance(value, str):
        return not _SURROGATE.search(value)
    if isinstance(value, float):
        return math.isfinite(value)
    return value is None or (isinstance(value, int) and abs(value) < _INTEGER_LIMIT)


def _text(text: str, *, flow: bool) -> str:
    expected(text)  # refuses what UTF-8 can't hold
    if (
        text == text.strip()
        and text[:1] not in _MARKS  # the empty text included
        and not _UNSEEN.search(text)
        and not _INSIDE.search(text)
        and not (flow and _FLOW_INSIDE.search(text))
        and not _OTHER.fullmatch(text)
        and plain(text) == text
    ):
        return text
    return f'"{_ESCAPED.sub(_escape, text)}"'


def _escape(found: re.Match[str]) -> str:
    char = found[0]
    code = ord(char)
    return _ESCAPES.get(char) or (f"\\x{code:02X}" if code < 0x100 else f"\\u{code:04X}")  # noqa: PLR2004  (two hex digits)
