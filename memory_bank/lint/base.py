"""The contract of a lint rule, what a rule is told of a bank, and the run of all rules.

A rule is a module of this package with

* `SUMMARY`, a line that says what it finds,
* `SEVERITY`, `error`, `warning` or `info`,
* `check(bank)`, which yields a `Place` for each thing that is wrong.

Nothing registers it. Its name is that of its file, with `-` for `_`.
"""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Collection, Iterable
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, NamedTuple, Protocol, TypeVar, cast, get_args

from memory_bank import plugins
from memory_bank.config import Settings
from memory_bank.errors import MemoryBankError
from memory_bank.layout import Layout
from memory_bank.manifest.manifest import Manifest
from memory_bank.notes.decoding import decode
from memory_bank.notes.store import Store
from memory_bank.repo import git
from memory_bank.repo.commit_history import CommitHistory

Severity = Literal["error", "warning", "info"]
SEVERITIES: tuple[Severity, ...] = get_args(Severity)
"""The most severe first."""
_KIND = "lint"

Fact = TypeVar("Fact")


class Place(NamedTuple):
    """What a rule says of a place."""

    path: str
    """Of the file, below the bank."""
    line: int
    """1-based; 1 where the whole file is meant."""
    message: str
    """What is wrong."""
    fix: str | None = None
    """What would put it right: the name to write instead, or what to do; None if nobody knows."""


class Finding(NamedTuple):
    """What a rule says of a place, and how much it matters."""

    rule: str
    severity: Severity
    path: str
    line: int
    message: str
    fix: str | None = None


class Rule(Protocol):
    """What the module of a rule has."""

    SUMMARY: str
    SEVERITY: Severity

    def check(self, bank: Context) -> Iterable[Place]:
        """Yield what is wrong. It changes nothing and may be asked twice."""


class Context:
    """What a rule may know of a bank. Nothing is read before it is asked for."""

    def __init__(
        self, layout: Layout, settings: Settings, store: Store, manifest: Manifest
    ) -> None:
        """Look at a bank whose index is up to date."""
        self.layout = layout
        self.settings = settings
        self.manifest = manifest
        """What is indexed: ask it rather than the files."""
        self._store = store
        self._facts: dict[Callable[..., Any], tuple[Any, ...]] = {}

    def once(self, ask: Callable[[Context], Iterable[Fact]]) -> tuple[Fact, ...]:
        """Return what a function yields of the bank, which is asked once, whoever wants it."""
        if ask not in self._facts:
            self._facts[ask] = tuple(ask(self))
        return cast("tuple[Fact, ...]", self._facts[ask])

    @cached_property
    def files(self) -> tuple[str, ...]:
        """The paths of all files that may be notes, those that are not indexed too."""
        return tuple(sorted(self._store.scan().files))

    def text(self, path: str) -> str | None:
        """Return what a file says; None if it went away, or can't be read."""
        with suppress(MemoryBankError):
            return decode(self._store.read_bytes(path)).text
        return None

    @cached_property
    def tree(self) -> Path | None:
        """The work tree of git that holds the bank."""
        return git.worktree(self.layout.root)

    def committed(self) -> Collection[str]:
        """Return the paths, below the bank, of all files that were ever committed."""
        place = self.layout
        return CommitHistory(place.root, lambda: place.index / "commits.db").paths

    def moved(self, names: Collection[str], folder: Path) -> dict[str, str]:
        """Map those names of files in a folder that git moved to what they are called there now.

        What went out of the folder is left out.
        """
        tree = git.worktree(folder)
        if tree is None or not names:
            return {}
        home = folder.relative_to(tree).as_posix()
        paths = {posixpath.normpath(f"{home}/{name}"): name for name in names}
        ways = git.moved(tree, paths).items()
        found = {paths[old]: posixpath.relpath(new, home) for old, new in ways}
        return {old: new for old, new in found.items() if not new.startswith("../")}


def rules() -> dict[str, Rule]:
    """Return the rules by their names."""
    return {
        name.replace("_", "-"): cast("Rule", plugins.load(_KIND, name))
        for name in plugins.names(_KIND)
    }


def findings(bank: Context) -> list[Finding]:
    """Return what all rules find, the most severe first."""
    found = (
        Finding(name, rule.SEVERITY, *place)
        for name, rule in rules().items()
        for place in rule.check(bank)
    )
    return sorted(found, key=_order)


def _order(finding: Finding) -> tuple[int, str, str, int]:
    return SEVERITIES.index(finding.severity), finding.rule, finding.path, finding.line
