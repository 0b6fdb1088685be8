"""Print a review on a terminal: a summary, the findings, then each changed note."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from memory_bank.bank.findings import SEVERITIES
from memory_bank.base.rendering import count
from memory_bank.base.screen import Piece

if TYPE_CHECKING:
    from memory_bank.base.screen import Call
    from memory_bank.notes.compare.note_change import (
        ClaimChange,
        KeyChange,
        LinkChange,
        NoteChange,
        SectionChange,
        TextSpan,
    )
    from memory_bank.review.report import Review, ReviewFinding


_FINDINGS = 100
"""Number of new findings that are shown unless all are."""

_FIRST = 12
"""Number of claims of a note that are shown unless all are."""

_CONTEXT = 40
"""Number of characters of unchanged text that are shown on each side of a change."""

_LONGEST = 600
"""Length of a claim that was added or removed beyond which it is cut."""

_STYLES = {"error": "bad", "warning": "warn", "info": "dim"}

_KINDS = {"added": ("+ ", "good"), "removed": ("- ", "bad"), "changed": ("~ ", "warn")}

_MORE = " (--all shows them)"

Line = Sequence[Piece]


def show(call: Call, review: Review, *, every: bool) -> None:
    """Print a review; `every` finding, and claim of each note, or the first ones."""
    call.console.hanging(0, _summary(review))
    new = [finding for finding in review.findings if finding.new]
    shown = new if every else new[:_FINDINGS]
    for finding in shown:
        call.console.hanging(2, _finding(finding))
    if more := len(new) - len(shown):
        call.console.hanging(0, [(f"… {count(more, 'more new finding')}{_MORE}", "dim")])
    if known := len(review.findings) - len(new):
        call.console.hanging(
            0, [(f"{count(known, 'finding')} at BASE already (see --json)", "dim")]
        )
    for change in review.changes:
        call.console.line("")
        call.console.hanging(2, _head(change))
        for indent, line in _body(change, every=every):
            call.console.hanging(indent, line)


def _summary(review: Review) -> Line:
    kinds = Counter(change.kind for change in review.changes)
    parts = ", ".join(f"{number} {kind}" for kind, number in sorted(kinds.items()))
    tokens = f"{review.tokens.before:,} → {review.tokens.after:,} tokens"
    new = Counter(finding.severity for finding in review.findings if finding.new)
    found = [
        count(new[severity], "remark" if severity == "info" else severity)
        for severity in SEVERITIES
        if new[severity]
    ]
    said = ", ".join(found) or "no new findings"
    base, head = (one.commit[:10] if one.commit else one.name for one in (review.base, review.head))
    worst = review.worst()
    return [
        (f"{count(len(review.changes), 'note')} changed", "bold"),
        f"{f': {parts}' if parts else ''}; ",
        *([f"{tokens}; "] if review.changes else []),
        (said, _STYLES[worst] if worst else "good"),
        (f" ({base}..{head})", "dim"),
    ]


def _finding(finding: ReviewFinding) -> Line:
    line = f":{finding.line}" if finding.line > 1 else ""
    fix = f" (fix: {finding.fix})" if finding.fix else ""
    return [
        (f"{finding.severity}", _STYLES[finding.severity]),
        " ",
        (f"{finding.file}{line}", "place"),
        f" {finding.message}",
        (fix, "good"),
        (f" [{finding.rule}]", "dim"),
    ]


def _head(change: NoteChange) -> Line:
    was = f" (was {change.old_path})" if change.old_path else ""
    words = [
        f"{sign}{number}"
        for sign, number in (("+", change.words_added), ("-", change.words_removed))
        if number
    ]
    tokens = f"{change.tokens_before:,} → {change.tokens_after:,} tokens"
    return [
        (f"{change.kind} ", "bold"),
        (change.path, "place"),
        f"{was}  ",
        (f"{' '.join(words)} words, {tokens}" if words else tokens, "dim"),
    ]


def _body(change: NoteChange, *, every: bool) -> Iterator[tuple[int, Line]]:
    if change.remark:
        yield 4, [(change.remark, "warn")]
    for key in change.front_matter:
        yield 4, _key(key)
    left = _FIRST
    hidden = 0
    for section in change.sections:
        most = len(section.claims) if every else max(left, 0)
        if most or not section.claims:
            yield 4, _section(section, whole=change.kind in {"added", "removed"})
        for claim in section.claims[:most]:
            yield 6, _claim(claim)
        left -= len(section.claims[:most])
        hidden += len(section.claims[most:])
    if hidden:
        yield 4, [(f"… {count(hidden, 'claim')} more{_MORE}", "dim")]
    for sign, style, links in (("+", "good", change.gained), ("-", "bad", change.lost)):
        if links:
            yield 4, [(f"{sign} links: ", style), _links(links)]


def _key(key: KeyChange) -> Line:
    if key.gained or key.lost:
        removed = [(f" -{item}", "bad") for item in key.lost]
        return [(f"{key.key}:", "bold"), *removed, *[(f" +{item}", "good") for item in key.gained]]
    before = [(key.before, "bad")] if key.before is not None else []
    arrow = [" → "] if key.before is not None and key.after is not None else []
    after = [(key.after, "good")] if key.after is not None else []
    sign, style = _KINDS[key.kind]
    return [(sign, style), (f"{key.key}: ", "bold"), *before, *arrow, *after]


def _section(section: SectionChange, *, whole: bool) -> Line:
    path = " › ".join(section.headings) or "(start)"
    was = f" (was {' › '.join(section.old_headings) or '(start)'})" if section.old_headings else ""
    kind = "" if whole or section.kind == "changed" else f"{section.kind} "
    shortened = f" {section.shortened}" if section.shortened else ""
    return [
        (kind, _KINDS.get(section.kind, ("", "warn"))[1]),
        (f"# {path}", "bold"),
        was,
        (f"  line {section.line}", "dim"),
        (shortened, "warn"),
    ]


def _claim(claim: ClaimChange) -> Line:
    sign, style = _KINDS[claim.kind]
    if claim.kind != "changed":
        return [(sign, style), (_folded(span.text for span in claim.spans), style)]
    return [(sign, style), *_spans(claim.spans)]


def _spans(spans: Sequence[TextSpan]) -> Iterator[Piece]:
    """Yield a diff with the marks of `git diff --word-diff`, long unchanged text shortened."""
    last = len(spans) - 1
    for number, span in enumerate(spans):
        text = " ".join(span.text.split())
        before = " " if span.text[:1].isspace() and number else ""
        after = " " if span.text[-1:].isspace() and number < last else ""
        if span.kind == "delete":
            yield before
            yield f"[-{text}-]", "bad"
            yield after
        elif span.kind == "insert":
            yield before
            yield f"{{+{text}+}}", "good"
            yield after
        else:
            yield f"{before}{_shortened(text, first=not number, last=number == last)}{after}"


def _shortened(text: str, *, first: bool, last: bool) -> str:
    if len(text) <= 3 * _CONTEXT:
        return text
    start = "" if first else text[:_CONTEXT].rpartition(" ")[0] or text[:_CONTEXT]
    end = "" if last else text[-_CONTEXT:].partition(" ")[2] or text[-_CONTEXT:]
    return f"{start}{' … ' if start and end else '… ' if end else ' …'}{end}"


def _folded(texts: Iterable[str]) -> str:
    text = " ".join("".join(texts).split())
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"


def _links(links: Sequence[LinkChange]) -> str:
    return ", ".join(
        f"{link.target}{f' ({link.type})' if link.type != 'related_to' else ''}"
        f"{f' ×{link.times}' if link.times > 1 else ''}"
        for link in links
    )
