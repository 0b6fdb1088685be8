from __future__ import annotations

import json
from pathlib import Path

import pytest

from .conftest import Run

QUERIES = """[[queries]]
text = "why is whoosh gone?"
find = ["tantivy"]

[[queries]]
text = "rarity of words"
find = ["bm25"]

[[queries]]
text = "pure Python index"
find = ["bm25"]
"""


@pytest.fixture
def file(tmp_path: Path) -> str:
    path = tmp_path / "queries.toml"
    path.write_text(QUERIES, encoding="utf-8")
    return str(path)


def test_figures_and_misses_are_shown(mb: Run, file: str) -> None:
    answer = mb("eval", file, "--mode", "lexical")
    assert answer.code == 0
    lines = answer.out.splitlines()
    assert lines[0] == "3 queries, 3 notes to find"
    assert [line.split()[0] for line in lines[2:8]] == [
        "measure", "recall@1", "recall@5", "recall@10", "ndcg@10", "mrr",
    ]  # fmt: skip
    assert "not among the first 5 (1):" in lines
    assert any("queries.toml:9  pure Python index" in line for line in lines)
    assert "   facts/bm25.md is not in the answer" in lines
    assert any(line.startswith("   above decisions/whoosh.md:") for line in lines)


def test_misses_can_be_left_out(mb: Run, file: str) -> None:
    assert "not among" not in mb("eval", file, "--misses", "0").out


def test_two_modes_stand_side_by_side(mb: Run, file: str) -> None:
    answer = mb("eval", file, "--compare", "lexical,hybrid")
    head = answer.out.splitlines()[2].split()
    assert head == ["measure", "lexical", "hybrid", "difference", "better/worse/same", "p"]
    found = mb("--json", "eval", file, "--compare", "lexical,hybrid").json
    assert [score["mode"] for score in found["scores"]] == ["lexical", "hybrid"]
    for one in found["compared"]:
        assert sum(one["paired"][side] for side in ("better", "worse", "same")) == 3


def test_a_share_that_is_not_reached_fails(mb: Run, file: str) -> None:
    words = ("eval", file, "--mode", "lexical")
    assert mb(*words, "--min", "recall@5=0.5", "--min", "mrr=0.5").code == 0
    answer = mb(*words, "--min", "recall@5=0.9")
    assert answer.code == 1
    assert "recall@5 is 0.667 by lexical, below 0.9" in answer.err
    found = mb("--json", *words, "--min", "Recall@5=0.9").json
    assert [short["measure"] for short in found["shortfalls"]] == ["recall@5"]


@pytest.mark.parametrize(
    "wrong",
    [
        ("--min", "recall@5"),
        ("--min", "recall@3=0.5"),
        ("--compare", "lexical"),
        ("--compare", "lexical,best"),
        ("--compare", "lexical,lexical"),
        ("--compare", "lexical,hybrid", "--mode", "hybrid"),
        ("--split", "test"),
        ("--limit", "3"),
        ("--within", "0"),
    ],
)
def test_wrong_use(mb: Run, file: str, wrong: tuple[str, ...]) -> None:
    answer = mb("eval", file, *wrong)
    assert (answer.code, answer.out) == (2, "")


def test_a_note_that_is_not_there_is_named_with_its_line(mb: Run, file: str) -> None:
    Path(file).write_text(QUERIES.replace("tantivy", "tantivi"), encoding="utf-8")
    answer = mb("--json", "eval", file)
    assert answer.code == 2
    assert answer.error["message"].endswith("queries.toml:3: there is no note 'tantivi'")
    assert "tantivy" in answer.error["hint"]


def test_a_collection_needs_no_bank(
    mb: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "collection"
    (folder / "qrels").mkdir(parents=True)
    (folder / "corpus.jsonl").write_text(json.dumps({"_id": "d", "text": "still water"}))
    (folder / "queries.jsonl").write_text(json.dumps({"_id": "q", "text": "water"}))
    (folder / "qrels" / "dev.tsv").write_text("q\td\t1\nq\tgone\t1\n")
    monkeypatch.chdir(tmp_path)
    answer = mb("eval", "collection")
    assert answer.code == 0
    assert "1 query, 2 notes to find" in answer.out
    assert "1 judged document not in the corpus" in answer.err
    assert sorted(file.name for file in folder.iterdir()) == [
        "corpus.jsonl", "qrels", "queries.jsonl",
    ]  # fmt: skip
