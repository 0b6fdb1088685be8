"""Who may read and publish what: rows are kept apart by the server, not by our program."""

from collections.abc import Callable, Iterator

import psycopg
import pytest

from memory_bank.base.errors import BadInput, SharedUnavailable
from memory_bank.shared.engines.base import Where
from memory_bank.shared.word_weights import number_of
from tests.shared.conftest import BANK, as_role, database_of, every_row, opened, publish, run_sql
from tests.shared.test_postgres import BLOG, SHOP, asked, found

Make = Callable[..., str]


@pytest.fixture
def both(database: str) -> str:
    with opened(database) as engine:
        publish(engine, SHOP, "c1", {"a.md": "secret plans of the shop"})
        publish(engine, BLOG, "c1", {"b.md": "secret plans of the blog"})
    return database


def test_a_role_without_a_grant_finds_no_index(both: str, new_role: Make) -> None:
    with opened(as_role(both, new_role())) as engine, pytest.raises(SharedUnavailable) as caught:
        engine.heads()
    assert caught.value.reason == "shared_no_index"


def test_a_role_reads_what_it_is_granted_and_counts_nothing_else(both: str, new_role: Make) -> None:
    role = new_role()
    with opened(both) as engine:
        assert engine.administration.grant(role, repo=SHOP)
        assert not engine.administration.grant(role, repo=SHOP)
    with opened(as_role(both, role)) as engine:
        assert [head.repo for head in engine.heads()] == [SHOP]
        assert engine.size() == 1
        assert engine.frequencies([number_of("secret"), number_of("blog")]) == {
            number_of("secret"): 1
        }
        assert found(engine, "secret plans blog") == ["secret plans of the shop"]
        assert len(engine.nearest([1, 0, 0, 0], 10, Where())) == 1
        assert found(engine, "secret", Where(repos=(BLOG,))) == []
        shown = engine.passages(every_row(both)).values()
        assert [one.text for one in shown] == ["secret plans of the shop"]


def test_a_grant_of_a_team_covers_its_repositories_as_they_change(
    both: str, new_role: Make
) -> None:
    role = new_role()
    with opened(both) as owner, opened(both) as admin:
        del owner
        admin.administration.grant(role, team="web")
        with opened(as_role(both, role)) as asker:
            assert asker.heads() == []
            admin.administration.assign(BLOG, "web")
            assert [head.teams for head in asker.heads()] == [("web",)]
            admin.administration.assign(BLOG, "web", remove=True)
            assert asker.heads() == []


def test_members_of_a_granted_role_read_the_same(both: str, new_role: Make, server: object) -> None:
    group, member = new_role("group"), new_role("member")
    run_sql(server.get_uri(), f"GRANT {group} TO {member}")  # type: ignore[attr-defined]
    with opened(both) as engine:
        engine.administration.grant(group, repo=BLOG)
    with opened(as_role(both, member)) as engine:
        assert [head.repo for head in engine.heads()] == [BLOG]


def test_what_is_revoked_can_no_longer_be_read(both: str, new_role: Make) -> None:
    role = new_role()
    with opened(both) as engine:
        engine.administration.grant(role, repo=SHOP)
        engine.administration.grant(role, repo=BLOG)
        assert engine.administration.revoke(role, repo=SHOP) == 1
    with opened(as_role(both, role)) as asker:
        assert [head.repo for head in asker.heads()] == [BLOG]
    with opened(both) as engine:
        assert engine.administration.revoke(role) == 1
    with opened(as_role(both, role)) as asker, pytest.raises(SharedUnavailable):
        asker.heads()


def test_a_publisher_writes_its_repository_only(both: str, new_role: Make) -> None:
    role = new_role()
    with opened(both) as engine:
        engine.administration.allow_publishing(role, SHOP)
    with opened(as_role(both, role)) as engine:
        publish(engine, SHOP, "c2", {"a.md": "new plans"})
        errors = []
        for repo in (BLOG, "git.example.org/acme/unknown"):
            with pytest.raises(BadInput) as caught:
                publish(engine, repo, "c2", {"a.md": "mine"})
            errors.append(caught.value.message.replace(repo, "REPO"))
            with pytest.raises(BadInput):
                engine.remove(repo, BANK)
        assert errors[0] == errors[1]
        assert [head.repo for head in engine.heads()] == [SHOP]
    with opened(both) as engine:
        assert {head.repo: head.commit for head in engine.heads()} == {SHOP: "c2", BLOG: "c1"}


@pytest.fixture
def execute(both: str, new_role: Make) -> Iterator[Callable[[str], int]]:
    """Yield what executes a statement as a publisher of a shop, and counts the rows that it meets."""
    role = new_role()
    with opened(both) as engine:
        engine.administration.allow_publishing(role, SHOP)
    ((blog,),) = run_sql(both, f"SELECT repo FROM memory_bank.repositories WHERE name = '{BLOG}'")
    with psycopg.connect(as_role(both, role), autocommit=True) as connection:
        yield lambda said: connection.execute(said.format(blog=blog).encode()).rowcount


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE memory_bank.heads SET commit = 'x' WHERE repo = {blog}",
        "DELETE FROM memory_bank.passages WHERE repo = {blog}",
        "DELETE FROM memory_bank.notes WHERE repo = {blog}",
        "UPDATE memory_bank.frequencies SET passages = 0 WHERE repo = {blog}",
    ],
)
def test_statements_of_a_publisher_meet_no_row_of_others(
    execute: Callable[[str], int], statement: str
) -> None:
    assert execute(statement) == 0


@pytest.mark.parametrize(
    "statement",
    [
        "INSERT INTO memory_bank.heads VALUES ({blog}, 'x', 'c', 1, 1, '', 0, 0)",
        "UPDATE memory_bank.heads SET repo = {blog}",
        "INSERT INTO memory_bank.frequencies VALUES ({blog}, 1, 1)",
        "INSERT INTO memory_bank.publishers SELECT current_user, {blog}",
        "INSERT INTO memory_bank.grants SELECT current_user, {blog}, NULL",
        "INSERT INTO memory_bank.teams VALUES ({blog}, 'mine')",
        "SELECT * FROM memory_bank.publishers",
        "SELECT * FROM memory_bank.grants",
        "UPDATE memory_bank.meta SET value = '2' WHERE key = 'version'",
        "INSERT INTO memory_bank.repositories (name) VALUES ('mine')",
        "CREATE TABLE memory_bank.mine (x integer)",
    ],
)
def test_statements_of_a_publisher_beyond_its_rights_are_refused(
    execute: Callable[[str], int], statement: str
) -> None:
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        execute(statement)


def test_the_search_by_words_runs_as_its_owner_but_gives_only_rows_of_the_asker(
    both: str, new_role: Make
) -> None:
    role = new_role()
    with opened(both) as engine:
        engine.administration.grant(role, repo=SHOP)
        vector = engine.administration.vector_schema()
    word = number_of("secret")
    sql = (
        f"SELECT count(*) FROM memory_bank.by_words(ARRAY[{word}],"
        f" '{{{word}:1}}/999999999'::{vector}.sparsevec, 100, NULL, NULL, '{{}}', NULL, NULL, true)"
    )
    assert run_sql(as_role(both, role), sql) == [(1,)]
    assert run_sql(both, sql) == [(2,)]


def test_a_row_that_a_publisher_numbers_itself_is_not_taken_for_that_of_another(
    both: str, new_role: Make
) -> None:
    role = new_role()
    with opened(both) as engine:
        engine.administration.allow_publishing(role, BLOG)
    sql = (
        "INSERT INTO memory_bank.passages OVERRIDING SYSTEM VALUE"
        " SELECT repo, \"row\" + {0}, note, bank, 'x', ordinal, line, end_line, headings, 'forged',"
        " length, type, tags, created, updated, hidden, words, terms, vector FROM memory_bank.passages"
    )
    ((shop,), (blog,)) = run_sql(both, 'SELECT "row" FROM memory_bank.passages ORDER BY repo')
    run_sql(as_role(both, role), sql.format(shop - blog))
    with opened(both) as engine:
        matches = engine.words(asked(engine, "secret plans shop"), 1, Where())
        assert [one.text for one in engine.passages([matches[0].row]).values()] == [
            "secret plans of the shop"
        ]
    with pytest.raises(psycopg.errors.CheckViolation):
        run_sql(as_role(both, role), sql.format("(1::bigint << 40)"))


@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("rest", "'[]'"), ("tags", "ARRAY[NULL]::text[]"), ("tags", "ARRAY[ARRAY['x']]"),
        ("created", "'NaN'"), ("updated", "'Infinity'"), ("path", "NULL"),
    ],
)  # fmt: skip
def test_what_a_publisher_writes_past_our_program_keeps_its_form(
    both: str, new_role: Make, column: str, value: str
) -> None:
    role = new_role()
    with opened(both) as engine:
        engine.administration.allow_publishing(role, SHOP)
    with pytest.raises(psycopg.errors.IntegrityError):
        run_sql(as_role(both, role), f"UPDATE memory_bank.notes SET {column} = {value}")


def test_other_data_of_a_stranger_are_texts(both: str, new_role: Make) -> None:
    role = new_role()
    with opened(both) as engine:
        engine.administration.allow_publishing(role, SHOP)
    forged = '{"file_refs": ["a", 1, {"x": 1}], "links": "x", "n": 5, "entity_refs": [{"id": "i"}]}'
    run_sql(as_role(both, role), f"UPDATE memory_bank.notes SET rest = '{forged}'")
    with opened(as_role(both, role)) as engine:
        (shown,) = engine.passages(every_row(both)).values()
        assert shown.note.rest == {"file_refs": ["a"], "links": "x", "entity_refs": [{"id": "i"}]}


def test_a_role_that_does_not_exist_is_named(both: str) -> None:
    with opened(both) as engine, pytest.raises(BadInput, match="no role 'nobody'"):
        engine.administration.grant("nobody", repo=SHOP)


def test_a_dropped_role_leaves_the_others_reading(
    both: str, new_role: Make, server: object
) -> None:
    gone, role = new_role("gone"), new_role()
    with opened(both) as engine:
        engine.administration.grant(role, repo=SHOP)
        engine.administration.grant(gone, repo=SHOP)
    run_sql(
        server.get_uri(database_of(both)),  # type: ignore[attr-defined]
        f'DROP OWNED BY "{gone}"',
        f'DROP ROLE "{gone}"',
    )
    with opened(as_role(both, role)) as engine:
        assert len(engine.heads()) == 1


def test_the_operator_sees_who_may_do_what_and_nobody_else_does(both: str, new_role: Make) -> None:
    role = new_role()
    with opened(both) as engine:
        engine.administration.allow_publishing(role, SHOP)
        engine.administration.grant(role, team="web")
        assert {one[1:] for one in engine.administration.access()} == {
            ("publish", SHOP, ""), ("read", "", "web"),
        }  # fmt: skip
    with opened(as_role(both, role)) as engine:
        assert engine.administration.access() == []
        for forbidden in (
            engine.administration.drop,
            lambda: engine.administration.grant(role, repo=BLOG),
            lambda: engine.administration.assign(SHOP, "x"),
        ):
            with pytest.raises(BadInput):
                forbidden()
