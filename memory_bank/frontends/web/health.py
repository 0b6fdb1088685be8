"""What the rules find in a bank, looked for in the background: pages never wait for it."""

from __future__ import annotations

import logging
import threading
import time
from collections import Counter
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import TYPE_CHECKING, NamedTuple

from memory_bank.base.errors import MemoryBankError, exhausted
from memory_bank.frontends.serving.serving_background import Background
from memory_bank.frontends.serving.shared_bank import SharedBank
from memory_bank.review import lint

if TYPE_CHECKING:
    from memory_bank.bank.findings import Finding


_SHARE = 10
"""The rules run for at most one part in so many of the time."""

_OLD = 600.0
"""Seconds after which they run again even if no note has changed: code changes, too."""

_log = logging.getLogger(__name__)


class Checked(NamedTuple):
    """The findings in a bank, and when they were made."""

    findings: tuple[Finding, ...]
    """The most severe first."""
    counts: Mapping[str, int]
    """By severity."""
    made_at: str
    problem: str
    """Why there are none; empty if the rules have run."""


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
        found: tuple[Finding, ...] = ()
        problem = ""
        try:
            self._shared.bank()  # opened first: two that make the index would disturb each other
            with self._shared.another(embeds=False) as bank:
                found = lint.lint(bank)
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
            counts = Counter[str](one.severity for one in found)
            made = datetime.now(UTC).isoformat(timespec="seconds")
            self._checked = Checked(found, counts, made, problem)
            self._runs = False
            self._next = now + (now - began) * _SHARE
            self._until = now + _OLD
