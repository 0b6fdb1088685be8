from collections.abc import Callable
from pathlib import Path

import pytest

from memory_bank.bank import hook_log
from memory_bank.bank.bank import Bank
from memory_bank.notes.merging import conflicts
from memory_bank.notes.source import NotesSource
from memory_bank.review.doctor import doctor
from memory_bank.review.records import BankHealth

Opening = Callable[..., Bank]


def test_a_healthy_bank_has_nothing_to_mend(folder: Path, opening: Opening) -> None:
    (folder / "a.md").write_text("[[b]] [[ghost]]")
    (folder / "b.md").write_text("x")
    health = doctor(opening(folder))
    assert health.healthy
    assert health.clear
    assert (health.bank, health.notes, health.passages) == (str(folder), 2, 2)
    assert health.embedder == "none"


def test_each_ailment_is_named(folder: Path, opening: Opening) -> None:
    (folder / "binary.md").write_bytes(b"x\0")
    (folder / "big.md").write_text("x" * 1001)
    (folder / "link.md").symlink_to("nowhere")
    (folder / "UPPER.MD").write_text("x")
    (folder / "broken.md").write_text("---\nid: x\ntags: [\n---\n")
    (folder / "latin.md").write_bytes(b"caf\xe9")
    (folder / "a.md").write_text("---\nid: same\n---\n[[b#Nowhere]]")
    (folder / "b.md").write_text("---\nid: same\n---\n")
    health = doctor(opening(folder, memory__max_note_bytes=1000))
    assert not health.healthy
    found = of(health)
    assert found == {
        "bad-front-matter": ["broken.md"],
        "broken-link": ["a.md"],
        "empty-note": ["b.md", "broken.md"],
        "fault": ["latin.md"],
        "same-id": ["a.md", "b.md"],
        "unindexed": ["UPPER.MD", "big.md", "binary.md", "link.md"],
    }
    reasons = {one.path: one.message for one in health.findings if one.rule == "unindexed"}
    assert "NUL" in reasons["binary.md"]
    assert "1001 bytes" in reasons["big.md"]
    assert [one.severity for one in health.findings] == ["error"] * 7 + ["warning"] * 4


def of(health: BankHealth) -> dict[str, list[str]]:
    """Return the paths of the findings of each rule."""
    found: dict[str, list[str]] = {}
    for one in sorted(health.findings):
        found.setdefault(one.rule, []).append(one.path)
    return found


def test_what_is_only_worth_knowing_leaves_a_bank_healthy(folder: Path, opening: Opening) -> None:
    (folder / "what?.md").write_text("x")
    health = doctor(opening(folder))
    assert of(health) == {"odd-name": ["what?.md"]}
    assert health.healthy
    assert not health.clear


def test_a_bank_that_a_former_version_indexed_is_looked_at_anew(
    folder: Path, opening: Opening, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "a.md").write_text("<<<<<<< HEAD\nx\n=======\ny\n>>>>>>> other\n")
    with monkeypatch.context() as former:
        former.setattr(NotesSource, "fingerprint", "2")
        former.setattr(conflicts, "find", lambda text: [])
        bank = opening(folder)
        assert doctor(bank).healthy
        bank.close()
    assert not doctor(opening(folder)).healthy


def test_what_is_damaged_is_mended_and_told(folder: Path, opening: Opening) -> None:
    (folder / "a.md").write_text("x")
    bank = opening(folder)
    bank.sync()
    bank.close()
    for file in (folder / ".index/keyword").iterdir():
        file.write_bytes(b"garbage")
    health = doctor(bank)
    assert health.repaired == ("keyword",)
    assert health.healthy
    assert doctor(bank).repaired == ()


def test_an_embedder_that_can_not_be_had_is_a_problem(folder: Path, opening: Opening) -> None:
    (folder / "a.md").write_text("x")
    health = doctor(opening(folder, memory__embedder="onnx"))
    assert not health.healthy
    assert health.problem


def test_why_no_code_is_read_is_said(folder: Path, opening: Opening, project: Path) -> None:
    health = doctor(opening(folder))
    assert health.no_code == f"{folder} is in no git work tree: there is no code to read"
    assert health.healthy
    assert doctor(opening(project / ".memories")).no_code is None


def test_what_failed_in_hooks_of_another_bank_is_not_listed(
    folder: Path, opening: Opening, project: Path
) -> None:
    bank, other = opening(folder), opening(project / ".memories")
    hook_log.record_failure("codex", "Stop", "it broke", root=str(other.layout.root))
    hook_log.record_failure("codex", "Stop", "unknown place")
    assert doctor(bank).hooks is None
    assert doctor(bank).clear
    assert "it broke" in (doctor(other).hooks or "")
    assert not doctor(other).clear
    assert doctor(other).healthy


GERMAN = "Die Bilder werden vor dem Speichern auf zwei Größen verkleinert, weil viele groß sind.\n"


@pytest.mark.parametrize(
    ("text", "embedder", "named"),
    [
        (GERMAN, "static", True),
        ("画像は保存する前に二つの大きさに縮小されます。\n", "static", True),
        (GERMAN, "none", False),
        (
            "The pictures are made smaller before they are stored, since many are big.\n",
            "static",
            False,
        ),
    ],
)
def test_the_embedder_for_other_languages_is_named_where_most_notes_are_in_one(
    text: str, embedder: str, named: bool, folder: Path, opening: Opening
) -> None:
    for name in ("a", "b", "c"):
        (folder / f"{name}.md").write_text(text, encoding="utf-8")
    hint = doctor(opening(folder, memory__embedder=embedder)).language or ""
    assert ("embedder use multilingual" in hint) is named
    assert ("markdown-memory-bank[multilingual]" in hint) is named
