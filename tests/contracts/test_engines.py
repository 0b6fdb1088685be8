"""Every engine of the shared index keeps the contract of shared/engines/base.py."""

import pytest

from memory_bank.base import plugins
from memory_bank.base.errors import Conflict
from memory_bank.shared.engines.base import (
    KIND,
    Head,
    Position,
    Publication,
    Where,
    engine_module,
    open_engine,
)
from memory_bank.shared.word_weights import number_word
from tests.shared.conftest import BANK, DIMENSION, EMBEDDER, note, passage, publish
from tests.shared.conftest import empty_database as empty_database  # noqa: PLC0414  (a fixture)
from tests.shared.conftest import server as server  # noqa: PLC0414  (a fixture)
from tests.shared.test_postgres import BLOG, SHOP, asked, found

URLS = {"postgres": "", "nest": "nest:contract"}  # `nest` is of the sample plug-in


@pytest.fixture(params=plugins.list_plugins(KIND))
def url(request: pytest.FixtureRequest) -> str:
    """The URL of an empty index of each engine."""
    found: str = URLS[request.param] or request.getfixturevalue("empty_database")
    with open_engine(found) as engine:
        engine.drop()
        engine.make(EMBEDDER, DIMENSION)
    return found


def test_an_index_says_what_was_fixed_when_it_was_made(url: str) -> None:
    assert url.startswith(engine_module(url).FORMS)
    with open_engine(url) as engine:
        assert engine.place
        assert engine.info()[2:4] == (EMBEDDER, DIMENSION)
        assert engine.make("other:8:0", 8) == engine.info()
        assert engine.heads() == []
        assert engine.size() == 0


def test_what_is_published_is_found_by_its_words_and_by_its_meaning(url: str) -> None:
    with open_engine(url) as engine:
        publish(engine, SHOP, "c1", {"a.md": "quick brown foxes", "b.md": "lazy dogs"})
        assert found(engine, "fox") == ["quick brown foxes"]
        (first, second) = engine.nearest([0.6, 0.8, 0, 0], 10, Where())
        assert first.score == pytest.approx(0.6, abs=0.01) == second.score
        one = engine.passages([first.row])[first.row]
        assert (one.head.repo, one.head.bank, one.head.commit, one.note.path) == (
            SHOP,
            BANK,
            "c1",
            "a.md",
        )
        assert one.position == Position(0, 1, 2)


def test_scores_of_words_are_those_of_bm25(url: str) -> None:
    with open_engine(url) as engine:
        publish(engine, SHOP, "c1", {"a.md": "fox fox fox", "b.md": "fox", "c.md": "dog"})
        (often, once) = engine.words(asked(engine, "fox"), 10, Where())
        assert often.score > once.score > 0
        rarer = [word._replace(weight=2.0) for word in asked(engine, "dog")]
        assert engine.words(rarer, 10, Where())[0].score == pytest.approx(2 * once.score, rel=0.01)


def test_a_changed_note_changes_the_filters_of_its_passages_and_moves_them(url: str) -> None:
    with open_engine(url) as engine:
        publish(engine, SHOP, "c1", {"a.md": "text"})
        one = passage("a.md", "text")
        head = Head(SHOP, BANK, "c2", 1.0, 2.0, "", 1, 1)
        changed = note("a.md", tags=("new",), updated=900.0, hidden=True)
        engine.publish(Publication("c1", head, [changed], moved={one.key: Position(2, 7, 9)}))
        assert found(engine, "text") == []
        assert found(engine, "text", Where(hidden=True, tags=("NEW",), since=800.0)) == ["text"]
        assert engine.positions(SHOP, BANK, ["a.md"]) == {one.key: Position(2, 7, 9)}


def test_conditions_hold_before_ranking(url: str) -> None:
    with open_engine(url) as engine:
        publish(engine, SHOP, "c1", {f"{n}.md": f"word {'word ' * n}" for n in range(5)})
        publish(engine, BLOG, "c1", {"x.md": "a long text with many others and one word"})
        for where in (
            Where(repos=(BLOG,)), Where(repos=("blog",)), Where(repos=("acme/blog", "none")),
            Where(without_repo=SHOP),
        ):  # fmt: skip
            assert found(engine, "word", where, limit=1) == [
                "a long text with many others and one word"
            ]
            assert len(engine.nearest([1, 0, 0, 0], 10, where)) == 1
        assert found(engine, "word", Where(repos=("log",))) == []
        assert found(engine, "word", Where(repos=("",))) == []
        assert found(engine, "word", Where(types=("fact",))) == []
        assert len(found(engine, "word", Where(types=("fact", "Decision")))) == 6
        assert found(engine, "word", Where(before=50.0)) == []


def test_a_publication_on_another_base_is_a_conflict_and_changes_nothing(url: str) -> None:
    with open_engine(url) as engine:
        publish(engine, SHOP, "c1", {"a.md": "old"})
        head = Head(SHOP, BANK, "c3", 1.0, 2.0)
        with pytest.raises(Conflict):
            engine.publish(Publication("c0", head, [note("b.md")], ["a.md"]))
        assert engine.known(SHOP, BANK).commit == "c1"
        assert [*engine.known(SHOP, BANK).notes] == ["a.md"]


def test_a_bank_is_removed_whole(url: str) -> None:
    with open_engine(url) as engine:
        publish(engine, SHOP, "c1", {"a.md": "one"})
        publish(engine, BLOG, "c1", {"a.md": "one"})
        assert engine.remove(SHOP, BANK)
        assert not engine.remove(SHOP, BANK)
        assert [head.repo for head in engine.heads()] == [BLOG]
        assert engine.size() == 1
        assert engine.frequencies([number_word("one")]) == {number_word("one"): 1}
