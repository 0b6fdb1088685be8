"""Compare the sections of two versions of a note."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence

from memory_bank.base.documents import Section
from memory_bank.notes.compare import claims
from memory_bank.notes.compare.claims import split_claims
from memory_bank.notes.compare.note_change import SectionChange, pair_texts, split_words

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


def _whole_change(section: Section, kind: claims.Whole) -> SectionChange:
    changes, shortened = claims.list_claims(
        section.text, section.line, kind, heading=section.level > 0
    )
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
    changes, shortened = claims.compare_claims(
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
