from __future__ import annotations

from contextvars import copy_context
from threading import Thread

import pytest

from memory_bank.frontends.serving.shared_bank import Cancelled, reporting_to, tell


def test_without_a_listener_nobody_is_told() -> None:
    tell("indexing", 1, 2)


def test_the_innermost_listener_is_told() -> None:
    outer: list[tuple[str, int, int]] = []
    inner: list[tuple[str, int, int]] = []
    with reporting_to(lambda *step: outer.append(step)):
        with reporting_to(lambda *step: inner.append(step)):
            tell("indexing", 1, 2)
        tell("indexing", 2, 2)
    tell("indexing", 3, 3)
    assert inner == [("indexing", 1, 2)]
    assert outer == [("indexing", 2, 2)]


def test_a_thread_is_told_only_with_a_copy_of_the_context() -> None:
    told: list[str] = []
    with reporting_to(lambda what, done, total: told.append(what)):
        for thread in (
            Thread(target=tell, args=("without", 0, 0)),
            Thread(target=copy_context().run, args=(tell, "with", 0, 0)),
        ):
            thread.start()
            thread.join(60)
    assert told == ["with"]


def test_what_a_listener_raises_ends_the_work() -> None:
    def cancel(what: str, done: int, total: int) -> None:
        raise Cancelled

    with reporting_to(cancel), pytest.raises(Cancelled):
        tell("indexing", 1, 2)
    tell("indexing", 2, 2)
