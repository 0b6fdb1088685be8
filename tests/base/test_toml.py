from __future__ import annotations

import time
import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_bank.base import toml

KEYS = ["a", "b-c", '"d.e"', "'f = g'", "h.i", 'j."k"', "7"]
VALUES = [
    "1", "1.5e3", "true", '"x # y"', r'"a \" b = ["', "'c:\\'", '"""\nq = 1\n""q"""', "'''\n[x]\n''''",
    '"""x"""""', "[1, 2]", "[ # c\n  'a',\n  [\"]\"],\n]", "{ x = 1, y = '}' }", "1979-05-27 07:32:00",
    '""', "''", '""""""', "[]", "{}",
]  # fmt: skip


@given(
    st.lists(st.tuples(st.sampled_from(KEYS), st.sampled_from(VALUES)), unique_by=lambda p: p[0]),
    st.sampled_from(["", "  "]),
    st.sampled_from(["", " # x = 1", "   "]),
    st.sampled_from(["\n", "\r\n", "\n\n# y = 2\n"]),
    st.booleans(),
)
def test_statements_are_where_the_parser_finds_them(
    pairs: list[tuple[str, str]], indent: str, behind: str, newline: str, table: bool
) -> None:
    text = "".join(f"{indent}{key} = {value}{behind}{newline}" for key, value in pairs)
    text += "[table]\nz = 1\n" if table else ""
    assert toml.loads(text) == tomllib.loads(text)
    found = list(toml.statements(text))
    assert [text[s.start : s.key_end] for s in found] == [key for key, _ in pairs]
    assert [text[s.value : s.value_end] for s in found] == [value for _, value in pairs]
    for statement in found:
        assert tomllib.loads(text[statement.start : statement.end])


def test_the_last_statement_may_end_with_the_text() -> None:
    (found,) = toml.statements("a = 1 # b")
    assert found == (0, 1, 4, 5, 9)


@pytest.mark.parametrize(
    "text",
    [
        "a." * 30_000 + "a = 1", "x = {" + "'a' . " * 30_000 + "a = 1}", f"[{'a.' * 30_000}a]",
        "a = " + "[" * 60_000, "a = " + "{a = " * 20_000, '"' * 60_001, "'" * 60_001,
        'a = "' + '\\"' * 30_000, 'a = """' + '"" ' * 20_000, "a = [\n" * 20_000,
    ],
)  # fmt: skip
def test_what_takes_the_parser_long_is_refused_at_once(text: str) -> None:
    began = time.process_time()
    with pytest.raises(ValueError):
        toml.loads(text)
    assert time.process_time() - began < 1


def test_what_looks_like_a_long_key_inside_a_string_is_text() -> None:
    words = "a." * 100
    text = f"x = \"{words}\" # {words}\ny = '''{words}'''\nz = [{'1.5, ' * 100}]\n"
    assert toml.loads(text) == tomllib.loads(text)


@pytest.mark.parametrize(
    "parts",
    [
        [("", "")],
        [("a = 1\n", "# c\n\n"), ("[t] # d\nb = [\n[1], # e\n]\n", "\n# f\n"), ("[[u]]", "")],
        [("", ""), ('  [t]\r\na = """\n[x]\n# c"""\r\n', "\r\n  # end")],
        [("a = { b = [[]] }", "")],
        [("", "# only\n"), ('["x]" . "[y"]\n', "\n")],
    ],
)
def test_tables_are_told_from_brackets_in_values(parts: list[tuple[str, str]]) -> None:
    text = "".join(table + comments for table, comments in parts)
    toml.loads(text)
    starts = [*(start for start, _ in toml.tables(text)), len(text)]
    found = [
        (text[start:end], text[end:following])
        for (start, end), following in zip(toml.tables(text), starts[1:], strict=True)
    ]
    assert found == parts
