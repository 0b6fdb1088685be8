"""A plain `recall` is read without click: it must mean what click makes of it."""

from __future__ import annotations

import os
from itertools import chain
from pathlib import Path
from typing import Any

import click
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_bank.errors import MemoryBankError
from memory_bank.frontends.cli import _found, _question
from memory_bank.frontends.cli._call import Call
from memory_bank.frontends.cli._clicked import invoke
from memory_bank.frontends.cli._group import root
from memory_bank.frontends.cli._question import read

OPTIONS = [
    name
    for param in root().get_command(click.Context(root()), "recall").params
    for name in param.opts
]  # type: ignore[union-attr]
VALUES = ["", "hybrid", "lexical", "vague", "7", "007", "+7", "-7", "1_0", "9" * 5000, "٣", "a,b", "a,,b",
          " a , b", "--json", "-x", ".", "no-such", "2w", "kestrel"]  # fmt: skip
WORDS = st.one_of(
    st.sampled_from([*VALUES, *OPTIONS, "--", "-", "--nothing", "-hx"]),
    st.builds("{}={}".format, st.sampled_from(OPTIONS), st.sampled_from(VALUES)),
    st.text(max_size=6),
)
PAIRS = st.tuples(st.sampled_from(OPTIONS), st.sampled_from(VALUES)).map(list)
LINES = st.lists(st.one_of(WORDS.map(lambda word: [word]), PAIRS), max_size=5).map(
    lambda parts: list(chain(*parts))
)


def asked(line: list[str], monkeypatch: pytest.MonkeyPatch) -> tuple[Any, ...] | None:
    """Return what click makes of the words behind `recall`; None for an error or help."""
    met: list[tuple[Any, ...]] = []

    def answer(call: Call, **wanted: Any) -> int:
        met.append((call.command, call.named_bank, call.json, wanted))
        return 0

    with monkeypatch.context() as patch:
        patch.setattr("memory_bank.frontends.cli.recall.answer", answer)
        try:
            invoke(["recall", *line])
        except MemoryBankError:
            return None
    return met[0] if met else None


@given(line=LINES)
def test_what_is_read_without_click_is_what_click_reads(line: list[str]) -> None:
    question = read(["recall", *line])
    if question is not None:
        call = question.call(None)
        with pytest.MonkeyPatch.context() as patch:
            assert asked(line, patch) == (call.command, call.named_bank, call.json, question.wanted)


@pytest.mark.parametrize(
    "line",
    [
        ["why", "tantivy"], ["why", "--mode", "lexical", "x"], ["--limit=3", "x", "--json"],
        ["x", "--tags", "a, b", "--tags=c"], ["x", "--bank", "."], ["x", "--type=decision"],
        ["x", "--since", "2w", "--before", "2026-05-01"], ["x", "--linked-to", "src/api.py"],
        ["x", "--include-archived", "--explain", "--no-count"], ["tag:search", '"a phrase"'],
    ],
)  # fmt: skip
def test_plain_questions_need_no_click(line: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    question = read(["recall", *line])
    assert question is not None
    call = question.call(None)
    read_by_click = asked(line, monkeypatch)
    assert read_by_click == (call.command, call.named_bank, call.json, question.wanted)


@pytest.mark.parametrize(
    "line",
    [
        [], ["-h"], ["x", "--help"], ["x", "-y"], ["--", "x"], ["x", "--mode", "vague"],
        ["x", "--limit", "many"], ["x", "--limit"], ["x", "--tags", "a,,b"], ["--json"],
        ["x", "--json=1"], ["x", "--nothing"], ["x", "--bank", "no-such-folder"],
    ],
)  # fmt: skip
def test_the_rest_is_left_to_click(line: list[str]) -> None:
    assert read(["recall", *line]) is None


def test_other_commands_and_shells_that_complete_are_left_to_click(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert read(["notes", "x"]) is None
    assert read(["--json", "recall", "x"]) is None
    monkeypatch.setenv(_question.COMPLETE, "bash_complete")
    assert read(["recall", "x"]) is None


def test_the_bank_is_named_by_option_or_variable(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEMORY_BANK", str(tmp_path))
    for line, bank in ([["x"], str(tmp_path)], [["x", "--bank", os.curdir], os.curdir]):
        question = read(["recall", *line])
        assert question is not None
        assert question.bank == bank


def test_both_ways_end_in_the_same_function() -> None:
    from memory_bank.frontends.cli import recall

    assert recall.answer is _found.answer
