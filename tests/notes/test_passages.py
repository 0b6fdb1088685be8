"""Passages: sizes, where they are cut, their lines, and that none of the text is lost."""

import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_bank.base.documents import Passage, Section
from memory_bank.notes.passages import LONG, split_passages

SIZE = 80
WHOLE = SIZE * LONG  # a block or line up to here is not cut
NEWLINE = re.compile(r"\r\n|\r|\n")


def section(text: str, line: int = 1) -> Section:
    """Make a section of a text."""
    return Section(line, line + len(NEWLINE.findall(text)), ("H",), level=1, text=text)


def cut(text: str, size: int = SIZE) -> list[str]:
    """List the texts of the passages, and check their lines."""
    found = split_passages(section(text, 10), size)
    check_lines(text, found)
    return [passage.text for passage in found]


def check_lines(text: str, found: tuple[Passage, ...]) -> None:
    """Assert that each passage stands on its lines, in order."""
    lines = NEWLINE.split(text)
    for passage in found:
        span = "\n".join(lines[passage.line - 10 : passage.end_line - 10])
        assert passage.text in span
        assert passage.text.count("\n") == passage.end_line - passage.line - 1
    assert [passage.line for passage in found] == sorted(passage.line for passage in found)


def test_a_short_section_is_one_passage() -> None:
    text = "\r\n# Head\r\n\r\n    code\rmore\n\n"
    assert split_passages(section(text, 3)) == (Passage(4, 8, "# Head\n\n    code\nmore"),)
    assert len(cut("x" * 100)) == 1
    assert len(cut(f"{'x' * 48}\n\n{'y' * 48}\n\n\n")) == 2
    assert cut("\n \n") == []


def test_paragraphs_stay_whole_and_a_heading_goes_with_what_follows() -> None:
    words = "w" * 70
    text = f"# Head\n\n{words}\n\nshort\n\n{words}\n{words[:20]}\n"
    assert cut(text) == [f"# Head\n\n{words}", f"short\n\n{words}\n{words[:20]}"]


def test_list_items_and_rows_are_blocks() -> None:
    items = [f"- item {n} {'x' * 30}\n  goes on" for n in range(4)]
    assert cut("\n".join(items)) == items
    rows = [f"| row {n} | {'x' * 20} |" for n in range(6)]
    assert cut("\n".join(rows)) == ["\n".join(rows[:2]), "\n".join(rows[2:4]), "\n".join(rows[4:])]


def test_a_fence_is_a_block_with_its_blank_lines() -> None:
    fence = "```py\na = 1\n\n- no item\n\nb = 2\n```"
    text = f"{'Before. ' * 8}\n{fence}\n{'After. ' * 9}\n"
    before, code, after = cut(text)
    assert (before, code, after) == (("Before. " * 8).strip(), fence, ("After. " * 9).strip())


def test_a_block_stays_whole_unless_it_is_very_long() -> None:
    lines = [f"line {n:02} {'x' * 31}" for n in range(WHOLE // 40 + 10)]
    whole = "\n".join(lines[: WHOLE // 40 - 1])
    assert cut(f"{whole}\n\n{whole}") == [whole, whole]
    assert cut("\n".join(lines)) == ["\n".join(lines[n : n + 2]) for n in range(0, len(lines), 2)]


def test_only_a_very_long_line_is_cut_inside() -> None:
    whole = "word " * (WHOLE // 5 - 2)
    assert cut(f"{whole}\n\nnext\n\n{whole}") == [whole.strip(), f"next\n\n{whole.strip()}"]
    sentence = "This is a sentence of some 40 characters."
    texts = cut(f"{sentence} " * (WHOLE // 40 + 2))
    assert all(len(text) <= WHOLE and text.endswith(sentence) for text in texts)
    texts = cut("word " * WHOLE)
    assert all(len(text) <= WHOLE and text.endswith("word") for text in texts)
    assert len(texts) >= 5
    texts = cut("x" * WHOLE * 2)
    assert len({len(text) for text in texts[:-1]}) == 1 < len(texts)
    texts = cut("文。" * WHOLE)
    assert all(text.endswith("。") for text in texts)
    assert len(texts) > 1


def test_lines_of_pieces_are_those_of_their_line() -> None:
    text = "# H\n\n" + "word " * (WHOLE // 4) + "\nlast"
    found = split_passages(section(text, 10), SIZE)
    assert len(found) > 2
    assert {(passage.line, passage.end_line) for passage in found[1:-1]} == {(12, 13)}
    assert found[-1].end_line == 14
    assert found[0].text.startswith("# H\n\nword")
    assert (found[0].line, found[0].end_line) == (10, 13)


BITS = (
    *("\n", "\n\n", "\r\n", "\r", "word ", "A sentence. ", "x" * 50, "- item", "1. ", "| a | b |"),
    *("```", "~~~", "> ", "    ", "# ", "\t", "\x0b", "\u2028", "\u00a0", "。", "\0"),
)


@given(st.lists(st.sampled_from(BITS), max_size=60).map("".join), st.integers(1, 120))
def test_every_character_is_in_exactly_one_passage(text: str, size: int) -> None:
    texts = cut(text, size)
    assert "".join("".join(texts).split()) == "".join(text.split())
    assert not any(not words.strip() for words in texts)
    assert all(len(words) <= size * LONG for words in texts)


@pytest.mark.slow
@pytest.mark.parametrize(
    "text",
    ["x" * 1_000_000, "word " * 200_000, "line\n" * 100_000, "- a\n" * 100_000, "```\n" * 100_000],
    ids=["no space", "one line", "lines", "items", "fences"],
)
def test_it_takes_linear_time(text: str) -> None:
    began = time.process_time()
    assert split_passages(section(text))
    assert time.process_time() - began < 1
