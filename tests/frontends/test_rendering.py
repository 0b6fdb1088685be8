import io
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from pathlib import PurePosixPath
from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_bank.base.rendering import (
    build_schema,
    make_visible,
    one_line,
    render_document,
    render_failure,
    to_plain,
)
from memory_bank.base.screen import count_cells
from memory_bank.frontends.cli.console import Console


@dataclass(frozen=True, slots=True)
class Inner:
    name: str
    score: float


@dataclass(frozen=True, slots=True)
class Outer:
    zebra: int
    apple: tuple[Inner, ...]
    nothing: str | None = None
    empty: str = ""
    counts: dict[str, int] | None = None


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters()),
        lambda inside: st.lists(inside) | st.dictionaries(st.text(st.characters()), inside),
    ),
    st.booleans(),
)
def test_any_value_is_json_for_a_strict_parser(value: object, ascii_only: bool) -> None:
    def refused(word: str) -> None:
        raise AssertionError(word)

    text = render_document(value, ascii_only=ascii_only)
    assert not ascii_only or text.isascii()
    found = json.loads(text.encode("utf-8").decode("utf-8"), parse_constant=refused)
    json.dumps(found, ensure_ascii=False).encode("utf-8")  # no halves of surrogate pairs


def test_a_dataclass_keeps_the_order_of_its_fields_and_drops_what_is_none() -> None:
    value = Outer(1, (Inner("a", 0.5),), counts={"x": 1})
    assert list(to_plain(value)) == ["zebra", "apple", "empty", "counts"]  # type: ignore[call-overload]
    assert to_plain(value) == {
        "zebra": 1,
        "apple": [{"name": "a", "score": 0.5}],
        "empty": "",
        "counts": {"x": 1},
    }


def test_dates_paths_and_sets_become_text() -> None:
    assert to_plain(datetime(2026, 5, 8, 10, tzinfo=UTC)) == "2026-05-08T10:00:00Z"
    assert to_plain(date(2026, 5, 8)) == "2026-05-08"
    assert to_plain(PurePosixPath("a/b")) == "a/b"
    assert to_plain({"b", "a"}) == ["a", "b"]


def test_a_document_is_readable_and_free_of_harmful_characters() -> None:
    text = render_document({"text": "Büro Привет 東京 \x1b[31m \u202eevil\x9b \ud800 \U000e0041"})
    assert "Büro Привет 東京" in text
    assert "\\u001b" in text
    assert "\\u202e" in text
    assert "\\udb40\\udc41" in text
    assert text.encode()


@given(st.recursive(st.text() | st.integers() | st.booleans(), st.lists))
def test_a_document_says_what_the_value_says(value: object) -> None:
    assert json.loads(render_document(value)) == value


def test_errors_have_a_code_a_message_and_a_hint() -> None:
    assert render_failure("x", "y", "z") == {"error": {"code": "x", "message": "y", "hint": "z"}}


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b[31mred", r"\x1b[31mred"),
        ("a\u202eb\u2066c", r"a\u202eb\u2066c"),
        ("bell\x07 c1\x9b", r"bell\x07 c1\x9b"),
        ("hidden\U000e0041", r"hidden\U000e0041"),
        ("half \ud83d", r"half \ud83d"),
        ("lone\rreturn", r"lone\rreturn"),
        ("lines\nand\ttabs", "lines\nand\ttabs"),
        ("Ünïcode עברית 👩‍👩‍👧", "Ünïcode עברית 👩‍👩‍👧"),
    ],
)
def test_what_could_harm_a_terminal_is_written_out(text: str, shown: str) -> None:
    assert make_visible(text) == shown


def test_one_line_stays_one_line() -> None:
    assert one_line("a\nb\tc") == r"a\nb\tc"


@given(st.text())
def test_visible_text_is_safe_whatever_it_was(text: str) -> None:
    shown = make_visible(text)
    assert "\x1b" not in shown
    shown.encode()
    assert make_visible(shown) == shown


@dataclass(frozen=True)
class Part:
    name: str


@dataclass(frozen=True)
class Whole:
    count: int
    share: float
    fine: bool
    why: str | None
    names: tuple[str, ...]
    each: Mapping[str, int]
    inner: tuple[Part, ...]
    word: Literal["one", "other"]


def test_a_schema_describes_what_plain_makes() -> None:
    found = build_schema(Whole, depth=2, without=("fine",))
    assert found == {
        "type": "object",
        "properties": {
            "count": {"type": "integer"},
            "share": {"type": "number"},
            "why": {"type": ["string", "null"]},
            "names": {"type": "array", "items": {"type": "string"}},
            "each": {"type": "object", "additionalProperties": {"type": "integer"}},
            "inner": {
                "type": "array",
                "items": {"type": "object", "properties": {"name": {"type": "string"}}},
            },
            "word": {"type": "string"},
        },
    }
    without = build_schema(Whole, depth=2, without=("name",))["properties"]["inner"]["items"]
    assert without == {"type": "object", "properties": {}}
    assert build_schema(Whole, depth=1)["properties"]["inner"]["items"] == {"type": "object"}


WORDS = st.text("abc/.-", min_size=1, max_size=60)
CELLS = st.lists(WORDS, max_size=12).map(" ".join)


class _Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def table(columns: int, headings: Sequence[str], rows: Sequence[Sequence[str]], gives_way: str = "") -> list[str]:  # fmt: skip
    """Return the lines of a table on a terminal of so many columns."""
    stream = _Terminal()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("COLUMNS", str(columns))
        patch.setenv("NO_COLOR", "1")
        patch.setenv("TERM", "xterm")
        Console(stream).table(headings, rows, gives_way)
    return stream.getvalue().splitlines()


def test_a_long_table_says_once_what_is_the_same_and_cuts_the_column_that_gives_way() -> None:
    headings = ("place", "test", "because", "agent")
    rows = [(f"spec/orders_spec.rb:{n}", f"Order > .place > refuses {n}", "calls it", "-") for n in (1, 2)]  # fmt: skip
    assert table(44, headings, rows, "test") == [
        "place                  test",
        "spec/orders_spec.rb:1  … > refuses 1",
        "spec/orders_spec.rb:2  … > refuses 2",
        "in all: because calls it",
    ]
    assert table(120, headings, rows, "test")[1].split("  ")[1:] == [
        "Order > .place > refuses 1", "calls it", "-",
    ]  # fmt: skip


@given(st.lists(st.tuples(WORDS, CELLS, CELLS), min_size=1), st.sampled_from([40, 80, 120]))
def test_a_table_breaks_no_word_and_leaves_none_out(
    rows: list[tuple[str, str, str]], columns: int
) -> None:
    lines = table(columns, ("path", "found", "about"), rows)
    printed = {word for line in lines for word in line.split()}
    given_words = {word for row in rows for cell in row for word in cell.split()}
    assert not given_words - printed
    longest = max(map(len, given_words))
    assert all(len(line) <= max(columns, longest + 8) for line in lines)


@pytest.mark.parametrize(
    "text", ["我们决定使用数据库来保存所有的笔记，因为它比文件更快。" * 3, "我们 " + "笔记" * 40]
)
def test_a_paragraph_without_spaces_is_wrapped_by_columns(text: str) -> None:
    stream = _Terminal()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("COLUMNS", "60")
        patch.setenv("TERM", "xterm")
        Console(stream).block(text, "  ")
    lines = stream.getvalue().splitlines()
    assert max(map(count_cells, lines)) <= 60
    assert all(line.startswith("  ") for line in lines)
    assert "".join(lines).replace(" ", "") == text.replace(" ", "")


def test_a_long_path_of_letters_with_marks_stays_whole() -> None:
    stream, path = _Terminal(), "/Users/jose/" + "Bu\u0308cher/" * 12
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("COLUMNS", "60")
        patch.setenv("TERM", "xterm")
        Console(stream).hanging(4, ["see ", (path, "place"), " for more"])
    assert path in stream.getvalue()


def test_a_short_cell_below_the_first_one_stays_beside_its_heading() -> None:
    row = ("decisions/a-name-as-long-as-a-line-of-it.md", "of nine letters here", "Peak 1")
    assert table(40, ("note", "words", "title"), [row])[1:] == [
        "    words of nine letters here ·", "    title Peak 1",
    ]  # fmt: skip
