"""Progress bars for actions of more than a second, on a terminal only."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from memory_bank.frontends.cli.console import Console

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID


_DELAY = 1.0
"""Seconds before the first bar is drawn."""

Report = Callable[[str, int, int], None]


class Bars:
    """One progress bar for each task."""

    def __init__(self, console: Console) -> None:
        """Draw on a console; nothing is drawn if it is no terminal."""
        self._console = console
        self._started = time.monotonic()
        self._drawn: Progress | None = None
        self._tasks: dict[str, TaskID] = {}

    @property
    def report(self) -> Report | None:
        """The progress callback; None if the console is no terminal."""
        return self._report if self._console.terminal else None

    def stop(self) -> None:
        """Remove the bars."""
        if self._drawn is not None:
            self._drawn.stop()
            self._drawn = None
            self._tasks = {}

    def _report(self, what: str, done: int, total: int) -> None:
        if self._drawn is None:
            if time.monotonic() - self._started < _DELAY or done >= total:
                return
            from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

            columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
            self._drawn = Progress(*columns, console=self._console.rich(), transient=True)
            self._drawn.start()
        if what not in self._tasks:
            self._tasks[what] = self._drawn.add_task(what, total=total)
        self._drawn.update(self._tasks[what], completed=done, total=total)
