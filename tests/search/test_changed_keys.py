"""What is compared at the keys that changed is what a comparison of all notes finds."""

import random
import sqlite3
import sys
from collections.abc import Callable, Collection
from contextlib import closing
from pathlib import Path

import pytest

from memory_bank.bank.bank import Bank
from memory_bank.bank.note_files import build_roots
from memory_bank.base.documents import Scan
from memory_bank.notes.source import NotesSource
from memory_bank.search import index
from memory_bank.search.document_changes import DocumentChanges, compare
from memory_bank.search.manifest.manifest import PENDING, Manifest
from tests.notes.test_queued_changes import change
from tests.search.views import view_of


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells of a change at once")
@pytest.mark.parametrize(
    "seed", [0, 1, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(2, 6))]
)
def test_changes_are_found_as_by_a_comparison_of_all_notes(
    tmp_path: Path, opening: Callable[..., Bank], monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    rng, asked = random.Random(seed), list[Collection[str] | None]()

    def counted(
        manifest: Manifest, scan: Scan, keys: Collection[str] | None = None
    ) -> DocumentChanges:
        asked.append(keys)
        return compare(manifest, scan, keys)

    monkeypatch.setattr(index, "compare", counted)
    project = tmp_path.resolve()
    folder, docs = project / ".memories", project / "docs"
    for place in (folder / "docs", folder / "other", docs / "two"):
        place.mkdir(parents=True)
    for number in range(20):
        (folder / "other" / f"n{number}.md").write_text(f"note {number}")
    for name in ("a.md", "b.md", "c.mdc", "index.md", "ü.md"):
        (docs / name).write_text("has the path of a note that the bank may have, too")
    banks = [opening(folder, memory__include=["docs"]) for _ in range(2)]
    for _ in range(6):
        banks[0].catch_up()
    for _ in range(50):
        for _ in range(rng.choice((1, 1, 2))):
            change(rng.choice((folder, folder / "docs", folder / "docs", docs)), rng)
        bank = banks[rng.random() < 0.2]
        indexer, manifest = view_of(bank).index.indexer, view_of(bank).manifest
        roots = build_roots(lambda b=bank: b.layout, bank.settings)  # type: ignore[misc]
        expected = compare(manifest, NotesSource(roots, max_bytes=1 << 20).scan())
        assert indexer._find_changes() == expected
        if rng.random() < 0.8:
            bank.catch_up()
        if rng.random() < 0.2:  # as a process that ended amid a batch leaves it
            sql = f"UPDATE documents SET state = {PENDING} WHERE key GLOB '*{rng.randrange(10)}.md'"
            with closing(sqlite3.connect(manifest.file)) as other, other:
                other.execute(sql)
    by_key = [keys for keys in asked if keys is not None]
    assert len(by_key) > len(asked) / 5  # on a busy machine the kernel tells late
