"""Every retriever keeps the contract of retrievers/base.py; a new one is found by its file."""

import shutil
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path

import pytest

from memory_bank.base.errors import IndexDamaged
from memory_bank.base.setting_sections import Memory
from memory_bank.base.settings import Settings
from memory_bank.search import retrievers
from memory_bank.search.retrievers.base import IndexedPassage, Question, Retriever, Scope

Make = Callable[..., Retriever]

TEXTS = {
    1: "The kestrel hovers above the field.",
    2: "An osprey dives into the lake for fish.",
    3: "A merlin chases larks over the moor.",
    4: "The barn owl hunts voles at dusk.",
}


def entry(row: int, note: int, text: str, **more: object) -> IndexedPassage:
    known = {"title": f"Note {note}", "headings": (), "words": len(text.split())}
    return IndexedPassage(row=row, document=note, text=text, **{**known, **more})  # type: ignore[arg-type]


ENTRIES = [entry(10 + note, note, text) for note, text in TEXTS.items()]
HELD = {one.row: one.document for one in ENTRIES}


SETTINGS = Settings(memory=Memory(embedder="static"))
KINDS = retrievers.list_retrievers()


@pytest.fixture(params=KINDS)
def make(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Make]:
    """Make retrievers of one kind on one folder; all are closed in the end."""
    made: list[Retriever] = []

    def make(owner: str = "one") -> Retriever:
        name = request.param
        opened = retrievers.import_retriever(name).load(tmp_path / "index", owner, SETTINGS)
        assert opened is not None
        made.append(opened)
        return opened

    yield make
    for retriever in made:
        retriever.close()


@pytest.fixture
def index(make: Make) -> Retriever:
    """Make an index of the four texts."""
    made = make()
    made.clear()
    fill(made, ENTRIES)
    return made


def fill(
    retriever: Retriever, entries: Sequence[IndexedPassage], replaced: Sequence[int] = ()
) -> None:
    retriever.put(entries, replaced)
    retriever.commit()
    while retriever.waiting():
        assert retriever.catch_up(5.0) == 0


def ask(retriever: Retriever, text: str, limit: int = 10, **scope: frozenset[int]) -> list[int]:
    """Return the notes that are found, best first."""
    return [match.document for match in retriever.find(Question(text), limit, Scope(**scope))]


def test_it_says_what_it_is(index: Retriever, make: Make) -> None:
    assert index.name
    assert index.version
    assert (make().name, make().version) == (index.name, index.version)


def test_the_best_comes_first(index: Retriever) -> None:
    for note, text in TEXTS.items():
        found = index.find(Question(text), 10, Scope())
        assert (found.documents[0], found.rows[0]) == (note, 10 + note)
        assert list(found.scores) == sorted(found.scores, reverse=True)


def test_an_answer_is_no_longer_than_asked_for(index: Retriever) -> None:
    assert ask(index, "the kestrel", 1) == [1]
    assert len(ask(index, "the kestrel osprey merlin owl", 3)) <= 3


@pytest.mark.parametrize(
    "text", ["", " ", "zzqqxx", "?!", "a" * 50_000, 'AND OR NOT ( : ^ ~ "', "\0", "日本語", "the"]
)
def test_any_text_is_a_question(index: Retriever, text: str) -> None:
    index.find(Question(text), 10, Scope())
    index.find(Question(text, (text,), (text,), (text,)), 10, Scope())


def test_a_scope_keeps_others_out_before_the_cut(index: Retriever) -> None:
    question = "the kestrel hovers above the field, the owl hunts"
    assert ask(index, question, 1) == [1]
    assert ask(index, question, 1, only=frozenset([2, 4])) == [4]
    assert ask(index, question, 1, without=frozenset([1])) == [4]
    assert ask(index, "kestrel", only=frozenset()) == []
    assert 1 not in ask(index, question, only=frozenset([1, 4]), without=frozenset([1]))
    many = frozenset(range(2, 5000))
    assert 1 not in ask(index, question, only=many)
    assert ask(index, question, without=many) == [1]


def test_a_scope_of_passages_keeps_others_out_before_the_cut(make: Make) -> None:
    """A retriever of whole notes honours their notes."""
    made = make()
    made.clear()
    fill(made, [entry(10 * note + n, note, text) for n in (1, 2) for note, text in TEXTS.items()])
    question = "the kestrel hovers above the field, the owl hunts"
    for rows, only in (({12, 41}, {1, 4}), ({42}, {4}), (set(), set())):
        scope = Scope(only=frozenset(only), rows=frozenset(rows))
        found = made.find(Question(question), 1, scope)
        assert set(found.documents) <= only
        if made.unit == "passages":
            assert len(found) == min(1, len(rows))
            assert set(found.rows) <= rows
    others = Scope(only=frozenset([1, 4]), without=frozenset([1]), rows=frozenset([12, 41]))
    assert 1 not in made.find(Question(question), 10, others).documents


def test_it_holds_what_was_put_and_nothing_else(index: Retriever) -> None:
    assert index.holds(HELD)
    assert not index.holds({})
    assert not index.holds({row: note for row, note in HELD.items() if note != 1})
    assert not index.holds({**HELD, 99: 9})


def test_putting_twice_is_putting_once(index: Retriever) -> None:
    before = index.find(Question("the kestrel and the owl"), 10, Scope())
    for _ in range(3):
        fill(index, ENTRIES, list(TEXTS))
    assert index.holds(HELD)
    after = index.find(Question("the kestrel and the owl"), 10, Scope())
    assert [match.document for match in after] == [match.document for match in before]


def test_what_is_replaced_goes(index: Retriever) -> None:
    fill(index, [entry(21, 1, "A buzzard circles.")], [1])
    assert index.holds({**{r: n for r, n in HELD.items() if n != 1}, 21: 1})
    assert ask(index, "a buzzard circles")[0] == 1
    assert ask(index, "The kestrel hovers above the field.", 1) != [1]


def test_what_is_gone_is_not_found(index: Retriever) -> None:
    fill(index, [], [1, 2, 77])
    assert index.holds({r: n for r, n in HELD.items() if n > 2})
    assert not {1, 2} & set(ask(index, "the kestrel and the osprey"))


def test_all_may_go_and_others_come(index: Retriever) -> None:
    fill(index, [], list(TEXTS))
    assert index.holds({})
    assert ask(index, "kestrel") == []
    fill(index, [entry(50, 5, "A new kestrel.")], [])
    assert ask(index, "new kestrel") == [5]


def test_several_passages_of_a_note_are_one_whole(make: Make) -> None:
    made = make()
    made.clear()
    fill(made, [entry(1, 1, "kestrel"), entry(2, 1, "osprey"), entry(3, 2, "merlin")])
    assert made.holds({1: 1, 2: 1, 3: 2})
    assert ask(made, "osprey")[0] == 1
    fill(made, [entry(4, 1, "osprey")], [1])
    assert made.holds({4: 1, 3: 2})


def test_two_notes_may_say_the_same(make: Make) -> None:
    made = make()
    made.clear()
    same = [entry(1, 1, "kestrel", title="T"), entry(2, 2, "kestrel", title="T")]
    fill(made, same)
    assert sorted(ask(made, "kestrel")) == [1, 2]
    fill(made, [], [1])
    assert ask(made, "kestrel") == [2]
    assert made.holds({2: 2})


@pytest.mark.parametrize(
    "text", ["", "\0 kestrel", "kestrel \u2028 x", "x" * 300_000, "日本語の文"]
)
def test_any_text_can_be_put(index: Retriever, text: str) -> None:
    fill(index, [entry(30, 9, text, headings=("H",), about="a\0b")], [9])
    assert index.holds({**HELD, 30: 9}) or not text
    assert ask(index, TEXTS[1])[0] == 1


def test_what_is_committed_is_seen_by_others(index: Retriever, make: Make) -> None:
    other = make()
    assert other.holds(HELD)
    fill(index, [entry(21, 5, "A buzzard circles.")], [5])
    assert other.holds({**HELD, 21: 5})
    assert ask(other, "a buzzard circles")[0] == 5


def test_what_is_not_committed_is_dropped_and_not_seen(index: Retriever, make: Make) -> None:
    other = make()
    index.put([entry(21, 1, "A buzzard circles.")], [1])
    assert other.holds(HELD)
    index.close()
    assert other.holds(HELD)
    assert make().holds(HELD)
    fill(other, [entry(22, 1, "A heron wades.")], [1])
    assert ask(make(), "a heron wades")[0] == 1


def test_committing_nothing_is_no_error(index: Retriever) -> None:
    index.commit()
    index.close()
    index.commit()
    assert index.holds(HELD)


def test_a_closed_one_opens_again(index: Retriever) -> None:
    index.close()
    index.close()
    assert ask(index, TEXTS[1])[0] == 1


def test_clearing_forgets_all(index: Retriever, make: Make) -> None:
    other = make()
    assert other.holds(HELD)
    index.clear()
    assert index.holds({})
    assert other.holds({})
    index.check()
    fill(index, ENTRIES)
    assert other.holds(HELD)


def test_another_owner_finds_no_index_of_its_own(index: Retriever, make: Make) -> None:
    other = make("two")
    for method in (other.check, other.waiting, lambda: other.holds({}), lambda: ask(other, "x")):
        if method == other.waiting and not other.slow:
            continue  # nothing ever waits there
        with pytest.raises(IndexDamaged):
            method()
    other.clear()
    assert other.holds({})
    with pytest.raises(IndexDamaged):
        make("one").check()


def test_a_missing_index_is_damage_that_clearing_mends(make: Make) -> None:
    made = make()
    for method in (made.check, lambda: made.holds({}), lambda: fill(made, ENTRIES)):
        with pytest.raises(IndexDamaged):
            method()
    made.clear()
    fill(made, ENTRIES)
    assert made.holds(HELD)


def test_an_index_that_was_deleted_while_open_is_noticed(
    index: Retriever, make: Make, tmp_path: Path
) -> None:
    assert ask(index, TEXTS[1])[0] == 1
    shutil.rmtree(tmp_path / "index")
    with pytest.raises(IndexDamaged):
        index.check()
    index.clear()
    fill(index, ENTRIES)
    assert make().holds(HELD)
    assert ask(index, TEXTS[1])[0] == 1


def test_an_index_that_another_made_anew_is_noticed(
    index: Retriever, make: Make, tmp_path: Path
) -> None:
    """A server that holds the old files open must not go on answering from them."""
    assert index.holds(HELD)
    shutil.rmtree(tmp_path / "index")
    other = make()
    other.clear()
    fill(other, ENTRIES[:2])
    assert index.holds({row: note for row, note in HELD.items() if note < 3})
    assert 4 not in ask(index, TEXTS[4])


def test_what_was_put_before_a_deletion_is_not_taken_for_committed(
    index: Retriever, make: Make, tmp_path: Path
) -> None:
    index.put([entry(21, 5, "A buzzard circles.")], [5])
    while (tmp_path / "index").exists():  # the writer's threads may be making files
        shutil.rmtree(tmp_path / "index", ignore_errors=True)
    with pytest.raises(IndexDamaged):
        index.commit()
    index.close()
    index.clear()
    fill(index, ENTRIES)
    assert make().holds(HELD)


HARM = {
    "deleted": lambda data: None,
    "emptied": lambda data: b"",
    "cut": lambda data: data[: len(data) // 2],
    "garbage": lambda data: bytes(byte ^ 0x5A for byte in data),
    "garbage inside": lambda data: data[: len(data) // 3] + b"\xa5" * (len(data) // 3)
    + data[len(data) // 3 * 2 :],
}  # fmt: skip


@pytest.mark.parametrize("harm", HARM)
def test_damage_to_any_file_is_noticed_or_harmless_and_clearing_mends(
    index: Retriever, make: Make, tmp_path: Path, harm: str
) -> None:
    """What is damaged either raises IndexDamaged, or what is asked is answered rightly."""
    folder = tmp_path / "index"
    index.close()
    shutil.copytree(folder, tmp_path / "whole")
    names = [file.relative_to(folder) for file in sorted(folder.rglob("*")) if file.is_file()]
    assert names
    for name in names:
        data = HARM[harm]((folder / name).read_bytes())
        (folder / name).unlink()
        if data is not None:
            (folder / name).write_bytes(data)
        reopened = make()
        try:
            reopened.check()
            reopened.waiting()
            whole = reopened.holds(HELD)
            ask(reopened, TEXTS[1])
        except IndexDamaged:
            whole = False
        if not whole:
            reopened.clear()
            fill(reopened, ENTRIES)
        assert reopened.holds(HELD), name
        for note, text in TEXTS.items():
            assert ask(reopened, text)[0] == note, name
        reopened.close()
        remove(folder)
        shutil.copytree(tmp_path / "whole", folder)


def remove(folder: Path) -> None:
    """Remove the folder of a closed index, in which threads of a library may still end."""
    for _ in range(50):
        with suppress(OSError):
            shutil.rmtree(folder)
            return
        time.sleep(0.1)
    shutil.rmtree(folder)


def test_nothing_waits_for_ever(make: Make) -> None:
    """A text that came and went before it was looked at leaves no work."""
    made = make()
    made.clear()
    made.put(ENTRIES, [])
    made.commit()
    made.put([], list(TEXTS))
    made.commit()
    made.catch_up(5.0)
    assert made.waiting() == 0
    assert made.holds({})


def test_no_time_is_no_work(make: Make) -> None:
    made = make()
    made.clear()
    made.put(ENTRIES, [])
    made.commit()
    waiting = made.waiting()
    assert waiting in {0, len(ENTRIES)}
    assert made.catch_up(0.0) == waiting


DYING = """
import os, sys
from pathlib import Path
from memory_bank.base.setting_sections import Memory
from memory_bank.base.settings import Settings
from memory_bank.search import retrievers
from memory_bank.search.retrievers.base import IndexedPassage
folder, name = Path(sys.argv[1]), sys.argv[2]
made = retrievers.import_retriever(name).load(folder, "one", Settings(memory=Memory(embedder="static")))
made.put([IndexedPassage(21, 1, "T", (), "A buzzard circles.", 3)], [1])
os._exit(7)
"""


def test_a_process_that_dies_before_its_commit_leaves_the_old_and_no_lock(
    index: Retriever,
    make: Make,
    tmp_path: Path,
    run_python: Callable[..., subprocess.CompletedProcess[str]],
) -> None:
    index.close()
    assert run_python(DYING, tmp_path / "index", index.name, check=False).returncode == 7
    assert make().holds(HELD)
    fill(index, [entry(22, 1, "A heron wades.")], [1])
    assert ask(make(), "a heron wades")[0] == 1
