"""The findings of a review: of lint rules, of links that a change breaks, of stale citations."""

from __future__ import annotations

import posixpath
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager

from memory_bank.bank.bank import Bank
from memory_bank.bank.records import Finding, OtherNote, ReviewFinding, order
from memory_bank.base import NamedTuple
from memory_bank.base.documents import Link
from memory_bank.base.filenames import SETTINGS
from memory_bank.code.code_at import NOW, CodeAt
from memory_bank.code.code_at import STAGED as STAGED_CODE
from memory_bank.code.lookup import has_kind, last_name, linked_symbol
from memory_bank.git import objects, repository
from memory_bank.memory.alike import similar_notes
from memory_bank.notes import front_matter
from memory_bank.notes.characters import decode
from memory_bank.notes.names import name_of
from memory_bank.notes.note import RELATIVE_KINDS
from memory_bank.notes.note_change import NoteChange, Words
from memory_bank.review.lint import lint
from memory_bank.review.records import OWN, RuleWithFindings, Side
from memory_bank.review.revision_range import STAGED, ComparedBank, is_ghost
from memory_bank.review.rules.base import AGENTS, rules
from memory_bank.review.rules.links import MOVED_CODE
from memory_bank.search.index import IndexView
from memory_bank.trust.stale import judge_citations


class LinkComparison(NamedTuple):
    """Two states of a bank and what differs."""

    before: ComparedBank
    after: ComparedBank
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


def yield_ghosts_made(
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


def yield_broken_backlinks(link_comparison: LinkComparison) -> Iterator[ReviewFinding]:
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
            fix=_suggest_target(link_comparison, old, goal),
            other=link_comparison.about(old.dest_key),
        )


def yield_orphans_made(link_comparison: LinkComparison) -> Iterator[ReviewFinding]:
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


def _suggest_target(link_comparison: LinkComparison, row: Link, goal: str) -> str | None:
    """Return the target to write instead: of a note that was moved, or of a renamed heading."""
    change = link_comparison.changes.get(goal or row.dest_key)
    if change is None or change.kind == "removed":
        return None
    heading = _find_new_heading(change, row.heading) if row.heading else ""
    if goal:
        target = name_of(goal)
        if row.kind in RELATIVE_KINDS:
            here = posixpath.dirname(link_comparison.place(row.source_key))
            target = posixpath.relpath(link_comparison.place(goal), here or ".")
        return target + (f"#{heading or row.heading}" if row.heading else "")
    return f"{row.target}#{heading}" if heading else None


def _find_new_heading(change: NoteChange, heading: str) -> str:
    """Return the new text of a heading that was renamed; empty if it was not."""
    last = heading.rpartition("#")[2].strip().casefold()
    for section in change.sections:
        if section.old_headings and section.old_headings[-1].casefold() == last:
            return section.headings[-1] if section.headings else ""
    return ""


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


def yield_findings(
    bank: Bank, link_comparison: LinkComparison, base: Side, head: Side
) -> Iterator[ReviewFinding]:
    """Yield the findings of rules in changed notes, and those of the review itself."""
    of_rules = tuple(_yield_rule_findings(link_comparison))
    yield from of_rules
    with _open_symbol_test(bank, head) as has_symbol:
        yield from yield_ghosts_made(link_comparison, _list_explained_links(of_rules), has_symbol)
    yield from yield_broken_backlinks(link_comparison)
    yield from yield_orphans_made(link_comparison)
    similar = tuple(_yield_similar(link_comparison))
    paths = {finding.path for finding in of_rules if finding.rule == "same-content"}
    for path, text, likeness in similar:
        if likeness < 1 or path not in paths:  # else a rule says it
            near = link_comparison.about(text)
            message = f"similar to {near.file}: {likeness:.0%} of the words in common"
            yield link_comparison.finding("similar-note", path, message, other=near)
    pairs = [(path, text) for path, text, _ in similar]
    yield from yield_neighbours(link_comparison, pairs)
    yield from _yield_stale_citations(bank, link_comparison, base, head)
    yield from _yield_unchecked(link_comparison)


@contextmanager
def _open_symbol_test(bank: Bank, head: Side) -> Iterator[Callable[[str], bool]]:
    """Give what tells whether the code at HEAD has a symbol's name; outside git, it has any."""
    tree = repository.find_worktree(bank.layout.project)
    if tree is None:
        yield lambda _: True
        return
    end = head.commit or (STAGED_CODE if head.name == STAGED else NOW)
    with CodeAt(tree) as code:
        yield lambda name: bool(code.list_files_with(end, last_name(name)))


def _yield_rule_findings(link_comparison: LinkComparison) -> Iterator[ReviewFinding]:
    """Yield the findings of lint rules in changed notes at HEAD, and new ones in other files.

    One is new unless the note had an equal one at BASE, at any line.
    """
    after_findings = lint(link_comparison.after.bank, {*link_comparison.present, *_OTHERS})
    now = [
        finding for finding in after_findings if finding.rule != MOVED_CODE
    ]  # a review lists them itself
    was = _count_at_base(link_comparison, now)
    for finding in now:
        key = finding.path, finding.rule, finding.message, finding.words
        was[key] -= 1
        if (new := was[key] < 0) or finding.path not in _OTHERS:
            placed = finding._replace(file=link_comparison.file_of(finding.path), new=new)
            yield ReviewFinding._make(placed)


def _count_at_base(link_comparison: LinkComparison, now: Sequence[Finding]) -> Counter[_Key]:
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


def _list_explained_links(findings: Iterable[ReviewFinding]) -> set[tuple[str, int, str]]:
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


def _yield_stale_citations(
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
    reworded = [path for path, change in link_comparison.present.items() if change.sections]
    for path in reworded[:MAX_COMPARED]:
        data = link_comparison.after.data(path)
        body = front_matter.split(decode(data).text).body
        own_paths = {path, link_comparison.changes[path].old_path}

        def find_similar(view: IndexView, body: str = body) -> dict[str, float]:
            return similar_notes(view, body, fields, compared=10)

        near = {
            former_path: likeness
            for former_path, likeness in link_comparison.before.bank.read(find_similar).items()
            if former_path not in own_paths
            and link_comparison.renames.get(former_path, former_path) in link_comparison.after.rows
        }
        for near_path in sorted(near, key=lambda key: (-near[key], key))[:_MOST_SIMILAR]:
            yield path, link_comparison.renames.get(near_path, near_path), near[near_path]
