"""Two sequences are aligned, in bounded time."""

import itertools
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_bank.notes.note_change import align_runs

elements = st.lists(st.sampled_from("aabbcdefgh"), max_size=60)


@given(before=elements, after=elements)
def test_the_runs_make_one_sequence_of_the_other(before: list[str], after: list[str]) -> None:
    made: list[str] = []
    i = j = 0
    for run in align_runs(before, after):
        assert (run.start, run.other_start) == (i, j)
        i, j = run.end, run.other_end
        made += after[run.other_start : run.other_end]
        if run.kind == "equal":
            assert before[run.start : run.end] == after[run.other_start : run.other_end]
    assert (i, j, made) == (len(before), len(after), after)


@given(words=elements)
def test_equal_sequences_are_one_run(words: list[str]) -> None:
    assert [run.kind for run in align_runs(words, words)] == ["equal"] * bool(words)


@given(before=elements, after=elements)
def test_kinds_alternate(before: list[str], after: list[str]) -> None:
    kinds = [run.kind for run in align_runs(before, after)]
    assert all(one != other for one, other in itertools.pairwise(kinds))


def test_an_insertion_in_a_long_text_is_found() -> None:
    before = [f"word {number % 700}" for number in range(5000)]
    after = [*before[:2000], "new", *before[2000:]]
    assert [run for run in align_runs(before, after) if run.kind == "replaced"] == [
        ("replaced", 2000, 2000, 2000, 2001)
    ]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("before", "after"),
    [
        (["a", "b"] * 30_000, ["b", "b", "a"] * 20_000),
        ([str(n) for n in range(50_000)], [str(n) for n in range(50_000, 0, -1)]),
        # one anchor at each level: without a bound, quadratic
        (
            [str(n // 2) for n in range(30_000)],
            [str(n) for pair in zip(range(15_000), range(15_000), strict=True) for n in pair[::-1]][
                ::-1
            ],
        ),
    ],
    ids=["repeated", "reversed", "pairs"],
)
def test_hostile_sequences_take_bounded_time(before: list[str], after: list[str]) -> None:
    start = time.process_time()
    align_runs(before, after)
    assert time.process_time() - start < 8
