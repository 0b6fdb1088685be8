"""The listed faults, and how one is found again after its code has moved."""

import json
from collections import Counter
from pathlib import Path

import pytest

from tests.benchmarks.mutants import EACH, LIST, ROOMS, Mutant, place_of

MOVED = """\
def other():
    return 1


class Rows:
    def found(self):
        for row in self:
            yield row
        if not self:
            return [
                1,
            ]
        if not self:
            yield None
"""


def mutant(**changes: object) -> Mutant:
    before, after = "        if not self:", "        if self:"
    made = Mutant("memory_bank/old.py", "Rows.found", before, after, 1)
    return made._replace(**changes)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    for name, text in (("old.py", "def other():\n    pass\n"), ("room/new.py", MOVED)):
        file = tmp_path / "memory_bank" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    return tmp_path


def test_each_room_has_as_many_faults() -> None:
    rows = [Mutant(**row) for row in json.loads(LIST.read_text(encoding="utf-8"))]
    rooms = Counter(room for row in rows for room in ROOMS if f"memory_bank/{room}/" in row.file)
    assert rooms == dict.fromkeys(ROOMS, EACH)
    assert all(row.before != row.after for row in rows)


def test_a_line_that_moved_is_found_by_its_function_and_its_text(root: Path) -> None:
    found = place_of(mutant(), root)
    assert found is not None
    assert (found.file.name, found.line, found.statement) == ("new.py", 13, 13)
    inner = place_of(mutant(before="                1,", number=0), root)
    assert inner is not None
    assert (inner.line, inner.statement) == (11, 10)


@pytest.mark.parametrize(
    "changes", [{"number": 2}, {"function": "Rows.lost"}, {"before": "        if not other:"}]
)
def test_what_is_gone_has_no_place(root: Path, changes: dict[str, object]) -> None:
    assert place_of(mutant(**changes), root) is None
