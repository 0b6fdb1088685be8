"""The start page: where to ask, what needs attention, what changed, and where to begin.

What needs attention has a page of its own, too: the findings of the rules as they are when it asks.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import groupby
from typing import Any

from anyio import to_thread
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from memory_bank.bank.backlinks import list_linked_titles
from memory_bank.bank.bank import Bank
from memory_bank.bank.note_files import SESSION
from memory_bank.bank.records import Finding
from memory_bank.base import NamedTuple
from memory_bank.base.errors import BadInput, MemoryBankError, NoRepository
from memory_bank.frontends.web.note_graph import NOTE, whole_graph
from memory_bank.frontends.web.site import Site
from memory_bank.frontends.web.templating import day_name
from memory_bank.memory import overview
from memory_bank.memory.overview import ChangedLately
from memory_bank.review import lint
from memory_bank.review.rules.base import rules
from memory_bank.search import snippets
from memory_bank.trust import stale

TITLE = "Home"

PLACE = 10

PATH = "/"

_ROWS = 12
"""Rows of changes; notes of one commit are one row."""

_TOPICS = 12
"""Tags on the first page."""

_HUBS = 6
"""Most linked notes on the first page."""

_FEW = 2
"""Notes of one commit that are shown one by one."""

_SENTENCE = 140
"""Characters of a note's first sentence."""


def routes(site: Site) -> Sequence[Route]:
    """Return the routes of the start page, of its few lines of findings, and of all of them."""

    async def home(request: Request) -> Response:
        return await site.page(request, "home.html", await site.ask(_page_values))

    async def health(request: Request) -> Response:
        values = {"health": await _check_apart(site)}
        return await site.page(request, "health.html", values, title="Health")

    async def attention(request: Request) -> Response:
        values: dict[str, Any] = {"health": None}
        try:
            values["health"] = await _check_apart(site)
        except MemoryBankError as error:
            values["problem"] = site.hide(error.message)
        return await site.page(request, "attention.html", values)

    return [Route(PATH, home), Route("/health", health), Route("/health/attention", attention)]


def _page_values(bank: Bank) -> dict[str, Any]:
    home = overview.read_home(bank)
    days, count = _group_by_day(home.lately.changes)
    groups = (group for _, day_groups in days for group in day_groups)
    paths = [change.path for group in groups if len(group) <= _FEW for change in group]
    return {
        "notes": home.notes,
        "folder": bank.layout.root.name,
        "lately": home.lately,
        "days": days,
        "shown": count,
        "texts": _read_beginnings(bank, paths),
        "tags": dict(list(home.tags.items())[:_TOPICS]),
        "types": {name: number for name, number in home.types.items() if name and name != SESSION},
        "problem": home.problem,
        "hubs": _find_hubs(bank),
    }


def _find_hubs(bank: Bank) -> list[tuple[str, str, int]]:
    """Return the path and title of the notes to which most others link, and how many do."""
    graph = whole_graph(bank)
    hubs = [
        (node.id, node.label, len(graph.links.pred[node.id]))
        for node in graph.nodes.values()
        if node.kind == NOTE and not node.hidden
    ]
    hubs.sort(key=lambda hub: (-hub[2], hub[0]))
    return [hub for hub in hubs[:_HUBS] if hub[2] > 1]


_Day = tuple[str, tuple[tuple[ChangedLately, ...], ...]]
"""The name of a day, and its changes by commit."""


def _group_by_day(changes: Sequence[ChangedLately]) -> tuple[list[_Day], int]:
    """Return the changes by day and commit, as many as a page shows, and their number."""
    days: list[_Day] = []
    rows = count = 0
    for day, day_changes in groupby(changes, key=lambda change: change.changed_at[:10]):
        groups = []
        for group in _group_by_commit(day_changes):
            size = 1 if len(group) > _FEW else len(group)
            if rows + size > _ROWS:
                break
            rows, count = rows + size, count + len(group)
            groups.append(group)
        if not groups:
            break
        days.append((day_name(day), tuple(groups)))
    return days, count


def _group_by_commit(changes: Iterator[ChangedLately]) -> Iterator[tuple[ChangedLately, ...]]:
    """Yield the changes of each commit; those that are not committed are one group."""

    def commit(change: ChangedLately) -> tuple[object, ...]:
        return (change.changed_at, change.author, change.subject) if change.committed else ()

    for _, group in groupby(changes, key=commit):
        yield tuple(group)


def _read_beginnings(bank: Bank, paths: Sequence[str]) -> dict[str, str]:
    """Return the beginnings of notes by path, empty for a note that can't be read."""
    titles = list_linked_titles(bank, paths)
    beginnings = dict.fromkeys(paths, "")
    for path in paths:
        with suppress(MemoryBankError):
            note = bank.store.read(path)
            start = snippets.unlink_text(note.body_text[:4000], titles[path])
            snippet = snippets.cut_snippet(start, "", _SENTENCE).text
            beginnings[path] = snippets.strip_markdown(snippet)
    return beginnings


_MOST_SEARCHED = 200
"""Notes up to which each is searched for what it may amend: it takes some 20 ms a note."""

_SEARCHES = "may-amend"


def group_by_rule(
    findings: Iterable[Finding], summaries: Mapping[str, str]
) -> list[tuple[str, list[Finding]]]:
    """Return the summary of each rule with its findings, in the order of their first ones."""
    groups: dict[str, list[Finding]] = {}
    for finding in findings:
        groups.setdefault(finding.rule, []).append(finding)
    return [(summaries.get(name, name), group) for name, group in groups.items()]


class HealthFindings(NamedTuple):
    """What was found in a bank."""

    findings: tuple[Finding, ...]
    """The most severe first."""
    stale: tuple[tuple[str, int, tuple[str, ...]], ...]
    """The paths of notes whose cited code changed, the number of commits, and what changed.

    Those with most commits come first.
    """
    titles: Mapping[str, str]
    """The titles of all notes, by path."""

    @property
    def counts(self) -> Mapping[str, int]:
        """The number of findings by severity."""
        return Counter(finding.severity for finding in self.findings)

    @property
    def rules(self) -> list[tuple[str, list[Finding]]]:
        """The summaries of rules with their findings."""
        return group_by_rule(self.findings, {name: rule.summary for name, rule in rules().items()})


def check_health(bank: Bank) -> HealthFindings:
    """Run the rules, and count the commits of cited code."""
    titles = {node.id: node.label for node in whole_graph(bank).nodes.values() if node.kind == NOTE}
    findings = lint.lint(bank, without=_rules_to_skip(len(titles)))
    try:
        report = stale.stale(bank).stale
    except (NoRepository, BadInput):
        report = ()
    commits: dict[str, set[str]] = {}
    targets: dict[str, dict[str, None]] = {}
    for citation in report:
        commits.setdefault(citation.path, set()).update(commit.id for commit in citation.commits)
        targets.setdefault(citation.path, {})[citation.target] = None
    notes = [(path, len(ids), tuple(targets[path])) for path, ids in commits.items()]
    notes.sort(key=lambda note: (-note[1], note[0]))
    return HealthFindings(findings, tuple(notes), titles)


def _rules_to_skip(notes: int) -> tuple[str, ...]:
    """Return the rules to leave out: in a large bank the one that searches for each note."""
    return (_SEARCHES,) if notes > _MOST_SEARCHED else ()


async def _check_apart(site: Site) -> HealthFindings:
    """Run the rules on a bank of their own: no other request waits for them."""

    def check() -> HealthFindings:
        with site.shared.another(embeds=False) as bank:
            return check_health(bank)

    return await to_thread.run_sync(check)
