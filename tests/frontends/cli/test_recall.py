from __future__ import annotations

import os
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from memory_bank.memory.retrieval import recall
from memory_bank.memory.retrieval.hits import Recalled
from tests.conftest import run_git as git

from .conftest import Run, plain_text


def test_a_hit_says_where_and_what(mb: Run) -> None:
    answer = mb("recall", "tantivy", "ranking", "--mode", "lexical")
    assert answer.code == 0
    lines = answer.out.splitlines()
    rank, place, score = lines[0].split()
    assert (rank, place.rpartition(":")[0]) == ("1", ".memories/decisions/tantivy.md")
    assert 0 <= float(score) <= 1
    assert lines[1].strip().startswith("Tantivy over Whoosh")
    assert "decision · #architecture · #search · 2026-01-10" in answer.out
    assert answer.err == ""


def test_the_place_is_the_line_of_the_passage(mb: Run, project: Path) -> None:
    found = mb("recall", "BM25 ranking for free", "--json").json["notes"][0]
    lines = (project / ".memories" / found["path"]).read_text(encoding="utf-8").splitlines()
    assert lines[found["line"] - 1] in found["content"]


def test_the_json_has_what_programs_rely_on(mb: Run) -> None:
    found = mb("recall", "tantivy", "--json").json
    assert list(found)[:3] == ["schema_version", "query", "mode_used"]
    assert found["result_count"] == len(found["notes"]) > 0
    assert set(found["notes"][0]) >= {
        "note_id", "path", "line", "title", "heading", "content", "snippet", "tags", "type",
        "file_refs", "symbol_refs", "entity_refs", "source_type", "created_at", "access_count",
        "relevance_score", "reasons", "also",
    }  # fmt: skip
    assert "read_as" not in found


def test_nothing_found_is_exit_code_1(mb: Run) -> None:
    answer = mb("recall", "zzzzxyz", "--mode", "lexical")
    assert (answer.code, answer.out, answer.err) == (1, "", "nothing found\n")
    answer = mb("recall", "zzzzxyz", "--mode", "lexical", "--json")
    assert (answer.code, answer.err) == (1, "")
    assert (answer.json["result_count"], answer.json["notes"]) == (0, [])


def test_it_explains_how_it_read_and_why_it_found(mb: Run) -> None:
    query = 'whoosh "no longer maintained" -pure tag:search'
    answer = mb("recall", query, "--mode", "lexical", "--explain")
    assert answer.out.startswith("read as: words 'whoosh no longer maintained', ")
    assert "phrase 'no longer maintained'" in answer.out
    assert "without 'pure'" in answer.out
    assert "tag:search; mode: lexical" in answer.out
    assert "why  keyword" in answer.out
    found = mb("recall", query, "--explain", "--json").json
    assert found["read_as"]["without"] == ["pure"]
    assert found["read_as"]["conditions"] == ["tag:search"]


def test_a_negated_word_is_no_option(mb: Run) -> None:
    def paths(*words: str) -> list[str]:
        return [
            n["path"] for n in mb("recall", *words, "--mode", "lexical", "--json").json["notes"]
        ]

    assert "decisions/whoosh.md" in paths("whoosh")
    assert "decisions/whoosh.md" not in paths("whoosh", "-python")
    assert "decisions/whoosh.md" not in paths("-python", "whoosh", "--limit", "5")
    assert mb("recall", "--limit", "-10", "whoosh").code == 0  # a value stays with its option
    assert mb("recall", "whoosh", "--", "--limit").code == 0
    assert mb("recall", "whoosh", "--pyton").code == 2
    assert "'--bank' requires an argument" in mb("recall", "whoosh", "--bank").err


@pytest.mark.parametrize(
    ("args", "paths"),
    [
        (["--tags", "architecture"], {"decisions/tantivy.md"}),
        (["--tags", "search,architecture"], {"decisions/tantivy.md"}),
        (["--type", "decision"], {"decisions/tantivy.md", "decisions/whoosh.md"}),
        (["--before", "2025-12-01", "--type", "decision"], {"decisions/whoosh.md"}),
        (["--since", "2026-01-01", "--type", "decision"], {"decisions/tantivy.md"}),
    ],
)
def test_filters(mb: Run, args: list[str], paths: set[str]) -> None:
    answer = mb("recall", "whoosh", *args, "--mode", "lexical", "--json")
    assert {note["path"] for note in answer.json["notes"]} == paths


def test_words_of_time_restrict_and_are_reported(mb: Run) -> None:
    answer = mb("recall", "what did we decide in January 2026", "--json").json
    assert answer["notes"][0]["path"] == "decisions/tantivy.md"
    remark = "only notes since 2026-01-01 and before 2026-02-01, from the words 'in January 2026'"
    assert answer["notices"] == [f"{remark}; those of type decision first"]
    new = mb("recall", "what did we decide since yesterday", "--json").json
    assert [note["path"] for note in new["notes"]] == ["facts/bm25.md"]  # no decision: any note
    answer = mb("recall", "whoosh in January 2024", "--mode", "lexical", "--limit", "1")
    assert "decisions/tantivy.md" in answer.out
    assert answer.err.startswith("no note since 2024-01-01 and before 2024-02-01 answers this")
    explained = mb("recall", "whoosh since January 2026", "--explain").out
    assert "words 'whoosh', since:2026-01-01T00:00:00Z" in explained
    for args in (["whoosh in January 2026", "--since", "2025"], ['whoosh "in January 2026"']):
        assert "from the words" not in mb("recall", *args, "--mode", "lexical").err


@pytest.mark.parametrize(
    ("args", "remark"),
    [
        (["tpye:decision whoosh"], "tpye: is no key; did you mean type:?"),
        (["whoosh tag:serach"], "no note has tag:serach; did you mean tag:search?"),
        (["whoosh", "--tags", "serach"], "no note has tag:serach; did you mean tag:search?"),
        (["whoosh type:decison"], "no note has type:decison; did you mean type:decision?"),
        (["whoosh status:actve"], "no note has status:actve; did you mean status:active?"),
        (["whoosh in:decison"], "there is no folder decison; did you mean in:decisions?"),
        (["whoosh -tag:serach"], "no note has tag:serach; did you mean tag:search?"),
        (["whoosh tag:zebra"], "no note has tag:zebra"),
        (["whoosh since:soon"], "since:soon was read as a word, since 'soon' is no time; write"),
    ],
)
def test_a_mistyped_condition_is_remarked(mb: Run, args: list[str], remark: str) -> None:
    assert mb("recall", *args).err.startswith(remark)
    assert mb("recall", *args, "--json").json["notices"][0].startswith(remark)


def test_what_only_looks_like_a_condition_is_not_remarked(mb: Run) -> None:
    text = "TODO: whoosh 12:30 http://type.org/x std::vector file:x.py todo:fix -tag:zebra"
    assert mb("recall", text, "--mode", "lexical").err == ""


def test_archived_notes_on_demand(mb: Run) -> None:
    mb("archive", "bm25")
    assert mb("recall", "damps", "--mode", "lexical").code == 1
    answer = mb("recall", "damps", "--mode", "lexical", "--include-archived")
    assert answer.code == 0
    assert "archived" in answer.out


def test_an_access_is_counted_unless_told_not_to(mb: Run) -> None:
    def count() -> int:
        found: int = mb("recall", "damps", "--no-count", "--json").json["notes"][0]["access_count"]
        return found

    assert count() == 0
    mb("recall", "damps", "--limit", "1")
    assert count() == 1


def test_words_alone_are_told(mb: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMORY_BANK_EMBEDDER", "none")
    answer = mb("recall", "tantivy")
    assert answer.code == 0
    assert answer.err == (
        "warning: lexical results only: embeddings are off (embeddings_disabled)\n"
    )
    assert mb("recall", "tantivy", "--json").json["fallback_reason"] == "embeddings_disabled"
    assert mb("recall", "tantivy", "--mode", "lexical").err == ""


@pytest.mark.parametrize(
    "args",
    [
        [],
        ["x", "--mode", "telepathic"],
        ["x", "--limit", "many"],
        ["x", "--since", "once"],
        ["x", "--tags", ","],
        ["x", "--offset", "3"],
    ],
)
def test_wrong_use(mb: Run, args: list[str]) -> None:
    assert mb("recall", *args).code == 2


def test_a_limit_is_held_in_its_bounds(mb: Run) -> None:
    assert len(mb("recall", "whoosh", "--limit", "0", "--json").json["notes"]) == 1
    assert mb("recall", "whoosh", "--limit", "100000").code == 0


def test_a_notes_tricks_stay_text(mb: Run) -> None:
    mb("remember", "Danger \x1b[2J\x1b]0;title\x07 \u202egnp.exe end", "--name", "danger")
    shown = mb("recall", "danger").out
    assert "\x1b" not in shown
    assert "\u202e" not in shown
    assert r"\x1b[2J" in shown
    assert r"\u202egnp.exe" in shown


def test_on_a_terminal_it_is_coloured_and_folded(terminal: Run, mb: Run) -> None:
    mb("remember", "# Long\n\n" + "jabberwocky " * 15, "--name", "long")
    shown = terminal("recall", "jabberwocky").out
    assert "\x1b[36m.memories/long.md:" in shown
    assert max(len(line) for line in plain_text(shown).splitlines()) <= 80


def many_notes(project: Path, count: int) -> None:
    for number in range(count):
        text = f"# Retry {number}\n\n" + f"Sentence about waiting {number}. " * 9 + "Retries end.\n"
        (project / f".memories/retry-{number}.md").write_text(text, encoding="utf-8")


def test_an_answer_fits_one_screen_of_a_terminal(terminal: Run, mb: Run, project: Path) -> None:
    many_notes(project, 8)
    shown = terminal("recall", "retry", env={"LINES": "24"}).out
    assert "\x1b[1;33mRetry\x1b[0m" in shown  # the title
    assert "\x1b[1;33mRetries\x1b[0m end." in shown
    lines = plain_text(shown).splitlines()
    assert len(lines) <= 22
    assert max(map(len, lines)) <= 80
    assert [line[0] for line in lines if line[:1].isdigit()] == list("12345")
    assert "also" not in shown
    assert len(mb("recall", "retry", "--json").json["notes"]) == 8
    wanted = terminal("recall", "retry", env={"MEMORY_BANK_SEARCH_LIMIT": "7"}).out
    assert "\n7  " in plain_text(wanted)


def test_other_sections_on_demand(mb: Run) -> None:
    assert "also" not in mb("recall", "tantivy ranking").out
    first = mb("recall", "tantivy ranking", "--json").json["notes"][0]
    assert first["path"] == "decisions/tantivy.md"
    assert first["also"]


def test_formats_for_programs(mb: Run, project: Path) -> None:
    text = '# =1+1 | x\n\njabberwocky \x1b[2J | `z`, "q"\n'
    (project / ".memories/odd name.md").write_text(text, encoding="utf-8")
    query = ("recall", "jabberwocky", "--mode", "lexical", "--no-count", "--format")
    assert mb(*query, "paths").out == ".memories/odd name.md\n"
    shown = mb(*query, "md").out
    assert shown.startswith(r"1. [=1+1 \| x](.memories/odd%20name.md) (")
    assert r"jabberwocky \\x1b\[2J \| \`z\`" in shown
    assert mb(*query, "json").json == mb(*query[:-1], "--json").json
    nothing = mb("recall", "zzzzxyz", "--mode", "lexical", "--format", "md")
    assert (nothing.code, nothing.out) == (1, "")
    assert mb("recall", "x", "--format", "md", "--json").error["code"] == "bad_usage"
    assert mb("recall", "x", "--format", "json", "--since", "soon").error["code"] == "bad_input"


def test_weaker_matches_are_set_apart(mb: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    find = recall.recall

    def judged(*args: Any, weak_from: int = 1, **options: Any) -> Recalled:
        found = find(*args, **options)
        notes = [note._replace(weak=rank >= weak_from) for rank, note in enumerate(found.notes)]
        return found._replace(notes=tuple(notes), answered=weak_from > 0)

    query = ("recall", "tantivy whoosh", "--no-count")
    monkeypatch.setattr(recall, "recall", judged)
    good, weaker = mb(*query).out.split("\n\nWeaker matches\n")
    assert good.startswith("1  ")
    assert weaker.startswith("2  ")
    assert "\n\nWeaker matches:\n\n2. [" in mb(*query, "--format", "md").out
    assert [note["weak"] for note in mb(*query, "--json").json["notes"]][:2] == [False, True]
    monkeypatch.setattr(recall, "recall", partial(judged, weak_from=0))
    answer = mb(*query)
    assert answer.out.startswith("Weaker matches\n1  ")
    assert (answer.code, answer.err) == (0, "probably nothing in the bank answers this\n")
    assert mb(*query, "--json").json["answered"] is False


def test_a_least_score(mb: Run) -> None:
    found = mb("recall", "tantivy", "--min-score", "0.3", "--json").json["notes"]
    assert min(note["relevance_score"] for note in found) >= 0.3
    assert mb("recall", "zebra tantivy stripes", "--min-score", "1").err == "nothing found\n"
    assert mb("recall", "tantivy", "--min-score", "2").code == 2


def test_notes_as_of_a_revision(mb: Run, project: Path) -> None:
    git(project, "tag", "v1.0")
    (project / ".memories/facts/bm25.md").write_text("# BM25\n\nIt was replaced.\n")
    git(project, "commit", "-q", "-a", "-m", "Replace")
    commit = git(project, "rev-parse", "v1.0").strip()
    shown = mb("recall", "--at", "v1.0", "bm25", "--limit", "1")
    assert "damps long documents" in shown.out
    assert f"as of v1.0: {commit}" in shown.err
    answer = mb("recall", "bm25", "--at", "v1.0", "--json").json
    assert answer["rev"]["commit"] == commit
    assert answer["rev"]["asked"] == "v1.0"
    assert "rev" not in mb("recall", "bm25", "--json", "--no-count").json
    assert mb("recall", "bm25", "--json", "--no-count").json["notes"][0]["access_count"] == 0


@pytest.mark.parametrize("rev", ["v9", "--output=x", "HEAD:src", "-"])
def test_a_revision_that_does_not_exist_is_wrong_use(mb: Run, rev: str, project: Path) -> None:
    answer = mb("recall", "bm25", f"--at={rev}")
    assert answer.code == 2
    assert f"there is no revision '{rev}'" in answer.err
    assert "hint: name a commit, tag or branch" in answer.err
    assert sorted(os.listdir(project)) == [".git", ".memories", "src"]
