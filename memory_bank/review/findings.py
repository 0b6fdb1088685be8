"""The findings of a review: of lint rules, of the review itself, and of stale citations."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

from memory_bank.bank.bank import Bank
from memory_bank.bank.findings import SEVERITIES, Finding, ReviewFinding, Severity
from memory_bank.base.filenames import QUERIES, SETTINGS
from memory_bank.code.code_at import NOW
from memory_bank.code.code_at import STAGED as STAGED_CODE
from memory_bank.git import objects, repository
from memory_bank.memory.same_subject import how
from memory_bank.review.link_changes import LinkComparison
from memory_bank.review.lint import lint
from memory_bank.review.report import (
    Review,
    RuleWithFindings,
    Side,
    SimilarNote,
    StaleCitation,
)
from memory_bank.review.revision_range import STAGED
from memory_bank.review.rules.base import AGENTS, rules
from memory_bank.review.rules.links import MOVED_CODE
from memory_bank.trust.stale import Ends, citations_of

_OWN: Mapping[str, tuple[Severity, str]] = {
    "broken-backlink": ("warning", "this change breaks a link of an unchanged note"),
    "ghost-made": ("info", "a new link leads to nothing"),
    "not-compared": ("warning", "a note is too large to compare, or can't be read"),
    "not-checked": (
        "error",
        "a change is beyond the limits of a review: no rule has seen the note",
    ),
    "orphan-made": ("info", "no note links to a note any longer"),
    "may-contradict": ("warning", "a new sentence may contradict one of another note"),
    "may-repeat": ("info", "a new sentence may repeat one of another note"),
    "similar-note": ("warning", "a note is similar to another one"),
    "superseded-neighbour": ("info", "a linked or similar note is superseded or archived"),
    "stale-citation": ("warning", "a note cites code that this change touches"),
    "rank-fall": ("warning", "a golden query finds a note later than before"),
}
"""Rules of the review itself: severity and summary."""

_OTHERS = frozenset({QUERIES, SETTINGS, AGENTS})
"""Files with findings, though they are no notes."""

MOST_OF_RULE = 5_000
"""Findings of a rule that a review lists: a hostile pull request could have a million."""

_Key = tuple[str, str, str, str | None]
"""Path at HEAD, rule, message and words of a finding."""


def of_rules(found: LinkComparison) -> Iterator[ReviewFinding]:
    """Yield the findings of lint rules in changed notes at HEAD, and new ones in other files.

    One is new unless the note had an equal one at BASE, at any line.
    """
    others = _OTHERS if found.whole else _OTHERS - {QUERIES}  # a query may name a note left out
    found_now = lint(found.after.bank, {*found.present, *others})
    now = [one for one in found_now if one.rule != MOVED_CODE]  # a review lists them itself
    was = _at_base(found, now)
    for one in now:
        key = one.path, one.rule, one.message, one.words
        was[key] -= 1
        if (new := was[key] < 0) or one.path not in _OTHERS:
            placed = one._replace(file=found.file_of(one.path), new=new)
            yield ReviewFinding._make(placed)


def _at_base(found: LinkComparison, now: Sequence[Finding]) -> Counter[_Key]:
    """Count the findings at BASE, of those rules and notes only that have some at HEAD."""
    renames = found.renames
    sources = {new: old for old, new in renames.items()}
    known = {*found.before.versions, *_OTHERS}
    paths = known.intersection(sources.get(one.path, one.path) for one in now)
    if not paths:
        return Counter()
    return Counter(
        (renames.get(one.path, one.path), one.rule, one.message, one.words)
        for one in lint(found.before.bank, paths, {one.rule for one in now})
    )


def of_review(review: Review) -> Iterator[ReviewFinding]:
    """Yield what the other lists of a review say, as findings; all of them are new."""
    yield from _places(review)
    yield from _not_compared(review)


def _own(
    rule: str, path: str, file: str, line: int, message: str, fix: str | None = None
) -> ReviewFinding:
    """Return what the review itself found, in a file."""
    return ReviewFinding(rule, _OWN[rule][0], path, line, message, fix, file=file, new=True)


_EXPLAINED = frozenset({"moved-link", "mistyped-link"})


def explained(findings: Iterable[ReviewFinding]) -> set[tuple[str, int, str]]:
    """Return path, line and target of the links of which a rule says what they mean."""
    return {(one.path, one.line, one.words or "") for one in findings if one.rule in _EXPLAINED}


def without_same(
    similar: Iterable[SimilarNote], findings: Iterable[ReviewFinding]
) -> tuple[SimilarNote, ...]:
    """Return similar notes without those of which a rule says that they have the same content."""
    same = {one.path for one in findings if one.rule == "same-content"}
    return tuple(one for one in similar if one.likeness < 1 or one.path not in same)


def ordered(findings: Iterable[ReviewFinding]) -> tuple[ReviewFinding, ...]:
    """Return findings, new ones first, the most severe first."""
    return tuple(sorted(findings, key=_order))


def limited(findings: Sequence[ReviewFinding]) -> tuple[ReviewFinding, ...]:
    """Return the first findings of each rule, in order, and one that counts the others."""
    numbers: Counter[str] = Counter()
    kept: list[ReviewFinding] = []
    left: dict[str, ReviewFinding] = {}
    for one in findings:
        numbers[one.rule] += 1
        if numbers[one.rule] <= MOST_OF_RULE:
            kept.append(one)
        else:
            left.setdefault(one.rule, one)
    for rule, one in left.items():
        more = f"{numbers[rule] - MOST_OF_RULE:,} findings of this rule are not listed; the first:"
        kept.append(one._replace(message=f"{more} {one.message}"))
    return ordered(kept)


def _order(one: Finding) -> tuple[bool, int, str, str, int, int, str]:
    place = one.path, one.line, one.column or 0
    return not one.new, SEVERITIES.index(one.severity), one.rule, *place, one.message


def rules_of(findings: Iterable[ReviewFinding]) -> tuple[RuleWithFindings, ...]:
    """Return the rules that have findings, by name."""
    names = {one.rule: one.severity for one in findings}
    known = rules()
    return tuple(
        RuleWithFindings(name, names[name], _OWN[name][1] if name in _OWN else known[name].summary)
        for name in sorted(names)
    )


def _not_compared(review: Review) -> Iterator[ReviewFinding]:
    for change in review.changes:
        if change.compared or change.kind == "removed":
            continue
        if change.checked:
            what, fix = f"its change is not shown: {change.remark}", "read it in git"
            yield _own("not-compared", change.path, change.file, 1, what, fix)
        else:
            what, fix = f"it was not reviewed: {change.remark}", "make smaller changes of it"
            yield _own("not-checked", change.path, change.file, 1, what, fix)


def _places(review: Review) -> Iterator[ReviewFinding]:
    for link in review.broken_backlinks:
        what = f"the link to {link.target} is broken: {link.problem}"
        yield _own("broken-backlink", link.path, link.file, link.line, what, link.fix)
    for ghost in review.ghosts_made:
        what = f"links to {ghost.target}, which does not exist"
        yield _own("ghost-made", ghost.path, ghost.file, ghost.line, what)
    for orphan in review.orphans_made:
        what = f"no note links to it any longer, as {', '.join(orphan.lost)} did"
        yield _own("orphan-made", orphan.path, orphan.file, 1, what)
    for one in review.similar:
        what = f"similar to {one.other}: {one.likeness:.0%} of the words in common"
        yield _own("similar-note", one.path, one.file, 1, what)
    for said in review.said_elsewhere:
        one_of = said.remark
        rule = f"may-{one_of.kind.removesuffix('s')}"
        why = f" ({how(one_of)})" if one_of.differs else ""
        what = f"may {rule[4:]} {said.other_file}:{one_of.other_line}{why}: “{one_of.other}”"
        yield _own(rule, said.path, said.file, one_of.line, what)
    for near in review.neighbours:
        state = f"superseded by {', '.join(near.by)}" if near.by else "archived"
        what = f"{'links' if near.how == 'linked' else 'is similar'} to {near.other}: {state}"
        yield _own("superseded-neighbour", near.path, near.file, near.line, what)
    for cited in review.stale:
        what = f"cites {cited.target}, which is {cited.state}: confirm, edit or archive the note"
        yield _own("stale-citation", cited.path, cited.file, cited.line, what, cited.fix)
    removed = {change.path for change in review.changes if change.kind == "removed"}
    for fall in review.queries:
        if fall.path in removed:
            continue  # a rule says that the query names a missing note
        now = "no longer found" if fall.rank_after is None else f"at {fall.rank_after}"
        what = f"the golden query {fall.query!r} found it at {fall.rank_before}, now {now}"
        yield _own("rank-fall", fall.path, fall.file, 1, what)


def stale_citations(
    bank: Bank, found: LinkComparison, base: Side, head: Side
) -> Iterator[StaleCitation]:
    """Yield the citations of code that differs or moved at HEAD, and whose section is as it was.

    None if the bank is in another repository than its project, or at a base that is no commit.
    """
    tree = repository.worktree(bank.layout.root)
    if tree is None or tree != repository.worktree(bank.layout.project) or base.commit is None:
        return
    last = head.commit or objects.commit_of(tree, "HEAD")
    end = head.commit or (STAGED_CODE if head.name == STAGED else NOW)
    for one in citations_of(bank, Ends(base.commit, last, end), found.after.bank):
        if one.stale or one.moved:
            yield StaleCitation(
                path=one.path,
                file=found.file_of(one.path),
                line=one.line,
                target=one.target,
                state=one.state,
                commits=tuple(commit.id for commit in one.commits),
                fix=one.fix,
            )
