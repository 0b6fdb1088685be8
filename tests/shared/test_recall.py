"""Other repositories' notes are found from any repository, ranked with its own."""

import socket
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from memory_bank.bank.bank import Bank, open_bank
from memory_bank.base.errors import BadInput
from memory_bank.memory.retrieval.ask import ask
from memory_bank.memory.retrieval.recall import recall, recall_at
from memory_bank.shared import shared_hits
from memory_bank.shared.publish import make, publish
from tests.conftest import run_git as git
from tests.git.history_builder import commit_all
from tests.shared.conftest import as_role, opened, settings
from tests.support.files import write_files

SHOP, BLOG, APP = "github.com/acme/shop", "github.com/acme/blog", "github.com/acme/app"
NOTES = {
    SHOP: {
        "decisions/queue": "---\ntype: decision\ntags: [jobs]\n---\n# Job queue\n\nWe chose Postgres"
        " advisory locks for the job queue, since Redis lost jobs at a restart.\n",
        "old": "---\nstatus: archived\n---\n# Old queue\n\nThe job queue was in Redis.\n",
    },
    BLOG: {
        "facts/images": "---\ntype: fact\ntags: [media]\n---\n# Images\n\nImages are resized at"
        " upload, with libvips, in three widths.\n\n## Names\n\nA name has the hash of its bytes.\n",
        "facts/queue": "# Queue of comments\n\nComments wait in a queue until they are approved.\n",
    },
    APP: {"login": "# Login\n\nThe login form keeps jobs of the queue waiting for a session.\n"},
}


@pytest.fixture(scope="module")
def repositories(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Three repositories with notes and remotes."""
    root = tmp_path_factory.mktemp("repositories")
    found = {name: root / name.rpartition("/")[2] for name in NOTES}
    for name, folder in found.items():
        write_files(
            folder / ".memories", {f"{path}.md": text for path, text in NOTES[name].items()}
        )
        git(folder, "init", "-q", "-b", "main")
        git(folder, "remote", "add", "origin", f"https://{name}.git")
        commit_all(folder, "Notes")
    return found


@pytest.fixture(scope="module")
def index(empty_database: str, repositories: dict[str, Path]) -> str:
    """The URL of a shared index with the notes of all three."""
    with opened(empty_database) as engine:
        engine.drop()
    for folder in repositories.values():
        with open_bank(folder, settings=settings(empty_database)) as bank:
            make(bank.settings)
            publish(bank)
    return empty_database


@pytest.fixture
def app(index: str, repositories: dict[str, Path]) -> Iterator[Bank]:
    with open_bank(repositories[APP], settings=settings(index)) as bank:
        yield bank


def test_a_note_of_another_repository_says_where_it_is(app: Bank, index: str) -> None:
    found = recall(app, "which locks for the job queue?", scope="shared")
    note = found.notes[0]
    with opened(index) as engine:
        commit = next(head.commit for head in engine.heads() if head.repo == SHOP)
    assert note.origin is not None
    assert (note.path, note.line, note.meta.type) == (".memories/decisions/queue.md", 5, "decision")
    assert (note.origin.repository, note.origin.bank) == (SHOP, ".memories")
    assert note.origin.commit == commit
    assert note.origin.url == (
        f"https://{SHOP}/blob/{commit}/.memories/decisions/queue.md?plain=1#L5"
    )
    assert note.origin.age_days == 0
    assert "advisory locks" in note.content
    assert recall(app, "the hash in the names", scope="shared").notes[0].line == 9
    assert found.mode_used == "hybrid"
    assert found.fallback_reason is None


def test_notes_of_the_own_repository_come_from_its_bank_only(app: Bank) -> None:
    everywhere = recall(app, "job queue", scope="both")
    places = [(note.path, note.origin and note.origin.repository) for note in everywhere.notes]
    assert ("login.md", None) in places
    assert (".memories/decisions/queue.md", SHOP) in places
    assert APP not in {repository for _, repository in places}
    elsewhere = recall(app, "job queue login", scope="shared")
    assert APP not in {note.origin.repository for note in elsewhere.notes if note.origin}
    assert [note.path for note in recall(app, "job queue").notes] == ["login.md"]


def test_local_and_shared_notes_are_in_one_order(app: Bank) -> None:
    found = recall(app, "we chose advisory locks for the job queue", scope="both")
    assert found.notes[0].origin is not None
    assert found.notes[0].origin.repository == SHOP
    found = recall(app, "login form session", scope="both")
    assert found.notes[0].origin is None
    scores = [note.relevance_score for note in found.notes]
    assert scores == sorted(scores, reverse=True)


def test_conditions_hold_in_all_repositories(app: Bank) -> None:
    conditions: tuple[tuple[str, dict[str, str], set[str]], ...] = (
        ("queue repo:shop", {}, {SHOP}),
        ("queue repo:acme/blog", {}, {BLOG}),
        ("queue repo:github.com/acme/app", {}, {""}),
        ("queue -repo:blog", {}, {SHOP, ""}),
        ("queue tag:jobs", {}, {SHOP}),
        ("queue", {"type": "decision"}, {SHOP}),
        ("queue in:facts", {}, {BLOG}),
        ("queue -in:facts -type:decision", {}, {""}),
        ("queue", {"before": "2001-01-01"}, set()),
        ("queue since:2001-01-01", {}, {SHOP, BLOG, ""}),
        ('"advisory locks"', {}, {SHOP}),
        ("queue -comments", {}, {SHOP, ""}),
    )
    for query, filters, expected in conditions:
        found = recall(app, query, scope="both", **filters)  # type: ignore[arg-type]
        told = {note.origin.repository if note.origin else "" for note in found.notes}
        assert told == expected, (query, filters)


def test_a_condition_that_the_shared_index_does_not_know_is_said(app: Bank) -> None:
    found = recall(app, "queue links:src/queue.py", scope="shared")
    assert found.notes == ()
    assert "does not know links" in found.notices[0]


def test_archived_notes_are_found_on_request(app: Bank) -> None:
    paths = [note.path for note in recall(app, "redis queue", scope="shared").notes]
    assert ".memories/old.md" not in paths
    found = recall(app, "redis queue", scope="shared", include_archived=True)
    assert ".memories/old.md" in [note.path for note in found.notes]
    found = recall(app, "redis queue status:archived", scope="shared")
    assert [note.path for note in found.notes] == [".memories/old.md"]


@pytest.mark.parametrize("mode", ["lexical", "semantic", "hybrid"])
def test_every_mode_finds(app: Bank, mode: str) -> None:
    found = recall(app, "images resized at upload", mode=mode, scope="shared")
    assert found.mode_used == mode
    assert found.notes[0].path == ".memories/facts/images.md"


def test_a_role_without_a_grant_gets_the_banks_answer(
    index: str, repositories: dict[str, Path], new_role: Callable[..., str]
) -> None:
    url = as_role(index, new_role())
    with open_bank(repositories[APP], settings=settings(url)) as bank:
        found = recall(bank, "job queue", scope="shared")
    assert found.fallback_reason == "shared_no_index"
    assert [note.path for note in found.notes] == ["login.md"]


def test_without_an_index_the_bank_answers_and_says_why(repositories: dict[str, Path]) -> None:
    with open_bank(repositories[APP], settings=settings("")) as bank:
        found = recall(bank, "job queue", scope="both")
    assert found.fallback_reason == "shared_not_configured"
    assert [note.path for note in found.notes] == ["login.md"]
    assert "MEMORY_BANK_SHARED_URL" in found.notices[0]


@pytest.mark.parametrize("listening", [False, True], ids=["refused", "silent"])
def test_a_server_that_gives_no_answer_costs_the_time_limit(
    repositories: dict[str, Path], monkeypatch: pytest.MonkeyPatch, listening: bool
) -> None:
    monkeypatch.setattr(shared_hits, "SECONDS", 0.5)
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        if listening:  # it takes connections, and never says a word
            server.listen()
        url = f"postgresql://me:hunter2@127.0.0.1:{server.getsockname()[1]}/x"
        with open_bank(repositories[APP], settings=settings(url)) as bank:
            bank.sync()
            found = recall(bank, "job queue", scope="both")
            again = recall(bank, "job queue", scope="shared")
    assert found.fallback_reason == again.fallback_reason == "shared_unreachable"
    assert [note.path for note in found.notes] == ["login.md"]
    assert "hunter2" not in repr(found)
    assert ("no answer in 0.5 seconds" in found.notices[0]) is listening


def test_another_embedder_gets_the_banks_answer(index: str, repositories: dict[str, Path]) -> None:
    other = settings(index, memory__embedder="minilm")
    with open_bank(repositories[APP], settings=other) as bank:
        found = recall(bank, "job queue", scope="both")
        by_words = recall(bank, "job queue", mode="lexical", scope="both")
    assert found.fallback_reason == "shared_other_embedder"
    assert by_words.fallback_reason is None
    assert any(note.origin for note in by_words.notes)


def test_another_scope_is_refused_clearly(app: Bank) -> None:
    with pytest.raises(BadInput, match="no scope 'all'"):
        recall(app, "queue", scope="all")
    with pytest.raises(BadInput, match="bank only"):
        recall(app, "queue", scope="both", linked_to="login")


def test_the_settings_scope_is_the_default(index: str, repositories: dict[str, Path]) -> None:
    usual = settings(index, search__scope="both")
    with open_bank(repositories[APP], settings=usual) as bank:
        assert {bool(note.origin) for note in recall(bank, "job queue").notes} == {True, False}
        assert all(note.origin is None for note in recall(bank, "job queue", scope="bank").notes)
        assert recall(bank, "queue", linked_to="login").fallback_reason is None
        answer = ask(bank, None, "job queue")
        assert [one.path for one in answer.results] == ["login.md"]
        then = recall_at(bank, "HEAD", "job queue")
        assert [note.path for note in then.notes] == ["login.md"]


def test_without_other_repositories_a_condition_on_them_is_words(
    repositories: dict[str, Path],
) -> None:
    with open_bank(repositories[APP], settings=settings("")) as bank:
        alone = recall(bank, "repo:nothing", scope="bank")
    assert alone.notes == ()


def test_words_that_stand_together_in_the_question_rank_higher_where_they_do(
    index: str, repositories: dict[str, Path]
) -> None:
    from memory_bank.shared.engines.base import Where
    from memory_bank.shared.word_weights import weigh_nearness

    pairs, rarities = [("advisori", "lock")], {"advisori": 2.0, "lock": 1.0}
    with opened(index) as engine:
        (near,) = engine.nearest([0.1] * engine.info().dimension, 1, Where(repos=(SHOP,)))
        passage = engine.passages([near.row])[near.row]
    assert weigh_nearness(pairs, rarities, passage) > 0
    assert weigh_nearness([("lock", "advisori")], rarities, passage) == 0
    often = passage._replace(text=f"{passage.text} advisory locks")
    assert weigh_nearness(pairs, rarities, often) > weigh_nearness(pairs, rarities, passage)


def test_an_error_of_the_server_gets_the_banks_answer(
    app: Bank, monkeypatch: pytest.MonkeyPatch
) -> None:
    from memory_bank.shared.engines.postgres import searching

    monkeypatch.setattr(searching, "_PASSAGES", "SELECT nothing FROM memory_bank.none")
    found = recall(app, "job queue", scope="both")
    assert found.fallback_reason in {"shared_no_index", "shared_unreachable"}
    assert [note.path for note in found.notes] == ["login.md"]
