"""Compare the sections of two versions of a note, and the claims in them."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from typing import Literal

from memory_bank.base import NamedTuple, lazy_pattern
from memory_bank.base.documents import Section
from memory_bank.notes import note_change, parsing
from memory_bank.notes.note_change import (
    ClaimChange,
    SectionChange,
    TextSpan,
    align_runs,
    pair_texts,
    share_of_words,
    split_words,
)

_ALIKE = 0.6
"""Share of words in common from which a section under another heading is the same one."""

Headings = tuple[str, ...]


def pair_sections(before: Sequence[Section], after: Sequence[Section]) -> dict[int, int]:
    """Map numbers of sections to those of the same sections in the version after.

    Sections are the same if they have the same headings and text, else the same headings, else the
    same text below the heading, else the most words in common.
    """
    new_of: dict[int, int] = {}
    for value_of in (_headings_and_text, _headings, _text):
        new_of |= _pair_equal(before, after, new_of, value_of)
    paired_news = set(new_of.values())
    old_words = {
        old: split_words(_text_below(section))
        for old, section in enumerate(before)
        if old not in new_of
    }
    new_words = {
        new: split_words(_text_below(section))
        for new, section in enumerate(after)
        if new not in paired_news
    }
    return new_of | pair_texts(old_words, new_words, _ALIKE)


def find_renamed_sections(
    before: Sequence[Section], after: Sequence[Section], new_of: Mapping[int, int]
) -> frozenset[int]:
    """Return those of paired sections whose own heading changed, or that are below another one.

    A section below one that was renamed is not meant. `new_of` is what `pair_sections` returns.
    """
    names: dict[Headings, Headings] = {}
    """Headings before, mapped to those after."""
    renamed: set[int] = set()
    for old, new in sorted(new_of.items()):
        headings, new_headings = before[old].headings, after[new].headings
        above = names.get(headings[:-1], headings[:-1])
        if bool(headings) != bool(new_headings) or (
            headings and new_headings != (*above, headings[-1])
        ):
            renamed.add(old)
        names.setdefault(headings, new_headings)
    return frozenset(renamed)


def _pair_equal(
    before: Sequence[Section],
    after: Sequence[Section],
    new_of: Mapping[int, int],
    value_of: Callable[[Section], Hashable],
) -> dict[int, int]:
    """Pair the remaining sections with an equal value, in order; None is no value."""
    paired_news = set(new_of.values())
    waiting: defaultdict[Hashable, list[int]] = defaultdict(list)
    for new in range(len(after) - 1, -1, -1):
        if new not in paired_news:
            waiting[value_of(after[new])].append(new)
    waiting.pop(None, None)
    return {
        old: waiting[value].pop()
        for old, section in enumerate(before)
        if old not in new_of and waiting.get(value := value_of(section))
    }


def _headings_and_text(section: Section) -> Hashable:
    return section.headings, _fold_spaces(section.text)


def _headings(section: Section) -> Hashable:
    return section.headings


def _text(section: Section) -> Hashable:
    return _fold_spaces(_text_below(section)) or None


def _text_below(section: Section) -> str:
    """Return the text below a section's heading line."""
    if not section.level:
        return section.text
    return section.text.lstrip("\r\n").partition("\n")[2]


def _fold_spaces(text: str) -> str:
    return " ".join(text.split())


MAX_SECTIONS = 4_000
"""Number of sections of both versions beyond which the notes are compared as one section."""


def compare_sections(
    before: Sequence[Section], after: Sequence[Section]
) -> tuple[SectionChange, ...]:
    """Return the sections that changed, in the order of the version after; removed ones are last.

    White space alone is no change. Of very many sections, the whole texts are compared.
    """
    if (count := len(before) + len(after)) > MAX_SECTIONS:
        reason = f"{count:,} sections, more than {MAX_SECTIONS:,}: compared as one"
        before, after = _join_sections(before), _join_sections(after)
        return tuple(_add_reason(change, reason) for change in _compare_by_section(before, after))
    return _compare_by_section(before, after)


def _join_sections(sections: Sequence[Section]) -> Sequence[Section]:
    """Return the text of all sections as one section without a heading."""
    if not sections:
        return ()
    text = "".join(section.text for section in sections)
    first, last = sections[0], sections[-1]
    return (first._replace(level=0, headings=(), text=text, end_line=last.end_line),)


def _add_reason(change: SectionChange, reason: str) -> SectionChange:
    return change._replace(shortened="; ".join(filter(None, (reason, change.shortened))))


def _compare_by_section(
    before: Sequence[Section], after: Sequence[Section]
) -> tuple[SectionChange, ...]:
    new_of = pair_sections(before, after)
    renamed = find_renamed_sections(before, after, new_of)
    old_of = {new: old for old, new in new_of.items()}
    changes: list[SectionChange] = []
    for new, section in enumerate(after):
        old = old_of.get(new)
        if old is None:
            changes.append(_whole_change(section, "added"))
        else:
            changes += _compare_section(before[old], section, renamed=old in renamed)
    changes += (
        _whole_change(section, "removed") for old, section in enumerate(before) if old not in new_of
    )
    return tuple(changes)


def _whole_change(section: Section, kind: Whole) -> SectionChange:
    changes, shortened = list_claims(section.text, section.line, kind, heading=section.level > 0)
    return SectionChange(
        kind=kind,
        headings=section.headings,
        old_headings=None,
        line=section.line,
        end_line=section.end_line,
        claims=changes,
        shortened=shortened,
    )


def _compare_section(before: Section, after: Section, *, renamed: bool) -> Iterator[SectionChange]:
    """Yield how a section changed, if it did."""
    if before.text == after.text and not renamed:
        return
    changes, shortened = compare_claims(
        split_claims(before.text, heading=before.level > 0),
        split_claims(after.text, heading=after.level > 0),
        before.line,
        after.line,
    )
    is_changed = bool(changes or shortened)
    if is_changed or renamed:
        yield SectionChange(
            kind="changed" if is_changed else "renamed",
            headings=after.headings,
            old_headings=before.headings if renamed else None,
            line=after.line,
            end_line=after.end_line,
            claims=changes,
            shortened=shortened,
        )


_LINE = lazy_pattern(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+\Z")

_FENCE = lazy_pattern(r"[ \t>]*(?:[-*+][ \t]+|\d{1,9}[.)][ \t]+)?(`{3,}|~{3,})")

_STARTS = lazy_pattern(
    r"[ \t>]*(?:[-*+][ \t]|\d{1,9}[.)][ \t]|\||#{1,6}[ \t]|\[[^\]\r\n]{1,200}\]:)"
)

_HEADING = lazy_pattern(r"[ ]{0,3}#{1,6}(?:[ \t]|$)")

_UNDERLINE = lazy_pattern(r"[ ]{0,3}(?:=+|-+)[ \t]*$", re.MULTILINE)

_SENTENCE_END = lazy_pattern(r"[.!?\u2026][)\]\"'\u201d\u2019*_]*\s+(?![a-z])|[\u3002\uff01\uff1f]")


class Claim(NamedTuple):
    """A sentence, list item, table row or line of code, with the white space behind it."""

    text: str
    row: int
    """0-based line of the section where it starts."""
    kind: Literal["prose", "code", "heading", "blank"]

    @property
    def key(self) -> str:
        """Its text for comparison: white space matters in code only."""
        return self.text.rstrip() if self.kind == "code" else " ".join(self.text.split())


def split_claims(text: str, *, heading: bool) -> list[Claim]:
    """Split a section's text; the claims' texts joined are the text. `heading`: it starts so."""
    splitter = _Splitter()
    lines = _LINE.findall(text)
    if heading:
        size = _count_heading_lines(lines)
        splitter.add_heading(lines[:size])
        lines = lines[size:]
    for line in lines:
        splitter.add(line)
    splitter.finish()
    return splitter.claims


class _Splitter:
    """The claims of the lines that were added."""

    def __init__(self) -> None:
        self.claims: list[Claim] = []
        self.row = 0
        """The number of lines that were added."""
        self.paragraph: list[str] = []
        """Lines of a paragraph or list item that has not ended."""
        self.fence = ""
        """The sign of an open block of code."""

    def add_heading(self, lines: Sequence[str]) -> None:
        self.claims.append(Claim("".join(lines), 0, "heading"))
        self.row = len(lines)

    def add(self, line: str) -> None:
        content = line.strip(" \t>\r\n")
        opening = _FENCE.match(line)
        if self.fence or opening:
            self._add_code(line, content, opening[1] if opening else "")
        elif not content:
            self._add_blank(line)
        else:
            if _STARTS.match(line):
                self.finish()
            self.paragraph.append(line)
        self.row += 1

    def finish(self) -> None:
        """End the paragraph or list item."""
        if self.paragraph:
            row = self.row - len(self.paragraph)
            self.claims += _split_sentences("".join(self.paragraph), row)
            self.paragraph = []

    def _add_code(self, line: str, content: str, opening: str) -> None:
        self.finish()
        self.claims.append(Claim(line, self.row, "code"))
        if not self.fence:
            self.fence = opening
        elif len(content) >= len(self.fence) and not content.strip(self.fence[0]):
            self.fence = ""

    def _add_blank(self, line: str) -> None:
        """Add a blank line to the claim before it."""
        self.finish()
        if self.claims:
            last = self.claims[-1]
            self.claims[-1] = last._replace(text=last.text + line)
        else:
            self.claims.append(Claim(line, self.row, "blank"))


def _count_heading_lines(lines: Sequence[str]) -> int:
    """Return the number of lines of the heading that a section starts with."""
    row = next((row for row, line in enumerate(lines) if line.strip()), 0)
    if lines and not _HEADING.match(lines[row]):
        while row + 1 < len(lines) and not _UNDERLINE.match(lines[row]):
            row += 1
    return row + 1


def _split_sentences(block: str, row: int) -> Iterator[Claim]:
    """Yield the sentences of a paragraph; a list item or table row is one claim."""
    if _STARTS.match(block):
        yield Claim(block, row, "prose")
        return
    start = 0
    for end in (*(match.end() for match in _SENTENCE_END.finditer(block)), len(block)):
        if start < end:
            yield Claim(block[start:end], row, "prose")
            row += parsing.count_lines(block[start:end])
            start = end


_REWORDED = 0.4
"""Share of words in common from which a claim is another's change."""

_COMPARED = 400
"""Number of pairs of a run of changed claims that are compared."""

MAX_CLAIMS = 20_000
"""Number of claims of both sections beyond which they are not compared."""

_CLAIMS = frozenset({"prose", "code"})

Whole = Literal["added", "removed"]


ClaimDiff = tuple[tuple[ClaimChange, ...], str | None]
"""How the claims of a section changed, or why they are not listed."""


def list_claims(text: str, line: int, kind: Whole, *, heading: bool) -> ClaimDiff:
    """Return the claims of a section that was added or removed; `line` is its first line."""
    span: Literal["insert", "delete"] = "insert" if kind == "added" else "delete"
    changes = tuple(
        ClaimChange(kind, line + claim.row, (TextSpan(span, claim.text),))
        for claim in split_claims(text, heading=heading)
        if claim.kind in _CLAIMS
    )
    if len(changes) > MAX_CLAIMS:
        return (), f"{len(changes):,} claims: not listed"
    return changes, None


def compare_claims(
    before: Sequence[Claim], after: Sequence[Claim], old_line: int, line: int
) -> ClaimDiff:
    """Compare the claims of two sections, which start at these lines."""
    if (count := len(before) + len(after)) > MAX_CLAIMS:
        return (), f"{count:,} claims, more than {MAX_CLAIMS:,}: not compared"
    changes: list[ClaimChange] = []
    for run in align_runs([claim.key for claim in before], [claim.key for claim in after]):
        if run.kind != "equal":
            new_claims = after[run.other_start : run.other_end]
            for old, new in _pair_claims(before[run.start : run.end], new_claims):
                change = _compare_pair(old, new, old_line, line)
                changes += [change] if change else []
    return tuple(changes), None


def _diff_pair(old: Claim | None, new: Claim | None) -> tuple[TextSpan, ...]:
    before, after = old.text if old else "", new.text if new else ""
    spans = note_change.diff_texts(before, after)
    if old and new and all(span.kind == "equal" for span in spans):
        # code whose indentation changed
        return TextSpan("delete", before), TextSpan("insert", after)
    return spans


def _compare_pair(
    old: Claim | None, new: Claim | None, old_line: int, line: int
) -> ClaimChange | None:
    if new is not None and new.kind in _CLAIMS:
        return ClaimChange("changed" if old else "added", line + new.row, _diff_pair(old, new))
    if old is not None and old.kind in _CLAIMS:
        return ClaimChange("removed", old_line + old.row, _diff_pair(old, new))
    return None  # a heading is shown as that of its section


def _pair_claims(
    old_claims: Sequence[Claim], new_claims: Sequence[Claim]
) -> Iterator[tuple[Claim | None, Claim | None]]:
    """Yield the claims of a changed run in order, changed ones with what they were."""
    i = j = 0
    for old, new in [*_match_alike(old_claims, new_claims), (len(old_claims), len(new_claims))]:
        yield from ((claim, None) for claim in old_claims[i:old])
        yield from ((None, claim) for claim in new_claims[j:new])
        if old < len(old_claims):
            yield old_claims[old], new_claims[new]
        i, j = old + 1, new + 1


def _match_alike(old_claims: Sequence[Claim], new_claims: Sequence[Claim]) -> list[tuple[int, int]]:
    """Return the positions of claims that are alike, in order: the best pairs that don't cross."""
    old_words = [split_words(claim.text) for claim in old_claims]
    new_words = [split_words(claim.text) for claim in new_claims]

    def likeness(old: int, new: int) -> float:
        headings = [claim.kind == "heading" for claim in (old_claims[old], new_claims[new])]
        if any(headings):
            return float(all(headings))
        return share_of_words(old_words[old], new_words[new])

    if len(old_claims) * len(new_claims) > _COMPARED:
        # In order, which costs no comparison of each with each.
        shorter = min(len(old_claims), len(new_claims))
        return [(place, place) for place in range(shorter) if likeness(place, place) >= _REWORDED]
    scored = sorted(
        (-likeness(old, new), abs(old - new), old, new)
        for old in range(len(old_claims))
        for new in range(len(new_claims))
    )
    pairs: list[tuple[int, int]] = []
    for score, _, old, new in scored:
        if -score >= _REWORDED and all((old - a) * (new - b) > 0 for a, b in pairs):
            pairs.append((old, new))
    return sorted(pairs)
