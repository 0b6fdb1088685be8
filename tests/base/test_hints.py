"""Hints are steps that no front-end's words are in."""

import ast
from pathlib import Path

import pytest

import memory_bank
from memory_bank.base.errors import BadInput, EmbedderUnavailable, Hint, MemoryBankError

HOME = Path(memory_bank.__file__).parent


def sources() -> list[Path]:
    front_ends = HOME / "frontends"
    return [file for file in HOME.rglob("*.py") if front_ends not in file.parents]


def test_each_step_is_given_by_an_error() -> None:
    text = "".join(file.read_text(encoding="utf-8") for file in HOME.rglob("*.py"))
    assert [step.name for step in Hint if f"Hint.{step.name}" not in text] == []


def test_no_error_below_the_front_ends_names_a_command() -> None:
    named = [
        f"{file.name}:{node.lineno}"
        for file in sources()
        if "`memory-bank " in (text := file.read_text(encoding="utf-8"))
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Raise)
        and any("`memory-bank " in str(getattr(one, "value", "")) for one in ast.walk(node))
    ]
    assert named == []


def test_a_front_end_words_a_step_with_the_arguments_of_the_error() -> None:
    error = BadInput("taken", Hint.NAME_SERVER, name="x")
    assert error.hint == "give this one a name of its own, for example x-2"
    assert error.hint_in({Hint.NAME_SERVER: "--name {name}-2"}) == "--name x-2"


def test_an_error_of_another_place_keeps_its_kind_hint_and_reason() -> None:
    error = EmbedderUnavailable("off", Hint.TEST_EMBEDDER, "embedder_off").at("here")
    assert (error.message, str(error), error.reason) == ("here: off", "here: off", "embedder_off")
    assert error.hint_in({Hint.TEST_EMBEDDER: "test it"}) == "test it"


def test_what_was_kept_is_said_before_the_hint() -> None:
    error = BadInput("refused", Hint.TRY_AGAIN)
    error.kept = "your text is kept in x"
    assert error.hint == "your text is kept in x; try again"


@pytest.mark.parametrize("hint", ["", "look at {this}"])
def test_a_hint_that_is_no_step_is_said_as_it_is(hint: str) -> None:
    error = MemoryBankError("no", hint)
    assert error.hint_in({}) == hint
