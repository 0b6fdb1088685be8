"""Who may read and publish: rights on the tables, given by the operator in SQL as docs/shared.md has it."""

from collections.abc import Callable
from pathlib import Path

import psycopg
import pytest

from memory_bank.base.errors import BadInput
from tests.shared.conftest import as_role, every_row, opened, publish, run_sql
from tests.shared.test_postgres import BLOG, SHOP, found

Make = Callable[..., str]


@pytest.fixture
def both(database: str) -> str:
    with opened(database) as engine:
        publish(engine, SHOP, "c1", {"a.md": "plans of the shop"})
        publish(engine, BLOG, "c1", {"b.md": "plans of the blog"})
    return database


@pytest.fixture
def granted(both: str, new_role: Make) -> Callable[[str], str]:
    """Give a new role the rights of `web_agents` or `ci` in the documentation; return its URL."""

    def grant(like: str) -> str:
        page = Path("docs/shared.md").read_text(encoding="utf-8")
        statements = [line for line in page.splitlines() if line.startswith("GRANT ")]
        assert len(statements) == 3
        role = new_role()
        for other in ("web_agents", "ci"):
            name = role if other == like else new_role()
            statements = [statement.replace(other, name) for statement in statements]
        run_sql(both, *statements)
        return as_role(both, role)

    return grant


def test_a_reader_finds_and_publishes_nothing(granted: Callable[[str], str]) -> None:
    with opened(granted("web_agents")) as engine:
        assert len(found(engine, "plans")) == 2
        for change in (
            lambda: publish(engine, SHOP, "c2", {"a.md": "mine"}),
            lambda: engine.remove(SHOP, ".memories"),
            engine.drop,
        ):
            with pytest.raises(BadInput, match="may not do that"):
                change()
        assert {head.commit for head in engine.heads()} == {"c1"}


def test_a_publisher_publishes_and_reads(granted: Callable[[str], str]) -> None:
    with opened(granted("ci")) as engine:
        publish(engine, SHOP, "c2", {"a.md": "new plans"})
        publish(engine, "git.example.org/acme/new", "c1", {"a.md": "first plans"})
        assert len(found(engine, "plans")) == 3
        with pytest.raises(BadInput):
            engine.drop()


@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("rest", "'[]'"), ("tags", "ARRAY[NULL]::text[]"), ("tags", "ARRAY[ARRAY['x']]"),
        ("created", "'NaN'"), ("updated", "'Infinity'"), ("path", "NULL"),
    ],
)  # fmt: skip
def test_what_is_written_past_our_program_keeps_its_form(
    both: str, column: str, value: str
) -> None:
    with pytest.raises(psycopg.errors.IntegrityError):
        run_sql(both, f"UPDATE memory_bank.notes SET {column} = {value}")


def test_other_data_of_a_stranger_are_texts(both: str) -> None:
    forged = '{"file_refs": ["a", 1, {"x": 1}], "links": "x", "n": 5, "entity_refs": [{"id": "i"}]}'
    run_sql(both, f"UPDATE memory_bank.notes SET rest = '{forged}'")
    with opened(both) as engine:
        for passage in engine.passages(every_row(both)).values():
            assert passage.note.rest == {
                "file_refs": ["a"], "links": "x", "entity_refs": [{"id": "i"}],
            }  # fmt: skip
