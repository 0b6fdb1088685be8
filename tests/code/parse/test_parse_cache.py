"""What was parsed of a blob is not parsed again."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from memory_bank.code.parse.parsed_file import Import, Intent, ParsedFile, Symbol
from memory_bank.code.parse.parsing import ParseCache

PARSED = ParsedFile(
    "python",
    (Symbol("A.b", "method", "def b(self)", "Doc.", 3, 5, "abc", "B c.D", ("c", "self.d")),),
    (Import("os", (), 1), Import("a.b", ("c", "d"), 2)),
    (Intent("b works", "def test_b():", 7, 9, "pytest", "test_b", ("A.b",)),),
    "About.",
    "line 4: unexpected",
)
KEY = (b"\x01" * 20, "python")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "parses.db"


@pytest.fixture
def cache(file: Path) -> Iterator[ParseCache]:
    opened = ParseCache(file, "1")
    yield opened
    opened.close()


def test_all_that_was_parsed_is_returned(cache: ParseCache) -> None:
    other = (b"\x02" * 20, "python")
    cache.put([(KEY, PARSED), (other, ParsedFile("python"))])
    asked = [KEY, other, (b"\x01" * 20, "ruby"), (b"\x03" * 20, "python")]
    assert cache.get(asked) == {KEY: PARSED, other: ParsedFile("python")}


def test_text_that_is_not_unicode_is_kept(cache: ParseCache) -> None:
    odd = PARSED._replace(doc="caf\udce9")
    cache.put([(KEY, odd)])
    assert cache.get([KEY]) == {KEY: odd}


@pytest.mark.parametrize("damage", ["no database at all" * 500, ""])
def test_a_damaged_cache_is_made_again(cache: ParseCache, file: Path, damage: str) -> None:
    cache.put([(KEY, PARSED)])
    cache.close()
    file.write_text(damage)
    assert cache.get([KEY]) == {}
    cache.put([(KEY, PARSED)])
    assert cache.get([KEY]) == {KEY: PARSED}


def test_a_damaged_row_is_parsed_again(cache: ParseCache) -> None:
    cache.put([(KEY, PARSED)])
    for text in ("{}", "[1, 2]", "not JSON", '["python", [["a"]], [], [], "", ""]'):
        cache.opened().execute("UPDATE parses SET parsed = ?", (text,))
        assert cache.get([KEY]) == {}


def test_without_a_place_to_keep_it_nothing_fails(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    nowhere = ParseCache(tmp_path / "file" / "parses.db", "1")
    nowhere.put([(KEY, PARSED)])
    assert nowhere.get([KEY]) == {}
