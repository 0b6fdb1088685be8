"""The call that a command answers: where its bank is, and where its answer goes."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, TypeVar

from memory_bank import actions
from memory_bank.errors import BadInput, NoBank
from memory_bank.frontends.cli.console import Console, place
from memory_bank.frontends.cli.progress import Bars, Report
from memory_bank.frontends.rendering import plain, with_former_names
from memory_bank.repairs import Reports

if TYPE_CHECKING:
    from pathlib import Path

    from memory_bank.bank import Bank

FOUND, NOTHING, FAILED = 0, 1, 3
"""Exit codes: found or done, nothing found, failed (what is wrong must be repaired elsewhere)."""

_FALLBACKS = {
    "embeddings_disabled": "embeddings are off",
    "vectors_pending": "vectors are still being made, `memory-bank sync` makes all",
    "embedder_unavailable": "the embedder is not available, see `memory-bank embedder test`",
}

Value = TypeVar("Value")


class BadUsage(BadInput):
    """Options that are wrong, or don't go together."""


class Call:
    """One call of a command: where its bank is and how it answers."""

    def __init__(
        self,
        command: str,
        *,
        bank: str | None = None,
        json: bool = False,
        allow_secret: bool = False,
    ) -> None:
        """Take over what the command line says for every command."""
        self.command = command
        self.named_bank = bank
        """The folder given by `--bank` or MEMORY_BANK."""
        self.json = json
        self.allow_secret = allow_secret
        self.root: Path | None = None
        self._page = Console(sys.stdout)
        self._aside = Console(sys.stderr)
        self._bars = Bars(self._aside)
        self._repairs, self._notices = Reports(), Reports()

    @property
    def page(self) -> Console:
        """Where the answer goes; whoever writes it has no more progress to show."""
        self._bars.stop()
        return self._page

    @property
    def aside(self) -> Console:
        """Where remarks go."""
        self._bars.stop()
        return self._aside

    @property
    def progress(self) -> Report | None:
        """What is to be told how far a long action is; None when nobody looks."""
        return self._bars.report

    @contextmanager
    def open(self) -> Iterator[Bank]:
        """Open the bank that is meant, and close it in the end."""
        from memory_bank.bank import Conditions, open_bank

        told = Conditions(self.progress, repairs=self._repairs, notices=self._notices)
        try:
            bank = open_bank(self.named_bank, allow_secrets=self.allow_secret, conditions=told)
        except FileNotFoundError as error:
            raise NoBank("the working directory is gone", "change to one that is there") from error
        self.root = bank.layout.root
        try:
            with bank:
                yield bank
        finally:
            self._bars.stop()
            if not self.json:  # a program finds both inside
                self._say_aside()

    def place(self, path: str, line: int | None = None) -> str:
        """Return where a note is, as seen from the working directory."""
        return place(self.root / path if self.root else path, line)

    def answer(self, value: Value, render: Callable[[Value], None]) -> None:
        """Print an answer: as JSON when that is wanted, else by `render`."""
        if self.json:
            self.document(value)
        else:
            render(value)

    def document(self, value: object) -> None:
        """Print an answer as JSON, with repairs and notices."""
        shown, repaired, notices = plain(value), self._repairs.take(), self._notices.take()
        if repaired and isinstance(shown, dict):
            shown = {**shown, "repaired": repaired}
        if notices and isinstance(shown, dict):
            shown = {**shown, "notices": notices}
        self.page.document(with_former_names(shown))

    def show_repaired(self, repaired: Sequence[str]) -> None:
        """Print what was repaired, where that is part of the answer."""
        if repaired:
            self.page.line(("repaired: ", "good"), actions.maintenance.described(repaired))

    def remark(self, text: str) -> None:
        """Say something beside the answer."""
        self.page.flush()  # in order, where both go to one terminal
        self.aside.labelled("", "", text)

    def warn(self, text: str | None) -> None:
        """Say what makes the answer poorer, if something does."""
        if text:
            self.page.flush()
            self.aside.labelled("warning: ", "warn", text)

    def fallback(self, reason: str | None) -> None:
        """Say why an answer is by words only, if it is."""
        if reason:
            why = _FALLBACKS.get(reason, "the embedder gave no answer")
            self.warn(f"found by words only: {why} ({reason})")

    def _say_aside(self) -> None:
        """Say beside the answer what was repaired, and notices."""
        if repaired := self._repairs.take():
            self.aside.labelled("repaired: ", "dim", actions.maintenance.described(repaired))
        for notice in self._notices.take():
            self.remark(notice)

    def wrong(self, message: str) -> BadUsage:
        """Return the error that a combination of options deserves."""
        return BadUsage(message, f"see `{self.command} -h`")
