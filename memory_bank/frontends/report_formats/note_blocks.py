"""The changes of one note as Markdown."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from memory_bank.frontends.rendering import count
from memory_bank.frontends.report_formats.markdown_text import code, fence, html_code
from memory_bank.frontends.report_formats.word_diff import claim_lines

if TYPE_CHECKING:
    from memory_bank.actions.review_report import (
        KeyChange,
        LinkChange,
        NoteChange,
        SectionChange,
    )

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
