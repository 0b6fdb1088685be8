from pathlib import Path

from memory_bank.bank.logs import UpdateLog


def test_the_latest_time_is_known_and_goes_with_a_new_name(tmp_path: Path) -> None:
    log = UpdateLog(tmp_path / "state")
    assert log.all() == {}
    assert not (tmp_path / "state").exists(), "looking makes nothing"
    log.add("a.md", 20.0)
    log.add("a.md", 10.0)
    log.add("abc", 5.0)
    assert log.all() == {"a.md": 20.0, "abc": 5.0}
    assert log.rename("a.md", "b.md") == ""
    assert log.all() == {"b.md": 20.0, "abc": 5.0}
    log.close()


def test_a_damaged_log_is_begun_anew(tmp_path: Path) -> None:
    repaired: list[int] = []
    log = UpdateLog(tmp_path, lambda: repaired.append(1))
    log.add("a.md", 20.0)
    log.close()
    (tmp_path / "updates.db").write_bytes(b"garbage" * 3000)
    log = UpdateLog(tmp_path, lambda: repaired.append(1))
    assert log.all() == {}
    assert log.add("b.md", 1.0) == ""
    assert (log.all(), repaired) == ({"b.md": 1.0}, [1])
    log.close()
