"""Measure how time grows with size, on a machine that also does other work."""

from collections.abc import Callable

_TRIES = 5


def times_as_long(
    took: Callable[[int], float], size: int, larger: int, *, enough: float, most: float
) -> float:
    """Return how many times as long `took(larger)` is as `took(size)`; 0 if less than `enough` seconds.

    Both sizes are divided by up to 16, as long as the larger one takes `enough`. Other programs take the processor's cache at times, but not each time: it is tried again until it
    is less than `most`, and the least of several tries counts.
    """
    part = next((part for part in (16, 8, 4, 2) if took(larger // part) >= enough), 1)
    size, larger = size // part, larger // part
    least = float("inf")
    for _ in range(_TRIES):
        long = took(larger)
        if long < enough:
            return 0.0
        least = min(least, long / max(took(size), 1e-9))
        if least < most:
            break
    return least
