"""The diff of a claim by whole words, for a comment."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from memory_bank.notes.compare.note_change import ClaimChange, TextSpan

_BREAK = re.compile(r"(?<! {2})(?<!\\)(?:\r\n|\r|\n)[ \t]*(?=[^\s>])")
"""A soft line break, which Markdown shows as a space."""

_WORD = r"[^\s\u3040-\u9fff\uac00-\ud7af]{1,40}"
"""A part of a word of a script with spaces between words."""

_START = re.compile(rf"{_WORD}(?=\s|\Z)")

_END = re.compile(rf"(?<!\S){_WORD}\Z")


def spans_of(claim: ClaimChange) -> list[TextSpan]:
    """Return the spans of a claim with whole words, and with spaces for soft line breaks."""
    return whole_words([TextSpan(kind, _BREAK.sub(" ", text)) for kind, text in claim.spans])


def whole_words(spans: Sequence[TextSpan]) -> list[TextSpan]:
    """Return the spans, each change extended to white space, so that no word is divided.

    A word of more than 40 characters is divided. White space between two changes is part of them.
    """
    parts = _parts(spans)
    made: list[_Part] = []
    for place, part in enumerate(parts):
        equal, deleted, inserted = part
        last = place + 1 == len(parts)
        if made and (start := _START.match(equal)) and not _ends_in_space(made[-1]):
            made[-1] = made[-1].followed_by(start[0])
            equal = equal[start.end() :]
        end = None if last else _END.search(equal)
        if end and not (deleted[:1].isspace() or inserted[:1].isspace()):
            deleted, inserted = end[0] + deleted, end[0] + inserted
            equal = equal[: end.start()]
        if made and not last and not equal.strip():
            before = made.pop()
            deleted, inserted = (
                before.deleted + equal + deleted,
                before.inserted + equal + inserted,
            )
            equal = before.equal
        made.append(_Part(equal, deleted, inserted))
    return [span for part in made for span in part.spans()]


class _Part(NamedTuple):
    """An unchanged text, and the change behind it."""

    equal: str
    deleted: str
    inserted: str

    def followed_by(self, text: str) -> _Part:
        """Return the part with a text at the end of its change."""
        return self._replace(deleted=self.deleted + text, inserted=self.inserted + text)

    def spans(self) -> Iterator[TextSpan]:
        """Yield the spans that have a text."""
        equal, deleted, inserted = self
        found = (
            TextSpan("equal", equal),
            TextSpan("delete", deleted),
            TextSpan("insert", inserted),
        )
        return (one for one in found if one.text)


def _parts(spans: Sequence[TextSpan]) -> list[_Part]:
    """Return the spans as parts; the change of the last one is empty."""
    made = [_Part("", "", "")]
    for kind, text in spans:
        equal, deleted, inserted = made[-1]
        if kind == "delete":
            made[-1] = _Part(equal, deleted + text, inserted)
        elif kind == "insert":
            made[-1] = _Part(equal, deleted, inserted + text)
        elif deleted or inserted:
            made.append(_Part(text, "", ""))
        else:
            made[-1] = _Part(equal + text, "", "")
    if made[-1].deleted or made[-1].inserted:
        made.append(_Part("", "", ""))
    return made


def _ends_in_space(part: _Part) -> bool:
    return part.deleted[-1:].isspace() or part.inserted[-1:].isspace()


_CONTEXT = 120
"""Characters of unchanged text that are shown on each side of a change."""


def context(spans: Sequence[TextSpan], place: int) -> str:
    """Return the text of a span; of an unchanged one the part near a change."""
    kind, text = spans[place]
    first, last = place == 0, place == len(spans) - 1
    if kind != "equal" or len(text) <= _CONTEXT * (1 if first or last else 2):
        return text
    start = "" if first else text[:_CONTEXT].rpartition(" ")[0] or text[:_CONTEXT]
    end = "" if last else text[-_CONTEXT:].partition(" ")[2] or text[-_CONTEXT:]
    return f"{start}{' … ' if start and end else '… ' if end else ' …'}{end}"
