from __future__ import annotations

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
    assert lines[0] == "3 queries, 3 relevant notes"
    assert [line.split()[0] for line in lines[2:8]] == [
        "measure", "recall@1", "recall@5", "recall@10", "ndcg@10", "mrr",
    ]  # fmt: skip
    assert "not among the first 5 (1):" in lines
    assert any("queries.toml:9  pure Python index" in line for line in lines)
    assert "   facts/bm25.md is not in the results" in lines
    assert any(line.startswith("   above decisions/whoosh.md:") for line in lines)


def test_two_modes_stand_side_by_side(mb: Run, file: str) -> None:
    answer = mb("eval", file, "--compare", "lexical,hybrid")
    lines = [line.split() for line in answer.out.splitlines()[2:8]]
    assert lines[0] == ["measure", "lexical", "hybrid", "difference"]
    for _, first, second, difference in lines[1:]:
        assert float(difference) == pytest.approx(float(second) - float(first), abs=0.0011)
    found = mb("--json", "eval", file, "--compare", "lexical,hybrid").json
    assert [score["mode"] for score in found["scores"]] == ["lexical", "hybrid"]


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
        ("--min", "recall@5=nan"),
        ("--min", "recall@5=90"),
        ("--min", "recall@5=-1"),
        ("--min", "recall@3=0.5"),
        ("--compare", "lexical"),
        ("--compare", "lexical,best"),
        ("--compare", "lexical,lexical"),
        ("--compare", "lexical,hybrid", "--mode", "hybrid"),
        ("--split", "test"),
        ("--limit", "3"),
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


@pytest.mark.parametrize("words", [(".",), (".", "--split", "test")])
def test_a_folder_is_refused_and_told_where_to_go(
    mb: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...]
) -> None:
    monkeypatch.chdir(tmp_path)
    answer = mb("eval", *words)
    assert (answer.code, answer.out) == (2, "")
    assert "docs/benchmarks.md" in answer.err


def test_the_queries_of_the_bank_need_no_file(mb: Run, project: Path) -> None:
    answer = mb("eval")
    assert answer.code == 2
    assert "queries.toml" in answer.err
    (project / ".memories/queries.toml").write_text(
        '[[queries]]\ntext = "how does bm25 score a word"\nfind = ["facts/bm25"]\n'
    )
    assert mb("eval", "--json").json["scores"][0]["figures"]["recall@1"] == 1
    assert mb("eval", "--min", "recall@5=0.8").code == 0
    (project / ".memories/facts/bm25.md").write_text("# Rain\n\nIt is wet.\n")
    (project / ".memories/facts/bm25.md").rename(project / ".memories/facts/rain.md")
    assert mb("eval").code == 2  # it names a missing note
    (project / ".memories/queries.toml").write_text(
        '[[queries]]\ntext = "why is whoosh not maintained"\nfind = ["facts/rain"]\n'
    )
    short = mb("eval", "--min", "recall@1=0.8")
    assert short.code == 1
    assert "recall@1 is 0.000 by hybrid, below 0.8" in short.err
