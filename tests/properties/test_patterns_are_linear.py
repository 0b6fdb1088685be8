"""The time of each regular expression grows with a text's length, not faster."""

import gc
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import pairwise
from typing import NoReturn

import pytest

from memory_bank.code.languages.base import MOST_TEXT
from memory_bank.sessions.compression import edits, turns

from .pattern_texts import Named, patterns, run, texts

SIZES = 5_000, 10_000, 20_000
"""Characters of the texts."""
SHORT, ENOUGH = 1_000, 0.001
"""Characters of the first text of a kind, and the seconds beyond which it's tried with more."""
LONG = 0.05
"""Seconds that the longest text must take, for the clock to measure how they grow."""
FORBIDDEN = 0.6
"""Seconds after which a match is given up, as an exponential one never ends."""
TOO_FAST = 3.0
"""How many times as long twice the text may not take: a square takes four times as long."""

EXEMPT = {
    "code.languages.base._CALLED": (MOST_TEXT, "the end of an expression that is called"),
    "notes.secrets.logins._BEGINS": (960, "what stands between a name and its first codes"),
    "notes.secrets.named_values._NO_VALUE": (30, "the rest of a property's name"),
    "notes.secrets.named_values._USER": (40, "what stands before a value"),
    "programs.toml: error": (turns._MOST_LINE, "the beginning of a line of output"),
    "programs.toml: name": (edits._LINE, "the beginning of a line of code"),
}
"""Patterns that are quadratic, with the number of characters that reaches them, and of what."""
LONGEST = 0.25
"""Seconds that an exempt one may take for as many."""


class TookTooLong(Exception):
    """A match was given up."""


def give_up(*_: object) -> NoReturn:
    raise TookTooLong


@contextmanager
def quiet() -> Iterator[None]:
    """Keep the collector of garbage out, and let the clock of the processor interrupt a match."""
    former = signal.signal(signal.SIGPROF, give_up)
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, former)


def seconds(work: Callable[[str], object], text: str, runs: int = 1) -> float:
    """Return the least processor time of some runs; FORBIDDEN at most."""
    best = FORBIDDEN
    for _ in range(runs):
        began = time.process_time()
        signal.setitimer(signal.ITIMER_PROF, FORBIDDEN)
        try:
            work(text)
        except TookTooLong:
            return FORBIDDEN
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)
        best = min(best, time.process_time() - began)
    return best


def grows_too_fast(named: Named) -> str:
    """Return a text, cut, on which a pattern takes more than linear time; empty if there is none."""
    work = run(named)
    most, _ = EXEMPT.get(named.name, (0, ""))
    for make in texts(named):
        if seconds(work, make(most or SHORT)) < (LONGEST if most else ENOUGH):
            continue
        times = [seconds(work, make(SIZES[0]), 2)]
        for size in SIZES[1:]:
            if times[-1] < FORBIDDEN:
                times.append(seconds(work, make(size), 2))
            if times[-1] <= TOO_FAST * times[0]:
                break
        grown = all(long > TOO_FAST * short for short, long in pairwise(times))
        if times[-1] >= FORBIDDEN or (times[-1] >= LONG and grown):
            text = make(SIZES[0])
            return f"{text[:40]!r}…{text[-5:]!r}: {[round(took, 3) for took in times]} s"
    return ""


@pytest.mark.slow
def test_no_pattern_takes_more_than_linear_time() -> None:
    every = patterns()
    assert len(every) > 800
    assert len(EXEMPT) <= 10
    assert EXEMPT.keys() <= {named.name for named in every}
    with quiet():
        slow = [f"{named.name}: {text}" for named in every if (text := grows_too_fast(named))]
    assert not slow, "\n".join(slow)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("text", "method"),
    [
        (r"(?P<word>[a-z]+[ \t]+by|[a-z]+s)[ \t]+(?:\[[^\]\n]+\]|\d{1,5})", "finditer"),
        (r"(?<![\w@-])[^\W\d][\w$]*(?=\(\))|\b(?!\d)(?=\w*[^\W_]_|_|\w*[a-z][A-Z])\w+", "findall"),
        (r"[^\r\n#]*?([ \t]+#[^\r\n]*)?(?=[\r\n]|\Z)", "match"),
        (r"(\w+\s?)+:", "match"),
    ],
    ids=["decision_records._RELATION", "named_code._WORD", "yaml._HEADER", "exponential"],
)
def test_a_pattern_that_takes_long_is_noticed(text: str, method: str) -> None:
    with quiet():  # a busy machine may hide once how the time grows
        assert any(grows_too_fast(Named("former", text, 0, (method,))) for _ in range(3))
