from __future__ import annotations

from memory_bank.actions.maintenance import Changed
from memory_bank.serving.notifications import Listeners

ONE, TWO = Changed(added=("one.md",)), Changed(removed=("two.md",))


def test_all_listeners_are_told_until_they_leave() -> None:
    first: list[Changed] = []
    second: list[Changed] = []
    listeners = Listeners()
    leave = listeners.add(first.append)
    listeners.add(second.append)
    listeners.tell(ONE)
    leave()
    leave()
    listeners.tell(TWO)
    assert (first, second) == ([ONE], [ONE, TWO])


def test_a_listener_may_leave_while_it_is_told() -> None:
    told: list[Changed] = []
    listeners = Listeners()

    def once(changed: Changed) -> None:
        told.append(changed)
        leave()

    leave = listeners.add(once)
    listeners.add(told.append)
    listeners.tell(ONE)
    listeners.tell(TWO)
    assert told == [ONE, ONE, TWO]
