import time
import tomllib

import pytest

from memory_bank.base import toml


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
        toml.parse_toml(text)
    assert time.process_time() - began < 1


def test_what_looks_like_a_long_key_inside_a_string_is_text() -> None:
    words = "a." * 100
    text = f"x = \"{words}\" # {words}\ny = '''{words}'''\nz = [{'1.5, ' * 100}]\n"
    assert toml.parse_toml(text) == tomllib.loads(text)


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
    toml.parse_toml(text)
    found = [(table.text, table.comments) for table in toml.split_tables(text)]
    assert found == parts
