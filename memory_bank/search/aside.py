"""Work that goes on beside this thread while it asks others: tantivy and usearch let Python go."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from concurrent.futures import ThreadPoolExecutor

Result = TypeVar("Result")


class Aside:
    """A thread of one engine, there from the second question on: one has nothing to gain by it."""

    def __init__(self) -> None:
        """Have no thread yet."""
        self._pool: ThreadPoolExecutor | None = None
        self._asked = False

    @contextmanager
    def doing(self, work: Callable[[], Result]) -> Iterator[Callable[[], Result]]:
        """Have work done meanwhile; what is handed out waits for its result."""
        if not self._asked:
            self._asked = True
            yield work
            return
        if self._pool is None:
            from concurrent.futures import ThreadPoolExecutor  # start-up: see above

            self._pool = ThreadPoolExecutor(1, "memory-bank-aside")
        later = self._pool.submit(work)
        try:
            yield later.result
        finally:
            later.exception()  # waits: nobody mends an index while it is being asked

    def close(self) -> None:
        """Let the thread go."""
        if self._pool is not None:
            self._pool.shutdown()
            self._pool = None
