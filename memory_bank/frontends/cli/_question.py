"""The words of a plain `recall`, read without click: to load it takes a fourth of a question.

Plain is what has nothing to complain of and nothing to explain: for all else, and for every other
command, there is None, and click reads it. What is read here is what click would read; the options
are those of `recall.py`.
"""

from __future__ import annotations

import os

TYPE_CHECKING = False  # `typing` would have to be loaded to say so
if TYPE_CHECKING:
    from typing import Any

    from memory_bank.frontends.cli._call import Call

COMPLETE = "_MEMORY_BANK_COMPLETE"
"""The variable by which a shell asks for completions."""

_LONG = 10
"""Digits of a number that nobody means."""

MODES = ("lexical", "semantic", "hybrid")
_VALUED = {
    "--bank": "bank", "--mode": "mode", "--limit": "limit", "--tags": "tags", "--type": "kind",
    "--since": "since", "--before": "before", "--linked-to": "linked_to",
}  # fmt: skip
_FLAGS = {
    "--json": "json", "--include-archived": "include_archived", "--explain": "explain",
    "--no-count": "no_count",
}  # fmt: skip


class Question:
    """What a plain `recall` asks for."""

    def __init__(self, given: dict[str, Any], words: list[str], tags: list[str]) -> None:
        """Take the options that were given, the words of the query, and the tags."""
        self.bank: str | None = given.pop("bank", None) or os.environ.get("MEMORY_BANK") or None
        """The folder given by `--bank` or MEMORY_BANK."""
        self._json = bool(given.pop("json", False))
        self.wanted: dict[str, Any] = {
            "query": tuple(words),
            "mode": None,
            "limit": None,
            "tags": tuple(tags),
            "kind": None,
            "since": None,
            "before": None,
            "linked_to": "",
            "include_archived": False,
            "explain": False,
            "no_count": False,
            **given,
        }
        """What the command takes, under its names."""

    def call(self, scout: object) -> Call:
        """Return the call that the command answers."""
        from memory_bank.frontends.cli._call import Call

        return Call("memory-bank recall", bank=self.bank, json=self._json, scout=scout)


def read(args: list[str]) -> Question | None:
    """Read the words behind the program's name; None where they are no plain `recall`."""
    if args[:1] != ["recall"] or COMPLETE in os.environ:
        return None
    given: dict[str, Any] = {}
    words: list[str] = []
    tags: list[str] = []
    rest = iter(args[1:])
    for word in rest:
        if not word.startswith("-"):
            words.append(word)
            continue
        if word in _FLAGS:
            given[_FLAGS[word]] = True
            continue
        option, equals, value = word.partition("=")
        name = _VALUED.get(option, "")
        if not equals:
            value = next(rest, "")
        if not _plain(name, value):
            return None
        if name == "tags":
            tags += (tag.strip() for tag in value.split(","))
        else:
            given[name] = int(value) if name == "limit" else value
    return Question(given, words, tags) if words else None


def _plain(name: str, value: str) -> bool:
    """Tell whether a value can be nothing but what the option of that name takes."""
    if not name or not value or value.startswith("-"):
        return False
    if name == "limit":
        return value.isascii() and value.isdecimal() and len(value) < _LONG
    if name == "tags":
        return all(tag.strip() for tag in value.split(","))
    if name == "bank":
        return os.path.isdir(value)  # noqa: PTH112  (before pathlib is loaded)
    return name != "mode" or value in MODES
