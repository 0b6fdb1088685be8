"""What needs attention in a bank, looked for in the background: pages never wait for it."""

from __future__ import annotations

import logging
import threading
import time
from collections import Counter
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import NamedTuple

from memory_bank.bank.bank import Bank
from memory_bank.bank.findings import Finding
from memory_bank.base.errors import BadInput, MemoryBankError, NoRepository, exhausted
from memory_bank.frontends.serving.serving_background import Background
from memory_bank.frontends.serving.shared_bank import SharedBank
from memory_bank.frontends.web.note_graph import NOTE, NoteGraph, whole_graph
from memory_bank.review import lint
from memory_bank.review.rules.base import chosen, rules
from memory_bank.trust import stale

_MOST_SEARCHED = 2_000
"""Notes up to which each is searched for what it may amend: it takes some 20 ms a note."""
_SEARCHES = "may-amend"
_SHARE = 10
"""The rules run for at most one part in so many of the time."""

_OLD = 600.0
"""Seconds after which they run again even if no note has changed: code changes, too."""

_HUBS = 6

_log = logging.getLogger(__name__)


class RuleFindings(NamedTuple):
    """The findings of one rule."""

    rule: str
    summary: str
    severity: str
    findings: tuple[Finding, ...]


def by_rule(findings: Iterable[Finding], summaries: Mapping[str, str]) -> tuple[RuleFindings, ...]:
    """Return findings by rule, in the order of their first ones."""
    found: dict[str, list[Finding]] = {}
    for one in findings:
        found.setdefault(one.rule, []).append(one)
    return tuple(
        RuleFindings(name, summaries.get(name, name), some[0].severity, tuple(some))
        for name, some in found.items()
    )


class CountedNote(NamedTuple):
    """A note with a number: of later commits of what it cites, or of notes that link to it."""

    path: str
    title: str
    number: int
    targets: tuple[str, ...] = ()


class Checked(NamedTuple):
    """What was found in a bank, and when."""

    findings: tuple[Finding, ...]
    """The most severe first."""
    stale: tuple[CountedNote, ...]
    """The notes whose cited code changed after them, those with most commits first."""
    hubs: tuple[CountedNote, ...]
    """The notes to which most others link."""
    titles: Mapping[str, str]
    """Of the notes with findings, by path."""
    made_at: str
    problem: str
    """Why there is nothing; empty if the rules have run."""

    @property
    def counts(self) -> Mapping[str, int]:
        """The number of findings by severity."""
        return Counter(one.severity for one in self.findings)

    @property
    def rules(self) -> tuple[RuleFindings, ...]:
        """The findings by rule, in the order of their first ones."""
        return by_rule(self.findings, {name: one.summary for name, one in rules().items()})

    @property
    def rows(self) -> tuple[RuleFindings, ...]:
        """The rules with findings that are more than remarks."""
        return tuple(one for one in self.rules if one.severity != "info")


def check(bank: Bank, made_at: str) -> Checked:
    """Run the rules, and count the commits of cited code and the links to notes."""
    graph = whole_graph(bank)
    titles = {node.id: node.label for node in graph.nodes if node.kind == NOTE}
    found = lint.lint(bank, rules=_rules(bank, len(titles)))
    try:
        report = stale.stale(bank).stale
    except (NoRepository, BadInput):
        report = ()
    later: dict[str, set[str]] = {}
    targets: dict[str, dict[str, None]] = {}
    for one in report:
        later.setdefault(one.path, set()).update(commit.id for commit in one.commits)
        targets.setdefault(one.path, {})[one.target] = None
    checked = [
        CountedNote(path, titles.get(path, path), len(some), tuple(targets[path]))
        for path, some in later.items()
    ]
    return Checked(
        findings=found,
        stale=tuple(sorted(checked, key=lambda one: (-one.number, one.path))),
        hubs=tuple(_hubs(graph)),
        titles={one.path: titles[one.path] for one in found if one.path in titles},
        made_at=made_at,
        problem="",
    )


def _rules(bank: Bank, notes: int) -> list[str]:
    """Return the rules to run; in a large bank none that searches for each note."""
    known = chosen(bank.settings)
    return [one.rule for one in known if notes <= _MOST_SEARCHED or one.rule != _SEARCHES]


def _hubs(graph: NoteGraph) -> list[CountedNote]:
    found = []
    for place, node in enumerate(graph.nodes):
        if node.kind == NOTE and not node.hidden:
            into = {edge.source for edge in graph.near[place] if edge.target == place}
            found.append(CountedNote(node.id, node.label, len(into - {place})))
    found.sort(key=lambda one: (-one.number, one.path))
    return [one for one in found[:_HUBS] if one.number > 1]


class RuleRuns:
    """Runs the rules when they are asked for and something changed, one run at a time."""

    def __init__(self, shared: SharedBank, background: Background) -> None:
        self._shared = shared
        self._lock = threading.Lock()
        self._runs = False
        self._checked: Checked | None = None
        self._changed = True
        self._next = 0.0
        self._until = 0.0
        background.listen(self._note_change)

    def latest(self) -> Checked | None:
        """Return what was found last, None if nothing was; start a run if that may be old."""
        with self._lock:
            now = time.monotonic()
            old = self._changed or now > self._until
            if old and not self._runs and now >= self._next:
                self._runs, self._changed = True, False
                threading.Thread(target=self._run, name="health", daemon=True).start()
            return self._checked

    def _note_change(self, _: object) -> None:
        self._changed = True

    def _run(self) -> None:
        began = time.monotonic()
        made, problem = None, ""
        at = datetime.now(UTC).isoformat(timespec="seconds")
        try:
            self._shared.bank()  # opened first: two that make the index would disturb each other
            with self._shared.another(embeds=False) as bank:
                made = check(bank, at)
        except MemoryBankError as error:
            problem = error.message
        except Exception as error:  # noqa: BLE001  (the outermost frame of a thread)
            if plain := exhausted(error):
                problem = plain.message
            else:
                _log.exception("the rules failed")
                problem = "the rules failed by an error of the server, which is logged there"
        now = time.monotonic()
        with self._lock:
            self._checked = made or Checked((), (), (), {}, at, problem)
            self._runs = False
            self._next = now + (now - began) * _SHARE
            self._until = now + _OLD
