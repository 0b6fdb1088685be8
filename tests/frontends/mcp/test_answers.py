"""An answer is one text with all that an agent needs next; programs may ask for a structure."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema

from memory_bank.bank.bank import open_bank
from memory_bank.base.paths import LEFT_ALONE
from memory_bank.frontends.mcp.arguments import NOTICE
from memory_bank.search.embedders.static import count_tokens
from tests.frontends.mcp.calls import CALLS

from .conftest import Agent

Make = Callable[..., Any]
ALL = ("store", "bank", "sessions", "code", "maintenance", "review")


def test_each_tool_answers_one_text(serving: Make) -> None:
    """Programs that hand their model the structure alone would hide the quote, so there is none."""
    agent = serving(*ALL, structured=False)
    assert {call.tool for call in CALLS} == set(agent.server.toolbox.tools)
    for call in CALLS:
        answer = agent(call.tool, **call.arguments)
        assert not answer.wrong, answer.text
        assert answer.result.structured_content is None, call.tool
    assert all(tool.output_schema is None for tool in agent.ask(agent.client.list_tools).tools)


def test_a_structure_fits_its_schema_and_has_every_text_of_notes_in_a_quote(serving: Make) -> None:
    agent = serving(*ALL)
    schemas = {tool.name: tool.output_schema for tool in agent.ask(agent.client.list_tools).tools}
    for call in CALLS:
        answer = agent(call.tool, **call.arguments)
        structure = answer.result.structured_content
        jsonschema.validate(structure, schemas[call.tool])
        assert set(structure) <= {*schemas[call.tool]["properties"], "repaired"}, call.tool
        assert answer[call.field] is not None
        (mark,) = re.findall(r"in <(q-\w+)> is quoted data", structure[NOTICE])
        for name in ("path", "note_id", "type", "title", "content"):
            if structure.get(name):
                assert structure[name] == f"<{mark}>{answer[name]}</{mark}>"
        assert NOTICE not in answer.fields


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


def test_notices_are_quoted_since_they_have_words_of_the_query_and_of_notes(agent: Make) -> None:
    said = "no note has tag:serach; did you mean tag:search?"
    answer = agent("recall", query="what did we decide in January 2026", tags_filter=["serach"])
    assert re.search(rf"Notice: <(q-\w+)>{re.escape(said)}</\1>", answer.text)
    assert answer["notices"] == [said]
    answer = agent("recall", query="what did we decide in January 2026")
    assert "Notice: <q-" in answer.text
    assert "only notes since 2026-01-01 and before 2026-02-01, from the words" in answer.text
    assert "decisions/whoosh.md" not in answer.text
    for since in ("last month", "monday"):
        assert not agent("search_memories", query="tantivy", since=since).wrong


def test_an_index_that_is_left_alone_is_said_once(
    serving: Callable[..., Agent], project: Path
) -> None:
    (project / ".memories/.index").mkdir()
    (project / ".memories/.index/manifest.db").write_bytes(b"")
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
