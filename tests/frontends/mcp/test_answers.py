"""An answer is one text with all that an agent needs next; programs may ask for a structure."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from memory_bank.bank.bank import open_bank
from memory_bank.base import paths
from memory_bank.base.paths import LEFT_ALONE
from memory_bank.frontends.mcp.arguments import NOTICE
from memory_bank.search.embedders.static import count_tokens
from tests.frontends.mcp.calls import CALLS

from .conftest import Agent

Make = Callable[..., Any]
ALL = ("store", "bank", "sessions", "code", "maintenance", "review")


def test_a_program_that_hands_its_model_the_structure_alone_gets_none(serving: Make) -> None:
    agent = serving(*ALL, structured=False, name="claude-code")
    assert agent("recall", query="tantivy").result.structured_content is None
    assert all(tool.output_schema is None for tool in agent.ask(agent.client.list_tools).tools)


def test_a_structure_fits_its_schema_and_has_every_text_of_notes_in_a_quote(serving: Make) -> None:
    agent = serving(*ALL)
    assert {call.tool for call in CALLS} == set(agent.server.toolbox.tools)
    schemas = {tool.name: tool.output_schema for tool in agent.ask(agent.client.list_tools).tools}
    for call in CALLS:
        answer = agent(call.tool, **call.arguments)
        structure = answer.result.structured_content
        jsonschema.validate(structure, schemas[call.tool])
        assert set(structure) <= {*schemas[call.tool]["properties"], "repaired"}, call.tool
        assert answer[call.field] is not None
        (mark,) = re.findall(r"in <(q-\w+)> is quoted data", structure[NOTICE])
        for name in ("title", "content", "snippet"):
            if structure.get(name):
                assert structure[name] == f"<{mark}>{answer[name]}</{mark}>"
        for name in ("path", "note_id", "type", "source_type", "session_id", "state"):
            assert structure.get(name) == answer.fields.get(name), call.tool
        assert NOTICE not in answer.fields


def test_a_program_gets_plain_ids_kinds_and_counts_besides_the_text(serving: Make) -> None:
    agent = serving(structured=False, name="a program")
    done = agent("remember", content="# Queues\n\nJobs wait.", tags=["ops"])
    made = done.result.structured_content
    assert (made["schema_version"], made["action"]) == ("1.0", "created")
    assert re.fullmatch("[0-9a-f]{12}", made["note_id"])
    assert re.fullmatch("[0-9a-f]{64}", made["content_hash"])
    assert made["created_at"] > "2026"
    assert made["tags"] == [f"<{done.mark}>ops</{done.mark}>"]
    answer = agent("recall", query="where do jobs wait?").result.structured_content
    assert (answer["query"], answer["mode_used"]) == ("where do jobs wait?", "hybrid")
    assert answer["result_count"] == len(answer["notes"])
    assert (answer["notes"][0]["note_id"], answer["notes"][0]["path"]) == (
        made["note_id"],
        made["path"],
    )
    note = agent("session_note", content="Tried SKIP LOCKED.").result.structured_content
    assert (note["action"], note["source_type"]) == ("created", "session")
    asked = agent("ask", query="where is the index built").result.structured_content
    assert asked["query"] == "where is the index built"
    assert asked["result_count"] == len(asked["results"])
    assert {row["kind"] for row in asked["results"]} <= {"note", "symbol", "test", "coupled", "doc"}
    counts = agent("get_memory_stats").result.structured_content
    assert counts["tags"]["ops"] == 1
    assert re.fullmatch(r"\d+[KM]?B", counts["total_size"])


@pytest.mark.parametrize("name", ["words in a row", "plain-words"])
def test_what_an_answer_names_is_taken_back(serving: Make, project: Path, name: str) -> None:
    text = "# Zebras\n\nA zebra grazes.\n\n## More of zebras\n\n" + "It grazes at dawn. " * 200
    (project / f".memories/{name}.md").write_text(text, encoding="utf-8")
    agent = serving(structured=False)
    for kind in ("note", "section"):
        rows = agent("search", query="zebra grazes", type=kind).result.structured_content["results"]
        read = agent("get_observations", ids=[row["id"] for row in rows])
        assert (read["count"], read.fields.get("missing", [])) == (len(rows), []), rows
    hit = agent("recall", query="zebra").result.structured_content["notes"][0]
    assert "grazes" in agent("read_memory", filename=hit["path"])["content"]


def test_a_text_has_one_mark_and_so_has_its_structure(agent: Make) -> None:
    answer = agent("recall", query="why tantivy")
    marks = set(re.findall(r"</(q-\w+)>", answer.text + repr(answer.result.structured_content)))
    assert len(marks) == 1
    again = agent("recall", query="why tantivy")
    assert marks.isdisjoint(re.findall(r"</(q-\w+)>", again.text))


def test_a_structure_costs_several_times_the_tokens_of_the_text(agent: Make) -> None:
    import json

    answer = agent("recall", query="tantivy whoosh")
    text, structure = count_tokens([answer.text, json.dumps(answer.result.structured_content)])
    assert structure > 2 * text


def test_an_index_that_is_left_alone_is_said_once(
    serving: Callable[..., Agent], project: Path
) -> None:
    (project / ".memories/.index" / paths.NAME).unlink()
    agent = serving()
    found = agent("recall", query="tantivy")
    assert found.text.endswith(f"\nNotice: {LEFT_ALONE}.")
    assert "Notice" not in agent("recall", query="tantivy").text


SAID = "Repaired: finished a change of several files that was cut short."


def cut_short(project: Path) -> None:
    with open_bank(project) as bank:
        bank.sync()
    (project / ".memories/.trash/.journal-0123456789ab").mkdir(parents=True)


def test_an_answer_says_it_once(serving: Callable[..., Agent], project: Path) -> None:
    cut_short(project)
    agent = serving()
    found = agent("recall", query="tantivy")
    assert found["repaired"] == ["writing"]
    assert found.text.endswith(f"\n{SAID}")
    assert "repaired" not in agent("recall", query="tantivy").fields
