"""What stands before and after a passage: the notes that its note is linked to in a sequence."""

from __future__ import annotations

from collections.abc import Mapping

from memory_bank.manifest.lookup import Surroundings


class Neighbours:
    """Finds the passages beside candidates, over links between notes; None where there is none."""

    def __init__(self, owner: Mapping[int, int], around: Surroundings) -> None:
        """Know the note of each candidate row, and how the notes hang together."""
        self._owner = owner
        self._after = around.following
        self._before = {later: earlier for earlier, later in around.following.items()}
        self._spans = around.spans
        self._note_of = {row: note for note, span in around.spans.items() for row in span}
        self.any = bool(around.following)
        """Whether there are sequences at all among the candidates."""

    def linked(self, note: int) -> bool:
        """Tell whether a note stands in a sequence."""
        return note in self._after or note in self._before

    def after(self, row: int) -> int | None:
        """Return the first passage of the note that follows that of a passage."""
        return self._spans.get(self._after.get(self._note(row), 0), (None, None))[0]

    def before(self, row: int) -> int | None:
        """Return the last passage of the note that precedes that of a passage."""
        return self._spans.get(self._before.get(self._note(row), 0), (None, None))[1]

    def _note(self, row: int) -> int:
        return self._owner.get(row) or self._note_of.get(row, 0)
