from pathlib import Path

import pytest

from memory_bank.bank.logs import EditLog


@pytest.fixture
def log(tmp_path: Path) -> EditLog:
    return EditLog(tmp_path / "state")


def test_agents_are_named_in_the_order_of_their_first_change(log: EditLog) -> None:
    assert log.of(["a"]) == {}
    for agent, when in (("zed", 1.0), ("codex", 2.0), ("zed", 3.0)):
        assert log.add(["a", "b"], agent, when) == ""
    log.add(["b"], "early", 0.5)
    assert log.of(["a", "b", "c"]) == {"a": ("zed", "codex"), "b": ("early", "zed", "codex")}
    assert log.times(["a"]) == ((1.0, "zed"), (2.0, "codex"), (3.0, "zed"))


def test_what_is_known_goes_with_a_new_name(log: EditLog) -> None:
    log.add(["a", "b"], "codex", 1.0)
    log.add(["a"], "zed", 2.0)
    assert log.rename("a", "b") == ""
    assert log.of(["a", "b"]) == {"b": ("codex", "zed")}


def test_a_note_has_what_is_known_of_those_that_it_was_made_of(log: EditLog) -> None:
    log.add(["a"], "codex", 1.0)
    log.add(["b"], "zed", 2.0)
    assert log.inherit("c", ["a", "b", "none"]) == ""
    assert log.of(["c"]) == {"c": ("codex", "zed")}


def test_looking_makes_no_file(log: EditLog, tmp_path: Path) -> None:
    log.of(["a"])
    assert log.rename("a", "b") == ""
    assert log.inherit("a", ["b"]) == ""
    assert list(tmp_path.iterdir()) == []


def test_a_damaged_log_is_set_aside_and_begun_anew(log: EditLog, tmp_path: Path) -> None:
    log.add(["a"], "codex", 1.0)
    log.close()
    (tmp_path / "state/edits.db").write_bytes(b"garbage" * 3000)
    repaired: list[str] = []
    again = EditLog(tmp_path / "state", lambda: repaired.append("edits"))
    assert again.of(["a"]) == {}
    assert again.add(["a"], "zed", 2.0) == ""
    assert again.of(["a"]) == {"a": ("zed",)}
    assert repaired == ["edits"]
    assert (tmp_path / "state/edits.db.damaged").exists()


def test_what_can_not_be_written_down_is_said_not_raised(tmp_path: Path) -> None:
    (tmp_path / "state").write_text("a file where the folder should be")
    told = EditLog(tmp_path / "state").add(["a"], "codex", 1.0)
    assert told.startswith("who changed it is not written down: ")
