"""Wait for what another thread or process does."""

import time
from collections.abc import Callable
from typing import TypeVar

Result = TypeVar("Result")


def until(met: Callable[[], Result], seconds: float = 120) -> Result:
    """Wait until something is true, and return it."""
    end = time.monotonic() + seconds
    while not (result := met()):
        assert time.monotonic() < end, f"it did not become true in {seconds:.0f} seconds"
        time.sleep(0.02)
    return result
