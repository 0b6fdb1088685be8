"""Rows of files are replaced so that all ids are as if they had been written at once."""

import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_bank.base.errors import IndexDamaged
from memory_bank.code.index.database import (
    CodeDatabase,
    FileRow,
    last_part,
    parse_names,
    replace_files,
)
from memory_bank.code.parse.parsed_file import Intent, ParsedFile, Symbol

NAMES = st.lists(st.sampled_from(["a", "a.b", "c", "main"]), max_size=4)
CHANGES = st.lists(st.tuples(st.sampled_from("pqr"), st.none() | NAMES), max_size=8)


def row(path: str, names: list[str]) -> FileRow:
    symbols = tuple(
        Symbol(
            name, "function", f"def {name}", "", line, line + 1, "0", calls=("self.c", "x::main")
        )
        for line, name in enumerate(names, 1)
    )
    tests = tuple(
        Intent(f"does {name}", "", line, line + 1, "pytest", name)
        for line, name in enumerate(names, 1)
        if name == "main"
    )
    return FileRow(path, "python", "s", b"\x01", 1, ParsedFile("python", symbols, (), tests))


def content(base: CodeDatabase) -> object:
    """Return all that does not depend on the order of writing."""
    return (
        [one[1:] for one in base.symbols("1")],
        [one[1:] for one in base.tests("1")],
        base.rows("SELECT path, ids FROM files ORDER BY path"),
        base.rows("SELECT name, count(*) FROM calls GROUP BY name"),
    )


@given(CHANGES)
def test_changes_one_by_one_equal_a_rebuild(changes: list[tuple[str, list[str] | None]]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        step, whole = CodeDatabase(Path(folder, "a.db")), CodeDatabase(Path(folder, "b.db"))
        state: dict[str, list[str]] = {}
        for path, names in changes:
            with step.writing() as base:
                if names is None:
                    state.pop(path, None)
                    replace_files(base, (), [path])
                else:
                    state[path] = names
                    replace_files(base, [row(path, names)])
        with whole.writing() as base:
            replace_files(base, [row(path, names) for path, names in sorted(state.items())])
        assert content(step) == content(whole)
        ids = [one.id for one in step.symbols("1")]
        assert len(ids) == len(set(ids))
        step.close()
        whole.close()


def test_each_change_is_a_generation(tmp_path: Path) -> None:
    base = CodeDatabase(tmp_path / "a.db")
    assert base.generation == 0
    for expected in (1, 2):
        with base.writing() as open_base:
            replace_files(open_base, [row("p", ["a"])])
        assert base.generation == expected
    with pytest.raises(ZeroDivisionError), base.writing():
        _ = 1 / 0
    assert base.generation == 2
    base.close()


@pytest.mark.parametrize(
    ("written", "last"),
    [
        ("charge", "charge"),
        ("self.store.create", "create"),
        ("std::fs::read", "read"),
        ("queue->push", "push"),
        ("App\\Mail\\send", "send"),
        ("user?.name", "name"),
        ("", ""),
        ("a.", "a"),
    ],
)
def test_the_last_part_of_a_call_is_its_name(written: str, last: str) -> None:
    assert last_part(written) == last


def test_a_damaged_row_is_told() -> None:
    with pytest.raises(IndexDamaged):
        parse_names("no JSON")
