"""Tell listeners which notes changed."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from memory_bank.actions.maintenance import Changed

Listener: TypeAlias = "Callable[[Changed], object]"
"""Called in the thread that watches: it returns soon, and raises nothing."""


class Listeners:
    """Who wants to know which notes came, went and changed; any thread may add and remove."""

    def __init__(self) -> None:
        """Know of nobody."""
        self._listeners: dict[object, Listener] = {}

    def add(self, listener: Listener) -> Callable[[], object]:
        """Tell `listener` of each batch from now on; return what ends that."""
        key = object()
        self._listeners[key] = listener
        return partial(self._listeners.pop, key, None)

    def tell(self, changed: Changed) -> None:
        """Tell all of a batch; one that is empty says that the files are watched from now on."""
        for listener in list(self._listeners.values()):
            listener(changed)
