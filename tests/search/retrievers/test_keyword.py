"""What the indices of words tell beside what they find."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import MappingProxyType

import pytest

from memory_bank.base.errors import IndexDamaged
from memory_bank.search.retrievers.base import IndexedPassage, Question, Scope
from memory_bank.search.retrievers.keyword.keyword_index import KeywordIndex

TITLES = ["Ann, 3 May", "Ben, 3 May", "Ann and Ben", "Zoo"]


@pytest.fixture
def notes(tmp_path: Path) -> Iterator[KeywordIndex]:
    index = KeywordIndex(tmp_path / "notes", "owner", name="notes", unit="documents")
    index.clear()
    entries = [
        IndexedPassage(number, number, title, (), "Ann and Ben saw a heron.", 6)
        for number, title in enumerate(TITLES, 1)
    ]
    index.put(entries, [])
    index.commit()
    yield index
    index.close()


@pytest.mark.parametrize("question", ["heorn", "herom", "heeron", "Heorn seen"])
def test_a_misspelled_word_finds_the_word_that_it_resembles(
    notes: KeywordIndex, question: str
) -> None:
    found = notes.find(Question(question), 10, Scope())
    assert set(found.documents) == {1, 2, 3, 4}


@pytest.mark.parametrize("question", ["hen", "hrn", "xyzzy", "zebra"])
def test_short_words_and_unlike_ones_find_nothing(notes: KeywordIndex, question: str) -> None:
    assert not notes.find(Question(question), 10, Scope())


def test_a_word_that_some_document_has_is_taken_as_it_is(tmp_path: Path) -> None:
    index = KeywordIndex(tmp_path / "words", "owner", name="words", unit="passages")
    index.clear()
    index.put([IndexedPassage(1, 1, "A", (), "heron", 1), IndexedPassage(2, 2, "B", (), "herons", 1),
               IndexedPassage(3, 3, "C", (), "herod", 1)], [])  # fmt: skip
    index.commit()
    assert set(index.find(Question("heron"), 10, Scope()).rows) == {1, 2}
    index.close()


@pytest.mark.parametrize("question", ["hero", "herons-nest her*", "saw the he*"])
def test_a_beginning_finds_the_words_that_begin_so(notes: KeywordIndex, question: str) -> None:
    assert set(notes.find(Question(question), 10, Scope()).documents) == {1, 2, 3, 4}


def test_two_misspelled_words_find_the_text_that_has_both(tmp_path: Path) -> None:
    with filled(tmp_path, "the policy monitor", "the policy", "a monitor", "heron") as index:
        assert next(iter(index.find(Question("polcy monitr"), 10, Scope()))).row == 1


def test_a_path_finds_the_document_that_names_it_first(tmp_path: Path) -> None:
    texts = ["src billing invoice py, src and billing and invoice", "an invoice", "py"]
    with filled(
        tmp_path, *texts, about={3: "src/billing/invoice.py", 2: "src/invoice/x.py"}
    ) as index:
        found = index.find(Question("src/billing/invoice.py"), 10, Scope())
        assert found.rows[0] == 3


def test_a_perfect_score_is_the_same_in_every_scope(tmp_path: Path) -> None:
    with filled(tmp_path, "kestrel nests", "kestrel", "owl") as index:
        question = Question("kestrel nests unknownword")
        whole = index.find(question, 10, Scope())
        part = index.find(question, 10, Scope(only=frozenset([2])))
        assert list(part.rows) == [2]
        assert part.scale == whole.scale
        assert whole.scale.perfect > max(whole.scores)


def test_a_match_by_nearness_takes_no_place_of_a_better_one(tmp_path: Path) -> None:
    near = "x " * 60 + "kestrel nests " + "y " * 60
    with filled(tmp_path, *["kestrel tower, and where each nests"] * 6, near) as index:
        assert list(index.find(Question("kestrel nests"), 3, Scope()).rows) == [1, 2, 3]


@contextmanager
def filled(
    folder: Path, *texts: str, about: Mapping[int, str] = MappingProxyType({})
) -> Iterator[KeywordIndex]:
    """Index texts as passages of one document each."""
    index = KeywordIndex(folder / "filled", "owner", name="filled", unit="passages")
    index.clear()
    index.put(
        [
            IndexedPassage(
                row, row, f"N{row}", (), text, len(text.split()), about=about.get(row, "")
            )
            for row, text in enumerate(texts, 1)
        ],
        [],
    )
    index.commit()
    yield index
    index.close()


def test_an_empty_index_has_one_file_and_sees_what_another_process_puts(tmp_path: Path) -> None:
    folder = tmp_path / "words"
    one, other = (KeywordIndex(folder, "owner", name="words", unit="passages") for _ in "ab")
    one.clear()
    assert not one.find(Question("heron"), 10, Scope())
    assert one.holds({})
    one.put([], [3])
    one.commit()
    assert [file.name for file in folder.iterdir()] == ["sealed.json"]
    other.put([IndexedPassage(1, 1, "A", (), "heron", 1)], [])
    other.commit()
    assert list(one.find(Question("heron"), 10, Scope()).rows) == [1]
    assert not (folder / ".tantivy-writer.lock").exists()
    (folder / "meta.json").unlink()
    with pytest.raises(IndexDamaged):
        one.find(Question("heron"), 10, Scope())
    with pytest.raises(IndexDamaged):
        KeywordIndex(folder, "stranger", name="words", unit="passages").check()


def test_what_a_former_index_still_writes_does_not_stop_a_new_one(tmp_path: Path) -> None:
    folder = tmp_path / "words"
    index = KeywordIndex(folder, "owner", name="words", unit="passages")
    index.clear()
    (folder / ".managed.json").write_text("[]", encoding="utf-8")
    index.put([IndexedPassage(1, 1, "A", (), "heron", 1)], [])
    index.commit()
    assert list(index.find(Question("heron"), 10, Scope()).rows) == [1]
    for file in folder.glob("[!.s]*"):
        file.unlink()
    with pytest.raises(IndexDamaged):  # something was put, and is lost
        index.check()


def test_few_passages_stay_in_one_segment(tmp_path: Path) -> None:
    with filled(tmp_path, "a heron") as index:
        put = [IndexedPassage(2, 2, "B", (), "a stork", 2)]
        assert index.to_compact() == {1}
        index.put([*put, IndexedPassage(1, 1, "A", (), "a heron", 2)], [2, 1])
        index.commit()
        assert len(list((tmp_path / "filled").glob("*.term"))) == 1
