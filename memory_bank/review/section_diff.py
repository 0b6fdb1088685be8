"""Compare the sections of two versions of a note."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal

from memory_bank.notes.note import Section
from memory_bank.review import claim_diff, section_pairs
from memory_bank.review.claims import claims
from memory_bank.review.note_change import SectionChange

MAX_SECTIONS = 4_000
"""Number of sections of both versions beyond which the notes are compared as one section."""
_Kept = Literal["renamed", "moved"] | None


def changes(before: Sequence[Section], after: Sequence[Section]) -> tuple[SectionChange, ...]:
    """Return the sections that changed, in the order of the version after; removed ones are last.

    White space alone is no change. Of very many sections, the whole texts are compared.
    """
    if (count := len(before) + len(after)) > MAX_SECTIONS:
        reason = f"{count:,} sections, more than {MAX_SECTIONS:,}: compared as one"
        before, after = _one(before), _one(after)
        return tuple(_said(one, reason) for one in _by_section(before, after))
    return _by_section(before, after)


def _one(sections: Sequence[Section]) -> Sequence[Section]:
    """Return the text of all sections as one section without a heading."""
    if not sections:
        return ()
    text = "".join(one.text for one in sections)
    first, last = sections[0], sections[-1]
    return (first._replace(level=0, headings=(), text=text, end_line=last.end_line),)


def _said(change: SectionChange, reason: str) -> SectionChange:
    return change._replace(shortened="; ".join(filter(None, (reason, change.shortened))))


def _by_section(before: Sequence[Section], after: Sequence[Section]) -> tuple[SectionChange, ...]:
    found = section_pairs.paired(before, after)
    named_anew = section_pairs.named_anew(before, after, found)
    moved = section_pairs.moved(after, found, named_anew)
    olds = {new: old for old, new in found.items()}
    made: list[SectionChange] = []
    for new, section in enumerate(after):
        old = olds.get(new)
        if old is None:
            made.append(_whole(section, "added"))
        else:
            kind: _Kept = "renamed" if old in named_anew else "moved" if old in moved else None
            made += _changed(before[old], section, kind)
    made += (_whole(one, "removed") for old, one in enumerate(before) if old not in found)
    return tuple(made)


def _whole(section: Section, kind: claim_diff.Whole) -> SectionChange:
    found = claim_diff.whole(section.text, section.line, kind, heading=section.level > 0)
    return SectionChange(
        kind=kind,
        headings=section.headings,
        old_headings=None,
        line=section.line,
        end_line=section.end_line,
        claims=found.changes,
        spans=found.spans,
        shortened=found.shortened,
    )


def _changed(before: Section, after: Section, kind: _Kept) -> Iterator[SectionChange]:
    """Yield how a section changed, if it did; `kind` is what it is called if its text did not."""
    if before.text == after.text and not kind:
        return
    found = claim_diff.diff(
        claims(before.text, heading=before.level > 0),
        claims(after.text, heading=after.level > 0),
        before.line,
        after.line,
    )
    plain = all(span.kind == "equal" for span in found.spans)
    if plain and not kind:
        return
    kept = not (found.changes or found.shortened) and (plain or kind == "renamed")
    yield SectionChange(
        kind=kind if kind and kept else "changed",
        headings=after.headings,
        old_headings=before.headings if kind == "renamed" else None,
        line=after.line,
        end_line=after.end_line,
        claims=found.changes,
        spans=found.spans,
        shortened=found.shortened,
    )
