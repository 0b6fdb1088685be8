from __future__ import annotations

import json
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest

from memory_bank import Bank, Judged, evaluate, evaluate_collection, recall, stats
from memory_bank.errors import BadInput

NOTES = {
    "lakes.md": "# Lakes\n\nStill water.\n\n## Depth\n\nThe deepest lake is cold.\n\n### Baikal\n\n"
    "It is in Siberia.\n\n## Fish\n\nTrout swim there.\n",
    "rivers.md": "# Rivers\n\nWater that flows. Salmon swim upstream.\n",
    "sub/sea.md": "# The sea\n\nSalt water, tides and herring.\n",
}

TOML = """
# what must be found
[[queries]]
text = "still water"
find = ["lakes"]

[[queries]]
text = "salmon"
find = { "rivers" = 2, "sea" = 1 }
"""


@pytest.fixture
def lakes(folder: Path, opening: Callable[..., Bank]) -> Bank:
    for path, text in NOTES.items():
        (folder / path).parent.mkdir(exist_ok=True)
        (folder / path).write_text(text, encoding="utf-8")
    return opening(folder)


@pytest.fixture
def queries(tmp_path: Path) -> Callable[..., Path]:
    def write(text: str, name: str = "queries.toml") -> Path:
        file = tmp_path / name
        file.write_text(text, encoding="utf-8")
        return file

    return write


def test_toml_and_json_lines_say_the_same(lakes: Bank, queries: Callable[..., Path]) -> None:
    lines = [
        {"text": "still water", "find": ["lakes"]},
        {"text": "salmon", "find": {"rivers": 2, "sea": 1}},
    ]
    other = queries("\n\n".join(map(json.dumps, lines)), "queries.jsonl")
    by_toml, by_lines = evaluate(lakes, queries(TOML)), evaluate(lakes, other)
    assert by_toml.scores[0].figures == by_lines.scores[0].figures
    assert (by_toml.queries, by_toml.to_find) == (2, 3)
    assert [miss.place.rpartition("/")[2] for miss in by_toml.misses] == ["queries.toml:7"]
    assert [miss.place.rpartition("/")[2] for miss in by_lines.misses] == ["queries.jsonl:3"]


def test_figures_are_those_of_the_answers(lakes: Bank) -> None:
    found = evaluate(lakes, [Judged("salmon", {"rivers": 2, "sea": 1})], modes=["lexical"])
    figures = found.scores[0].figures
    assert [note.path for note in recall(lakes, "salmon", mode="lexical").notes] == ["rivers.md"]
    assert figures["recall@1"] == figures["recall@10"] == 0.5
    assert figures["mrr"] == 1
    assert figures["ndcg@10"] == pytest.approx(2 / (2 + 1 / 1.5849625))
    (miss,) = found.misses
    assert (miss.path, miss.rank, miss.reasons) == ("sub/sea.md", None, ())


def test_a_miss_says_what_stood_above_and_why(lakes: Bank) -> None:
    text = "salmon swim trout"
    first, second = (note.path for note in recall(lakes, text, count_access=False).notes)
    (miss,) = evaluate(lakes, [Judged(text, {second: 1})], within=1).misses
    assert (miss.path, miss.rank) == (second, 2)
    assert [other.path for other in miss.above] == [first]
    assert {reason.source for reason in miss.above[0].reasons} >= {"keyword"}
    assert {reason.source for reason in miss.reasons} >= {"keyword"}


def test_as_many_as_are_to_be_found_may_stand_first(lakes: Bank) -> None:
    query = Judged("water", dict.fromkeys(["lakes", "rivers", "sea"], 1.0))
    assert evaluate(lakes, [query], within=1).misses == ()


@pytest.mark.parametrize(
    ("name", "hit"),
    [
        ("lakes#Fish", True),
        ("lakes#lakes > fish", True),
        ("lakes#Depth", False),
        ("lakes#Lakes", True),  # holds what stands below it
        ("lakes.md:15", True),
        ("lakes:7", False),
        ("lakes", True),
    ],
)
def test_a_section_counts_where_the_answer_shows_it(lakes: Bank, name: str, hit: bool) -> None:
    found = evaluate(lakes, [Judged("trout", {name: 1})])
    assert found.scores[0].figures["recall@1"] == float(hit)
    assert len(found.misses) == (not hit)


def test_a_section_with_those_below_it(lakes: Bank) -> None:
    found = evaluate(lakes, [Judged("Siberia", {"lakes#Depth": 1})])
    assert found.scores[0].figures["recall@1"] == 1


def test_several_sections_of_a_note_are_one_thing_to_find(lakes: Bank) -> None:
    found = evaluate(lakes, [Judged("trout", {"lakes#Depth": 1, "lakes#Fish": 3})])
    assert found.scores[0].figures["recall@1"] == 1
    assert found.to_find == 1


def test_modes_are_compared_query_by_query(lakes: Bank) -> None:
    lakes.close()
    settings = {"memory.embedder": "hashing"}
    from memory_bank import open_bank

    with open_bank(lakes.layout.root, settings=settings) as bank:
        asked = [Judged("still water", {"lakes": 1}), Judged("nothing like it", {"sea": 1})]
        found = evaluate(bank, asked, modes=["lexical", "semantic"])
    assert [score.mode for score in found.scores] == ["lexical", "semantic"]
    assert {miss.mode for miss in found.misses} >= {"lexical"}
    for one in found.compared:
        lexical, semantic = (score.figures[one.measure] for score in found.scores)
        assert one.paired.difference == pytest.approx(semantic - lexical)
        assert one.paired.better + one.paired.worse + one.paired.same == 2


def test_a_mode_that_falls_back_says_so(lakes: Bank) -> None:
    found = evaluate(lakes, [Judged("water", {"lakes": 1})], modes=["hybrid"])
    assert found.scores[0].fallback_reason == "embeddings_disabled"


def test_what_falls_short_is_named(lakes: Bank) -> None:
    asked = [Judged("salmon", {"rivers": 1}), Judged("salmon", {"sea": 1})]
    least = {"recall@5": 0.9, "mrr": 0.5}
    (short,) = evaluate(lakes, asked, least=least).shortfalls
    assert (short.measure, short.value, short.least) == ("recall@5", 0.5, 0.9)


def test_no_access_is_counted(lakes: Bank) -> None:
    evaluate(lakes, [Judged("water", {"lakes": 1})])
    evaluate(lakes, [Judged("water", {"lakes": 1})], steady=True)
    assert not lakes.layout.state(lakes.id).exists()


def test_steady_leaves_out_age_and_use(lakes: Bank) -> None:
    query = Judged("swim", {"sea": 1})
    for _ in range(3):
        recall(lakes, "Salmon")
    sources = {
        steady: {
            reason.source
            for miss in evaluate(lakes, [query], steady=steady).misses
            for other in miss.above
            for reason in other.reasons
        }
        for steady in (False, True)
    }
    assert sources[False] >= {"recency", "access"}
    assert not sources[True] & {"recency", "access"}


@pytest.mark.parametrize(
    ("text", "line", "said"),
    [
        (TOML.replace('"sea"', '"see"'), 9, "no note 'see'"),
        (TOML.replace('["lakes"]', '[\n  "lakes",\n  "oceans"\n]'), 7, "no note 'oceans'"),
        (TOML.replace("lakes", "lakes#Width"), 5, "no heading 'Width'"),
        (TOML.replace("lakes", "lakes:99"), 5, "no section on line 99"),
        (TOML.replace("text = ", "txt = ", 1), 3, "unknown key 'txt'"),
        (TOML.replace('"still water"', '" "'), 3, "has no text"),
        (TOML.replace('["lakes"]', "[]"), 3, "no note that must be found"),
        (TOML.replace("= 2", "= 0"), 7, "no number above 0"),
        (TOML.replace("= 2", "= nan"), 7, "no number above 0"),
    ],
)
def test_what_is_wrong_in_a_file_is_named_with_its_line(
    lakes: Bank, queries: Callable[..., Path], text: str, line: int, said: str
) -> None:
    file = queries(text)
    with pytest.raises(BadInput) as caught:
        evaluate(lakes, file)
    assert caught.value.message.startswith(f"{file}:{line}: ")
    assert said in caught.value.message


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("q.toml", "queries = 3", "no list of tables"),
        ("q.toml", "query = []", "unknown key 'query'"),
        ("q.toml", "", "no query in it"),
        ("q.toml", "[[queries", "(at end of document)"),
        ("q.jsonl", '{"text": "a", "find": ["lakes"]}\n{', ":2: is no JSON"),
        ("q.jsonl", "[]", ":1: is no JSON object"),
    ],
)
def test_a_file_that_holds_no_queries_is_refused(
    lakes: Bank, queries: Callable[..., Path], name: str, text: str, said: str
) -> None:
    with pytest.raises(BadInput, match=name) as caught:
        evaluate(lakes, queries(text, name))
    assert said in caught.value.message


def test_all_lost_names_are_counted(lakes: Bank) -> None:
    asked = [Judged("a", {"x": 1, "y": 1}, "q:1"), Judged("b", {"z": 1}, "q:9")]
    with pytest.raises(BadInput, match=r"q:1: there is no note 'x'; 2 more, at q:1, q:9"):
        evaluate(lakes, asked)


@pytest.mark.parametrize(
    "wrong", [{"modes": ["best"]}, {"least": {"recall@3": 0.5}}, {"limit": 5}, {"limit": 101}]
)
def test_what_can_not_be_measured_is_refused(lakes: Bank, wrong: dict[str, object]) -> None:
    with pytest.raises(BadInput):
        evaluate(lakes, [Judged("water", {"lakes": 1})], **wrong)  # type: ignore[arg-type]


@pytest.fixture
def collection(tmp_path: Path) -> Path:
    folder = tmp_path / "beir"
    (folder / "qrels").mkdir(parents=True)
    corpus = [
        {"_id": "a/1", "title": 'Lakes: "deep" 😀', "text": "Still water."},
        {"_id": 2, "title": "", "text": "Salmon swim in rivers.", "metadata": {}},
        {"_id": "c", "text": "Herring in the sea, half a character \ud800"},
    ]
    asked = [{"_id": "q1", "text": "still water"}, {"_id": "q2", "text": "herring"}]
    (folder / "corpus.jsonl").write_text("\n".join(map(json.dumps, corpus)) + "\n")
    (folder / "queries.jsonl").write_text("\n".join(map(json.dumps, asked)))
    (folder / "qrels" / "test.tsv").write_text(
        "query-id\tcorpus-id\tscore\nq1\ta/1\t1\nq1\tc\t0\nq2\tc\t2\r\nq2\tgone\t1\n"
    )
    (folder / "qrels" / "train.tsv").write_text("query-id\tcorpus-id\tscore\nq2\t2\t1\n")
    return folder


def test_a_collection_is_measured_and_leaves_nothing(
    collection: Path, tmp_path: Path, private_folders: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = tmp_path / "temporary"
    place.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(place))
    settings: dict[str, object] = {"memory.embedder": "none"}
    found = evaluate_collection(collection, settings=settings)
    figures = found.scores[0].figures
    assert (found.queries, found.to_find, found.absent) == (2, 3, 1)
    assert figures["recall@1"] == pytest.approx((1 + 0.5) / 2)
    assert figures["mrr"] == 1
    assert [miss.path for miss in found.misses] == ["gone"]
    assert list(place.iterdir()) == []
    assert [file for file in private_folders.rglob("*") if file.is_file()] == []


def test_another_split_and_misses_by_the_documents_ids(collection: Path) -> None:
    settings: dict[str, object] = {"memory.embedder": "none"}
    found = evaluate_collection(collection, split="train", settings=settings)
    (miss,) = found.misses
    assert (miss.path, [other.path for other in miss.above]) == ("2", ["c"])


@pytest.mark.parametrize(
    ("file", "text", "said"),
    [
        ("corpus.jsonl", '{"text": "x"}\n', "has no `_id`"),
        ("qrels/test.tsv", "q\td\ts\nq9\tc\t1\n", "there is no query 'q9'"),
        ("qrels/test.tsv", "q\td\ts\nq1 c 1\n", "is not query, document, grade"),
    ],
)
def test_a_damaged_collection_is_refused(collection: Path, file: str, text: str, said: str) -> None:
    (collection / file).write_text(text)
    with pytest.raises(BadInput, match=file) as caught:
        evaluate_collection(collection, settings={"memory.embedder": "none"})
    assert said in caught.value.message


def test_a_folder_without_parts_of_a_collection_is_refused(collection: Path) -> None:
    with pytest.raises(BadInput, match="no split 'dev'"):
        evaluate_collection(collection, split="dev")
    (collection / "queries.jsonl").unlink()
    with pytest.raises(BadInput, match=r"no queries\.jsonl"):
        evaluate_collection(collection)


def test_a_query_of_half_a_character_is_asked_all_the_same(lakes: Bank) -> None:
    found = evaluate(lakes, [Judged("still \ud800 water", {"lakes": 1})])
    assert found.scores[0].figures["recall@1"] == 1
    assert stats(lakes).count == 3
