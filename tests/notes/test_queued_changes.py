"""A scan of a folder whose changes are queued has what a scan of all files has."""

import os
import random
import shutil
import sys
from pathlib import Path

import pytest

from memory_bank.notes import roots
from memory_bank.notes.roots import NoteRoot

_NAMES = ("a.md", "b.md", "c.mdc", "x.MD", "index.md", ".hidden.md", "4913", "a.md~", "ü.md")


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells of a change at once")
@pytest.mark.parametrize("seed", range(8))
def test_changes_are_seen_as_by_a_scan_of_all_files(folder: Path, seed: int) -> None:
    rng = random.Random(seed)
    for name in ("one", "two/three"):
        (folder / name).mkdir(parents=True)
    root = NoteRoot(folder)
    for _ in range(5):
        scan = root.scan()
    for _ in range(60):
        for _ in range(rng.choice((1, 1, 1, 2, 3))):
            change(folder, rng)
        before, scan, expected = scan, root.scan(), NoteRoot(folder).scan()
        assert (scan.signatures, scan.refused) == (expected.signatures, expected.refused)
        keys = scan.changed_since(before)
        names = before.signatures.keys() | scan.signatures.keys()
        changed = {key for key in names if before.signatures.get(key) != scan.signatures.get(key)}
        assert keys is None or changed <= set(keys)
    root.close()


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells of a change at once")
def test_a_changed_note_needs_no_scan_of_all_files(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "a.md").write_text("one")
    root = NoteRoot(folder)
    for _ in range(5):
        before = root.scan()
    monkeypatch.setattr(roots, "scan", None)
    (folder / "a.md").write_text("two")
    after = root.scan()
    assert after.signatures.keys() == before.signatures.keys()
    assert after != before
    (folder / "a.md").unlink()
    (folder / "b.md").write_text("new")
    assert list(root.scan().signatures) == ["b.md"]
    root.close()


def change(folder: Path, rng: random.Random) -> None:
    """Change something in a folder."""
    places = [
        folder,
        *(path for path in folder.rglob("*") if path.is_dir() and not path.is_symlink()),
    ]
    file = rng.choice(places) / rng.choice(_NAMES)
    kind = rng.randrange(8)
    if kind < 3 and not file.is_symlink():
        file.write_text(str(rng.random()))
    elif kind == 3:
        file.unlink(missing_ok=True)
    elif kind == 4 and file.exists():
        file.rename(rng.choice(places) / rng.choice(_NAMES))
    elif kind == 5:
        (file.parent / f"folder{rng.randrange(3)}").mkdir(exist_ok=True)
    elif kind == 6:
        shutil.rmtree(folder / f"folder{rng.randrange(3)}", ignore_errors=True)
    elif kind == 7 and not os.path.lexists(file):
        file.symlink_to(folder.parent)
