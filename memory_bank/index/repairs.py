"""Names of what a catch-up had to finish or to make anew before there was an answer."""

from __future__ import annotations

from collections.abc import Callable, Sequence

WRITING = "writing"
"""Healed: a change of several files that was cut short was finished, or undone."""
INDEXING = "indexing"
"""Healed: a batch of notes, or the filling of a retriever, that was cut short was finished."""
MANIFEST = "manifest"
"""Healed: the manifest was damaged or missing, and with it all was made anew."""
ACCESSES = "accesses"
"""Healed: the counts of accesses were damaged, and are begun anew."""
EDITS = "edits"
"""Healed: the log of which agents changed what was damaged, and is begun anew."""
UPDATES = "updates"
"""Healed: the log of when notes were updated was damaged, and is begun anew."""

Healed = Callable[[str], None]
"""Called with what was healed: one of the above, or the name of a retriever that was made anew."""

_FINISHED = {
    WRITING: "finished a change of several files that was cut short",
    INDEXING: "finished indexing that was cut short",
}


def told(healed: Sequence[str]) -> str:
    """Return what was healed in words; empty when nothing was."""
    said = [words for name, words in _FINISHED.items() if name in healed]
    anew = [name for name in healed if name not in _FINISHED]
    return "; ".join([*said, *([f"made anew: {', '.join(anew)}"] if anew else ())])


def untold(what: str) -> None:
    """Tell nobody that something was healed."""
