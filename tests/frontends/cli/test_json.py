"""Answers are JSON that any parser reads, whatever notes and names hold."""

import ast
import json
import os
import sys
from pathlib import Path

import pytest

import memory_bank

from .conftest import Run

YAML = [
    ".nan", ".inf", "-.Inf", "1e999", "-0.0", "9" * 100_000, "0x" + "f" * 90_000, "1_000", "017",
    "2026-11-21", "2026-11-21T10:00:00.123456789+14:00", "9999-99-99", "0000-00-00", "12:30:45",
    "!!binary aGVsbG8=", "!!set {a, b}", "!!omap [a: 1]", "!!python/object:os.system x",
    "!!float nan", "!!int 1e5", "!!timestamp x", "!!null x", "!!bool maybe", "~", "no", "y",
    r'"\ud800"', r'"\uD83D\uDE00"', r'"\0"', r'"\x1b[31m"', r'"\u2028"', '"\u202e"', '"\ufeff"',
    "{.nan: .inf, ~: 1, [a, b]: c, {x: y}: z}", "[[[[.nan]]]]", "&a [*a]", "{<<: {x: .nan}}",
    "|\n  .nan\n  # no comment", '"\\\n  x"', "''", "[]", "{}", "[.nan, {a: .inf}]",
]  # fmt: skip
TOML = [
    "nan", "-inf", "+inf", "1e999", "0x" + "f" * 5000, "9" * 5000, "1979-05-27", "07:32:00",
    "1979-05-27T00:32:00.999999-07:00", '"\\uD7FF\\uE000"', "[nan, [inf]]", "{a = nan}", "true",
    '"""\n\\u0000"""',
]  # fmt: skip
KEYS = ["title", "type", "tags", "aliases", "created", "updated", "entity_refs", "file_refs", "x"]


@pytest.fixture
def hostile(project: Path) -> Path:
    """Return a bank of notes that hold each value under each key, and of odd names."""
    bank = project / ".memories"
    bank.mkdir(exist_ok=True)
    body = "# Water\n\nwater [[a]] [[Gh\u202eost]] #tag #\u200b \x00"[:-1]
    for number, value in enumerate(YAML):
        lines = "".join(f"{key}: {value}\n" for key in KEYS if len(value) < 200 or key == "x")
        (bank / f"y{number}.md").write_text(f"---\n{lines}---\n{body}\n", encoding="utf-8")
    for number, value in enumerate(TOML):
        lines = "".join(f"{key} = {value}\n" for key in KEYS)
        (bank / f"t{number}.md").write_text(f"+++\n{lines}+++\n{body}\n", encoding="utf-8")
    if sys.platform == "linux":
        for name in (
            b"\xff\xfe.md",
            b"\xed\xa0\x80.md",
            b"bad\xff/x.md",
            b"a\x1b[31m.md",
            b"a\n.md",
        ):
            file = os.path.join(os.fsencode(bank), name)
            os.makedirs(os.path.dirname(file), exist_ok=True)
            Path(os.fsdecode(file)).write_text("# Water\n\nwater\n", encoding="utf-8")
    return bank


def strictly(text: str) -> object:
    """Parse as strict parsers do: no NaN, and each string is text."""

    def refused(word: str) -> None:
        raise AssertionError(word)

    found: object = json.loads(text, parse_constant=refused)
    json.dumps(found, ensure_ascii=False).encode("utf-8")
    return found


@pytest.mark.slow
@pytest.mark.parametrize(
    "words",
    [
        ("recall", "water"), ("recall", "water x:nan", "-n", "100"), ("notes",), ("tags",),
        ("links", "y1"), ("links", "--all"), ("links", "--ghosts"), ("stats",), ("doctor",),
        ("config",), ("recall", "\ud800 water"), ("show", "\ud800"), ("show", "nan"),
    ],
)  # fmt: skip
def test_an_answer_about_hostile_notes_is_json(
    mb: Run, hostile: Path, words: tuple[str, ...]
) -> None:
    answer = mb(*words, "--json")
    assert answer.code in {0, 1, 2, 3, 4, 5}, answer.err
    found = strictly(answer.out or answer.err)
    assert isinstance(found, dict)
    assert found.get("error", {}).get("code") != "internal"


@pytest.mark.slow
def test_every_hostile_note_is_shown_as_json(mb: Run, hostile: Path) -> None:
    for number in range(len(YAML)):
        assert strictly(mb("show", f"y{number}", "--json").out)
    for number in range(len(TOML)):
        assert strictly(mb("show", f"t{number}", "--json").out)


def test_a_process_writes_it_as_utf_8(real: Run, hostile: Path) -> None:
    assert strictly(real("notes", "--json").out)
    env = {
        "PYTHONUTF8": "0",
        "LC_ALL": "C",
        "PYTHONCOERCECLOCALE": "0",
        "PYTHONIOENCODING": "ascii",
    }
    shown = real("recall", "water", "--json", env=env).out
    assert shown.isascii()
    assert strictly(shown)


def test_front_ends_write_json_in_one_place() -> None:
    """`present.document` refuses what is no JSON; a call beside it would not."""
    package = Path(memory_bank.__file__).parent
    callers = {
        file.relative_to(package).as_posix()
        for file in (package / "frontends").rglob("*.py")
        if ".dump" in (text := file.read_text(encoding="utf-8"))
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Attribute) and node.attr in {"dumps", "dump"}
        if isinstance(node.value, ast.Name) and node.value.id == "json"
    }
    # the answer of an editor's command, and the lists of tools that we wrote
    assert callers == {"frontends/lsp/completion.py", "frontends/mcp/toolbox.py"}
