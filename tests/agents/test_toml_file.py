import tomllib

import pytest

from memory_bank.agents.json_file import TomlFile
from memory_bank.base.errors import BadInput

PATH = ("mcp_servers", "memory-bank")
TOML = TomlFile()
ENTRY = {"command": "memory-bank", "args": ["serve", "mcp"]}


TUNED = (
    'model = "m"\n\n[mcp_servers."memory-bank"] # mine\ncommand = "/old"   # c\n'
    'startup_timeout_sec = 20\n\n[mcp_servers.memory-bank.env]\nA = "1"\n\n# about other\n'
    "[other]\nb = 2\n"
)


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_a_table_that_is_there_keeps_its_other_keys_and_comments(newline: str, mark: str) -> None:
    def lines(text: str) -> str:
        return mark + text.replace("\n", newline)

    text = lines(TUNED)
    made = TOML.set_value(text, (*PATH, "command"), "memory-bank")
    made = TOML.set_value(made, (*PATH, "args"), ["serve", "mcp"])
    assert made == lines(
        TUNED.replace('"/old"', '"memory-bank"').replace(
            "= 20\n", '= 20\nargs = ["serve", "mcp"]\n'
        )
    )
    assert TOML.set_value(made, (*PATH, "command"), "memory-bank") == made
    assert TOML.remove(made, PATH) == lines('model = "m"\n\n# about other\n[other]\nb = 2\n')


def test_a_table_becomes_comments() -> None:
    assert TOML.remove_keys(TUNED, PATH, ["command"]) == (
        'model = "m"\n\n# [mcp_servers."memory-bank"] # mine\n# command = "/old"   # c\n'
        '# startup_timeout_sec = 20\n\n# [mcp_servers.memory-bank.env]\n# A = "1"\n\n'
        "# about other\n[other]\nb = 2\n"
    )


@pytest.mark.parametrize(
    "text",
    [
        "mcp_servers = { other = { command = 'x' } }\n",
        'mcp_servers.memory-bank.command = "x"\n',
        '[mcp_servers]\nmemory-bank = { command = "x" }\n',
        '[mcp_servers]\nmemory-bank.command = "x"\nz.command = "y"\n',
    ],
)
def test_inline_tables_and_dotted_keys_are_changed_where_they_are(text: str) -> None:
    old = TOML.value_at(text, PATH)
    made = TOML.set_value(text, PATH, ENTRY)
    assert TOML.value_at(made, PATH) == ENTRY
    rest = TOML.remove(made, PATH)
    assert TOML.value_at(rest, PATH) is None
    assert old or rest == text


@pytest.mark.parametrize(
    "text", ["mcp_servers = 1\n", "[[mcp_servers]]\n", "mcp_servers = [1, 2]\n"]
)
def test_a_form_that_no_program_can_change_is_refused(text: str) -> None:
    with pytest.raises(BadInput, match="can't be changed by a program"):
        TOML.set_value(text, PATH, ENTRY)


def test_a_table_in_two_places_is_removed_from_both() -> None:
    text = '[mcp_servers.memory-bank]\ncommand = "x"\n[[a]]\nb = 1\n[mcp_servers.memory-bank.env]\nA = "1"\n'
    assert TOML.remove(text, PATH) == "[[a]]\nb = 1\n"


def test_arrays_between_the_parts_of_a_table_stay_where_they_are() -> None:
    text = "[mcp_servers.a]\nb = 1\n[[hooks.Stop]]\nc = 1\n[t]\n[[hooks.Stop]]\n[mcp_servers.z]\n"
    made = TOML.set_value(text, PATH, ENTRY)
    changed = TOML.set_value(made, (*PATH, "command"), "x")
    assert changed == made.replace('"memory-bank"\n', '"x"\n')
    assert TOML.remove(changed, PATH) == text


def test_what_only_looks_like_a_table_is_left_alone() -> None:
    text = 'a = """\n[mcp_servers.memory-bank]\n"""\n'
    assert TOML.remove(text, PATH) == text
    made = TOML.set_value(text, PATH, ENTRY)
    assert TOML.remove(made, PATH) == text


def test_broken_toml_is_refused_with_its_place() -> None:
    with pytest.raises(BadInput, match="line 2"):
        TOML.set_value("a = 1\nb =\n", PATH, ENTRY)


def test_a_name_that_is_no_bare_key_is_quoted() -> None:
    made = TOML.set_value("", ("mcp_servers", 'my "bank"'), ENTRY)
    assert tomllib.loads(made) == {"mcp_servers": {'my "bank"': ENTRY}}
