"""Scripts without a suffix are code, by the program that their first line names."""

import os
from pathlib import Path

import pytest

from memory_bank.code.index import symbol_table
from memory_bank.code.index.symbol_table import SymbolTable
from memory_bank.code.index.work_tree import WorkTree
from tests.code.index.test_symbol_table import OpenTable

LONG_AGO = 1_600_000_000
SCRIPTS = {
    "bin/deploy": ("#!/usr/bin/env python3\ndef deploy():\n    pass\n", "python", "deploy"),
    "bin/check": ("#!/bin/sh\ncheck() {\n  true\n}\n", "bash", "check"),
    "bin/serve": ("#!/usr/bin/env -S node --trace\nfunction serve() {}\n", "javascript", "serve"),
    "bin/seed": ("#!/usr/bin/ruby -w\r\ndef seed\nend\n", "ruby", "seed"),
}
OTHERS = {
    "bin/perl": "#!/usr/bin/perl\nsub x {}\n",
    "bin/data": "def no_code():\n    pass\n",
    "bin/old.bak": "#!/bin/sh\nold() {\n  true\n}\n",
    "bin/empty": "",
    "Makefile": "#!/usr/bin/make -f\nall:\n",
}


@pytest.fixture
def scripts(shop: Path) -> Path:
    for path, text in {**{path: one[0] for path, one in SCRIPTS.items()}, **OTHERS}.items():
        (shop / path).parent.mkdir(exist_ok=True)
        (shop / path).write_bytes(text.encode())
        os.utime(shop / path, (LONG_AGO, LONG_AGO))
    return shop


def below(table: SymbolTable) -> dict[str, tuple[str, list[str]]]:
    """Return the files of bin, with their languages and symbols."""
    return {
        path: (one.language, [row.symbol.name for row in table.symbols("f.path = ?", path)])
        for path, one in table.files().items()
        if path.startswith("bin/")
    }


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return the files whose first lines are read from now on."""
    found: list[str] = []
    real = WorkTree.read_start

    def start(self: WorkTree, path: str, count: int) -> bytes:
        found.append(path)
        return real(self, path, count)

    monkeypatch.setattr(WorkTree, "read_start", start)
    return found


def test_the_program_in_the_first_line_tells_the_language(
    scripts: Path, open_table: OpenTable
) -> None:
    table = open_table(scripts)
    table.refresh()
    expected = {path: (language, [name]) for path, (_, language, name) in SCRIPTS.items()}
    assert below(table) == expected


def test_a_first_line_is_read_once(
    scripts: Path, open_table: OpenTable, started: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(symbol_table, "is_trusted", lambda _: True)
    table = open_table(scripts)
    table.refresh()
    assert sorted(started) == sorted([*SCRIPTS, "bin/perl", "bin/data"])
    started.clear()
    assert not table.refresh()
    assert started == []
    (scripts / "bin/more").write_text("#!/bin/sh\nmore() {\n  true\n}\n")
    assert table.refresh()
    assert started == ["bin/more"]
    assert below(table)["bin/more"] == ("bash", ["more"])


def test_a_file_may_become_a_script_and_cease_to_be_one(
    scripts: Path, open_table: OpenTable
) -> None:
    table = open_table(scripts)
    table.refresh()
    (scripts / "bin/data").write_text("#!/usr/bin/env python\ndef now_code():\n    pass\n")
    (scripts / "bin/seed").write_text("def seed\nend\n")
    assert table.refresh()
    assert below(table)["bin/data"] == ("python", ["now_code"])
    assert "bin/seed" not in below(table)
    (scripts / "bin/data").unlink()
    table.refresh()
    assert "bin/data" not in below(table)


def test_large_files_links_and_those_above_the_bound_are_not_read(
    scripts: Path, open_table: OpenTable, started: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (scripts / "bin/large").write_text("#!/bin/sh\n" + "# x\n" * 20_000)
    (scripts / "bin/link").symlink_to("check")
    table = open_table(scripts)
    table.refresh()
    assert not {"bin/large", "bin/link"} & {*started, *below(table)}
    monkeypatch.setattr(symbol_table, "MOST_FILES", 1)
    table.refresh()
    assert list(below(table)) == ["bin/check"]


@pytest.mark.parametrize("line", [b"#!", b"#!\n", b"#!\xff\xfe python", b"#!/bin/" + b"x" * 500])
def test_a_line_that_names_no_known_program_tells_nothing(line: bytes) -> None:
    assert symbol_table.detect_script_language(line) == ""
