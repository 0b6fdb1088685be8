"""What is derived from the declarations of operations is as they are."""

from pathlib import Path

import pytest

from memory_bank.frontends import reference

FILES = reference.generate_files()


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_a_generated_file_is_up_to_date(file: Path) -> None:
    assert file.read_text(encoding="utf-8") == FILES[file], (
        "run: python -m memory_bank.frontends.reference"
    )
