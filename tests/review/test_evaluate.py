import json
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest

from memory_bank.bank.bank import Bank, open_bank
from memory_bank.base.errors import BadInput
from memory_bank.memory.overview import stats
from memory_bank.memory.retrieval.recall import recall
from memory_bank.memory.show import show
from memory_bank.review.evaluate import evaluate
from memory_bank.search.measures import Qrels

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
    found = evaluate(lakes, [Qrels("salmon", {"rivers": 2, "sea": 1})], modes=["lexical"])
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
    (miss,) = evaluate(lakes, [Qrels(text, {second: 1})], within=1).misses
    assert (miss.path, miss.rank) == (second, 2)
    assert [other.path for other in miss.above] == [first]
    assert {reason.source for reason in miss.above[0].reasons} >= {"keyword"}
    assert {reason.source for reason in miss.reasons} >= {"keyword"}


def test_as_many_as_are_to_be_found_may_stand_first(lakes: Bank) -> None:
    query = Qrels("water", dict.fromkeys(["lakes", "rivers", "sea"], 1.0))
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
    found = evaluate(lakes, [Qrels("trout", {name: 1})])
    assert found.scores[0].figures["recall@1"] == float(hit)
    assert len(found.misses) == (not hit)


def test_a_section_with_those_below_it(lakes: Bank) -> None:
    found = evaluate(lakes, [Qrels("Siberia", {"lakes#Depth": 1})])
    assert found.scores[0].figures["recall@1"] == 1


def test_several_sections_of_a_note_are_one_thing_to_find(lakes: Bank) -> None:
    found = evaluate(lakes, [Qrels("trout", {"lakes#Depth": 1, "lakes#Fish": 3})])
    assert found.scores[0].figures["recall@1"] == 1
    assert found.to_find == 1


def test_each_mode_has_its_own_figures_and_misses(lakes: Bank) -> None:
    lakes.close()
    with open_bank(lakes.layout.root, settings={"memory.embedder": "hashing"}) as bank:
        asked = [Qrels("still water", {"lakes": 1}), Qrels("uprivers", {"rivers": 1})]
        found = evaluate(bank, asked, modes=["lexical", "semantic"])
    assert [score.mode for score in found.scores] == ["lexical", "semantic"]
    assert [score.figures["recall@1"] for score in found.scores] == [0.5, 1.0]
    assert {miss.mode for miss in found.misses} >= {"lexical"}


def test_a_mode_that_falls_back_says_so(lakes: Bank) -> None:
    found = evaluate(lakes, [Qrels("water", {"lakes": 1})], modes=["hybrid"])
    assert found.scores[0].fallback_reason == "embeddings_disabled"


def test_what_falls_short_is_named(lakes: Bank) -> None:
    asked = [Qrels("salmon", {"rivers": 1}), Qrels("salmon", {"sea": 1})]
    least = {"recall@5": 0.9, "mrr": 0.5}
    (short,) = evaluate(lakes, asked, least=least).shortfalls
    assert (short.measure, short.value, short.least) == ("recall@5", 0.5, 0.9)


def test_steady_leaves_out_age_and_use(lakes: Bank) -> None:
    rivers = lakes.layout.root / "rivers.md"
    today = datetime.now(UTC).date()
    rivers.write_text(f"---\ncreated_at: {today}\n---\n{rivers.read_text()}", encoding="utf-8")
    query = Qrels("swim", {"sea": 1})
    for _ in range(3):
        show(lakes, "rivers")
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
        (TOML.replace('["lakes"]', "[]"), 3, "names no relevant note"),
        (TOML.replace("= 2", "= 0"), 7, "not a number above 0"),
        (TOML.replace("= 2", "= nan"), 7, "not a number above 0"),
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
        ("q.toml", "queries = 3", "not a list of tables"),
        ("q.toml", "query = []", "unknown key 'query'"),
        ("q.toml", "", "the file has no query"),
        ("q.toml", "[[queries", "(at end of document)"),
        ("q.jsonl", '{"text": "a", "find": ["lakes"]}\n{', ":2: is not JSON"),
        ("q.jsonl", "[]", ":1: is not a JSON object"),
    ],
)
def test_a_file_that_holds_no_queries_is_refused(
    lakes: Bank, queries: Callable[..., Path], name: str, text: str, said: str
) -> None:
    with pytest.raises(BadInput, match=name) as caught:
        evaluate(lakes, queries(text, name))
    assert said in caught.value.message


def test_all_lost_names_are_counted(lakes: Bank) -> None:
    asked = [Qrels("a", {"x": 1, "y": 1}, "q:1"), Qrels("b", {"z": 1}, "q:9")]
    with pytest.raises(BadInput, match=r"q:1: there is no note 'x'; 2 more, at q:1, q:9"):
        evaluate(lakes, asked)


@pytest.mark.parametrize(
    "wrong", [{"modes": ["best"]}, {"least": {"recall@3": 0.5}}, {"limit": 5}, {"limit": 101}]
)
def test_what_can_not_be_measured_is_refused(lakes: Bank, wrong: dict[str, object]) -> None:
    with pytest.raises(BadInput):
        evaluate(lakes, [Qrels("water", {"lakes": 1})], **wrong)  # type: ignore[arg-type]


def test_a_query_of_half_a_character_is_asked_all_the_same(lakes: Bank) -> None:
    found = evaluate(lakes, [Qrels("still \ud800 water", {"lakes": 1})])
    assert found.scores[0].figures["recall@1"] == 1
    assert stats(lakes).count == 3
