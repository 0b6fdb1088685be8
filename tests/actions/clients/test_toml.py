from __future__ import annotations

import tomllib

import pytest

from memory_bank.actions.clients import toml
from memory_bank.errors import BadInput

PATH = ("mcp_servers", "memory-bank")
ENTRY = {"command": "memory-bank", "args": ["serve", "mcp"]}


@pytest.mark.parametrize(
    "text",
    [
        "",
        "\n",
        "a = 1",
        "a = 1\n",
        "a = 1\r\n[b]\r\nc = 2\r\n",
        "[mcp_servers]\n",
        '[mcp_servers.other]\ncommand = "x"\n\n# the end\n\n\n',
        '[mcp_servers.other.env]\nA = "[x]"',
    ],
)
def test_a_table_is_added_at_the_end_and_goes_again(text: str) -> None:
    made = toml.put(text, PATH, ENTRY)
    assert made.startswith(text)
    assert tomllib.loads(made)["mcp_servers"]["memory-bank"] == ENTRY
    assert toml.cut(made, PATH) == text


def test_a_table_that_is_there_keeps_its_other_keys_and_comments() -> None:
    text = (
        'model = "m"\n\n[mcp_servers."memory-bank"] # mine\ncommand = "/old"   # c\n'
        'startup_timeout_sec = 20\n\n[mcp_servers.memory-bank.env]\nA = "1"\n\n[other]\nb = 2\n'
    )
    made = toml.put(text, PATH, ENTRY)
    assert made == text.replace('"/old"', '"memory-bank"').replace(
        "= 20\n", '= 20\nargs = ["serve", "mcp"]\n'
    )
    assert toml.put(made, PATH, ENTRY) == made
    assert toml.cut(made, PATH) == 'model = "m"\n\n[other]\nb = 2\n'


@pytest.mark.parametrize(
    "text",
    [
        "mcp_servers = { other = { command = 'x' } }\n",
        'mcp_servers.memory-bank.command = "x"\n',
        '[mcp_servers]\nmemory-bank = { command = "x" }\n',
    ],
)
def test_a_form_that_no_program_can_change_is_refused(text: str) -> None:
    with pytest.raises(BadInput, match=r"mcp_servers\.memory-bank can't be changed by a program"):
        toml.put(text, PATH, ENTRY)


def test_a_table_in_two_places_is_not_half_removed() -> None:
    text = '[mcp_servers.memory-bank]\ncommand = "x"\n[a]\nb = 1\n[mcp_servers.memory-bank.env]\nA = "1"\n'
    with pytest.raises(BadInput, match="can't be changed by a program"):
        toml.cut(text, PATH)


def test_what_only_looks_like_a_table_is_left_alone() -> None:
    text = 'a = """\n[mcp_servers.memory-bank]\n"""\n'
    assert toml.cut(text, PATH) == text
    made = toml.put(text, PATH, ENTRY)
    assert toml.cut(made, PATH) == text


def test_broken_toml_is_refused_with_its_place() -> None:
    with pytest.raises(BadInput, match="line 2"):
        toml.put("a = 1\nb =\n", PATH, ENTRY)


def test_a_name_that_is_no_bare_key_is_quoted() -> None:
    made = toml.put("", ("mcp_servers", 'my "bank"'), ENTRY)
    assert tomllib.loads(made) == {"mcp_servers": {'my "bank"': ENTRY}}
