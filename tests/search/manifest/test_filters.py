from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest

from memory_bank.bank.bank import Bank
from memory_bank.search.manifest import document_rows, filters
from memory_bank.search.manifest.filters import Condition
from tests.search.views import view_of
from tests.support.files import write_files

NOTES = {
    "decisions/a.md": "---\ntype: Decision\ntags: [search, words]\ncreated_at: 2026-01-10\n"
    "file_refs: [src/a.py]\nteam: Core\npriority: 2\n---\n[[b]]",
    "decisions/deep/b.md": "---\ntype: fact\ntags: [search]\ncreated_at: 2026-02-10\n"
    "updated_at: 2026-05-01\nteam: [core, web]\n---\n[[not yet.md]]",
    "facts/c.md": "---\ntype: fact\nstatus: archived\ntags: [search]\ncreated_at: 2025-01-01\n---\n",
    "facts/d.md": "---\ncreated_at: 2026-03-01\nstatus: draft\n---\nSee [[src/a.py]].",
    "broken.md": "\0",
}


@pytest.fixture
def bank(folder: Path, opening: Callable[..., Bank]) -> Bank:
    write_files(folder, NOTES)
    opened = opening(folder)
    opened.catch_up()
    return opened


def within(bank: Bank, *conditions: Condition, hidden: bool = False) -> str:
    base = view_of(bank).manifest
    scope = filters.find_scope(base, conditions, hidden=hidden)
    live = {
        number: path
        for number, path in document_rows.all_keys(base)
        if not path.startswith("broken")
    }
    return " ".join(sorted(Path(path).stem for number, path in live.items() if number in scope))


def day(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


@pytest.mark.parametrize(
    ("key", "value", "paths"),
    [
        ("tag", "search", "a b"),
        ("tag", "#Search", "a b"),
        ("tag", "words,nothing", "a"),
        ("tag", "nothing", ""),
        ("type", "decision", "a"),
        ("type", "FACT, decision", "a b"),
        ("status", "archived", "c"),
        ("status", "active,archived", "a b c d"),
        ("in", "decisions", "a b"),
        ("in", "decisions/deep/", "b"),
        ("in", "decis", ""),
        ("links", "b", "a"),
        ("links", "decisions/deep/b.md", "a"),
        ("links", "src/a.py", "a d"),
        ("links", "SRC/A.PY", "a d"),
        ("links", "not yet", "b"),
        ("links", "not yet.md", "b"),
        ("team", "CORE", "a b"),
        ("team", "web", "b"),
        ("priority", "2", "a"),
        ("since", day("2026-02-01"), "b d"),
        ("since", day("2026-04-01"), "b"),
        ("before", day("2026-02-01"), "a"),
    ],
)
def test_a_condition_is_met_by_just_these(
    bank: Bank, key: str, value: str | datetime, paths: str
) -> None:
    assert within(bank, Condition(key, value)) == paths
    rest = set("abd") - set(paths.split())
    if key != "status":
        assert within(bank, Condition(key, value, negated=True)) == " ".join(sorted(rest))


def test_all_conditions_must_be_met(bank: Bank) -> None:
    tag, kind = Condition("tag", "search"), Condition("type", "fact")
    assert within(bank, tag, kind) == "b"
    assert within(bank, tag, kind, hidden=True) == "b c"
    assert within(bank, tag, Condition("type", "fact", negated=True)) == "a"


def test_without_a_condition_all_but_the_archived_are_in_scope(bank: Bank) -> None:
    assert within(bank) == "a b d"
    assert within(bank, hidden=True) == "a b c d"


def test_a_status_of_the_users_own_is_kept(bank: Bank) -> None:
    assert within(bank, Condition("status", "draft")) == "d"


def test_the_users_keys_can_be_filtered_by(bank: Bank) -> None:
    assert {"team", "priority"} <= filters.list_fields(view_of(bank).manifest)
