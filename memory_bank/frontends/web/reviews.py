"""Reviews for pages: each is made once at a time, beside the requests for other pages."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple

from anyio import CapacityLimiter, to_thread

from memory_bank import actions
from memory_bank.actions.review_report import Side
from memory_bank.serving.background import Background
from memory_bank.serving.shared_bank import SharedBank

if TYPE_CHECKING:
    from memory_bank.actions.review_report import Review

_AT_ONCE = 2
"""Reviews that run at the same time; others wait."""
_KEPT = 4
"""Reviews of two commits that are kept."""


class Range(NamedTuple):
    """What to compare, as `review_range.sides` takes it."""

    revisions: str = ""
    staged: bool = False
    worktree: bool = False


class _State(NamedTuple):
    """What a review depends on; while it stays, no second one is made."""

    base: Side
    head: Side
    changes: int
    """Of notes, as far as they are known."""


class Reviews:
    """Makes reviews, one for all who ask for the same range in the same state."""

    def __init__(self, shared: SharedBank, background: Background) -> None:
        """Make none yet."""
        self._shared = shared
        self._limiter: CapacityLimiter | None = None
        self._running: dict[_State, asyncio.Future[Review]] = {}
        self._kept: OrderedDict[_State, Review] = OrderedDict()
        self._changes = 0
        self.made = 0
        """Number of reviews that were begun."""
        background.listen(self._note_change)

    async def sides(self, wanted: Range) -> tuple[Side, Side]:
        """Return what would be compared; raise NoRepository and BadInput."""
        return await to_thread.run_sync(self._sides, wanted)

    async def of(self, wanted: Range) -> Review:
        """Return the review of a range; raise NoRepository and BadInput."""
        state = _State(*await self.sides(wanted), self._changes)
        if state in self._kept:
            return self._kept[state]
        running = self._running.get(state)
        if running is None:
            running = self._running[state] = asyncio.ensure_future(self._run(wanted))
            running.add_done_callback(lambda done: self._end(state, done))
        # one who leaves does not end the review for the others
        return await asyncio.shield(running)

    def _sides(self, wanted: Range) -> tuple[Side, Side]:
        bank = self._shared.bank()
        return actions.review_range.sides(
            bank.layout.root,
            wanted.revisions or None,
            staged=wanted.staged,
            worktree=wanted.worktree,
            default=bank.settings.memory.default_branch,
        )

    async def _run(self, wanted: Range) -> Review:
        self.made += 1
        if self._limiter is None:
            self._limiter = CapacityLimiter(_AT_ONCE)
        return await to_thread.run_sync(self._review, wanted, limiter=self._limiter)

    def _review(self, wanted: Range) -> Review:
        # a bank of its own: requests for other pages don't wait for its lock
        with self._shared.another(embeds=False) as bank:
            return actions.review.review(
                bank, wanted.revisions or None, staged=wanted.staged, worktree=wanted.worktree
            )

    def _end(self, state: _State, done: asyncio.Future[Review]) -> None:
        self._running.pop(state, None)
        with suppress(asyncio.CancelledError):
            if done.exception() is None and state.head.commit and state.base.commit:
                self._kept[state] = done.result()
                while len(self._kept) > _KEPT:
                    self._kept.popitem(last=False)

    def _note_change(self, _: object) -> None:
        self._changes += 1
