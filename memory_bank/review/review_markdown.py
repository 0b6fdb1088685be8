"""A review as a comment on a pull request, in GitHub Markdown.

Text of notes, file names and messages is always code: it can't mention people, refer to issues,
make links or images, or end a block.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape

from memory_bank.bank.records import ReviewFinding
from memory_bank.base import lazy_pattern, shorten
from memory_bank.base.rendering import count
from memory_bank.base.text import one_line
from memory_bank.notes.inline import plain_text
from memory_bank.notes.note_change import (
    ClaimChange,
    KeyChange,
    LinkChange,
    NoteChange,
    SectionChange,
    claim_spans,
    cut_context,
)
from memory_bank.notes.sections import first_sentence
from memory_bank.review.records import HEADINGS, Review, ignore_lines

_LONGEST = 300
"""Characters of a text inside a line."""

_TICKS = lazy_pattern("`+")


def short_line(text: str, most: int = _LONGEST) -> str:
    """Return a text on one line, cut to 300 characters."""
    return shorten(one_line(text[: most + 1]).strip(), most)


def format_code(text: str, most: int = _LONGEST) -> str:
    """Return a text as a code span of one line; no text in it ends the span."""
    line = short_line(text, most) or " "
    ticks = "`" * (max(map(len, _TICKS.findall(line)), default=0) + 1)
    # one space on each side is no part of a code span, and keeps ticks apart
    return f"{ticks} {line} {ticks}" if "`" in line else f"{ticks}{line}{ticks}"


def html_code(text: str) -> str:
    """Return a text as a code element of one line, for HTML such as the summary of details."""
    return f"<code>{escape(short_line(text))}</code>"


_CLAIMS = 20
"""Changed claims of a section that are shown."""

_SHORT = 14
"""Lines of the changes of a note that a reader sees at once."""

_MANY = 13
"""Spans of a claim from which on it is shown whole, before and after."""

_SIGNS = {"equal": "{}", "insert": "**{}**", "delete": "~~{}~~"}

_MACHINE = frozenset(
    "created_at id source_agent source_type type updated_at verified_commit".split()  # noqa: SIM905
)
"""Keys of front matter that programs write."""

_ITEMS = 20
"""Keys of front matter, links and items of lists that are shown."""


def note_block(change: NoteChange) -> str:
    """Return the changes of a note as a part that is open if it is short; one change is a line."""
    if change.kind == "added" and change.compared:
        return _describe_new_note(change)
    lines = [*_list_keys(change), *_list_links(change)]
    lines += [line for section in change.sections for line in _yield_section(section)]
    if change.remark:
        lines.append(f"- {format_code(change.remark)}")
    if len(lines) == 1 and not change.old_file:
        return f"- **{change.kind}** {_name_of(change)}: {lines[0].removeprefix('- ')}"
    opened = " open" if len(lines) <= _SHORT else ""
    head = f"<details{opened}><summary>{_write_summary(change)}</summary>"
    return "\n\n".join(filter(None, (head, "\n".join(lines), "</details>")))


def note_line(change: NoteChange) -> str:
    """Return one line on the changes of a note, for a list."""
    if change.kind == "added" and change.compared:
        return _write_new_line(change)
    return f"- {_name_of(change)} {change.kind}"


def _name_of(change: NoteChange) -> str:
    """Return the title of a note and the path of its file."""
    return " ".join(format_code(name) for name in dict.fromkeys([change.title, change.file]))


_OF_LIST = ("- **new**", "- **changed**", "- **removed**")
"""Starts of a line for all that is said of a note; such lines are one list."""

_SENTENCE = 6
"""Least words of a text that stands for a new note, if there is one."""

_BLOCK_SIGN = lazy_pattern(r"[ \t>]*(?:[-+*]|\d+[.)]|#{1,6})[ \t]+")
"""The sign of a list item or heading."""


_NEW = 12_000
"""Code units of the sentences of a new note that are shown."""

# Code units of a sentence of a new note.
_LONGEST_SENTENCE = 3_000


def _describe_new_note(change: NoteChange) -> str:
    """Return a line on a new note, and all that it says in a part that a reader opens."""
    texts = _list_new_texts(change)
    if not texts or (len(texts) == 1 and texts[0] == first_sentence(texts[0])):
        return _write_new_line(change)
    sentences = [f"  - {format_code(text, _LONGEST_SENTENCE)}" for text in texts]
    rows, used = list[str](), 0
    for row in sentences:
        used += _count_units(row) + 1
        if used > _NEW:
            rows.append(f"  - and {len(sentences) - len(rows):,} more")
            break
        rows.append(row)
    summary = f"  <details><summary>{count(len(sentences), 'sentence')}</summary>"
    return "\n".join([_write_new_line(change), "", summary, "", *rows, "", "  </details>", ""])


def _write_new_line(change: NoteChange) -> str:
    sentence = find_headline(change)
    return f"- **new** {_name_of(change)}{f': {format_code(sentence)}' if sentence else ''}"


def _list_new_texts(change: NoteChange) -> list[str]:
    """Return the texts of the claims as they are after a change, without removed ones."""
    return [
        text
        for section in change.sections
        for claim in section.claims
        if (text := "".join(x.text for x in claim_spans(claim) if x.kind != "delete").strip())
    ]


def find_headline(change: NoteChange) -> str:
    """Return the first sentence that a change adds to a note; empty if there is none."""
    texts = _list_new_texts(change)
    # a record begins with its date and status
    long = (text for text in texts if len(text.split()) >= _SENTENCE)
    sentence = first_sentence(next(long, texts[0] if texts else ""))
    sign = _BLOCK_SIGN.match(sentence)
    return plain_text(sentence[sign.end() :] if sign else sentence)


def _write_summary(change: NoteChange) -> str:
    former = f" (was {html_code(change.old_file)})" if change.old_file else ""
    names = " ".join(html_code(name) for name in dict.fromkeys([change.title, change.file]))
    return f"{names}{former} {change.kind}"


def _list_keys(change: NoteChange) -> list[str]:
    """Return a list of the changed keys of the front matter."""
    changes = [key_change for key_change in change.front_matter if key_change.key not in _MACHINE]
    rows = [
        f"- {format_code(key_change.key)} {key_change.kind}: {_write_value(key_change)}"
        for key_change in changes
    ]
    return _cut_rows(rows, "key")


def _write_value(change: KeyChange) -> str:
    if change.gained or change.lost:
        gained = [f"+{format_code(item)}" for item in change.gained]
        lost = [f"−{format_code(item)}" for item in change.lost]
        items = gained + lost
        more = f" and {len(items) - _ITEMS} more" if len(items) > _ITEMS else ""
        return ", ".join(items[:_ITEMS]) + more
    return " → ".join(
        format_code(value) for value in (change.before, change.after) if value is not None
    )


def _list_links(change: NoteChange) -> list[str]:
    gained = [f"- link gained: {_write_link(link)}" for link in change.gained]
    lost = [f"- link lost: {_write_link(link)}" for link in change.lost]
    return _cut_rows(gained, "link gained") + _cut_rows(lost, "link lost")


def _write_link(link: LinkChange) -> str:
    times = f", {link.times} times" if link.times > 1 else ""
    return f"{format_code(link.target)} ({format_code(link.type)}, line {link.line}{times})"


def _cut_rows(rows: list[str], word: str) -> list[str]:
    if len(rows) <= _ITEMS:
        return rows
    return [*rows[:_ITEMS], f"- and {count(len(rows) - _ITEMS, f'more {word}')}"]


def _yield_section(section: SectionChange) -> Iterator[str]:
    """Yield a line for a section, then one for each claim, with what changed in its place."""
    heading = section.title
    former = ""
    if section.old_headings is not None:
        former = f" (was {format_code(' › '.join(section.old_headings))})"
    kind = "" if section.kind == "changed" else f" {section.kind}"
    short = f" {format_code(section.shortened)}" if section.shortened else ""
    yield f"- {format_code(heading)}{former}{kind}{short}"
    claims = [line for claim in section.claims if (line := _write_claim(claim))]
    yield from claims[:_CLAIMS]
    if more := len(claims) - _CLAIMS:
        yield from [f"  - and {count(more, 'more change')}"] if more > 0 else []


def _write_claim(claim: ClaimChange) -> str:
    """Return a claim as a line: removed words struck out, added ones bold."""
    spans = claim_spans(claim)
    if len(spans) > _MANY:
        before, after = (
            "".join(text_span.text for text_span in spans if text_span.kind != kind)
            for kind in ("insert", "delete")
        )
        return f"  - ~~{format_code(before)}~~ **{format_code(after)}**"
    pieces = []
    for place, span in enumerate(spans):
        text = cut_context(spans, place)
        if place == 0:
            text = text.lstrip(" \t>-*+")  # the sign of a list item
        if text.strip():
            pieces.append(_SIGNS[span.kind].format(format_code(text)))
    return f"  - {' '.join(pieces)}" if pieces else ""


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


def render_review(review: Review) -> str:
    """Return the comment: a verdict, findings, notes to check, then the changes of each note.

    It has at most `LIMIT` code units and says what was left out. Where nothing is to be said, it is
    the marker alone.
    """
    if not (review.changes or review.findings or review.notices):
        return f"{MARKER}\n"
    title = f"### Memory review\n\n**{review.verdict}** · {review.changed}"
    parts = [MARKER, title, *_yield_lists(review)]
    used = sum(_count_units(part) + 2 for part in parts)
    short_lines: list[str] = []
    left_out = 0
    blocks = [(note_block(change), note_line(change)) for change in review.changes]
    for block, line in sorted(blocks, key=_rank_block):
        if (size := _count_units(block) + 2) <= _BLOCK and used + size <= LIMIT - _RESERVED:
            joined = block.startswith("- ") and parts[-1].startswith(_OF_LIST)
            parts[-1:] = [f"{parts[-1]}\n{block}"] if joined else [parts[-1], block]
            used += size
        elif used + _count_units(line) + 2 <= LIMIT - _RESERVED:
            short_lines.append(line)
            used += _count_units(line) + 2
        else:
            left_out += 1
    return "\n\n".join([*parts, *_yield_rest(review, short_lines, left_out)]) + "\n"


def _rank_block(block: tuple[str, str]) -> int:
    """Return the place of a note's changes: new notes, then notes with one change, then others."""
    text, _ = block
    return 0 if text.startswith(_OF_LIST[0]) else 1 if text.startswith(_OF_LIST) else 2


def _yield_lists(review: Review) -> Iterator[str]:
    """Yield a part for each list that is not empty."""
    findings = [
        finding
        for finding in review.findings
        if finding.rule not in HEADINGS and (finding.new or finding.severity != "info")
    ]
    yield from _yield_list(
        "Findings", _group_findings([finding for finding in findings if finding.new])
    )
    for heading, group in review.to_check.items():
        yield from _yield_list(heading, _group_findings(group))
    old = _group_findings([finding for finding in findings if not finding.new])
    yield from _yield_list("Findings that were there before", old, closed=True)


def _yield_list(heading: str, rows: Sequence[str], *, closed: bool = False) -> Iterator[str]:
    """Yield a list of rows under its heading; a reader opens a closed one."""
    if not rows:
        return
    body = "\n".join(_yield_first_rows(rows))
    if closed:
        yield f"<details><summary>{heading} ({len(rows):,})</summary>\n\n{body}\n\n</details>"
    else:
        yield f"#### {heading}\n\n{body}"


def _yield_first_rows(rows: Sequence[str]) -> Iterator[str]:
    """Yield the rows of a list that fit, and a last one for the others."""
    used = 0
    for place, row in enumerate(rows):
        used += _count_units(row) + 1
        if place == _ROWS or used > _LIST:
            yield f"- and {len(rows) - place:,} more"
            return
        yield row


def _group_findings(findings: Sequence[ReviewFinding]) -> list[str]:
    """Return a row for each finding; equal ones of a note are one, with all its lines."""
    lines: dict[tuple[str, str, str, str | None], list[ReviewFinding]] = {}
    for finding in findings:
        lines.setdefault(ignore_lines(finding), []).append(finding)
    return [_write_finding(group) for group in lines.values()]


def _write_finding(findings: Sequence[ReviewFinding]) -> str:
    """Return the row of equal findings."""
    first = findings[0]
    fix = f" Fix: {format_code(first.fix)}" if first.fix else ""
    lines = sorted({finding.line for finding in findings})
    where = f" line{'s' if len(lines) > 1 else ''} {', '.join(map(str, lines[:_ITEMS]))}"
    name = format_code(first.file or first.path)
    severity = "" if first.rule in HEADINGS else f"**{first.severity}** "
    return f"- {severity}{name}{where if lines != [1] else ''}: {format_code(first.message)}{fix}"


def _yield_rest(review: Review, short_lines: list[str], left_out: int) -> Iterator[str]:
    """Yield what was left out, and the review's notices."""
    if short_lines:
        yield "#### Notes whose changes are not shown here"
        yield "\n".join(short_lines)
    if left_out:
        yield f"{count(left_out, 'more note')} changed."
    if short_lines or left_out:
        yield (
            "The comment is cut: GitHub allows 65,536 characters. All of it is shown by "
            f"{format_code(f'memory-bank review {_name_range(review)}')}"
        )
    for notice in review.notices[:_NOTICES]:
        yield format_code(notice)


def _name_range(review: Review) -> str:
    base, head = review.base, review.head
    if head.commit is None:
        return f"--{head.name}"
    return f"{base.commit or base.name}..{head.commit}"


def _count_units(text: str) -> int:
    """Return the number of UTF-16 code units of a text."""
    return len(text) + sum(character > "\uffff" for character in text)
