from __future__ import annotations

from tests.frontends.cli.conftest import Run


def test_describe_lists_the_tools_and_what_they_cost(mb: Run) -> None:
    answer = mb("serve", "mcp", "--describe")
    assert answer.code == 0
    first, *_, last = answer.out.splitlines()
    assert first.split()[:2] == ["recall", "reads"]
    assert last.startswith("all ")
    assert "tokenizer" in answer.err
    found = mb("serve", "mcp", "--describe", "--json").json
    assert found["toolsets"] == ["store", "bank", "sessions", "code"]
    assert sum(tool["tokens"] for tool in found["tools"]) == found["tokens"] < 3500


def test_describe_follows_the_choice_of_tools(mb: Run) -> None:
    found = mb(
        "serve", "mcp", "--describe", "--json", "--toolsets", "store,maintenance", "--read-only"
    )
    assert [tool["name"] for tool in found.json["tools"]] == ["recall", "check_memories"]
    assert not any(tool["writes"] for tool in found.json["tools"])


def test_an_unknown_toolset_is_refused_before_anything_is_served(mb: Run) -> None:
    answer = mb("serve", "mcp", "--toolsets", "store,nothing", "--json")
    assert answer.code == 2
    assert "'nothing'" in answer.error["message"]
    assert answer.error["hint"] == "choose of: bank, code, maintenance, review, sessions, store"


def test_recall_linked_to_shows_why(mb: Run) -> None:
    answer = mb("recall", "whoosh", "--linked-to", "src/index.py")
    assert answer.code == 0
    assert "link .memories/decisions/tantivy.md:" in answer.out
    assert "See [src/index.py]" in answer.out
    (note,) = mb("recall", "whoosh", "--linked-to", "src/index.py", "--json").json["notes"]
    assert {link["target"] for link in note["links"]} == {"ghost:src/index.py"}
    assert mb("recall", "whoosh", "--linked-to", "src/nothing.py").code == 1


def test_remember_says_who_says_so(mb: Run) -> None:
    made = mb("remember", "Half done.", "--source", "session", "--agent", "me", "--json").json
    assert made["source_type"] == "session"
    assert made["path"].startswith("sessions/")
    shown = mb("show", made["path"], "--json").json
    assert (shown["source_type"], shown["source_agent"]) == ("session", "me")


def test_an_agents_name_that_nobody_can_see_is_refused(mb: Run) -> None:
    answer = mb("remember", "Half done.", "--agent", "\u200b\u3164")
    assert answer.code == 2
    assert "--agent" in answer.err
    assert mb("recall", "half done").code == 1
