"""Every tool, called by the SDK's own client."""

import math
import re
from collections import Counter
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

from memory_bank.frontends.mcp import toolbox
from memory_bank.frontends.mcp.toolbox import DEFAULT, Toolbox
from tests.support import forked

Make = Callable[..., object]
BANK = {
    "create_memory", "append_memory", "read_memory", "update_memory", "edit_memory",
    "rename_memory", "delete_memory", "restore_memory", "search_memories",
    "search_linked_memories", "get_memory_stats", "merge_memories", "recent_memories",
    "confirm_memories",
}  # fmt: skip
STORE = {"remember", "recall", "session_note"}
DESTROYING = {"update_memory", "edit_memory", "rename_memory", "delete_memory", "merge_memories"}
ASKING = {
    "__IMPORTANT", "search", "timeline", "get_observations", "decisions", "changes_for_file",
    "inject_context",
}  # fmt: skip
SESSIONS = ASKING | {"start_session", "store_observation", "end_session"}
CODE = {"ask", "symbol", "explain_symbol", "blast_radius"}
READING = ASKING | CODE | {
    "read_memory", "search_memories", "search_linked_memories", "get_memory_stats", "recall",
    "recent_memories",
}  # fmt: skip


def names(agent: object) -> set[str]:
    listed = agent.ask(agent.client.list_tools)  # type: ignore[attr-defined]
    return {tool.name for tool in listed.tools}


def front_matter(project: Path, path: str) -> str:
    return (project / ".memories" / path).read_text(encoding="utf-8").split("---")[1]


@pytest.mark.parametrize("tool", ["create_memory", "append_memory"])
def test_an_agent_is_told_to_keep_one_subject_under_a_heading(agent: Make, tool: str) -> None:
    listed = {found.name: found for found in agent.ask(agent.client.list_tools).tools}
    assert "subject" in listed[tool].description
    assert "heading" in listed[tool].description


def test_the_start_of_an_etag_that_is_shown_is_enough(agent: Make) -> None:
    read = agent("read_memory", filename="bm25")
    short = read.text.split('etag="')[1].split('"')[0]
    assert read["etag"].startswith(short)
    for etag in (read["etag"], short):
        done = agent("edit_memory", filename="bm25", old="BM25", new="BM25", count=0, if_match=etag)
        assert not done.wrong


def test_a_file_is_found_in_any_form(agent: Make, project: Path) -> None:
    found = {"decisions/tantivy.md"}
    for file in (
        *("./src/index.py", "src\\index.py", f"{project}/src/index.py", "src/index.py:3"),
        *("src//index.py", "[[src/index.py]]"),
    ):
        answer = agent("search_linked_memories", query="slow", target_document=file)
        assert "decisions/tantivy.md" in {note["path"] for note in answer["notes"]} <= found, file
        done = agent("remember", content=f"Another, by {file}.", file_refs=[file])
        assert "file_refs: [src/index.py]" in front_matter(project, done["path"]), file
        found.add(done["path"])
        answer = agent("recall", query=f'links:"{file}"', mode="lexical", limit=10)
        assert {note["path"] for note in answer["notes"]} == found, file


def test_a_note_is_found_in_any_form(agent: Make, project: Path) -> None:
    path, bank = "facts/bm25.md", project / ".memories"
    forms = (
        *("./facts/bm25", "facts\\bm25", f"{bank}/facts/bm25.md", ".memories/facts/bm25.md"),
        *("facts/bm25.md:3", "memory://note/facts/bm25.md", "[[facts/bm25]]"),
        "memory://note/facts/bm25",
    )
    for name in forms:
        assert agent("read_memory", filename=name)["path"] == path, name
    for name in forms[-2:]:
        assert agent("append_memory", filename=name, content="More.")["path"] == path, name
        assert agent("create_memory", filename=name, content="x").error["code"] == "note_exists"
        answer = agent("search_linked_memories", query="free", target_document=name)
        assert [note["path"] for note in answer["notes"]] == ["decisions/tantivy.md"], name
        assert agent("delete_memory", filename=name)["path"] == path, name
        assert agent("restore_memory", filename=name)["path"] == path, name
        moved = agent("rename_memory", filename=name, new_filename=name.replace("bm25", "moved"))
        assert moved["path"] == "facts/moved.md", name
        agent("rename_memory", filename="facts/moved", new_filename="facts/bm25")


def test_a_page_of_the_project_is_not_taken_for_a_note(agent: Make, project: Path) -> None:
    (project / "facts").mkdir()
    (project / "facts/bm25.md").write_text("A page.")
    wrong = agent("delete_memory", filename=f"{project}/facts/bm25.md")
    assert wrong.error["code"] == "note_not_found"
    made = agent("create_memory", filename=f"{project}/facts/new.md", content="x")
    assert made.error["code"] == "bad_name"


def test_the_usual_tools_are_those_of_all_toolsets_but_maintenance(serving: Make) -> None:
    assert names(serving()) == BANK | STORE | SESSIONS | CODE
    assert names(serving("store")) == STORE


def test_a_reading_agent_has_no_tool_that_writes(serving: Make) -> None:
    agent = serving("bank", "store", "sessions", "code", "maintenance", read_only=True)
    assert names(agent) == READING | {"check_memories"}
    assert agent("remember", content="x").wrong
    prompts = agent.ask(agent.client.list_prompts).prompts
    assert [prompt.name for prompt in prompts] == ["recall-before-work"]


def test_every_tool_says_what_it_is(serving: Make) -> None:
    agent = serving(structured=False)
    for tool in agent.ask(agent.client.list_tools).tools:
        assert tool.description.endswith((".", "?"))
        assert bool(tool.annotations.read_only_hint) == (tool.name in READING)
        kept = tool.name in READING or tool.annotations.destructive_hint is False
        assert kept == (tool.name not in DESTROYING)
        assert tool.input_schema["type"] == "object"
        assert tool.output_schema is None


def test_recall_has_the_words_that_programs_search_tools_by_and_is_always_loaded() -> None:
    (recall,) = [tool for tool in Toolbox().listed() if tool.name == "recall"]
    meta = recall.model_dump(by_alias=True)["_meta"]
    assert meta["anthropic/alwaysLoad"] is True
    for text in (recall.description or "", meta["anthropic/searchHint"]):
        assert set(re.findall(r"\w+", text.lower())) >= {
            "know", "note", "memory", "decision", "why", "history", "yesterday", "session",
            "remember",
        }  # fmt: skip


def test_the_usual_tools_cost_little_of_an_agents_context() -> None:
    found = toolbox.count_cost(Toolbox())
    assert found.model_tokens <= toolbox.LIMIT
    assert {tool.name for tool in found.tools} == BANK | STORE | SESSIONS | CODE


def test_answers_have_the_fields_of_the_commands(agent: Make, project: Path) -> None:
    import json

    from tests.frontends.cli.conftest import command, environment

    def said(*words: str) -> dict[str, object]:
        done = forked.run(
            command([*words, "--json"]),
            cwd=project,
            env=environment(),
            capture_output=True,
            check=True,
        )
        return dict(json.loads(done.stdout))

    pairs = (
        (agent("recall", query="tantivy"), said("recall", "tantivy")),
        (agent("read_memory", filename="bm25"), said("show", "bm25")),
        (agent("get_memory_stats"), said("stats")),
        (agent("remember", content="One."), said("remember", "Two.")),
        (agent("append_memory", filename="bm25", content="a"), said("append", "bm25", "b")),
        (
            agent("search_linked_memories", query="tantivy", target_document="src/index.py"),
            said("recall", "tantivy", "--linked-to", "src/index.py"),
        ),
        (agent("rename_memory", filename="bm25", new_filename="b"), said("mv", "b", "c")),
    )
    for mine, theirs in pairs:
        fields = mine.fields
        assert set(theirs) - set(fields) <= {"body"}
        assert set(fields) <= set(theirs)
        if "notes" in fields:
            assert set(fields["notes"][0]) == set(theirs["notes"][0])


K1, B = 1.2, 0.75


def words(text: str) -> list[str]:
    return re.findall(r"[a-z]+", text.lower().replace("_", " "))


@cache
def described(toolsets: tuple[str, ...]) -> dict[str, list[str]]:
    """Return the words of the tools' names and descriptions."""
    tools = Toolbox(toolsets).listed()
    return {tool.name: words(f"{tool.name} {tool.description}") for tool in tools}


def found(question: str, *toolsets: str) -> list[str]:
    """Return the names of the best tools by BM25 over names and descriptions."""
    tools = described(toolsets)
    mean = sum(map(len, tools.values())) / len(tools)
    having = Counter(word for text in tools.values() for word in set(text))
    scores: dict[str, float] = dict.fromkeys(tools, 0.0)
    for word in words(question):
        rarity = math.log(1 + (len(tools) - having[word] + 0.5) / (having[word] + 0.5))
        for name, text in tools.items():
            times = text.count(word)
            scores[name] += (
                rarity * times * (K1 + 1) / (times + K1 * (1 - B + B * len(text) / mean))
            )
    ranked = sorted(tools, key=lambda name: -scores[name])
    return [name for name in ranked if scores[name] > 0]


QUESTIONS = {
    "past decisions": {"recall", "decisions"},
    "save what I learned": {"remember"},
    "why": {"recall"},
    "what did the last session do": {"search", "inject_context"},
    "search memory": {"recall", "search_memories", "search"},
    "remember": {"remember"},
    "notes about a file": {"search_linked_memories", "changes_for_file"},
    "edit a note": {"edit_memory"},
    "read a note": {"read_memory"},
    "project knowledge before a change": {"recall", "search_linked_memories"},
    "list recent notes": {"recent_memories"},
    "delete a note": {"delete_memory"},
    "what calls this symbol": {"symbol"},
    "tests of a symbol": {"explain_symbol"},
    "what may a change of this file affect": {"blast_radius"},
}


@pytest.mark.parametrize(("question", "right"), QUESTIONS.items(), ids=QUESTIONS)
def test_the_right_tool_is_among_the_first_two(question: str, right: set[str]) -> None:
    assert right.intersection(found(question, *DEFAULT)[:2]), found(question, *DEFAULT)[:4]
