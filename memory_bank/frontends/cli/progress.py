"""A bar for what takes longer than a second, on a terminal only."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from memory_bank.frontends.cli.console import Console

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

_PATIENCE = 1.0
"""Seconds for which nobody needs to be told anything."""

Report = Callable[[str, int, int], None]


class Bars:
    """One bar for each thing that is done, drawn from the first second on."""

    def __init__(self, page: Console) -> None:
        """Draw on a page; on one that is no terminal nothing is ever drawn."""
        self._page = page
        self._started = time.monotonic()
        self._drawn: Progress | None = None
        self._tasks: dict[str, TaskID] = {}

    @property
    def report(self) -> Report | None:
        """What is to be told of progress; None when nobody looks."""
        return self._report if self._page.terminal else None

    def stop(self) -> None:
        """Take the bars away."""
        if self._drawn is not None:
            self._drawn.stop()
            self._drawn = None
            self._tasks = {}

    def _report(self, what: str, done: int, total: int) -> None:
        if self._drawn is None:
            if time.monotonic() - self._started < _PATIENCE or done >= total:
                return
            from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

            columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
            self._drawn = Progress(*columns, console=self._page.console(), transient=True)
            self._drawn.start()
        if what not in self._tasks:
            self._tasks[what] = self._drawn.add_task(what, total=total)
        self._drawn.update(self._tasks[what], completed=done, total=total)
