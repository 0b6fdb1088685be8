"""A bank of notes to link, and a text with the cursor in it."""

from collections.abc import Callable
from pathlib import Path

import pytest

from memory_bank.bank.bank import Bank
from memory_bank.frontends.lsp.open_texts import Texts

Make = Callable[..., Texts]


def cursor(text: str) -> tuple[str, int]:
    """Return a text without its cursor, `‸`, and the offset where it was."""
    return text.replace("‸", ""), text.index("‸")


@pytest.fixture
def make(tmp_path: Path, opening: Callable[..., Bank]) -> Make:
    """Write the notes of a project's bank, index them, and return their texts with unsaved ones."""

    def made(notes: dict[str, str], **unsaved: str) -> Texts:
        root = tmp_path / "project" / ".memories"
        for name, text in notes.items():
            file = root / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(text.encode())
        bank = opening(tmp_path / "project")
        bank.catch_up()
        return Texts(bank, {f"{name}.md": text for name, text in unsaved.items()})

    return made
