"""Compare the claims of two sections."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple

from memory_bank.review import word_diff
from memory_bank.review.alignment import runs
from memory_bank.review.claims import Claim, claims
from memory_bank.review.likeness import share, words_of
from memory_bank.review.note_change import ClaimChange, TextSpan

_ALIKE = 0.4
"""Share of words in common from which a claim is another's change."""
_COMPARED = 400
"""Number of pairs of a run of changed claims that are compared."""
MAX_CLAIMS = 20_000
"""Number of claims of both sections beyond which they are not compared."""
_CLAIMS = frozenset({"prose", "code"})

Whole = Literal["added", "removed"]


class ClaimDiff(NamedTuple):
    """How the claims of a section changed."""

    changes: tuple[ClaimChange, ...]
    spans: tuple[TextSpan, ...]
    """The diff of the whole section."""
    shortened: str | None = None


def whole(text: str, line: int, kind: Whole, *, heading: bool) -> ClaimDiff:
    """Return a section that was added or removed; `line` is its first."""
    span: Literal["insert", "delete"] = "insert" if kind == "added" else "delete"
    changes = tuple(
        ClaimChange(kind, line + claim.row, (TextSpan(span, claim.text),))
        for claim in claims(text, heading=heading)
        if claim.kind in _CLAIMS
    )
    if len(changes) > MAX_CLAIMS:
        return ClaimDiff((), (TextSpan(span, text),), f"{len(changes):,} claims: not listed")
    return ClaimDiff(changes, (TextSpan(span, text),))


def diff(before: Sequence[Claim], after: Sequence[Claim], old_line: int, line: int) -> ClaimDiff:
    """Compare the claims of two sections, which start at these lines."""
    if len(before) + len(after) > MAX_CLAIMS:
        spans = (
            TextSpan("delete", "".join(claim.text for claim in before)),
            TextSpan("insert", "".join(claim.text for claim in after)),
        )
        reason = f"{len(before) + len(after):,} claims, more than {MAX_CLAIMS:,}: not compared"
        return ClaimDiff((), word_diff.joined(spans), reason)
    changes: list[ClaimChange] = []
    found: list[TextSpan] = []
    for run in runs([claim.key for claim in before], [claim.key for claim in after]):
        news = after[run.other_start : run.other_end]
        if run.kind == "equal":
            found += (TextSpan("equal", claim.text) for claim in news)
            continue
        for old, new in _paired(before[run.start : run.end], news):
            words = _words(old, new)
            found += words
            change = _change(old, new, old_line, line, words)
            changes += [change] if change else []
    return ClaimDiff(tuple(changes), word_diff.joined(found))


def _words(old: Claim | None, new: Claim | None) -> tuple[TextSpan, ...]:
    before, after = old.text if old else "", new.text if new else ""
    found = word_diff.diff(before, after)
    if old and new and all(span.kind == "equal" for span in found):
        # code whose indentation changed
        return TextSpan("delete", before), TextSpan("insert", after)
    return found


def _change(
    old: Claim | None, new: Claim | None, old_line: int, line: int, spans: tuple[TextSpan, ...]
) -> ClaimChange | None:
    if new is not None and new.kind in _CLAIMS:
        return ClaimChange("changed" if old else "added", line + new.row, spans)
    if old is not None and old.kind in _CLAIMS:
        return ClaimChange("removed", old_line + old.row, spans)
    return None  # a heading is shown as that of its section


def _paired(
    olds: Sequence[Claim], news: Sequence[Claim]
) -> Iterator[tuple[Claim | None, Claim | None]]:
    """Yield the claims of a changed run in order, changed ones with what they were."""
    i = j = 0
    for old, new in [*_alike(olds, news), (len(olds), len(news))]:
        yield from ((one, None) for one in olds[i:old])
        yield from ((None, one) for one in news[j:new])
        if old < len(olds):
            yield olds[old], news[new]
        i, j = old + 1, new + 1


def _alike(olds: Sequence[Claim], news: Sequence[Claim]) -> list[tuple[int, int]]:
    """Return the positions of claims that are alike, best first, without crossing."""
    left, right = ([words_of(claim.text) for claim in side] for side in (olds, news))

    def likeness(old: int, new: int) -> float:
        headings = [claim.kind == "heading" for claim in (olds[old], news[new])]
        return 1.0 if all(headings) else 0.0 if any(headings) else share(left[old], right[new])

    if len(olds) * len(news) > _COMPARED:
        # In order, which costs no comparison of each with each.
        shorter = min(len(olds), len(news))
        return [(at, at) for at in range(shorter) if likeness(at, at) >= _ALIKE]
    scored = sorted(
        (-likeness(old, new), abs(old - new), old, new)
        for old in range(len(olds))
        for new in range(len(news))
    )
    found: list[tuple[int, int]] = []
    for score, _, old, new in scored:
        if -score >= _ALIKE and all((old - a) * (new - b) > 0 for a, b in found):
            found.append((old, new))
    return sorted(found)
