"""Every tool, called by the SDK's own client."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from memory_bank.bank.bank import open_bank
from memory_bank.frontends.mcp import token_cost
from memory_bank.frontends.mcp.toolbox import Toolbox
from tests import forked

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


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_an_agent_remembers_and_recalls(serving: Make, mode: str, project: Path) -> None:
    agent = serving(mode=mode)
    done = agent(
        "remember",
        content="# Retries need jitter\n\nWithout it all clients come back at once.",
        tags=["HTTP"],
        type="decision",
        file_refs=["src/http.py"],
        symbol_refs=["retry"],
        entity_refs=["person:sarah"],
    )
    assert done["action"] == "created"
    assert done["path"] == "decisions/retries-need-jitter.md"
    assert done.text.startswith("Created (action: created). ")
    assert f'path="{done["path"]}" id="{done["note_id"]}" etag="{done["etag"][:16]}"' in done.text
    written = front_matter(project, done["path"])
    assert "source_type: agent" in written
    assert "source_agent: test-agent" in written
    assert "src/http.py" in written
    assert "sarah" in written

    answer = agent("recall", query="why jitter?", limit=1)
    (note,) = answer["notes"]
    assert note["path"] == done["path"]
    assert note["tags"] == ["http"]
    assert note["source_agent"] == "test-agent"
    assert 'by="agent test-agent"' in answer.text
    assert "come back at once" in answer.text


def test_the_same_content_makes_no_second_note(agent: Make) -> None:
    first = agent("remember", content="Twice told.", tags=["a"])
    again = agent("remember", content="Twice told.", tags=["b"])
    assert again["action"] == "updated_existing"
    assert again["note_id"] == first["note_id"]
    assert set(again["tags"]) == {"a", "b"}


def test_an_entity_is_given_and_answered_as_kind_and_id(agent: Make) -> None:
    sarah, ticket = {"kind": "person", "id": "sarah"}, {"kind": "ticket", "id": "7"}
    agent("remember", content="Sarah knows why.", entity_refs=[sarah, "ticket:7"])
    (note,) = agent("recall", query="Sarah knows why", limit=1)["notes"]
    assert note["entity_refs"] == [sarah, ticket]
    wrong = agent("remember", content="Other.", entity_refs=[{"kind": "person"}])
    assert wrong.error["code"] == "bad_input"
    assert "KIND:ID" in wrong.error["hint"]


def test_the_size_of_all_notes_is_readable(agent: Make, project: Path) -> None:
    found = agent("get_memory_stats")
    notes = (project / ".memories").rglob("*.md")
    size = sum(note.stat().st_size for note in notes)
    assert found["total_bytes"] == size
    assert found["total_size"] == f"{size}B"
    assert f" {size}B," in found.text


@pytest.mark.parametrize("tool", ["create_memory", "append_memory"])
def test_an_agent_is_told_to_keep_one_subject_under_a_heading(agent: Make, tool: str) -> None:
    listed = {found.name: found for found in agent.ask(agent.client.list_tools).tools}
    assert "subject" in listed[tool].description
    assert "heading" in listed[tool].description


def test_recall_answers_as_of_a_revision(agent: Make, project: Path) -> None:
    (project / ".memories/facts/bm25.md").write_text("# BM25\n\nIt was replaced.\n")
    answer = agent("recall", query="bm25", limit=1, at="HEAD")
    commit = answer["rev"]["commit"]
    assert len(commit) == 40
    assert f"As of the commit {commit}, <q-" in answer.text
    assert "damps long documents" in answer["notes"][0]["content"]
    assert "there is no revision" in agent("recall", query="bm25", at="--output=x").text


def test_recall_keeps_to_tags_and_the_living(agent: Make, project: Path) -> None:
    assert agent("recall", query="tantivy", tags_filter=["architecture"])["result_count"] == 1
    with open_bank(project) as bank:
        from memory_bank.memory.change import set_status

        set_status(bank, "bm25", "archived")
    found = agent("recall", query="scores a word by its rarity", mode="lexical")["notes"]
    assert "facts/bm25.md" not in [note["path"] for note in found]
    all_of_them = agent(
        "recall", query="scores a word by its rarity", mode="lexical", include_archived=True
    )
    assert "facts/bm25.md" in [note["path"] for note in all_of_them["notes"]]
    assert 'status="archived"' in all_of_them.text


def test_a_session_note_stays_out_of_git(
    agent: Make, project: Path, git: Callable[..., str]
) -> None:
    done = agent("session_note", content="Halfway through the port.", file_refs=["src/index.py"])
    assert done["source_type"] == "session"
    assert done["path"].startswith("sessions/")
    assert git(project, "status", "--porcelain") == ""
    assert agent("recall", query="halfway port")["notes"][0]["path"] == done["path"]


def test_a_session_note_names_its_session(agent: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    agent("start_session", session_id="review-4")
    done = agent("session_note", content="Halfway through the port.")
    assert done["session_id"] == "review-4"
    assert 'session="review-4"' in done.text
    unknown = agent("session_note", content="Done.", session_id="other")
    assert unknown.error["hint"] == "start it, or list the sessions"
    monkeypatch.setenv("CLAUDE_CODE_SESSION_ID", "the-program-s")
    assert agent("session_note", content="Next.")["session_id"] == "the-program-s"


def test_what_a_session_noted_can_be_remembered(
    agent: Make, project: Path, git: Callable[..., str]
) -> None:
    noted = agent("session_note", content="Retries are five.")
    kept = agent("remember", content="Retries are five.", type="decision")
    assert (kept["action"], kept["same_as"]) == ("created", noted["path"])
    assert f'same_as="{noted["path"]}"' in kept.text
    shown = git(project, "status", "--porcelain", "--untracked-files=all")
    assert shown == f"?? .memories/{kept['path']}\n"


def test_create_makes_a_note_once(agent: Make, project: Path) -> None:
    done = agent("create_memory", filename="plans/port", content="# Port\n\nFirst the parser.")
    assert done["path"] == "plans/port.md"
    assert "type: journal" in front_matter(project, "plans/port.md")
    again = agent("create_memory", filename="plans/port", content="Other words.")
    assert again.error["code"] == "note_exists"
    assert again.error["hint"]


def test_create_keeps_the_front_matter_that_comes_with_the_content(
    agent: Make, project: Path
) -> None:
    content = "---\ntype: plan\ntags: [Port]\nowner: sarah\n---\n# Port\n"
    done = agent("create_memory", filename="port", content=content, tags=["parser"])
    assert done["type"] == "plan"
    assert set(done["tags"]) == {"port", "parser"}
    written = front_matter(project, "port.md")
    assert "owner: sarah" in written
    assert written.count("type: plan") == 1
    broken = agent("create_memory", filename="broken", content="---\na: [1\n---\n")
    assert broken.error["code"] == "bad_input"


def test_append_update_and_edit_change_a_note(agent: Make, project: Path) -> None:
    file = project / ".memories" / "facts" / "bm25.md"
    assert agent("append_memory", filename="bm25", content="Its k is 1.2.")["changed"]
    assert file.read_text().endswith("long documents.\n\nIts k is 1.2.\n")
    assert agent("edit_memory", filename="bm25", old="1.2", new="1.5")["changed"]
    assert agent("edit_memory", filename="bm25", section="BM25", new="Short.")["changed"]
    assert file.read_text() == "# BM25\n\nShort.\n"
    assert agent("edit_memory", filename="bm25", old="o", new="0", count=2).error["hint"]

    before = front_matter(project, "decisions/tantivy.md")
    assert agent("update_memory", filename="tantivy", content="# New\n\nText.")["changed"]
    after = (project / ".memories/decisions/tantivy.md").read_text()
    assert after.endswith("---\n# New\n\nText.\n")
    assert "file_refs: [src/index.py]" in before
    assert "file_refs: [src/index.py]" in after


def test_if_match_refuses_what_was_changed_since(agent: Make, project: Path) -> None:
    read = agent("read_memory", filename="bm25")
    short = read.text.split('etag="')[1].split('"')[0]
    assert read["etag"].startswith(short)
    for etag in (read["etag"], short):
        done = agent("edit_memory", filename="bm25", old="BM25", new="BM25", count=0, if_match=etag)
        assert not done.wrong
    (project / ".memories/facts/bm25.md").write_text("# BM25\n\nMine.\n")
    for tool, rest in (
        ("update_memory", {"content": "Yours."}),
        ("edit_memory", {"old": "Mine", "new": "Yours"}),
        ("delete_memory", {}),
    ):
        refused = agent(tool, filename="bm25", if_match=short, **rest)
        assert refused.error["code"] == "conflict", tool
    assert (project / ".memories/facts/bm25.md").read_text() == "# BM25\n\nMine.\n"


def test_read_returns_text_etag_metadata_and_backlinks(agent: Make) -> None:
    answer = agent("read_memory", filename="decisions/whoosh")
    assert answer["backlinks_count"] == 1
    assert answer["type"] == "decision"
    assert answer["tags"] == ["search"]
    assert answer["content"].startswith("---\ntype: decision")
    assert "body" not in answer.fields
    assert "easy to install" in answer.text
    nothing = agent("read_memory", filename="qqqqqqqq")
    assert nothing.error["hint"] == "find its name with `search_memories`"
    missing = agent("read_memory", filename="decisions/whosh")
    assert missing.error["code"] == "note_not_found"
    assert "decisions/whoosh" in missing.error["hint"]


def test_several_notes_or_one_section_are_read_in_one_call(agent: Make, project: Path) -> None:
    several = agent("read_memory", filename=["bm25", "nowhere", "decisions/whoosh"])
    assert [note["path"] for note in several["notes"]] == ["facts/bm25.md", "decisions/whoosh.md"]
    assert [one["name"] for one in several["missing"]] == ["nowhere"]
    assert "easy to install" in several.text
    assert "nowhere: there is no note" in several.text
    file = project / ".memories/facts/two.md"
    file.write_text("# Two\n\n## One\n\nfirst words\n\n## Other\n\nother words\n", encoding="utf-8")
    section = agent("read_memory", filename="facts/two", section="Other")
    assert section["content"].startswith("## Other")
    assert "first words" not in section.text
    assert agent(
        "edit_memory", filename="facts/two", section="Other", new="x", if_match=section["etag"]
    )


def test_recall_lists_notes_without_their_text_and_pages(agent: Make) -> None:
    whole = agent("recall", query="search", detail="index")
    paths = [note["path"] for note in whole["notes"]]
    assert len(paths) == 2
    assert len(whole.text) < len(agent("recall", query="search").text)
    pages = [agent("recall", query="search", detail="index", limit=1, offset=n) for n in range(2)]
    assert [page["notes"][0]["path"] for page in pages] == paths[:2]
    assert agent("recall", query="search", offset=50)["result_count"] == 0
    assert agent("recall", query="search", offset=-1).wrong


def test_the_last_changed_notes_are_listed(agent: Make, project: Path) -> None:
    (project / ".memories/facts/new.md").write_text("# New\n\nJust now.\n", encoding="utf-8")
    newest = agent("recent_memories", limit=1)
    assert [note["path"] for note in newest["notes"]] == ["facts/new.md"]
    decisions = agent("recent_memories", type="decision")["notes"]
    assert {note["type"] for note in decisions} == {"decision"}


@pytest.mark.parametrize(
    ("tool", "given", "same_as"),
    [
        ("recall", {"tags_filter": ["architecture"]}, {"tags": ["architecture"]}),
        (
            "recall",
            {"includeArchived": True, "minScore": 0.1},
            {"include_archived": True, "min_score": 0.1},
        ),
        ("search_memories", {"filter_tags": ["architecture"]}, {"tags": ["architecture"]}),
        ("search_memories", {"filterType": "decision"}, {"type": "decision"}),
        ("search_memories", {"date_start": "2026-01-01"}, {"since": "2026-01-01"}),
    ],
)
def test_other_spellings_of_arguments_are_accepted(
    agent: Make, tool: str, given: dict[str, object], same_as: dict[str, object]
) -> None:
    answers = [agent(tool, query="tantivy", **some) for some in (given, same_as)]
    paths = [[note["path"] for note in answer["notes"]] for answer in answers]
    assert paths[0] == paths[1] != []
    assert agent(tool, query="tantivy", **given, **same_as).wrong


def test_rename_delete_and_restore(agent: Make, project: Path) -> None:
    moved = agent("rename_memory", filename="bm25", new_filename="facts/ranking")
    assert moved["relinked"] == ["decisions/tantivy.md"]
    assert "[[facts/ranking]]" in (project / ".memories/decisions/tantivy.md").read_text()
    assert agent("delete_memory", filename="facts/ranking")["path"] == "facts/ranking.md"
    assert agent("read_memory", filename="facts/ranking").wrong
    assert agent("restore_memory", filename="facts/ranking")["path"] == "facts/ranking.md"
    assert not agent("read_memory", filename="facts/ranking").wrong


def test_search_filters_by_tag_type_and_time(agent: Make) -> None:
    def found(**filters: object) -> list[str]:
        notes = agent("search_memories", query="search whoosh tantivy", **filters)["notes"]
        return sorted(note["path"] for note in notes)

    both = ["decisions/tantivy.md", "decisions/whoosh.md"]
    assert found(filter_tags=["search"]) == both
    assert found(filter_tags=["search", "architecture"]) == both[:1]
    assert found(filter_type="decision") == both
    assert found(filter_type="decision", before="2025-12-01") == both[1:]
    assert found(filter_type="decision", since="2026-01-01", limit=1) == both[:1]
    wrong = agent("search_memories", query="x", since="someday")
    assert wrong.error["code"] == "bad_input"
    assert "2026" in wrong.error["hint"]


def test_linked_search_says_why_it_links(agent: Make) -> None:
    answer = agent("search_linked_memories", query="grows slowly", target_document="src/index.py")
    (note,) = answer["notes"]
    assert note["path"] == "decisions/tantivy.md"
    contexts = [link["context"] for link in note["links"]]
    assert any("its index grows slowly. See [src/index.py]" in context for context in contexts)
    assert "link: decisions/tantivy.md:" in answer.text
    # no word fits: what hangs together is there all the same, and the answer says so
    other = agent("search_linked_memories", query="zebra", target_document="src/index.py")
    assert [note["path"] for note in other["notes"]] == ["decisions/tantivy.md"]
    assert "no linking note contains these words" in other["problem"]


@pytest.mark.parametrize("file", ["src/index2.py", "src/new.py", "docs/new.md", "symbol:nobody"])
def test_a_file_that_no_note_names_has_an_empty_answer(
    agent: Make, project: Path, file: str
) -> None:
    (project / "src/index2.py").touch()
    nothing = agent("search_linked_memories", query="x", target_document=file)
    assert (nothing["result_count"], nothing["notes"]) == (0, [])
    assert nothing.text == "No note links to it."


def test_a_note_that_is_not_there_is_an_error_with_near_names(agent: Make) -> None:
    unknown = agent("search_linked_memories", query="x", target_document="facts/bm52")
    assert unknown.error["code"] == "note_not_found"
    assert "facts/bm25" in unknown.error["hint"]


@pytest.mark.parametrize("nothing", ["", "  "])
def test_links_to_nothing_are_not_links_to_anything(agent: Make, nothing: str) -> None:
    answer = agent("search_linked_memories", query="tantivy", target_document=nothing)
    assert answer.error["code"] == "note_not_found"


@pytest.mark.parametrize(
    "form",
    ["./src/index.py", "src\\index.py", "{project}/src/index.py", "src/index.py:3", "src//index.py",
     "[[src/index.py]]"],
)  # fmt: skip
def test_a_file_is_found_in_any_form(agent: Make, project: Path, form: str) -> None:
    file = form.format(project=project)
    answer = agent("search_linked_memories", query="slow", target_document=file)
    assert [note["path"] for note in answer["notes"]] == ["decisions/tantivy.md"]
    done = agent("remember", content="Another.", file_refs=[file])
    assert "file_refs: [src/index.py]" in front_matter(project, done["path"])
    found = agent("recall", query=f'links:"{file}"', mode="lexical")
    assert {note["path"] for note in found["notes"]} == {"decisions/tantivy.md", done["path"]}


@pytest.mark.parametrize(
    "form",
    ["./facts/bm25", "facts\\bm25", "{bank}/facts/bm25.md", ".memories/facts/bm25.md",
     "facts/bm25.md:3", "memory://note/facts/bm25", "memory://note/facts/bm25.md", "[[facts/bm25]]"],
)  # fmt: skip
def test_a_note_is_found_in_any_form(agent: Make, project: Path, form: str) -> None:
    name = form.format(bank=project / ".memories")
    assert agent("read_memory", filename=name)["path"] == "facts/bm25.md"
    assert agent("append_memory", filename=name, content="More.")["path"] == "facts/bm25.md"
    assert agent("create_memory", filename=name, content="x").error["code"] == "note_exists"
    answer = agent("search_linked_memories", query="free", target_document=name)
    assert [note["path"] for note in answer["notes"]] == ["decisions/tantivy.md"]
    assert agent("delete_memory", filename=name)["path"] == "facts/bm25.md"
    assert agent("restore_memory", filename=name)["path"] == "facts/bm25.md"
    moved = agent("rename_memory", filename=name, new_filename=name.replace("bm25", "moved"))
    assert moved["path"] == "facts/moved.md"


def test_a_page_of_the_project_is_not_taken_for_a_note(agent: Make, project: Path) -> None:
    (project / "facts").mkdir()
    (project / "facts/bm25.md").write_text("A page.")
    wrong = agent("delete_memory", filename=f"{project}/facts/bm25.md")
    assert wrong.error["code"] == "note_not_found"
    made = agent("create_memory", filename=f"{project}/facts/new.md", content="x")
    assert made.error["code"] == "bad_name"


def test_linked_search_finds_only_what_links_to_a_note(agent: Make) -> None:
    agent("create_memory", filename="lesson", content="Builds are slow: [[src/index.py]] is hot.")
    agent("create_memory", filename="slow", content="Slow, as [[decisions/tantivy]] says.")
    answer = agent("search_linked_memories", query="slow", target_document="decisions/tantivy")
    (note,) = answer["notes"]
    assert note["path"] == "slow.md"
    assert [link["target"] for link in note["links"]] == ["decisions/tantivy.md"]


def test_the_link_whose_words_fit_comes_first(agent: Make) -> None:
    content = (
        "# Server\n\nThe login bug was fixed in [[src/server.py]].\n\n## Plans\n\n"
        "A rewrite for performance is planned in [[src/server.py]].\n"
    )
    agent("create_memory", filename="server", content=content)
    for query, first in (("performance rewrites", "rewrite"), ("why the login bug", "login")):
        answer = agent("search_linked_memories", query=query, target_document="src/server.py")
        assert first in answer["notes"][0]["links"][0]["context"]
        assert len(answer["notes"][0]["links"]) == 2


def test_stats_count(agent: Make) -> None:
    answer = agent("get_memory_stats")
    assert answer["count"] == 3
    assert answer["tags"] == {"search": 2, "architecture": 1}
    assert answer.text.startswith("3 notes (0 archived)")


def test_merge_is_all_or_nothing(agent: Make, project: Path) -> None:
    wrong = agent(
        "merge_memories",
        source_files=["bm25", "no-such-note"],
        target_file="facts/ranking",
        summary_content="Both.",
    )
    assert wrong.error["code"] == "note_not_found"
    assert not agent("read_memory", filename="bm25").wrong
    done = agent(
        "merge_memories",
        source_files=["bm25", "whoosh"],
        target_file="facts/ranking",
        summary_content="# Ranking\n\nBoth.",
    )
    assert done["merged"] == ["facts/bm25.md", "decisions/whoosh.md"]
    text = (project / ".memories/decisions/tantivy.md").read_text()
    assert text.count("[[facts/ranking]]") == 2
    assert agent("restore_memory", filename="facts/bm25")["path"] == "facts/bm25.md"


def test_maintenance_tools_rebuild_and_check(serving: Make) -> None:
    agent = serving("maintenance")
    assert names(agent) == {"sync_memories", "check_memories"}
    rebuilt = agent("sync_memories", rebuild=True)  # the thread behind may index first
    assert rebuilt["waiting"] == 0
    assert rebuilt.text.startswith("Indexed ")
    assert agent("check_memories").text.startswith("3 notes")


def test_a_review_shows_what_a_change_does(
    serving: Make, project: Path, git: Callable[..., str]
) -> None:
    note = project / ".memories/facts/bm25.md"
    note.write_text(f"{note.read_text()}\nIt ranks <q-1> well. See [[facts/none]].\n")
    agent = serving("review")
    assert names(agent) >= {"review", "stale_memories"}
    found = agent("review", revisions="HEAD").text
    assert found.startswith("1 note changed")
    assert "changed facts/bm25.md" in found
    assert "{+It ranks <q-1> well." in found
    assert "new info facts/bm25.md" in found
    assert "no revision" in agent("review", revisions="--output=x").text


def test_stale_notes_are_confirmed(serving: Make, project: Path, git: Callable[..., str]) -> None:
    code = project / "src/index.py"
    (project / ".memories/facts/building.md").write_text(
        "# Building\n\nAll at once: [[src/index.py#build_index]].\n"
    )
    git(project, "add", "-A")
    git(project, "commit", "-qm", "Cite the index")
    agent = serving("review", "bank")
    assert agent("stale_memories").text.startswith("0 citations of code stale.")
    code.write_text("def build_index(notes):\n    return sorted(notes)\n")
    git(project, "commit", "-qam", "Sort <the> index")
    found = agent("stale_memories")
    assert "facts/building.md:3 src/index.py#build_index changed since " in found.text
    read = serving("bank")("read_memory", filename="facts/building")
    assert read["stale"].startswith("src/index.py#build_index changed since ")
    assert read["stale"] in read.text
    assert "Sort <the> index" in found.text
    ranged = agent("stale_memories", revisions="HEAD~1..HEAD")["citations"]
    assert [one["target"] for one in ranged] == [one["target"] for one in found["citations"]]
    done = agent("confirm_memories", filename="facts/building")
    head = git(project, "rev-parse", "HEAD").strip()
    assert done["commit"] == head
    assert f"verified_commit: {head}" in front_matter(project, "facts/building.md")
    left = {one["path"] for one in agent("stale_memories")["citations"]}
    assert left == {"decisions/tantivy.md"}
    assert "no revision" in agent("stale_memories", revisions="--output=x").text


def test_the_usual_tools_are_those_of_all_toolsets_but_maintenance(serving: Make) -> None:
    assert names(serving()) == BANK | STORE | SESSIONS | CODE
    assert names(serving("store")) == STORE


def test_one_text_is_taken_where_a_list_is_wanted(agent: Make) -> None:
    made = agent("remember", content="The gate opens at dawn.", tags="gate", file_refs="src/a.py")
    found = agent("recall", query="gate", tags="gate")["notes"]
    assert [note["path"] for note in found] == [made["path"]]
    assert not agent("recall", query="gate", tags="").wrong
    assert agent("recall", query="gate", tags=3).wrong


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
    found = token_cost.cost(Toolbox())
    assert found.model_tokens <= token_cost.LIMIT
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


def test_a_note_of_a_session_that_git_would_track_is_warned_of(agent: Make, project: Path) -> None:
    (project / ".memories/sessions").mkdir()
    (project / ".memories/sessions/kept.md").write_text("# Kept\n")
    (project / ".memories/.gitignore").unlink()
    (project / ".memories/sessions/.gitignore").write_text("!*\n")
    answer = agent("session_note", content="The port is 9000")
    assert "Warning: git would track" in answer.text
    assert "git would track" in answer["warning"]
    assert "Warning" not in agent("remember", content="Another fact").text
