"""Every awkward real file is indexed, or listed by name with the reason; none of them changes."""

import re
import shutil
from pathlib import Path

import pytest

from memory_bank.bank.bank import Bank, open_bank
from memory_bank.memory.retrieval.recall import recall
from memory_bank.notes import front_matter
from memory_bank.notes.characters import decode
from memory_bank.review.doctor import doctor
from memory_bank.search.manifest import document_rows
from tests.search.views import view_of


@pytest.fixture
def odd(shared: Path, tmp_path: Path) -> Path:
    folder = tmp_path / "odd"
    shutil.copytree(shared / "odd", folder)
    return folder


def _notes(folder: Path) -> dict[str, bytes]:
    return {
        file.relative_to(folder).as_posix(): file.read_bytes()
        for file in folder.rglob("*")
        if file.suffix in {".md", ".markdown"} and ".index" not in file.parts
    }


@pytest.mark.slow
def test_all_are_indexed_or_listed_and_stay(odd: Path) -> None:
    before = _notes(odd)
    with open_bank(odd, settings={"memory.embedder": "static"}) as bank:
        health = doctor(bank)
        indexed = {path for _, path in document_rows.all_keys(view_of(bank).manifest)}
        reasons = {one.path: one.message for one in health.findings if one.rule == "unindexed"}
        for path in before:
            assert path in indexed or reasons.get(path), path
        assert set(reasons.values()).isdisjoint({""})
        assert len(reasons) <= 3
        _each_is_found(bank, before, set(reasons))
    assert _notes(odd) == before


def _each_is_found(bank: Bank, files: dict[str, bytes], unindexed: set[str]) -> None:
    """Ask for each file's longest words in its body, in its folder: it answers."""
    missing = []
    for path, data in files.items():
        if path in unindexed:
            continue
        body = front_matter.split(decode(data).text).body
        words = sorted(set(re.findall(r"[^\W\d_]{5,20}", body)), key=len)[-6:]
        if words:
            folder = path.rpartition("/")[0]
            question = f'{" ".join(words)} in:"{folder}"'
            found = recall(
                bank, question, 100, "lexical", include_archived=True, count_access=False
            )
            if path not in {note.path for note in found.notes}:
                missing.append(path)
    assert missing == []
