"""The immutable records of how a note changed, and the comparison of two texts by words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from difflib import SequenceMatcher
from typing import Literal, TypeVar

from memory_bank.base import NamedTuple, lazy_pattern

ChangeKind = Literal["added", "changed", "removed", "renamed"]
"""Of a note or section; `renamed` has the same text under another name."""

START = "(start)"
"""What views call the section above the first heading."""


class TextSpan(NamedTuple):
    """A part of a diff by words."""

    kind: Literal["equal", "insert", "delete"]
    text: str
    """Of an equal span, the text after the change: white space may differ before it."""

    @property
    def marked(self) -> str:
        """Its text with the marks of `git diff --word-diff`."""
        if self.kind == "equal":
            return self.text
        return f"[-{self.text}-]" if self.kind == "delete" else f"{{+{self.text}+}}"


class ClaimChange(NamedTuple):
    """A sentence, list item, table row or line of code that changed."""

    kind: Literal["added", "changed", "removed"]
    line: int
    """1-based line of the file after the change where it starts; of a removed one, where it was."""
    spans: tuple[TextSpan, ...]
    """Its diff by words; one span if it was added or removed."""


class SectionChange(NamedTuple):
    """How a section changed."""

    kind: ChangeKind
    headings: tuple[str, ...]
    """Headings above it and its own, outermost first; empty before the first heading. Of a removed
    section, those before."""
    old_headings: tuple[str, ...] | None
    """The headings before, if they were others."""
    line: int
    """1-based line of the file after the change where it starts; of a removed one, where it was."""
    end_line: int
    """The line after its last."""
    claims: tuple[ClaimChange, ...]
    """Changed claims in their order; of an added or removed section, all its claims."""
    shortened: str | None = None
    """Why its claims are not listed: the text is too long."""

    @property
    def title(self) -> str:
        """Its headings, or what stands for none."""
        return " › ".join(self.headings) or START


class KeyChange(NamedTuple):
    """A key of the front matter that changed."""

    key: str
    kind: Literal["added", "changed", "removed"]
    before: str | None
    """Its value as JSON; None if there was none."""
    after: str | None
    gained: tuple[str, ...] = ()
    """New items of a list."""
    lost: tuple[str, ...] = ()


class LinkChange(NamedTuple):
    """A link that a note gained or lost."""

    target: str
    """As written, with `#heading` or `^block`."""
    type: str
    line: int
    """1-based line of the file after the change; of a lost link, before it."""
    times: int = 1


class NoteChange(NamedTuple):
    """How a note changed between two revisions."""

    path: str
    """The note's path in the bank; of a removed note, the former one."""
    old_path: str | None
    """The former path of a note that was moved or renamed."""
    kind: ChangeKind
    """`renamed` for a note that was moved, even if its text changed as well."""
    file: str
    """The path of its file below the work tree, with forward slashes."""
    title: str
    sections: tuple[SectionChange, ...] = ()
    front_matter: tuple[KeyChange, ...] = ()
    gained: tuple[LinkChange, ...] = ()
    lost: tuple[LinkChange, ...] = ()
    tokens_before: int = 0
    """Estimated tokens of the whole note; 0 of an added one."""
    tokens_after: int = 0
    words_added: int = 0
    words_removed: int = 0
    old_file: str | None = None
    """The former path below the work tree of a note that was moved or renamed."""
    remark: str | None = None
    """What else is to say: only white space changed, or why its text was not compared."""
    compared: bool = True
    """Whether its texts were compared; if not, `remark` says why."""
    checked: bool = True
    """Whether it was read at all, so that rules could check it; if not, `remark` says why."""


_MOST_ELEMENTS = 10_000
"""Elements of both sequences beyond which the part that differs is not compared: difflib may take
quadratic time, and a text may be hostile."""


class AlignedRun(NamedTuple):
    """A run of elements: the same in both sequences, or replaced (either side may be empty)."""

    kind: Literal["equal", "replaced"]
    start: int
    end: int
    other_start: int
    other_end: int


def align_runs(before: Sequence[Hashable], after: Sequence[Hashable]) -> list[AlignedRun]:
    """Return the runs that make `after` of `before`, in order; equal and replaced alternate."""
    head = _count_common_start(before, after)
    rest = min(len(before), len(after)) - head
    tail = _count_common_start(before[len(before) - rest :][::-1], after[len(after) - rest :][::-1])
    end, other_end = len(before) - tail, len(after) - tail
    runs = [AlignedRun("equal", 0, head, 0, head)] if head else []
    if end + other_end - 2 * head > _MOST_ELEMENTS:
        runs.append(AlignedRun("replaced", head, end, head, other_end))
    else:
        matcher = SequenceMatcher(None, before[head:end], after[head:other_end])
        for tag, *bounds in matcher.get_opcodes():
            kind: Literal["equal", "replaced"] = "equal" if tag == "equal" else "replaced"
            runs.append(AlignedRun(kind, *(head + bound for bound in bounds)))
    if tail:
        runs.append(AlignedRun("equal", end, len(before), other_end, len(after)))
    return runs


def _count_common_start(before: Sequence[Hashable], after: Sequence[Hashable]) -> int:
    pairs = enumerate(zip(before, after, strict=False))
    return next((count for count, (old, new) in pairs if old != new), min(len(before), len(after)))


_CJK = "\u3040-\u9fff\uac00-\ud7af"

_WORD = lazy_pattern(rf"[{_CJK}]|[^\W{_CJK}]+")

_MOST_PAIRS = 5_000
"""Pairs of texts beyond which none is compared: a hostile change may have any number."""

Words = Counter[str]

Key = TypeVar("Key", bound=Hashable)


def split_words(text: str) -> Words:
    """Return the words of a text in lower case with their numbers; a CJK character is a word."""
    return Counter(_WORD.findall(text[:MAX_CHARACTERS].lower()))


def share_of_words(words: Words, other_words: Words) -> float:
    """Return the share of words in common: 1 for the same words, whatever their order."""
    return 2 * (words & other_words).total() / ((words.total() + other_words.total()) or 1)


def pair_texts(
    before: Mapping[Key, Words], after: Mapping[Key, Words], least: float
) -> dict[Key, Key]:
    """Map keys of texts to those of the most similar ones, at least `least`; each text is once."""
    if len(before) * len(after) > _MOST_PAIRS:
        return {}
    scored = sorted(
        (-share_of_words(old_words, new_words), new, old)
        for new, new_words in enumerate(after.values())
        for old, old_words in enumerate(before.values())
    )
    old_keys, new_keys, new_by_old = list(before), list(after), dict[Key, Key]()
    paired: set[int] = set()
    for score, new, old in scored:
        if -score >= least and new not in paired and old_keys[old] not in new_by_old:
            new_by_old[old_keys[old]] = new_keys[new]
            paired.add(new)
    return new_by_old


_TOKEN = lazy_pattern(rf"\s*(?:[{_CJK}]|[^\s{_CJK}]{{1,40}})|\s+\Z")
"""A word with its signs, and the white space before it; a longer one is divided."""

MAX_CHARACTERS = 20_000
"""Length of both texts beyond which one replaces the other."""

_FEW = 2
"""Words between two longer changes that count as changed, so that the diff can be read."""


def diff_texts(before: str, after: str) -> tuple[TextSpan, ...]:
    """Return the spans that make one text of another; no word is divided.

    Equal and inserted spans joined are `after`; equal and deleted ones are `before` up to white
    space.
    """
    if len(before) + len(after) > MAX_CHARACTERS:
        return join_spans([TextSpan("delete", before), TextSpan("insert", after)])
    old, new = _TOKEN.findall(before), _TOKEN.findall(after)
    spans: list[TextSpan] = []
    runs = align_runs([word.strip() for word in old], [word.strip() for word in new])
    for run in _join_close_changes(runs):
        deleted = "".join(old[run.start : run.end])
        inserted = "".join(new[run.other_start : run.other_end])
        if run.kind == "equal":
            spans.append(TextSpan("equal", inserted))
        elif deleted and inserted:  # white space before both sides stays
            spans.append(TextSpan("equal", inserted[: len(inserted) - len(inserted.lstrip())]))
            spans += TextSpan("delete", deleted.lstrip()), TextSpan("insert", inserted.lstrip())
        else:
            spans += TextSpan("delete", deleted), TextSpan("insert", inserted)
    return join_spans(spans)


def _join_close_changes(runs: Iterable[AlignedRun]) -> list[AlignedRun]:
    """Return the runs; a word or two that stay between longer changes count as changed."""
    joined: list[AlignedRun] = []
    for run in runs:
        if run.kind == "replaced" and len(joined) > 1:
            change, between = joined[-2:]
            if between.end - between.start <= min(_FEW, _size(change) - 1, _size(run) - 1):
                joined[-2:] = [change._replace(end=run.end, other_end=run.other_end)]
                continue
        joined.append(run)
    return joined


def _size(run: AlignedRun) -> int:
    """Return the number of words of the longer side."""
    return max(run.end - run.start, run.other_end - run.other_start)


def join_spans(spans: Iterable[TextSpan]) -> tuple[TextSpan, ...]:
    """Join adjacent spans of a kind, and drop empty ones; deleted text comes before inserted."""
    joined: list[TextSpan] = []
    deleted = inserted = ""
    for kind, text in spans:
        if kind == "delete":
            deleted += text
        elif kind == "insert":
            inserted += text
        elif text:
            joined += _changed_spans(deleted, inserted)
            deleted = inserted = ""
            if joined and joined[-1].kind == "equal":
                text = joined.pop().text + text  # noqa: PLW2901
            joined.append(TextSpan("equal", text))
    return (*joined, *_changed_spans(deleted, inserted))


def _changed_spans(deleted: str, inserted: str) -> list[TextSpan]:
    spans = (TextSpan("delete", deleted), TextSpan("insert", inserted))
    return [span for span in spans if span.text]


_BREAK = lazy_pattern(r"(?<! {2})(?<!\\)(?:\r\n|\r|\n)[ \t]*(?=[^\s>])")
"""A soft line break, which Markdown shows as a space."""


def claim_spans(claim: ClaimChange) -> list[TextSpan]:
    """Return the spans of a claim with spaces for soft line breaks."""
    return [TextSpan(kind, _BREAK.sub(" ", text)) for kind, text in claim.spans]


_CONTEXT = 120
"""Characters of unchanged text that are shown on each side of a change."""


def cut_context(spans: Sequence[TextSpan], place: int) -> str:
    """Return the text of a span; of an unchanged one the part near a change."""
    kind, text = spans[place]
    first, last = place == 0, place == len(spans) - 1
    if kind != "equal" or len(text) <= _CONTEXT * (1 if first or last else 2):
        return text
    start = "" if first else text[:_CONTEXT].rpartition(" ")[0] or text[:_CONTEXT]
    end = "" if last else text[-_CONTEXT:].partition(" ")[2] or text[-_CONTEXT:]
    return f"{start}{' … ' if start and end else '… ' if end else ' …'}{end}"
