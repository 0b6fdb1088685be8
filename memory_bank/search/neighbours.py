"""What stands before and after a note in a sequence: the notes that it is linked to."""

from __future__ import annotations

from collections.abc import Mapping

from memory_bank.manifest.neighbourhood import Context

_NOWHERE = (None, None)


class Neighbours:
    """Finds the passages beside notes, over links between notes; None where there is none."""

    def __init__(self, context: Context) -> None:
        """Know how the notes of candidates hang together."""
        self._after = context.following
        self._before = {later: earlier for earlier, later in context.following.items()}
        self._spans = context.spans

    def linked(self, note: int) -> bool:
        """Tell whether a note stands in a sequence."""
        return note in self._after or note in self._before

    def beside(self, note: int) -> tuple[int | None, ...]:
        """Return the last passages of the two notes before, then the first ones of those after.

        The nearest comes first.
        """
        return (*self._steps(self._before, note, 1), *self._steps(self._after, note, 0))

    def _steps(self, step: Mapping[int, int], note: int, end: int) -> tuple[int | None, int | None]:
        once = step.get(note, 0)
        spans = self._spans
        return spans.get(once, _NOWHERE)[end], spans.get(step.get(once, 0), _NOWHERE)[end]
