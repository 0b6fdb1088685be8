"""Read JSON with comments and trailing commas, and remember where everything stands."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass

from memory_bank.errors import BadInput
from memory_bank.notes.places import BREAK

_TOKEN = re.compile(
    r"""(?P<skip> [ \t\r\n\ufeff]+ | //[^\r\n]* | /\*.*?\*/ )
    | (?P<text> "(?:[^"\\\x00-\x1f]|\\.)*" )
    | (?P<word> true | false | null | -?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)? )
    | (?P<mark> [{}\[\]:,] )""",
    re.VERBOSE | re.DOTALL,
)


@dataclass(slots=True)
class Node:
    """A value and where it stands."""

    start: int
    end: int
    value: object
    members: list[Member] | None = None
    """Of an object, in the order of the file; None for any other value."""

    def find(self, key: str) -> Member | None:
        """Return the member that counts: the last of its name."""
        named = [member for member in self.members or () if member.key == key]
        return named[-1] if named else None


@dataclass(slots=True)
class Member:
    """A key of an object, its value, and the place of the comma behind it."""

    key: str
    start: int
    node: Node
    comma: int | None = None


def read(text: str) -> Node | None:
    """Return the tree of a document, None when it says nothing; raise BadInput with the place."""
    reader = _Reader(text)
    if reader.peek() == "":
        return None
    try:
        found = reader.value()
    except RecursionError as error:
        raise BadInput("it is nested too deeply") from error
    if reader.peek():
        raise reader.wrong("one value was expected, here is more")
    return found


def line_comments(text: str) -> frozenset[int]:
    """Return where the comments of a document end that reach to the end of their line."""
    tokens = _TOKEN.finditer(text)
    return frozenset(found.end() for found in tokens if found[0].startswith("//"))


class _Reader:
    """A text's tokens, one after the other, without what says nothing."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0

    def peek(self) -> str:
        """Stand before the next token and return it; empty at the end of the text."""
        while found := _TOKEN.match(self.text, self.at):
            if found.lastgroup != "skip":
                return found[0]
            self.at = found.end()
        if self.at < len(self.text):
            raise self.wrong("this is no JSON")
        return ""

    def take(self, *wanted: str) -> str:
        """Go behind the next token and return it; raise BadInput when it is another."""
        found = self.peek()
        if found not in wanted:
            raise self.wrong(f"{' or '.join(map(repr, wanted))} is missing")
        self.at += len(found)
        return found

    def value(self) -> Node:
        """Read one value."""
        word = self.peek()
        start = self.at
        if word == "{":
            return self._object(start)
        if word == "[":
            return self._array(start)
        found = self._scalar(word)
        return Node(start, self.at, found)

    def wrong(self, what: str) -> BadInput:
        """Return the error of the place that is reached."""
        breaks = list(BREAK.finditer(self.text, 0, self.at))
        column = self.at - (breaks[-1].end() if breaks else 0) + 1
        return BadInput(f"line {len(breaks) + 1}, column {column}: {what}")

    def _scalar(self, word: str) -> object:
        if not word or word in "}]:,":
            raise self.wrong("a value is missing")
        try:
            found: object = json.loads(word)
        except ValueError as error:
            raise self.wrong("this is no JSON string") from error
        self.at += len(word)
        return found

    def _array(self, start: int) -> Node:
        self.take("[")
        items = []
        while self.peek() != "]":
            items.append(self.value().value)
            if self.peek() != "]":
                self.take(",", "]")
        self.take("]")
        return Node(start, self.at, items)

    def _object(self, start: int) -> Node:
        self.take("{")
        members: list[Member] = []
        while (word := self.peek()) != "}":
            if not word.startswith('"'):
                raise self.wrong("a name in double quotes is missing")
            members.append(self._member(word))
        self.take("}")
        value = {member.key: member.node.value for member in members}
        return Node(start, self.at, value, members)

    def _member(self, word: str) -> Member:
        start = self.at
        key = self._scalar(word)
        self.take(":")
        member = Member(str(key), start, self.value())
        if self.peek() != "}":
            member.comma = self.at
            self.take(",", "}")
        return member
