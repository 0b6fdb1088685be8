"""`lint --fix` writes where cited code is now."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from memory_bank.bank.bank import open_bank
from memory_bank.review.lint import fix, lint
from tests.git.history_builder import Made, make

CODE = "def retry(send):\n    for _ in range(3):\n        send()\n"
REST = "\n\ndef other(send):\n    return send.later()\n"
NOTE = "---\nfile_refs: [{0}]\n---\n# Retries\n\nSee [[{0}]] and [it](../{0}); `{0}` is text.\n"


@pytest.fixture
def root(homes: Iterator[Path]) -> Callable[..., Path]:
    def made(*commits: Made) -> Path:
        note = Made({"lib/a.py": CODE + REST, ".memories/n.md": NOTE.format("lib/a.py#retry")})
        return make(next(homes), [note, *commits])

    return made


def fixed(root: Path) -> tuple[list[str], str]:
    with open_bank(root, settings={"memory.embedder": "none"}) as bank:
        found = [one.rule for one in lint(bank)]
        fix(bank, lambda: lint(bank))
        return found, bank.store.read("n.md").text


@pytest.mark.parametrize("stays", [True, False])
def test_a_symbol_in_another_file_is_written(root: Callable[..., Path], *, stays: bool) -> None:
    moved = Made(
        {"lib/b.py": CODE} | ({"lib/a.py": REST} if stays else {}),
        removed=[] if stays else ["lib/a.py"],
    )
    found, text = fixed(root(moved))
    first = "moved-code" if stays else "missing-file-ref"
    assert sorted(found) == sorted([first, "moved-code", "moved-code"])
    assert text == NOTE.format("lib/b.py#retry").replace("`lib/b.py", "`lib/a.py")


def test_code_that_is_where_it_was_has_no_finding(root: Callable[..., Path]) -> None:
    found, text = fixed(root(Made({"lib/a.py": CODE.replace("3", "4") + REST})))
    assert (found, text) == ([], NOTE.format("lib/a.py#retry"))
