"""The findings of a review: of lint rules, of the review itself, and of stale citations."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from memory_bank.bank.bank import Bank
from memory_bank.bank.findings import SEVERITIES, Finding, ReviewFinding
from memory_bank.base.filenames import QUERIES, SETTINGS
from memory_bank.code.code_at import NOW
from memory_bank.code.code_at import STAGED as STAGED_CODE
from memory_bank.git import objects, repository
from memory_bank.review.link_changes import LinkComparison
from memory_bank.review.lint import lint
from memory_bank.review.report import OWN, RuleWithFindings, Side
from memory_bank.review.revision_range import STAGED
from memory_bank.review.rules.base import AGENTS, rules
from memory_bank.review.rules.links import MOVED_CODE
from memory_bank.trust.stale import Ends, citations_of

_OTHERS = frozenset({QUERIES, SETTINGS, AGENTS})
"""Files with findings, though they are no notes."""

_MOST_COMMITS = 3
"""Commits that are named of a changed citation."""

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


_EXPLAINED = frozenset({"moved-link", "mistyped-link"})


def explained(findings: Iterable[ReviewFinding]) -> set[tuple[str, int, str]]:
    """Return path, line and target of the links of which a rule says what they mean."""
    return {(one.path, one.line, one.words or "") for one in findings if one.rule in _EXPLAINED}


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
        OWN.get(name) or RuleWithFindings(name, severity, known[name].summary)
        for name, severity in sorted(names.items())
    )


def unchecked(found: LinkComparison) -> Iterator[ReviewFinding]:
    """Yield the changed notes that were not compared, or that no rule has seen."""
    for path, change in found.present.items():
        if not change.checked:
            what, fix = f"it was not reviewed: {change.remark}", "make smaller changes of it"
            yield found.finding("not-checked", path, what, fix=fix)
        elif not change.compared:
            what = f"its change is not shown: {change.remark}"
            yield found.finding("not-compared", path, what, fix="read it in git")


def stale_citations(
    bank: Bank, found: LinkComparison, base: Side, head: Side
) -> Iterator[ReviewFinding]:
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
            commits = ", ".join(commit.id[:12] for commit in one.commits[:_MOST_COMMITS])
            by = f" by {commits}" if commits else ""
            what = f"cites {one.target}, which is {one.state}{by}: confirm, edit or archive it"
            yield found.finding(
                "stale-citation", one.path, what, line=one.line, fix=one.fix, words=one.target
            )
