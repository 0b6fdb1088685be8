import re
from pathlib import Path

import click
import pytest

from memory_bank.base.errors import Hint
from memory_bank.frontends import declared
from memory_bank.frontends.cli.help import Group, HelpCommand
from memory_bank.frontends.cli.root import root
from memory_bank.frontends.hints import COMMAND_HINTS, hint_text

from .conftest import Run

COMMANDS = [name for name, _, _ in declared.list_commands()]
ALL = [[name] for name in COMMANDS] + [
    [name, inner]
    for name in COMMANDS
    if isinstance(made := root().get_command(click.Context(root()), name), Group)
    for inner in made.commands
]


@pytest.mark.parametrize("path", ALL, ids=" ".join)
def test_short_help_fits_a_screen(mb: Run, path: list[str]) -> None:
    answer = mb(*path, "-h")
    assert answer.code == 0
    assert answer.out.startswith(f"Usage: memory-bank {' '.join(path)} ")
    assert len(answer.out.splitlines()) <= 24
    assert max(map(len, answer.out.splitlines())) <= 80


@pytest.mark.parametrize("path", ALL, ids=" ".join)
def test_long_help_adds_reasons_and_examples(mb: Run, path: list[str]) -> None:
    short, long = mb(*path, "-h").out, mb(*path, "--help").out
    assert "Examples:" in long
    assert len(long) > len(short) + 100
    assert [line for line in short.splitlines() if line not in long] == []
    assert max(map(len, long.splitlines())) <= 100


def test_the_help_of_the_program_fits_a_screen_and_names_every_command(mb: Run) -> None:
    for asked in (["-h"], ["--help"], ["help"]):
        lines = mb(*asked).out.splitlines()
        assert len(lines) <= 24
        assert max(map(len, lines)) <= 80
        words = set(" ".join(lines).split())
        assert [name for name in COMMANDS if name not in words] == []


def test_all_commands_with_their_lines_fit_two_screens(mb: Run) -> None:
    lines = mb("help", "--all").out.splitlines()
    assert len(COMMANDS) <= 34
    assert len(lines) <= 46  # two screens of 24 lines, without the command and the prompt
    assert max(map(len, lines)) <= 80
    for name in COMMANDS:
        assert any(f" {name} " in line for line in lines)
    assert mb("help", "recall").out == mb("recall", "--help").out


def test_every_command_has_the_shared_options() -> None:
    context = click.Context(root())
    for path in ALL:
        found: click.Command | None = root()
        for name in path:
            assert isinstance(found, click.Group)
            found = found.get_command(context, name)
        assert isinstance(found, HelpCommand)
        options = {name for param in found.params for name in param.opts}
        assert {"-h", "--help"} <= options
        if not isinstance(found, Group):
            assert {"--bank", "--json"} <= options
        assert found.summary
        assert not found.summary.endswith(".")


def test_without_a_bank_and_a_command_the_help_goes_to_stderr(
    mb: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    answer = mb()
    assert (answer.code, answer.out) == (2, "")
    assert answer.err.startswith("Usage: memory-bank")


def test_colours_can_be_forced_in_a_pipe(mb: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "\x1b" not in mb("-h").out
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert "\x1b[1m" in mb("-h").out
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b" not in mb("-h").out


def test_hints_name_commands_that_there_are() -> None:
    said = re.findall(r"memory-bank ([a-z]+)(?: ([a-z]+))?", " ".join(COMMAND_HINTS.values()))
    assert said
    for name, inner in said:
        command = root().get_command(click.Context(root()), name)
        assert command is not None, name
        if inner and isinstance(command, click.Group):
            assert inner in command.list_commands(click.Context(command)), f"{name} {inner}"


def test_a_hint_takes_the_arguments_of_its_step() -> None:
    for step, text in COMMAND_HINTS.items():
        assert set(re.findall(r"\{(\w+)\}", text)) <= set(re.findall(r"\{(\w+)\}", step)), step


def test_the_hint_of_a_record_is_worded_as_that_of_an_error() -> None:
    assert hint_text(str(Hint.LIST_NOTES)) == "see `memory-bank notes`"
    assert hint_text("anything else") == "anything else"
    assert hint_text(None) is None
