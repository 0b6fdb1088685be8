"""A review as a comment on a pull request, in GitHub Markdown.

Text of notes, file names and messages is always code: it can't mention people, refer to issues,
make links or images, or end a block.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from memory_bank.base.rendering import count
from memory_bank.memory.same_subject import side_by_side
from memory_bank.review.formats.markdown_text import code, fence, html_code
from memory_bank.review.formats.word_diff import claim_lines

if TYPE_CHECKING:
    from memory_bank.notes.compare.note_change import (
        KeyChange,
        LinkChange,
        NoteChange,
        SectionChange,
    )
    from memory_bank.review.report import Review, ReviewFinding


_LINES = 80
"""Lines of a section that are shown."""

_ITEMS = 20
"""Keys of front matter, links and items of lists that are shown."""


def note_block(change: NoteChange) -> str:
    """Return the changes of a note as a part that a reader opens."""
    parts = [f"<details><summary>{_summary(change)}</summary>"]
    parts += ["\n".join(part) for part in (_keys(change), _links(change)) if part]
    parts += [block for section in change.sections for block in _section(section)]
    if change.remark:
        parts.append(code(change.remark))
    return "\n\n".join([*parts, "</details>"])


def note_line(change: NoteChange) -> str:
    """Return one line on the changes of a note, for a list."""
    return f"- {code(change.file)} {_counts(change)}"


def _summary(change: NoteChange) -> str:
    former = f" (was {html_code(change.old_file)})" if change.old_file else ""
    return f"{html_code(change.file)}{former} {_counts(change)}"


def _counts(change: NoteChange) -> str:
    words = f"+{change.words_added:,} −{change.words_removed:,} words"
    return f"{change.kind}: {words}, {change.tokens_before:,} → {change.tokens_after:,} tokens"


def _keys(change: NoteChange) -> list[str]:
    """Return a list of the changed keys of the front matter."""
    rows = [f"- {code(one.key)} {one.kind}: {_value(one)}" for one in change.front_matter]
    return _cut(rows, "key")


def _value(change: KeyChange) -> str:
    if change.gained or change.lost:
        gained = [f"+{code(item)}" for item in change.gained]
        lost = [f"−{code(item)}" for item in change.lost]
        items = gained + lost
        more = f" and {len(items) - _ITEMS} more" if len(items) > _ITEMS else ""
        return ", ".join(items[:_ITEMS]) + more
    return " → ".join(code(value) for value in (change.before, change.after) if value is not None)


def _links(change: NoteChange) -> list[str]:
    gained = [f"- link gained: {_link(one)}" for one in change.gained]
    lost = [f"- link lost: {_link(one)}" for one in change.lost]
    return _cut(gained, "link gained") + _cut(lost, "link lost")


def _link(link: LinkChange) -> str:
    times = f", {link.times} times" if link.times > 1 else ""
    return f"{code(link.target)} ({code(link.type)}, line {link.line}{times})"


def _cut(rows: list[str], word: str) -> list[str]:
    if len(rows) <= _ITEMS:
        return rows
    return [*rows[:_ITEMS], f"- and {count(len(rows) - _ITEMS, f'more {word}')}"]


def _section(section: SectionChange) -> Iterator[str]:
    """Yield a heading for a section, and the diff of its claims."""
    heading = " › ".join(section.headings) or "text before the first heading"
    former = ""
    if section.old_headings is not None:
        former = f" (was {code(' › '.join(section.old_headings))})"
    yield f"**Section {section.kind}**: {code(heading)}{former}, line {section.line}"
    if section.shortened:
        yield code(section.shortened)
    lines: list[str] = []
    last = None
    for claim in section.claims:
        if len(lines) > _LINES:
            break
        if last is not None and max(len(last.spans), len(claim.spans)) > 1:
            # a claim that changed has several lines: where it ends must be seen
            lines.append("")
        lines += claim_lines(claim)
        last = claim
    if lines:
        yield fence(lines[:_LINES], "diff")
    if len(lines) > _LINES:
        yield f"The section is cut after {_LINES} lines."


MARKER = "<!-- memory-bank review -->"
"""The first line of the comment, by which it is found and updated."""

LIMIT = 65_000
"""UTF-16 code units of a comment; GitHub refuses one with more than 65,536 characters."""

_RESERVED = 5_000
"""Room for the last lines: what was left out, and notices."""

_ROWS = 30

_LIST = 8_000
"""Rows of a list that are shown, and code units of them."""

_NOTICES = 3

_BLOCK = 20_000
"""Code units of the changes of one note; a longer one is named only."""

OWN_LISTS = frozenset(
    {"may-contradict", "may-repeat", "rank-fall", "similar-note", "stale-citation"}
    | {"superseded-neighbour"}
)
"""Rules whose findings the review has as lists."""


def markdown(review: Review) -> str:
    """Return the comment: findings, stale citations, similar notes, then the changes of each note.

    It has at most `LIMIT` code units and says what was left out.
    """
    parts = [MARKER, _title(review), *_lists(review)]
    used = sum(_size(part) + 2 for part in parts)
    named: list[str] = []
    left_out = 0
    for change in review.changes:
        block, line = note_block(change), note_line(change)
        if (size := _size(block) + 2) <= _BLOCK and used + size <= LIMIT - _RESERVED:
            parts.append(block)
            used += size
        elif used + _size(line) + 2 <= LIMIT - _RESERVED:
            named.append(line)
            used += _size(line) + 2
        else:
            left_out += 1
    return "\n\n".join([*parts, *_rest(review, named, left_out)]) + "\n"


def _title(review: Review) -> str:
    kinds = Counter(change.kind for change in review.changes)
    changes = ", ".join(f"{number} {kind}" for kind, number in sorted(kinds.items()))
    new: Counter[str] = Counter(finding.severity for finding in review.findings if finding.new)
    found = [
        count(new[severity], word)
        for severity, word in (("error", "error"), ("warning", "warning"), ("info", "remark"))
        if new[severity]
    ]
    facts = (
        f"**{', '.join(found) or 'No new findings'}**",
        f"{count(len(review.changes), 'note')} changed{f': {changes}' if changes else ''}",
        f"{review.tokens.before:,} → {review.tokens.after:,} tokens of changed notes",
    )
    return f"### Memory review\n\n{' · '.join(facts)}"


def _lists(review: Review) -> Iterator[str]:
    """Yield a part for each list that is not empty."""
    new = [one for one in review.findings if one.new and one.rule not in OWN_LISTS]
    old = [one for one in review.findings if not one.new and one.rule not in OWN_LISTS]
    stale = "Notes that cite changed code: confirm, edit or archive"
    yield from _list("Findings", map(_finding, new), len(new))
    yield from _list(stale, _stale(review), len(review.stale))
    told = len(review.said_elsewhere)
    yield from _list("Said elsewhere", _said_elsewhere(review), told)
    yield from _list("Similar notes", _similar(review), len(review.similar))
    near = len(review.neighbours)
    yield from _list("Superseded or archived neighbours", _neighbours(review), near)
    queries = len(review.queries)
    yield from _list("Golden queries that find a note later", _queries(review), queries)
    before = "Findings that were there before"
    yield from _list(before, map(_finding, old), len(old), closed=True)


def _list(heading: str, rows: Iterable[str], number: int, *, closed: bool = False) -> Iterator[str]:
    """Yield a list of a number of rows under its heading; a reader opens a closed one."""
    if not number:
        return
    body = "\n".join(_first(rows, number))
    if closed:
        yield f"<details><summary>{heading} ({number:,})</summary>\n\n{body}\n\n</details>"
    else:
        yield f"#### {heading}\n\n{body}"


def _first(rows: Iterable[str], number: int) -> Iterator[str]:
    """Yield the rows of a list that fit, and a last one for the others; those are not made."""
    used = 0
    for place, row in enumerate(rows):
        used += _size(row) + 1
        if place == _ROWS or used > _LIST:
            yield f"- and {number - place:,} more"
            return
        yield row


def _finding(finding: ReviewFinding) -> str:
    fix = f" Fix: {code(finding.fix)}" if finding.fix else ""
    where = f"{code(finding.file)} line {finding.line}"
    return f"- **{finding.severity}** {code(finding.rule)} {where}: {code(finding.message)}{fix}"


def _stale(review: Review) -> Iterator[str]:
    for one in review.stale:
        commits = f" by {', '.join(code(commit[:12]) for commit in one.commits[:3])}"
        fix = f" Fix: {code(one.fix)}" if one.fix else ""
        where = f"{code(one.file)} line {one.line}"
        target = f"{code(one.target)} is {code(one.state)}"
        yield f"- {where}: {target}{commits if one.commits else ''}.{fix}"


def _similar(review: Review) -> Iterator[str]:
    for one in review.similar:
        yield f"- {code(one.file)} and {code(one.other_file)}: {one.likeness:.2f} alike"


def _said_elsewhere(review: Review) -> Iterator[str]:
    for one in review.said_elsewhere:
        what, here, there = side_by_side(one.remark, one.other_file)
        where = f"{code(one.file)} line {one.remark.line}"
        yield f"- {where} {code(what)}\n  - {code(here.strip())}\n  - {code(there.strip())}"


def _neighbours(review: Review) -> Iterator[str]:
    for one in review.neighbours:
        by = f" by {', '.join(map(code, one.by_files[:3]))}" if one.by_files else ""
        where = f"{code(one.file)} line {one.line}"
        yield f"- {where}: {one.how} {code(one.other_file)} is {one.state}{by}"


def _queries(review: Review) -> Iterator[str]:
    for one in review.queries:
        after = "not found" if one.rank_after is None else f"rank {one.rank_after}"
        yield f"- {code(one.query)} finds {code(one.file)}: rank {one.rank_before} → {after}"


def _rest(review: Review, named: list[str], left_out: int) -> Iterator[str]:
    """Yield what was left out, and the review's notices."""
    if named:
        yield "#### Notes whose changes are not shown here"
        yield "\n".join(named)
    if left_out:
        yield f"{count(left_out, 'more note')} changed."
    if named or left_out:
        yield (
            "The comment is cut: GitHub allows 65,536 characters. All of it is shown by "
            f"{code(f'memory-bank review {_name(review)}')}"
        )
    for notice in review.notices[:_NOTICES]:
        yield code(notice)


def _name(review: Review) -> str:
    base, head = review.base, review.head
    if head.commit is None:
        return f"--{head.name}"
    return f"{base.commit or base.name}..{head.commit}"


def _size(text: str) -> int:
    """Return the number of UTF-16 code units of a text."""
    return len(text) + sum(character > "\uffff" for character in text)
