"""A test collection is read as BEIR lays it out, indexed as a source, and searched by the engine."""

import json
from pathlib import Path
from urllib.parse import unquote

import pytest

from memory_bank.base.documents import Document, Span
from memory_bank.base.errors import BadInput
from memory_bank.base.paths import Layout
from memory_bank.base.setting_sections import Memory
from memory_bank.base.settings import Settings
from memory_bank.search.index import Index, compare_indices
from tests.benchmarks import collections, finding, rivals
from tests.benchmarks.evaluation import beir
from tests.benchmarks.evaluation.source import TestCollection, Text, searching

HASHING = Settings(memory=Memory(embedder="static"))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "beir"
    (folder / "qrels").mkdir(parents=True)
    corpus = [
        {"_id": "a/1", "title": 'Lakes: "deep" 😀', "text": "Still water."},
        {"_id": 2, "title": "", "text": "Salmon swim in rivers.", "metadata": {}},
        {"_id": "c", "text": "Herring in the sea, half a character \ud800"},
    ]
    asked = [{"_id": "q1", "text": "still water"}, {"_id": "q2", "text": "herring \ud800"}]
    (folder / "corpus.jsonl").write_text("\n".join(map(json.dumps, corpus)) + "\n")
    (folder / "queries.jsonl").write_text("\n".join(map(json.dumps, asked)))
    (folder / "qrels" / "test.tsv").write_text(
        "query-id\tcorpus-id\tscore\nq1\ta/1\t1\nq1\tc\t0\nq2\tc\t2\r\nq2\tgone\t1\n"
    )
    (folder / "qrels" / "train.tsv").write_text("query-id\tcorpus-id\tscore\nq2\t2\t1\n")
    return folder


@pytest.mark.parametrize("way", finding.WAYS)
def test_a_collection_is_measured_and_is_left_as_it_is(
    folder: Path, tmp_path: Path, way: str
) -> None:
    before = {file: file.read_bytes() for file in folder.rglob("*") if file.is_file()}
    (one,) = collections.of(str(folder), tmp_path / "work")
    score = finding.product([one], "static", way)
    assert [answer["mrr"] for answer in score.answers] == [1, 1]
    assert [answer["recall@5"] for answer in score.answers] == [1, 0.5]  # one is not there
    assert score.figures["MRR"] == 1
    assert {file: file.read_bytes() for file in folder.rglob("*") if file.is_file()} == before
    assert list((tmp_path / "work").rglob("*.md")) == []


@pytest.mark.parametrize("name", rivals.MAKERS)
def test_whatever_else_is_measured_gets_the_same_documents(
    folder: Path, tmp_path: Path, name: str
) -> None:
    (one,) = collections.of(str(folder), tmp_path / "work")
    try:
        rival = rivals.MAKERS[name](one, tmp_path / "work")
    except LookupError as error:
        pytest.skip(str(error))
    assert [rival.ask(text, 1) for text in ("salmon", "still water")] == [["2"], ["a/1"]]


def test_programs_that_search_files_get_a_file_of_each_document(
    folder: Path, tmp_path: Path
) -> None:
    (one,) = collections.of(str(folder), tmp_path / "work")
    files = {unquote(file.stem): file.read_text() for file in one.files(tmp_path / "w").iterdir()}
    assert files.keys() == {"a/1", "2", "c"}
    assert files["2"] == "\nSalmon swim in rivers.\n"


def test_another_split_is_asked_for_by_name(folder: Path, tmp_path: Path) -> None:
    (one,) = collections.of(str(folder), tmp_path / "work", "train")
    assert [question.relevant for question in one.questions] == [{"2": 1}]


@pytest.mark.parametrize(
    ("file", "text", "said"),
    [
        ("corpus.jsonl", '{"text": "x"}\n', "has no `_id`"),
        ("corpus.jsonl", "[]\n", ":1: is not a JSON object"),
        ("qrels/test.tsv", "q\td\ts\nq9\tc\t1\n", "there is no query 'q9'"),
        ("qrels/test.tsv", "q\td\ts\nq1 c 1\n", "is not query, document, grade"),
    ],
)
def test_a_damaged_collection_is_refused(folder: Path, file: str, text: str, said: str) -> None:
    (folder / file).write_text(text)
    with pytest.raises(BadInput, match=file) as caught:
        beir.qrels(folder)
        list(beir.documents(folder))
    assert said in caught.value.message


def test_what_is_missing_is_named(folder: Path) -> None:
    with pytest.raises(BadInput, match="no split 'dev'"):
        beir.qrels(folder, "dev")
    (folder / "qrels" / "test.tsv").rename(folder / "qrels" / "other.tsv")
    with pytest.raises(BadInput, match="several splits") as caught:
        beir.qrels(folder)
    assert caught.value.hint == "choose one of: other, train"
    (folder / "queries.jsonl").unlink()
    with pytest.raises(BadInput, match=r"no queries\.jsonl"):
        beir.qrels(folder)


def test_long_documents_are_cut_and_shown() -> None:
    body = "\n\n".join(f"Paragraph {number}. {'word ' * 60}" for number in range(9))
    source = TestCollection([Text("long", "", body)])
    found = source.read("long")
    assert isinstance(found, Document)
    assert len(found.passages) > 3
    for passage in found.passages:
        assert source.text("long", found.hash, Span(passage.line, passage.end_line)) is not None
        assert passage.text in body
    assert source.text("long", "another hash", Span(1, 2)) is None
    assert source.read("gone") is None


def test_an_index_that_is_kept_follows_the_documents(tmp_path: Path) -> None:
    old = [Text("a", "Lakes", "Still water."), Text("b", "", "Salmon swim.")]
    new = [Text("a", "Lakes", "Trout swim."), Text("c", "", "Herring.")]
    with searching(old, tmp_path / "kept", HASHING) as search:
        assert search("salmon", "lexical", 5) == ["b"]
    with searching(new, tmp_path / "kept", HASHING) as search:
        assert search("salmon", "lexical", 5) == []
        assert search("trout", "lexical", 5) == ["a"]
    places = [Layout(tmp_path, tmp_path / name) for name in ("kept/index", "fresh")]
    kept, fresh = (Index(place, TestCollection(new), HASHING) for place in places)
    fresh.indexer.sync()
    assert list(compare_indices(kept, fresh)) == []
    kept.close()
    fresh.close()
