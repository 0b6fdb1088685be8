"""Notes with the same content or title are found."""

from collections.abc import Callable
from pathlib import Path

from memory_bank.bank.bank import Bank
from memory_bank.memory.move_and_merge import merge
from memory_bank.memory.remember import remember
from tests.review.rules.conftest import Lint

SAME = "same-content"


def write(place: Path, name: str, created: str, content: str, status: str = "active") -> None:
    file = place / f"{name}.md"
    file.parent.mkdir(exist_ok=True)
    file.write_text(f"---\ncreated_at: {created}\nstatus: {status}\n---\n{content}")


def test_the_newer_of_two_is_to_be_merged_into_the_older(folder: Path, lint: Lint) -> None:
    write(folder, "a", "2026-01-02", "Same.\n")
    write(folder, "b", "2026-01-01", "\r\nSame.  \r\n")
    write(folder, "c", "2026-01-03", "Same.\n")
    write(folder, "d", "2026-01-03", "Other.\n")
    found = lint(folder, SAME)
    assert [(one.path, one.message, one.fix) for one in found] == [
        (path, "has the same content as b.md", "merge it into b.md, which is older")
        for path in ("a.md", "c.md")
    ]
    assert {one.severity for one in found} == {"warning"}


def test_merging_them_as_told_keeps_the_older_id_and_leaves_nothing_to_find(
    folder: Path, lint: Lint, opening: Callable[..., Bank]
) -> None:
    (folder / "a.md").write_text("---\nid: aaaaaaaaaaaa\ncreated_at: 2026-01-02\n---\nSame.\n")
    (folder / "b.md").write_text("---\nid: bbbbbbbbbbbb\ncreated_at: 2026-01-01\n---\nSame.\n")
    (one,) = lint(folder, SAME)
    assert one.fix == "merge it into b.md, which is older"
    assert merge(opening(folder), [one.path, "b.md"], "b", "Same.").note_id == "bbbbbbbbbbbb"
    assert lint(folder, SAME) == []


def test_archived_and_empty_notes_are_left_alone(folder: Path, lint: Lint) -> None:
    write(folder, "a", "2026-01-01", "Same.\n", "archived")
    write(folder, "b", "2026-01-02", "Same.\n")
    write(folder, "c", "2026-01-02", "")
    write(folder, "d", "2026-01-02", "\n")
    assert lint(folder, SAME) == []


def test_what_stays_on_this_machine_may_say_what_git_tracks(
    project: Path, lint: Lint, opening: Callable[..., Bank]
) -> None:
    bank = opening(project)
    for source in ("session", "manual"):
        remember(
            bank,
            "Ports are odd.",
            type=source if source == "session" else "fact",
            source_type=source,
        )
    (project / ".gitignore").write_text("private*\n")
    write(project / ".memories", "private", "2026-01-01", "Ports are even.")
    write(project / ".memories", "public", "2026-01-02", "Ports are even.")
    assert lint(project, SAME) == []
    write(project / ".memories", "private-2", "2026-01-03", "Ports are even.")
    assert [(one.path, one.fix) for one in lint(project, SAME)] == [
        ("private-2.md", "merge it into private.md, which is older")
    ]


def test_the_newer_of_two_notes_of_one_title_is_named(folder: Path, lint: Lint) -> None:
    write(folder, "older", "2026-01-01", "# Retries\n\nThree times.\n")
    write(folder, "newer", "2026-01-02", "# retries\n\nFive times.\n")
    write(folder, "archived", "2026-01-03", "# Retries\n\nOnce.\n", "archived")
    write(folder, "copy", "2026-01-04", "# Retries\n\nThree times.\n")
    write(folder, "other", "2026-01-05", "# Payments\n\nThree times.\n")
    found = lint(folder, "same-title")
    assert [(one.path, one.message) for one in found] == [("newer.md", "has the title of older.md")]
