"""The notes and links of one side of a review."""

from __future__ import annotations

from collections.abc import Collection
from functools import cached_property

from memory_bank.bank import Bank, View
from memory_bank.errors import MemoryBankError
from memory_bank.manifest import documents, link_table, neighbourhood
from memory_bank.manifest.documents import Version
from memory_bank.manifest.link_table import Goal, LinkRow
from memory_bank.repo import git


class State:
    """A bank at one revision; all is read lazily, and once."""

    def __init__(self, bank: Bank, left_out: Collection[str] = ()) -> None:
        """Read a bank, without some of its notes."""
        self.bank = bank
        self.left_out = frozenset(left_out)

    @cached_property
    def rows(self) -> dict[str, Version]:
        """The notes by path."""
        found = self.bank.read(lambda view: documents.versions(view.manifest))
        return {path: row for path, row in found.items() if path not in self.left_out}

    @cached_property
    def versions(self) -> dict[str, str]:
        """A text for each file that differs if the file does, by path."""
        listed = self.bank.read(lambda view: documents.unindexed(view.manifest))
        found = {path: f"not read: {reason}" for path, reason in listed}
        found |= {path: row.hash for path, row in self.rows.items()}
        return {path: value for path, value in found.items() if path not in self.left_out}

    @cached_property
    def goals(self) -> dict[str, list[Goal]]:
        """Where the links of each note lead, in their order."""
        found = self.bank.read(lambda view: link_table.goals(view.manifest))
        return {path: some for path, some in found.items() if path not in self.left_out}

    def links(self, paths: Collection[str]) -> dict[str, list[LinkRow]]:
        """Return the links of some notes, in their order."""
        wanted = set(paths) - self.left_out
        found: dict[str, list[LinkRow]] = {}
        for row in self.bank.read(lambda view: link_table.links_of(view.manifest, wanted)):
            found.setdefault(row.source_key, []).append(row)
        return found

    @cached_property
    def linked_from(self) -> dict[str, set[str]]:
        """The other notes that link to each note."""
        found: dict[str, set[str]] = {}
        for source, goals in self.goals.items():
            for goal in goals:
                if goal.dest_key and goal.dest_key != source:
                    found.setdefault(goal.dest_key, set()).add(source)
        return found

    @cached_property
    def ghosts(self) -> frozenset[str]:
        """The names of all ghosts in lower case."""
        every = (goal for goals in self.goals.values() for goal in goals)
        return frozenset(goal.ghost.lower() for goal in every if is_ghost(goal))

    def problems(self, rows: list[LinkRow]) -> list[str]:
        """Return for each link what is wrong with it, or an empty text."""
        return self.bank.read(lambda view: link_table.problems(view.manifest, rows))

    def superseded(self, paths: Collection[str]) -> dict[str, str]:
        """Map the superseded ones of some notes to their successors."""
        numbers = {self.rows[path].number: path for path in paths if path in self.rows}

        def asked(view: View) -> dict[int, tuple[int, str]]:
            return neighbourhood.superseded(view.manifest, numbers)

        found = self.bank.read(asked)
        return {numbers[number]: successor for number, (_, successor) in found.items()}

    def data(self, path: str) -> bytes:
        """Return a file's bytes; none if it can't be read."""
        try:
            return self.bank.store.read_bytes(path)
        except (MemoryBankError, OSError):
            return b""


def is_ghost(link: Goal | LinkRow) -> bool:
    """Tell whether a link leads to no note, though it names neither a person nor code."""
    return bool(link.ghost) and not link.ambiguous and link.kind != "reference"


def not_shared(bank: Bank, paths: Collection[str]) -> set[str]:
    """Return those of some notes that no revision will have: private, or ignored by git."""
    roots = bank.roots
    private = {path for path in paths if roots.is_private(path)}
    files = {roots.file(path): path for path in paths if path not in private}
    tree = git.worktree(bank.layout.root)
    if tree is None:
        return private
    kept = git.trackable(tree, list(files))
    return private | {path for file, path in files.items() if file not in kept}
