"""What a change does to the links between notes."""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping

from memory_bank.bank.findings import OtherNote, ReviewFinding
from memory_bank.base import NamedTuple
from memory_bank.base.documents import Link
from memory_bank.code.lookup import has_kind, linked_symbol
from memory_bank.notes.compare.note_change import NoteChange
from memory_bank.notes.names import name_of
from memory_bank.notes.note import RELATIVE_KINDS
from memory_bank.review.records import OWN
from memory_bank.review.revision_range import BankState, is_ghost


class LinkComparison(NamedTuple):
    """Two states of a bank and what differs."""

    before: BankState
    after: BankState
    changes: Mapping[str, NoteChange]
    """By path at HEAD; of removed notes, by their former paths."""
    place: Callable[[str], str]
    """Returns a note's path below the project."""
    file_of: Callable[[str], str]
    """Returns a note's path below the work tree."""
    has_file: Callable[[str], bool]
    """Tells whether the project has a file at a path below it."""
    present: Mapping[str, NoteChange]
    """The changed notes that are at HEAD."""
    whole: bool
    """Whether all notes at HEAD were read; any other may have a name, or a link to a note."""
    renames: Mapping[str, str]
    """Former paths of renamed notes, mapped to the new ones."""
    included: frozenset[str] = frozenset()
    """Files that were at BASE as they are, and are notes since settings include them."""

    def finding(
        self,
        rule: str,
        path: str,
        message: str,
        *,
        line: int = 1,
        fix: str | None = None,
        words: str | None = None,
        other: OtherNote | None = None,
    ) -> ReviewFinding:
        """Return what the review itself found in a file; it is new."""
        severity, file = OWN[rule].severity, self.file_of(path)
        review_finding = ReviewFinding(
            rule, severity, path, line, message, fix, words=words, file=file
        )
        return review_finding._replace(new=True, other=other)

    def about(self, path: str) -> OtherNote:
        """Return another note that a finding is about."""
        return OtherNote(path, self.file_of(path))


def ghosts_made(
    link_comparison: LinkComparison,
    explained: Collection[tuple[str, int, str]],
    has_symbol: Callable[[str], bool],
) -> Iterator[ReviewFinding]:
    """Yield the links of changed notes to what is no note, no file, and was no ghost at BASE.

    `[[symbol:pay]]` is looked up by `has_symbol`; other kinds, as `[[person:ada]]`, are the user's.

    `explained` are path, line and target of links that have a finding which says what they mean.
    """
    links = link_comparison.after.links(link_comparison.present if link_comparison.whole else ())
    for path in link_comparison.present:
        ghosts: set[str] = set()
        for row in links.get(path, ()):
            is_known = row.ghost.lower() in link_comparison.before.ghosts or row.ghost in ghosts
            if not is_ghost(row) or (path, row.line, row.target) in explained:
                continue
            symbol = linked_symbol(row)
            if has_symbol(symbol) if symbol else has_kind(row.ghost):
                continue
            if not is_known and not any(
                map(link_comparison.has_file, row.files(link_comparison.place(path)))
            ):
                ghosts.add(row.ghost)
                target = f"{row.ghost}#{row.heading}" if symbol and row.heading else row.ghost
                text = f"links to {target}, which does not exist"
                yield link_comparison.finding(
                    "ghost-made", path, text, line=row.line, words=row.target
                )


def broken_backlinks(link_comparison: LinkComparison) -> Iterator[ReviewFinding]:
    """Yield the links of unchanged notes that were whole at BASE and are broken at HEAD."""
    touched = {*link_comparison.changes, *link_comparison.renames}
    link_destinations = link_comparison.before.goals
    paths = {
        path
        for path, goals in link_comparison.after.goals.items()
        if path not in touched
        for old, new in zip(link_destinations.get(path, ()), goals, strict=False)
        if _may_break(old, new, touched)
    }
    before, after = link_comparison.before.links(paths), link_comparison.after.links(paths)
    pairs = [
        (old, new)
        for path in sorted(paths)
        for old, new in zip(before[path], after[path], strict=False)
        if _may_break(old, new, touched)
    ]
    was = link_comparison.before.problems([old for old, _ in pairs])
    now = link_comparison.after.problems([new for _, new in pairs])
    for (old, new), problem_before, problem in zip(pairs, was, now, strict=True):
        lost = "" if new.dest_key or new.ambiguous else f"{old.dest_key} is gone"
        if problem_before or not (problem or lost):
            continue
        goal = link_comparison.renames.get(old.dest_key, "")
        if lost and goal:
            lost = f"{old.dest_key} was moved to {goal}"
        target = _write_link(old)
        yield link_comparison.finding(
            "broken-backlink",
            new.source_key,
            f"the link to {target} is broken: {problem or lost}",
            line=new.line,
            words=target,
            fix=_fix(link_comparison, old, goal),
            other=link_comparison.about(old.dest_key),
        )


def orphans_made(link_comparison: LinkComparison) -> Iterator[ReviewFinding]:
    """Yield the notes that others linked to at BASE, and none at HEAD."""
    for old, sources in (
        sorted(link_comparison.before.linked_from.items()) if link_comparison.whole else ()
    ):
        path = link_comparison.renames.get(old, old)
        if path in link_comparison.after.rows and not link_comparison.after.linked_from.get(path):
            lost = ", ".join(sorted(sources))
            yield link_comparison.finding(
                "orphan-made", path, f"no note links to it any longer, as {lost} did"
            )


def yield_neighbours(
    link_comparison: LinkComparison, similar: Iterable[tuple[str, str]]
) -> Iterator[ReviewFinding]:
    """Yield the superseded and archived notes that changed notes link to or are similar to.

    `similar` are the paths of pairs of similar notes.
    """
    near: dict[tuple[str, str], tuple[int, bool]] = {}
    links = link_comparison.after.links(link_comparison.present)
    for path in link_comparison.present:
        for row in links.get(path, ()):
            if row.dest_key not in {"", path} and row.type != "supersedes":
                near.setdefault((path, row.dest_key), (row.line, True))
    for path, text in similar:
        near.setdefault((path, text), (1, False))
    successors = link_comparison.after.superseded({text for _, text in near})
    for (path, text), (line, linked) in sorted(near.items()):
        note = link_comparison.after.rows.get(text)
        by = successors.get(text, "")
        if note is None or by == path or not (by or note.hidden):
            continue
        state = f"superseded by {link_comparison.file_of(by)}" if by else "archived"
        near_to = link_comparison.about(text)
        message = f"{'links' if linked else 'is similar'} to {near_to.file}: {state}"
        yield link_comparison.finding(
            "superseded-neighbour", path, message, line=line, other=near_to
        )


def _may_break(old: Link, new: Link, touched: Collection[str]) -> bool:
    inside = old.dest_key in touched and old.inside
    return bool(old.dest_key) and (inside or old.dest_key != new.dest_key)


def _write_link(row: Link) -> str:
    place = f"#{row.heading}" if row.heading else f"^{row.block}" if row.block else ""
    return f"{row.target}{place}"


def _fix(link_comparison: LinkComparison, row: Link, goal: str) -> str | None:
    """Return the target to write instead: of a note that was moved, or of a renamed heading."""
    change = link_comparison.changes.get(goal or row.dest_key)
    if change is None or change.kind == "removed":
        return None
    heading = _new_heading(change, row.heading) if row.heading else ""
    if goal:
        target = name_of(goal)
        if row.kind in RELATIVE_KINDS:
            here = posixpath.dirname(link_comparison.place(row.source_key))
            target = posixpath.relpath(link_comparison.place(goal), here or ".")
        return target + (f"#{heading or row.heading}" if row.heading else "")
    return f"{row.target}#{heading}" if heading else None


def _new_heading(change: NoteChange, heading: str) -> str:
    """Return the new text of a heading that was renamed; empty if it was not."""
    last = heading.rpartition("#")[2].strip().casefold()
    for section in change.sections:
        if section.old_headings and section.old_headings[-1].casefold() == last:
            return section.headings[-1] if section.headings else ""
    return ""
