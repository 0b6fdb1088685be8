"""The findings of a review: of lint rules, of the review itself, and of stale citations."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager

from memory_bank.bank.bank import Bank
from memory_bank.bank.findings import Finding, ReviewFinding, order
from memory_bank.base.filenames import SETTINGS
from memory_bank.code.code_at import NOW, CodeAt
from memory_bank.code.code_at import STAGED as STAGED_CODE
from memory_bank.code.index.database import ParseCache
from memory_bank.code.index.work_tree import MAX_FILE_BYTES
from memory_bank.code.lookup import last_name
from memory_bank.code.parse.parsed_file import VERSION
from memory_bank.git import objects, repository
from memory_bank.memory.alike import similar_notes
from memory_bank.notes import front_matter
from memory_bank.notes.characters import decode
from memory_bank.notes.compare.note_change import Words
from memory_bank.review import link_changes
from memory_bank.review.link_changes import LinkComparison
from memory_bank.review.lint import lint
from memory_bank.review.records import OWN, RuleWithFindings, Side
from memory_bank.review.revision_range import STAGED
from memory_bank.review.rules.base import AGENTS, rules
from memory_bank.review.rules.links import MOVED_CODE
from memory_bank.search.index import View
from memory_bank.trust.stale import judge_citations

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
    bank: Bank, link_comparison: LinkComparison, base: Side, head: Side
) -> Iterator[ReviewFinding]:
    """Yield the findings of rules in changed notes, and those of the review itself."""
    of_rules = tuple(_yield_rule_findings(link_comparison))
    yield from of_rules
    with _code_at(bank, head) as has_symbol:
        yield from link_changes.ghosts_made(link_comparison, _explained_links(of_rules), has_symbol)
    yield from link_changes.broken_backlinks(link_comparison)
    yield from link_changes.orphans_made(link_comparison)
    similar = tuple(_yield_similar(link_comparison))
    paths = {finding.path for finding in of_rules if finding.rule == "same-content"}
    for path, text, likeness in similar:
        if likeness < 1 or path not in paths:  # else a rule says it
            near = link_comparison.about(text)
            message = f"similar to {near.file}: {likeness:.0%} of the words in common"
            yield link_comparison.finding("similar-note", path, message, other=near)
    pairs = [(path, text) for path, text, _ in similar]
    yield from link_changes.yield_neighbours(link_comparison, pairs)
    yield from _stale_citations(bank, link_comparison, base, head)
    yield from _yield_unchecked(link_comparison)


@contextmanager
def _code_at(bank: Bank, head: Side) -> Iterator[Callable[[str], bool]]:
    """Give what tells whether the code at HEAD has a symbol's name; outside git, it has any."""
    tree = repository.find_worktree(bank.layout.project)
    if tree is None:
        yield lambda _: True
        return
    end = head.commit or (STAGED_CODE if head.name == STAGED else NOW)
    cache = ParseCache(repository.repository_cache(tree) / "parses.db", VERSION)
    code = CodeAt(tree, cache, max_bytes=MAX_FILE_BYTES)
    try:
        yield lambda name: bool(code.list_files_with(end, last_name(name)))
    finally:
        code.close()
        cache.close()


def _yield_rule_findings(link_comparison: LinkComparison) -> Iterator[ReviewFinding]:
    """Yield the findings of lint rules in changed notes at HEAD, and new ones in other files.

    One is new unless the note had an equal one at BASE, at any line.
    """
    after_findings = lint(link_comparison.after.bank, {*link_comparison.present, *_OTHERS})
    now = [
        finding for finding in after_findings if finding.rule != MOVED_CODE
    ]  # a review lists them itself
    was = _at_base(link_comparison, now)
    for finding in now:
        key = finding.path, finding.rule, finding.message, finding.words
        was[key] -= 1
        if (new := was[key] < 0) or finding.path not in _OTHERS:
            placed = finding._replace(file=link_comparison.file_of(finding.path), new=new)
            yield ReviewFinding._make(placed)


def _at_base(link_comparison: LinkComparison, now: Sequence[Finding]) -> Counter[_Key]:
    """Count the findings at BASE, of those rules and notes only that have some at HEAD."""
    renames = link_comparison.renames
    sources = {new: old for old, new in renames.items()}
    versions = {*link_comparison.before.versions, *_OTHERS}
    paths = versions.intersection(sources.get(finding.path, finding.path) for finding in now)
    if not paths:
        return Counter()
    return Counter(
        (renames.get(finding.path, finding.path), finding.rule, finding.message, finding.words)
        for finding in lint(link_comparison.before.bank, paths, {finding.rule for finding in now})
    )


_EXPLAINED = frozenset({"moved-link", "mistyped-link"})


def _explained_links(findings: Iterable[ReviewFinding]) -> set[tuple[str, int, str]]:
    """Return path, line and target of the links of which a rule says what they mean."""
    return {
        (finding.path, finding.line, finding.words or "")
        for finding in findings
        if finding.rule in _EXPLAINED
    }


def limit_findings(findings: Iterable[ReviewFinding]) -> tuple[ReviewFinding, ...]:
    """Return the first findings of each rule, in order, and one that counts the others."""
    numbers: Counter[str] = Counter()
    within_limit: list[ReviewFinding] = []
    beyond: dict[str, ReviewFinding] = {}
    for finding in sorted(findings, key=order):
        numbers[finding.rule] += 1
        if numbers[finding.rule] <= MOST_OF_RULE:
            within_limit.append(finding)
        else:
            beyond.setdefault(finding.rule, finding)
    for rule, finding in beyond.items():
        more = f"{numbers[rule] - MOST_OF_RULE:,} findings of this rule are not listed; the first:"
        within_limit.append(finding._replace(message=f"{more} {finding.message}"))
    return tuple(sorted(within_limit, key=order))


def list_rules(findings: Iterable[ReviewFinding]) -> tuple[RuleWithFindings, ...]:
    """Return the rules that have findings, by name."""
    names = {finding.rule: finding.severity for finding in findings}
    rules_by_name = rules()
    return tuple(
        OWN.get(name) or RuleWithFindings(name, severity, rules_by_name[name].summary)
        for name, severity in sorted(names.items())
    )


def _yield_unchecked(link_comparison: LinkComparison) -> Iterator[ReviewFinding]:
    """Yield the changed notes that were not compared, or that no rule has seen."""
    for path, change in link_comparison.present.items():
        if not change.checked:
            text, fix = f"it was not reviewed: {change.remark}", "make smaller changes of it"
            yield link_comparison.finding("not-checked", path, text, fix=fix)
        elif not change.compared:
            text = f"its change is not shown: {change.remark}"
            yield link_comparison.finding("not-compared", path, text, fix="read it in git")


def _stale_citations(
    bank: Bank, link_comparison: LinkComparison, base: Side, head: Side
) -> Iterator[ReviewFinding]:
    """Yield the citations of code that differs or moved at HEAD, and whose section is as it was.

    None if the bank is in another repository than its project, or at a base that is no commit.
    """
    tree = repository.find_worktree(bank.layout.root)
    if tree is None or tree != repository.find_worktree(bank.layout.project) or base.commit is None:
        return
    last = head.commit or objects.find_commit(tree, "HEAD")
    end = head.commit or (STAGED_CODE if head.name == STAGED else NOW)
    for citation in judge_citations(bank, base.commit, last, end, link_comparison.after.bank):
        if citation.stale or citation.moved:
            commits = ", ".join(commit.id[:12] for commit in citation.commits[:_MOST_COMMITS])
            by = f" by {commits}" if commits else ""
            text = f"cites {citation.target}, which is {citation.state}{by}"
            yield link_comparison.finding(
                "stale-citation",
                citation.path,
                f"{text}: confirm, edit or archive the note",
                line=citation.line,
                fix=citation.fix,
                words=citation.target,
            )


def _yield_similar(link_comparison: LinkComparison) -> Iterator[tuple[str, str, float]]:
    """Yield the added notes, and those whose text changed, with notes that were similar at BASE.

    These have their names at HEAD. The number is the share of words in common, from 0.8 to 1; 1 is
    the same words.
    """
    fields: dict[str, Words] = {}
    for path in _list_reworded(link_comparison):
        data = link_comparison.after.data(path)
        body = front_matter.split(decode(data).text).body
        own_paths = {path, link_comparison.changes[path].old_path}

        def find_similar(view: View, body: str = body) -> dict[str, float]:
            return similar_notes(view, body, fields, compared=10)

        near = {
            former_path: likeness
            for former_path, likeness in link_comparison.before.bank.read(find_similar).items()
            if former_path not in own_paths
            and link_comparison.renames.get(former_path, former_path) in link_comparison.after.rows
        }
        for near_path in sorted(near, key=lambda key: (-near[key], key))[:_MOST_SIMILAR]:
            yield path, link_comparison.renames.get(near_path, near_path), near[near_path]


def _list_reworded(link_comparison: LinkComparison) -> list[str]:
    """Return the notes at HEAD whose text changed, at most 300."""
    return [path for path, change in link_comparison.present.items() if change.sections][
        :MAX_COMPARED
    ]
