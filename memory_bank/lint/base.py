"""The interface of lint rules, their context, and the run of all rules.

A rule is a module of this package with

* `SUMMARY`, a line that says what it finds,
* `SEVERITY`, `error`, `warning` or `info`,
* `check(bank)`, which yields a `Place` for each problem.

It needs no registration. Its name is that of its file, with `-` for `_`.
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

Severity = Literal["error", "warning", "info"]
SEVERITIES: tuple[Severity, ...] = get_args(Severity)
"""The most severe first."""
_KIND = "lint"

Fact = TypeVar("Fact")


class Place(NamedTuple):
    """A problem that a rule found, with its place."""

    path: str
    """The file's path, relative to the bank."""
    line: int
    """1-based; 1 for the whole file."""
    message: str
    """The problem."""
    fix: str | None = None
    """How to fix it: the name to write instead, or what to do; None if unknown."""


class Finding(NamedTuple):
    """A problem with its rule and severity."""

    rule: str
    severity: Severity
    path: str
    line: int
    message: str
    fix: str | None = None


class Rule(Protocol):
    """The module of a rule."""

    SUMMARY: str
    SEVERITY: Severity

    def check(self, bank: Context) -> Iterable[Place]:
        """Yield the problems. It changes nothing and may be called repeatedly."""


class Context:
    """A rule's access to a bank; everything is read lazily."""

    def __init__(
        self, layout: Layout, settings: Settings, store: Store, manifest: Manifest
    ) -> None:
        """Give access to a bank whose index is up to date."""
        self.layout = layout
        self.settings = settings
        self.manifest = manifest
        """The indexed documents; prefer it to reading files."""
        self._store = store
        self.roots = store.roots
        """The folders of the notes."""
        self._facts: dict[Callable[..., Any], tuple[Any, ...]] = {}

    def once(self, function: Callable[[Context], Iterable[Fact]]) -> tuple[Fact, ...]:
        """Return what a function yields for this bank; it is called once and cached."""
        if function not in self._facts:
            self._facts[function] = tuple(function(self))
        return cast("tuple[Fact, ...]", self._facts[function])

    def is_included(self, path: str) -> bool:
        """Tell whether a note is a file of the project that settings include."""
        return self.roots.is_included(path)

    @cached_property
    def files(self) -> tuple[str, ...]:
        """The paths of all files that may be notes, including those not indexed."""
        return tuple(sorted(self._store.paths()))

    @cached_property
    def texts(self) -> tuple[str, ...]:
        """The paths of text files whose names do not end like those of notes."""
        return tuple(sorted(self._store.scan().texts))

    def text(self, path: str) -> str | None:
        """Return a file's text; None if it was removed or can't be read."""
        with suppress(MemoryBankError):
            return decode(self._store.read_bytes(path)).text
        return None

    @cached_property
    def tree(self) -> Path | None:
        """The git work tree that contains the bank."""
        return git.worktree(self.layout.root)

    def committed(self) -> Collection[str]:
        """Return the paths of all files that were ever committed: of the bank, and included."""
        return {path for root in self.roots.all() for path in root.committed()}

    def moved_notes(self, paths: Collection[str]) -> dict[str, str]:
        """Map paths of former notes to the paths of the notes to which git moved them."""
        layout, included = self.layout, self.roots.included
        found = self.moved(paths, layout.root)
        if included is not None:
            moves = self.moved([path for path in paths if included.owns(path)], layout.project)
            found |= {old: new for old, new in moves.items() if included.owns(new)}
        return found

    def moved(self, names: Collection[str], folder: Path) -> dict[str, str]:
        """Map names of files in a folder that git moved to their new names.

        Files that were moved out of the folder are omitted.
        """
        tree = git.worktree(folder)
        if tree is None or not names:
            return {}
        home = folder.relative_to(tree).as_posix()
        paths = {posixpath.normpath(f"{home}/{name}"): name for name in names}
        moves = git.moved(tree, paths).items()
        found = {paths[old]: posixpath.relpath(new, home) for old, new in moves}
        return {old: new for old, new in found.items() if not new.startswith("../")}


def rules() -> dict[str, Rule]:
    """Return the rules by their names."""
    return {
        name.replace("_", "-"): cast("Rule", plugins.load(_KIND, name))
        for name in plugins.names(_KIND)
    }


def findings(bank: Context) -> list[Finding]:
    """Return the findings of all rules, the most severe first."""
    found = (
        Finding(name, rule.SEVERITY, *place)
        for name, rule in rules().items()
        for place in rule.check(bank)
    )
    return sorted(found, key=_order)


def _order(finding: Finding) -> tuple[int, str, str, int]:
    return SEVERITIES.index(finding.severity), finding.rule, finding.path, finding.line
