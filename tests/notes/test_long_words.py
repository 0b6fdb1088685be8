"""One long word in a note takes no more time than its length says."""

import time
from collections.abc import Callable
from contextlib import suppress

import pytest

from memory_bank.base.documents import UNDATED
from memory_bank.base.errors import MemoryBankError
from memory_bank.notes import front_matter, parsing
from memory_bank.notes.source import build_document
from memory_bank.trust.citations import list_named_code

SIZE = 40_000
RECORD = "# Use it\n\n{}## Status\n\n{}\n\n## Context\n\nA.\n\n## Decision\n\nB.\n"


def seconds(work: Callable[[], object]) -> float:
    began = time.process_time()
    work()
    return time.process_time() - began


@pytest.mark.parametrize(
    "word", ["a" * SIZE, "s" * SIZE, "as [" * (SIZE // 4), "as [a](" * (SIZE // 7)]
)
@pytest.mark.parametrize("form", ["section", "list", "front matter"])
def test_a_long_status(word: str, form: str) -> None:
    text = RECORD.format("", word)
    if form == "list":
        text = RECORD.format(f"* Status: {word}\n\n", "accepted")
    elif form == "front matter":
        text = f"---\nstatus: {word}\n---\n{RECORD.format('', 'accepted')}"

    def read() -> None:
        note = parsing.parse("decisions/0001-use-it.md", text.encode())
        build_document(note, UNDATED, ".memories/", "")

    assert seconds(read) < 1


def test_a_long_name_of_code() -> None:
    assert seconds(lambda: list_named_code("a$" * SIZE)) < 1
    assert list_named_code("call $retry() or retry_all()").names >= {"retry", "retry_all"}


def test_long_blanks_behind_a_block_of_front_matter() -> None:
    text = f"---\ntitle: |{' ' * SIZE}x\n  words\n---\nBody\n"
    assert seconds(lambda: _set_title(text)) < 1
    assert front_matter.set_keys("---\ntitle: |  # why\n  old\n---\n", {"title": "new"}) == (
        "---\ntitle: new  # why\n---\n"
    )


def _set_title(text: str) -> None:
    with suppress(MemoryBankError):
        front_matter.set_keys(text, {"title": "new"})
