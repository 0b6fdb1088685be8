"""The notes before and after a note in a sequence of linked notes."""

from __future__ import annotations

from collections.abc import Mapping

from memory_bank.manifest.neighbourhood import Context

_NOWHERE = (None, None)


class Neighbours:
    """Finds passages of the notes before and after a note, by the links between them."""

    def __init__(self, context: Context) -> None:
        """Use the links between the notes of candidates."""
        self._after = context.following
        self._before = {later: earlier for earlier, later in context.following.items()}
        self._spans = context.spans

    def linked(self, note: int) -> bool:
        """Tell whether a note is in a sequence."""
        return note in self._after or note in self._before

    def beside(self, note: int) -> tuple[int | None, ...]:
        """Return the last passages of the two notes before, then the first of the two after.

        The nearer note comes first; None where there is no note.
        """
        return (*self._steps(self._before, note, 1), *self._steps(self._after, note, 0))

    def _steps(self, step: Mapping[int, int], note: int, end: int) -> tuple[int | None, int | None]:
        once = step.get(note, 0)
        spans = self._spans
        return spans.get(once, _NOWHERE)[end], spans.get(step.get(once, 0), _NOWHERE)[end]
