"""Review what a change does to the notes of a bank."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import replace
from functools import cache

from memory_bank import config, layout
from memory_bank.actions import golden_queries, review_findings, review_limits, review_links
from memory_bank.actions.review_limits import NOTHING, LeftOut
from memory_bank.actions.review_links import Comparison
from memory_bank.actions.review_range import WORKTREE, sides
from memory_bank.actions.review_report import RankFall, Review, Side, SimilarNote, Tokens
from memory_bank.actions.review_sides import State, not_shared
from memory_bank.actions.review_stale import stale_citations
from memory_bank.actions.similar_notes import similar_notes
from memory_bank.bank import Bank, Conditions, View, open_bank
from memory_bank.config import Settings
from memory_bank.errors import BadSetting
from memory_bank.filenames import SETTINGS
from memory_bank.notes import frontmatter
from memory_bank.notes.decoding import decode
from memory_bank.repo import git
from memory_bank.review.hidden_secrets import without_secrets
from memory_bank.review.likeness import Words
from memory_bank.review.note_diff import MAX_BYTES, compare

SCHEMA_VERSION = "1.0"
_OF_FINDINGS = ("lint", "schema", "secrets")
"""Sections of the settings that decide what is found."""
MAX_SIMILAR = 3
"""Maximum number of similar notes of each note."""
MAX_COMPARED = 300
"""Number of changed notes for which similar ones are looked for."""


def opened(
    path: str | None = None,
    revisions: str | None = None,
    *,
    staged: bool = False,
    worktree: bool = False,
    allow_secrets: bool = False,
    conditions: Conditions | None = None,
) -> Bank:
    """Open a bank for a review; if its file of settings can't be read, with that of BASE.

    A pull request that is checked out may bring such a file; its `settings.problems` become
    findings. Raises as `review` does, and NoBank.
    """
    try:
        return open_bank(path, allow_secrets=allow_secrets, conditions=conditions)
    except BadSetting:
        from memory_bank.revisions import settings_at  # start-up: git is asked for much

        place = layout.locate(path)
        problems = config.problems(place.root)
        if not problems:
            raise  # it is one of the user's own
        settings = config.load()
        default = settings.memory.default_branch
        base, _ = sides(place.root, revisions, staged=staged, worktree=worktree, default=default)
        with suppress(BadSetting):
            settings = settings_at(place, str(base.commit))
        settings = settings._replace(problems=problems)
        return Bank(
            place,
            settings,
            allow_secrets=allow_secrets,
            conditions=conditions,
            load=config.load,
        )


def review(
    bank: Bank, revisions: str | None = None, *, staged: bool = False, worktree: bool = False
) -> Review:
    """Compare the notes of two revisions, and return what changed and what it breaks.

    See `review_range.sides` for the revisions. Neither the work tree nor the bank's private state
    changes, and no access is counted. Raises NoRepository and BadInput.
    """
    default = bank.settings.memory.default_branch
    base, head = sides(
        bank.layout.root, revisions, staged=staged, worktree=worktree, default=default
    )
    left = review_limits.left_out(bank, base, head)
    with (
        _bank_of(bank, base, left) as before,
        _bank_of(bank, head, left, otherwise=before.settings) as after,
    ):
        return compared(bank, before, after, base, head, left)


def compared(
    bank: Bank, before: Bank, after: Bank, base: Side, head: Side, left: LeftOut = NOTHING
) -> Review:
    """Return the review of two banks, the states of `bank` at two revisions without some notes."""
    said = [one.catch_up() for one in (before, after)]
    said += [*before.take_notices(), *after.take_notices()]
    found = _comparison(bank, before, after, left)
    of_rules = tuple(review_findings.of_rules(found))
    similar = tuple(_similar(found))
    changes = tuple(found.changes.values())
    made = Review(
        schema_version=SCHEMA_VERSION,
        base=base,
        head=head,
        prefix=_below_tree(bank, bank.layout.prefix),
        changes=changes,
        findings=(),
        rules=(),
        ghosts_made=tuple(review_links.ghosts_made(found, review_findings.moved(of_rules))),
        broken_backlinks=tuple(review_links.broken_backlinks(found)),
        orphans_made=tuple(review_links.orphans_made(found)),
        similar=review_findings.without_same(similar, of_rules),
        neighbours=tuple(review_links.neighbours(found, similar)),
        stale=tuple(stale_citations(bank, found, base, head)),
        queries=tuple(_falls(found)),
        tokens=Tokens(
            sum(one.tokens_before for one in changes), sum(one.tokens_after for one in changes)
        ),
        notices=(*dict.fromkeys(filter(None, said)), *_notices(bank, found, left)),
    )
    every = review_findings.ordered((*of_rules, *review_findings.of_review(made)))
    findings = review_findings.limited(every)
    return replace(
        made,
        findings=findings,
        rules=review_findings.rules_of(findings),
        ghosts_made=made.ghosts_made[: review_findings.MOST_OF_RULE],  # a finding counts the others
    )


def _bank_of(
    bank: Bank, side: Side, left: LeftOut, otherwise: Settings | None = None
) -> AbstractContextManager[Bank]:
    """Return the bank of a side of the review; `otherwise` is as of `bank_at`."""
    if side.name == WORKTREE and side.commit is None:
        return nullcontext(bank)
    from memory_bank.revisions import bank_at  # start-up: git is asked for much

    name = side.commit or side.name
    return bank_at(bank, name, otherwise=otherwise, left_out=left.paths)


def _comparison(bank: Bank, before: Bank, after: Bank, left: LeftOut) -> Comparison:
    old, new = State(before), State(after)
    if after is bank:
        added = set(new.versions) - set(old.versions)
        new = State(after, not_shared(bank, added))
    differ = {
        path
        for path in {*old.versions, *new.versions}
        if old.versions.get(path) != new.versions.get(path)
    }
    was, now = (
        {path: _shown(bank, state.data(path)) for path in sorted(differ) if path in state.versions}
        for state in (old, new)
    )

    def place(path: str) -> str:
        there = path in new.versions or path in left.after
        return (after if there else before).roots.place(path)

    @cache
    def file_of(path: str) -> str:
        return _below_tree(bank, place(path))

    changes = compare({**was, **left.before}, {**now, **left.after}, file_of)
    return Comparison(
        before=old,
        after=new,
        changes={one.path: one for one in changes},
        place=place,
        file_of=file_of,
        has_file=lambda path: _has_file(after, path),
        present={one.path: one for one in changes if one.kind != "removed"},
        whole=not left.paths,
        renames={one.old_path: one.path for one in changes if one.old_path},
    )


def _shown(bank: Bank, data: bytes) -> bytes:
    """Return the bytes of a note as a review may show them; what is too large is not shown."""
    if len(data) > MAX_BYTES:
        return data
    return without_secrets(data, bank.settings.secrets.allow)


def _below_tree(bank: Bank, path: str) -> str:
    """Return the path below the work tree of a path below the project."""
    tree = git.worktree(bank.layout.root)
    home = bank.layout.project.relative_to(tree).as_posix() if tree else "."
    return path if home == "." else f"{home}/{path}"


def _has_file(bank: Bank, path: str) -> bool:
    """Tell whether the project, or the bank, has a file or folder."""
    inside = path and not path.startswith(("/", "..")) and "\0" not in path
    places = (path, f"{bank.layout.origin.prefix}{path}")
    return bool(inside) and any(map(bank.layout.project_has, places))


def _similar(found: Comparison) -> Iterator[SimilarNote]:
    """Yield the notes at BASE that are similar to added notes, and to those whose text changed."""
    known: dict[str, Words] = {}
    wanted = [path for path, one in found.present.items() if one.sections]
    for path in wanted[:MAX_COMPARED]:
        data = found.after.data(path)
        body = frontmatter.split(decode(data).text).body
        own = {path, found.changes[path].old_path}

        def asked(view: View, body: str = body) -> dict[str, float]:
            return similar_notes(view, body, known, compared=10)

        near = {
            other: likeness
            for other, likeness in found.before.bank.read(asked).items()
            if other not in own and found.renames.get(other, other) in found.after.rows
        }
        for other in sorted(near, key=lambda key: (-near[key], key))[:MAX_SIMILAR]:
            likeness = round(near[other], 3)
            yield SimilarNote(path, found.file_of(path), other, likeness, found.file_of(other))


def _falls(found: Comparison) -> Iterator[RankFall]:
    """Yield the notes that golden queries find later; those of another path are left out."""
    for one in golden_queries.compare(found.before.bank, found.after.bank):
        if one.note not in found.renames:
            yield RankFall(*one, found.file_of(one.note))


def _notices(bank: Bank, found: Comparison, left: LeftOut) -> Iterator[str]:
    """Yield what was left out, and what decides about findings."""
    old, new = found.before.bank.settings, found.after.bank.settings
    changed = [name for name in _OF_FINDINGS if getattr(old, name) != getattr(new, name)]
    if changed:
        sections = ", ".join(f"[{name}]" for name in changed)
        file = _below_tree(bank, f"{bank.layout.prefix}{SETTINGS}")
        yield f"this change has other settings of findings, which hold here: {sections} of {file}"
    if any(not one.ignored for one in new.problems):
        yield "the settings of this change can't be read: those of its base hold here"
    if number := len(left.paths):
        yield (
            f"{number:,} changed notes are beyond the limits of a review, and were not read; so new"
            " links to nothing and notes that lost their last link are not listed"
        )
    if len(found.present) > MAX_COMPARED:
        yield (
            f"similar notes were looked for of the first {MAX_COMPARED:,} of"
            f" {len(found.present):,} changed notes"
        )
