"""Hints of the command line name commands and options that there are."""

from __future__ import annotations

import re

import click

from memory_bank.base.errors import Hint
from memory_bank.frontends.cli.hints import HINTS, hint_text
from memory_bank.frontends.cli.root import root


def test_hints_name_commands_that_there_are() -> None:
    said = re.findall(r"memory-bank ([a-z]+)(?: ([a-z]+))?", " ".join(HINTS.values()))
    assert said
    for name, inner in said:
        command = root().get_command(click.Context(root()), name)
        assert command is not None, name
        if inner and isinstance(command, click.Group):
            assert inner in command.commands, f"{name} {inner}"


def test_a_hint_takes_the_arguments_of_its_step() -> None:
    for step, text in HINTS.items():
        assert set(re.findall(r"\{(\w+)\}", text)) <= set(re.findall(r"\{(\w+)\}", step)), step


def test_the_hint_of_a_record_is_worded_as_that_of_an_error() -> None:
    assert hint_text(str(Hint.LIST_NOTES)) == "see `memory-bank notes`"
    assert hint_text("anything else") == "anything else"
    assert hint_text(None) is None
