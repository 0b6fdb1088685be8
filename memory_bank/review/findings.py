"""The findings of a review: of lint rules, of the review itself, and of stale citations."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager

from memory_bank.bank.bank import Bank
from memory_bank.bank.findings import Finding, ReviewFinding, order
from memory_bank.base.filenames import SETTINGS
from memory_bank.code.code_at import NOW, CitedPlace, CodeAt
from memory_bank.code.code_at import STAGED as STAGED_CODE
from memory_bank.code.index.database import ParseCache
from memory_bank.code.index.work_tree import MAX_FILE_BYTES
from memory_bank.code.parse.parsed_file import VERSION
from memory_bank.git import objects, repository
from memory_bank.memory.alike import similar_notes
from memory_bank.notes import front_matter
from memory_bank.notes.characters import decode
from memory_bank.notes.compare.text_diff import Words
from memory_bank.review import link_changes
from memory_bank.review.link_changes import LinkComparison
from memory_bank.review.lint import lint
from memory_bank.review.records import OWN, RuleWithFindings, Side
from memory_bank.review.revision_range import STAGED
from memory_bank.review.rules.base import AGENTS, rules
from memory_bank.review.rules.links import MOVED_CODE
from memory_bank.search.index import View
from memory_bank.trust.stale import Ends, citations_of

_OTHERS = frozenset({SETTINGS, AGENTS})
"""Files with findings, though they are no notes."""

_MOST_COMMITS = 3
"""Commits that are named of a changed citation."""

MOST_OF_RULE = 5_000
"""Findings of a rule that a review lists: a hostile pull request could have a million."""

_Key = tuple[str, str, str, str | None]
"""Path at HEAD, rule, message and words of a finding."""

_MOST_SIMILAR = 3
"""Similar notes of each note."""

MAX_COMPARED = 300
"""Number of changed notes for which similar ones are looked for."""


def all_findings(
    bank: Bank, found: LinkComparison, base: Side, head: Side
) -> Iterator[ReviewFinding]:
    """Yield the findings of rules in changed notes, and those of the review itself."""
    of_rules = tuple(_of_rules(found))
    yield from of_rules
    with _code_at(bank, head) as has_symbol:
        yield from link_changes.ghosts_made(found, _explained(of_rules), has_symbol)
    yield from link_changes.broken_backlinks(found)
    yield from link_changes.orphans_made(found)
    similar = tuple(_similar(found))
    same = {one.path for one in of_rules if one.rule == "same-content"}
    for path, other, likeness in similar:
        if likeness < 1 or path not in same:  # else a rule says it
            near = found.about(other)
            what = f"similar to {near.file}: {likeness:.0%} of the words in common"
            yield found.finding("similar-note", path, what, other=near)
    pairs = [(path, other) for path, other, _ in similar]
    yield from link_changes.neighbours(found, pairs)
    yield from _stale_citations(bank, found, base, head)
    yield from _unchecked(found)


@contextmanager
def _code_at(bank: Bank, head: Side) -> Iterator[Callable[[str], bool]]:
    """Give what tells whether the code at HEAD has a symbol; outside git, it has any."""
    tree = repository.worktree(bank.layout.project)
    if tree is None:
        yield lambda _: True
        return
    end = head.commit or (STAGED_CODE if head.name == STAGED else NOW)
    cache = ParseCache(repository.shared_folder(tree) / "parses.db", VERSION)
    code = CodeAt(tree, cache, max_bytes=MAX_FILE_BYTES)
    try:
        yield lambda name: code.has(end, CitedPlace("", name))
    finally:
        code.close()
        cache.close()


def _of_rules(found: LinkComparison) -> Iterator[ReviewFinding]:
    """Yield the findings of lint rules in changed notes at HEAD, and new ones in other files.

    One is new unless the note had an equal one at BASE, at any line.
    """
    found_now = lint(found.after.bank, {*found.present, *_OTHERS})
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


def _explained(findings: Iterable[ReviewFinding]) -> set[tuple[str, int, str]]:
    """Return path, line and target of the links of which a rule says what they mean."""
    return {(one.path, one.line, one.words or "") for one in findings if one.rule in _EXPLAINED}


def limited(findings: Iterable[ReviewFinding]) -> tuple[ReviewFinding, ...]:
    """Return the first findings of each rule, in order, and one that counts the others."""
    numbers: Counter[str] = Counter()
    kept: list[ReviewFinding] = []
    left: dict[str, ReviewFinding] = {}
    for one in sorted(findings, key=order):
        numbers[one.rule] += 1
        if numbers[one.rule] <= MOST_OF_RULE:
            kept.append(one)
        else:
            left.setdefault(one.rule, one)
    for rule, one in left.items():
        more = f"{numbers[rule] - MOST_OF_RULE:,} findings of this rule are not listed; the first:"
        kept.append(one._replace(message=f"{more} {one.message}"))
    return tuple(sorted(kept, key=order))


def rules_of(findings: Iterable[ReviewFinding]) -> tuple[RuleWithFindings, ...]:
    """Return the rules that have findings, by name."""
    names = {one.rule: one.severity for one in findings}
    known = rules()
    return tuple(
        OWN.get(name) or RuleWithFindings(name, severity, known[name].summary)
        for name, severity in sorted(names.items())
    )


def _unchecked(found: LinkComparison) -> Iterator[ReviewFinding]:
    """Yield the changed notes that were not compared, or that no rule has seen."""
    for path, change in found.present.items():
        if not change.checked:
            what, fix = f"it was not reviewed: {change.remark}", "make smaller changes of it"
            yield found.finding("not-checked", path, what, fix=fix)
        elif not change.compared:
            what = f"its change is not shown: {change.remark}"
            yield found.finding("not-compared", path, what, fix="read it in git")


def _stale_citations(
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
            what = f"cites {one.target}, which is {one.state}{by}"
            yield found.finding(
                "stale-citation",
                one.path,
                f"{what}: confirm, edit or archive the note",
                line=one.line,
                fix=one.fix,
                words=one.target,
            )


def _similar(found: LinkComparison) -> Iterator[tuple[str, str, float]]:
    """Yield the added notes, and those whose text changed, with notes that were similar at BASE.

    These have their names at HEAD. The number is the share of words in common, from 0.8 to 1; 1 is
    the same words.
    """
    known: dict[str, Words] = {}
    for path in _reworded(found):
        data = found.after.data(path)
        body = front_matter.split(decode(data).text).body
        own = {path, found.changes[path].old_path}

        def asked(view: View, body: str = body) -> dict[str, float]:
            return similar_notes(view, body, known, compared=10)

        near = {
            other: likeness
            for other, likeness in found.before.bank.read(asked).items()
            if other not in own and found.renames.get(other, other) in found.after.rows
        }
        for other in sorted(near, key=lambda key: (-near[key], key))[:_MOST_SIMILAR]:
            yield path, found.renames.get(other, other), near[other]


def _reworded(found: LinkComparison) -> list[str]:
    """Return the notes at HEAD whose text changed, at most 300."""
    return [path for path, one in found.present.items() if one.sections][:MAX_COMPARED]
