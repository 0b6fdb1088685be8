"""What needs attention in a bank, as it is when the page asks: the most severe first."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from anyio import to_thread
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from memory_bank.bank.bank import Bank
from memory_bank.bank.findings import Finding
from memory_bank.base import NamedTuple
from memory_bank.base.errors import BadInput, MemoryBankError, NoRepository
from memory_bank.frontends.web.note_graph import NOTE, whole_graph
from memory_bank.frontends.web.site import Site
from memory_bank.review import lint
from memory_bank.review.rules.base import rules
from memory_bank.trust import stale

_MOST_SEARCHED = 200
"""Notes up to which each is searched for what it may amend: it takes some 20 ms a note."""

_SEARCHES = "may-amend"


class RuleFindings(NamedTuple):
    """The findings of one rule."""

    rule: str
    summary: str
    severity: str
    findings: tuple[Finding, ...]


def group_by_rule(
    findings: Iterable[Finding], summaries: Mapping[str, str]
) -> tuple[RuleFindings, ...]:
    """Return findings by rule, in the order of their first ones."""
    groups: dict[str, list[Finding]] = {}
    for finding in findings:
        groups.setdefault(finding.rule, []).append(finding)
    return tuple(
        RuleFindings(name, summaries.get(name, name), group[0].severity, tuple(group))
        for name, group in groups.items()
    )


class CountedNote(NamedTuple):
    """A note with the number of later commits of what it cites."""

    path: str
    title: str
    number: int
    targets: tuple[str, ...]


class HealthFindings(NamedTuple):
    """What was found in a bank."""

    findings: tuple[Finding, ...]
    """The most severe first."""
    stale: tuple[CountedNote, ...]
    """The notes whose cited code changed after them, those with most commits first."""
    titles: Mapping[str, str]
    """The titles of all notes, by path."""

    @property
    def counts(self) -> Mapping[str, int]:
        """The number of findings by severity."""
        return Counter(finding.severity for finding in self.findings)

    @property
    def rules(self) -> tuple[RuleFindings, ...]:
        """The findings by rule, in the order of their first ones."""
        return group_by_rule(self.findings, {name: rule.summary for name, rule in rules().items()})

    @property
    def rows(self) -> tuple[RuleFindings, ...]:
        """The rules with findings that are more than remarks."""
        return tuple(rule for rule in self.rules if rule.severity != "info")


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
    notes = [
        CountedNote(path, titles.get(path, path), len(ids), tuple(targets[path]))
        for path, ids in commits.items()
    ]
    notes.sort(key=lambda note: (-note.number, note.path))
    return HealthFindings(findings, tuple(notes), titles)


def _rules_to_skip(notes: int) -> tuple[str, ...]:
    """Return the rules to leave out: in a large bank the one that searches for each note."""
    return (_SEARCHES,) if notes > _MOST_SEARCHED else ()


TITLE = "Health"

PLACE = None

PATH = "/health"


async def _check_apart(site: Site) -> HealthFindings:
    """Run the rules on a bank of their own: no other request waits for them."""

    def check() -> HealthFindings:
        with site.shared.another(embeds=False) as bank:
            return check_health(bank)

    return await to_thread.run_sync(check)


def routes(site: Site) -> Sequence[Route]:
    """Return the routes of the findings, and of the few lines of them on the start page."""

    async def health(request: Request) -> Response:
        values = {"health": await _check_apart(site)}
        return await site.page(request, "health.html", values, title=TITLE)

    async def attention(request: Request) -> Response:
        values: dict[str, Any] = {"health": None}
        try:
            values["health"] = await _check_apart(site)
        except MemoryBankError as error:
            values["problem"] = site.hide(error.message)
        return await site.page(request, "attention.html", values)

    return [Route(PATH, health), Route(f"{PATH}/attention", attention)]
