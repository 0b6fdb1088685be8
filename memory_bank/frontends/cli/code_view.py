"""Print what has to do with a symbol or a file: calls, tests, coupled files, notes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from memory_bank.base.errors import NoBank
from memory_bank.base.rendering import count, named, resolved_to
from memory_bank.base.screen import place

if TYPE_CHECKING:
    from memory_bank.bank.bank import Bank
    from memory_bank.base.screen import Call
    from memory_bank.code.citing_notes import CitingNote
    from memory_bank.code.coupling import CoupledFile
    from memory_bank.code.symbols import CallShown
    from memory_bank.code.tests_for import GuardShown


_INDENT = "  "


@contextmanager
def bank_of(call: Call) -> Iterator[Bank | None]:
    """Open the bank, and close it at the end; None if there is none and none was named."""
    with ExitStack() as opened:
        bank: Bank | None = None
        try:
            bank = opened.enter_context(call.open())
        except NoBank:
            if call.named_bank:
                raise
        yield bank


def given_path(given: str) -> str:
    """Return a path as the shell completes it, from the working directory, else as answers do."""
    here = Path(given)
    return str(here.absolute()) if here.is_file() else given


class CodeAnswerView:
    """Print the parts of one answer about code."""

    def __init__(self, call: Call, root: Path) -> None:
        """Print paths below `root`, as seen from the working directory."""
        self._call = call
        self._console = call.console
        self._root = root

    def heading(self, title: str, items: Sequence[object]) -> bool:
        """Print a heading with a number if there are items; return whether there are."""
        if items:
            self._console.line((f"{title} ({len(items)})", "bold"))
        return bool(items)

    def place(self, path: str, line: int | None = None) -> str:
        """Return where a file of the code is."""
        return place(self._root / path, line)

    def calls(self, title: str, calls: Sequence[CallShown]) -> None:
        """Print calls to or from a symbol; those to other code have no place."""
        if self.heading(title, calls):
            rows = [
                (
                    _INDENT + (self.place(one.path, one.line) if one.path else "-"),
                    one.name or one.written,
                    one.how or resolved_to(one.alike),
                )
                for one in calls
            ]
            self._console.table(("place", "name", "found by"), rows)

    def tests(self, tests: Sequence[GuardShown]) -> None:
        """Print tests that guard something."""
        if self.heading("tests", tests):
            rows = [
                (_INDENT + self.place(one.test_file, one.line), one.title, one.how) for one in tests
            ]
            self._console.table(("place", "test", "guards because it"), rows)

    def coupled(self, files: Sequence[CoupledFile]) -> None:
        """Print files that change with a file."""
        if self.heading("changes with", files):
            rows = [
                (
                    _INDENT + self.place(one.file), f"{one.confidence:.0%}",
                    count(one.support, "commit"), one.risk, one.coupling_type,
                )
                for one in files
            ]  # fmt: skip
            self._console.table(("file", "confidence", "commits", "risk", "type"), rows)

    def notes(self, title: str, notes: Sequence[CitingNote]) -> None:
        """Print notes that cite something, with the words around their links."""
        self.heading(title, notes)
        for note in notes:
            first = note.links[0]
            where = self._call.place(note.path, first.line)
            self._console.line(
                _INDENT, (where, "place"), "  ", (named(note.title), "bold"),
                (f"  {note.created_at[:10]}", "dim"),
            )  # fmt: skip
            said = note.sentence if first.kind == "reference" else first.context
            self._console.block(said, _INDENT * 3, "dim")
