from __future__ import annotations

import threading

import pytest

from memory_bank.search.aside import Aside


def test_a_first_question_is_asked_here_and_further_ones_beside() -> None:
    aside = Aside()
    for there in (False, True, True):
        with aside.doing(threading.current_thread) as found:
            assert (found() is not threading.current_thread()) is there
    aside.close()
    assert not [t for t in threading.enumerate() if t.name.startswith("memory-bank-aside")]


def test_an_error_there_is_raised_here() -> None:
    aside = Aside()
    for _ in range(2):
        with pytest.raises(ZeroDivisionError), aside.doing(lambda: 1 // 0) as found:
            found()
    aside.close()


def test_what_goes_wrong_here_waits_for_what_goes_on_there() -> None:
    aside = Aside()
    with aside.doing(str):
        pass
    go, done = threading.Event(), threading.Event()

    def work() -> None:
        go.wait(10)
        done.set()

    with pytest.raises(KeyError), aside.doing(work):
        threading.Timer(0.1, go.set).start()
        raise KeyError
    assert done.is_set()
    aside.close()
