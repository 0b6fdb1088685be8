"""Whatever comes out of a file reaches an agent inside a quote, wherever in the file it stands.

Each place has a marker of its own, in which nothing is escaped by JSON, YAML or a URL.
"""

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from mcp.shared.exceptions import MCPError

from tests.frontends.mcp.answers import outside

Make = Callable[..., Any]
ALL = ("store", "bank", "sessions", "code", "maintenance", "review")


def mark(place: str) -> str:
    """Return the marker of a place."""
    return f"obeyme{place}"


EVERYWHERE = f"""---
id: {mark("id")}
title: {mark("title")}
type: {mark("type")}
status: {mark("status")}
tags: [{mark("tag")}]
aliases: [{mark("alias")}]
created_at: {mark("created")}
updated_at: {mark("updated")}
source_type: {mark("sourcetype")}
source_agent: {mark("agent")}
entity_refs:
  - {{kind: {mark("kind")}, id: {mark("entity")}}}
  - {mark("badentity")}
file_refs: [{mark("fileref")}.py]
symbol_refs: [{mark("symbolref")}]
verified_commit: {mark("commit")}
{mark("key")}: {mark("value")}
{mark("nested")}: {{{mark("inner")}: {mark("deep")}}}
"{mark("twice")}": 1
"{mark("twice")}": 2
---
# {mark("heading")}

{mark("body")} tells queue workers to wait. #{mark("inlinetag")} ^{mark("block")}

{mark("relation")}:: [[{mark("target")}#{mark("targetheading")}|{mark("linktext")}]]
[[#{mark("nowhere")}]] [[#^{mark("noblock")}]] [{mark("words")}]({mark("url")}.md)
[[same]] [[src/index.py]] ![[{mark("embed")}]]

## Twice

One.

## Twice

Two {mark("second")}.
"""
BROKEN = {
    "quote": f'---\ntitle: "{mark("openquote")}\n---\nqueue\n',
    "colon": f"---\ntitle: a: {mark('colon')}: b\n---\nqueue\n",
    "flow": f"---\ntags: [{mark('flow')}\n---\nqueue\n",
    "anchor": f"---\na: *{mark('anchor')}\n---\nqueue\n",
    "tagged": f"---\na: !{mark('yamltag')} x\n---\nqueue\n",
    "directive": f"---\n%{mark('directive')}\na: 1\n---\nqueue\n",
    "indent": f"---\na: 1\n   {mark('indent')}\n b: 2\n---\nqueue\n",
    "escape": f'---\na: "\\{mark("escape")}"\n---\nqueue\n',
    "toml": f"+++\n{mark('tomlkey')} = {mark('tomlvalue')}\n+++\nqueue\n",
    "tomltwice": f"+++\n{mark('tomltwice')} = 1\n{mark('tomltwice')} = 2\n+++\nqueue\n",
    "unclosed": f"---\n{mark('unclosed')}: 1\n\nqueue\n",
}
FOLDER, FILE = mark("folder"), mark("file")


@pytest.fixture
def hostile(project: Path) -> Path:
    """Plant a marker in every place that a bank has."""
    root = project / ".memories"
    files = {
        f"{FOLDER}/{FILE}.md": EVERYWHERE.encode(),
        f"{FOLDER}/twin.md": f"---\nid: {mark('id')}\n---\nqueue twin\n".encode(),
        f"{FOLDER}/same.md": b"queue one\n",
        f"{mark('otherfolder')}/same.md": b"queue two\n",
        f"{mark('latin')}.md": b"# Caf\xe9\n\nqueue\n",
        f"{mark('binary')}.md": b"\x00\x01\x02",
        f"{mark('large')}.md": b"queue " * 40_000,
        f"{mark('successor')}.md": f"supersedes:: [[{FILE}]] queue\n".encode(),
        f"{mark('deleted')}.md": b"queue gone\n",
        f".trash/{mark('stamp')}/{mark('trashed')}.md": b"queue trash\n",
        **{f"{mark('broken')}/{name}.md": text.encode() for name, text in BROKEN.items()},
    }
    for name, data in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_bytes(data)
    (root / "config.toml").write_text("[memory]\nmax_note_bytes = 100000\n")
    return root


def reviewing() -> Iterator[tuple[str, dict[str, Any]]]:
    yield from (("review", {"revisions": given}) for given in ("HEAD", mark("revision")))
    yield from (("stale_memories", {"revisions": given}) for given in (None, mark("since")))
    yield "confirm_memories", {"filename": [mark("target"), mark("unconfirmed")]}


def calls() -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield calls of every tool: what it finds, and each way in which it refuses."""
    name = f"{FOLDER}/{FILE}"
    for limit in (1, 50):
        yield "recall", {"query": "queue workers wait", "limit": limit, "include_archived": True}
        yield "search_memories", {"query": f"queue {mark('body')}", "limit": limit}
    yield "recall", {"query": f"tag:{mark('tag')} type:{mark('type')} {mark('heading')}"}
    yield "recall", {"query": "status:x since:someday in:nowhere"}
    yield "search_memories", {"query": "x", "since": mark("when")}
    for node in ("src/index.py", mark("target"), f"{mark('fileref')}.py", name, mark("entity")):
        yield "search_linked_memories", {"query": "zebra", "target_document": node}
    for file in ("src/index.py", f"{mark('fileref')}.py"):
        yield "blast_radius", {"file": file}
        yield "explain_symbol", {"name": f"{file}#{mark('target')}"}
    yield "explain_symbol", {"name": "build_index"}
    yield "symbol", {"name": mark("target")}
    for note in (name, mark("alias"), mark("title"), mark("id"), "same", FILE[:-1], mark("deletd")):
        yield "read_memory", {"filename": note}
    for note in (
        mark("latin"),
        mark("binary"),
        mark("large"),
        *(f"broken/{one}" for one in BROKEN),
    ):
        yield "read_memory", {"filename": note.replace("broken", mark("broken"))}
        yield "append_memory", {"filename": note, "content": "queue"}
    yield "edit_memory", {"filename": name, "section": "No such", "new": "x"}
    yield "edit_memory", {"filename": name, "section": "Twice", "new": "x"}
    yield "edit_memory", {"filename": name, "old": "queue", "count": 7, "new": "x"}
    yield "edit_memory", {"filename": name, "old": mark("body"), "new": "x", "if_match": "0" * 16}
    yield "update_memory", {"filename": mark("binary"), "content": "x"}
    yield "update_memory", {"filename": f"{mark('broken')}/toml", "content": "x"}
    yield "create_memory", {"filename": name, "content": "x"}
    yield "create_memory", {"filename": f"{mark('new')}/CON", "content": "x"}
    yield "create_memory", {"filename": mark("new"), "content": f"---\n{mark('mine')}: [\n---\n"}
    yield "create_memory", {"filename": mark("new"), "content": "x", "tags": [mark("newtag")]}
    yield "remember", {"content": f"{mark('kept')}.", "type": mark("kepttype"), "tags": ["!"]}
    yield "remember", {"content": f"{mark('kept')}.", "entity_refs": [mark("noentity")]}
    yield "remember", {"content": f"{mark('kept')}.", "type": mark("kepttype")}
    yield "session_note", {"content": f"{mark('kept')}.", "tags": [mark("sessiontag")]}
    yield "remember", {"content": "queue one", "tags": [mark("merged")]}
    yield "rename_memory", {"filename": name, "new_filename": mark("latin")}
    yield "rename_memory", {"filename": name, "new_filename": f"{mark('a')}[x]"}
    yield "rename_memory", {"filename": name, "new_filename": f"{FOLDER}/{mark('renamed')}"}
    yield "delete_memory", {"filename": mark("deleted"), "if_match": "0" * 16}
    yield "delete_memory", {"filename": mark("deleted")}
    yield "restore_memory", {"filename": mark("deleted"), "new_filename": mark("latin")}
    yield "restore_memory", {"filename": mark("deleted")}
    yield "restore_memory", {"filename": mark("nothing")}
    yield "restore_memory", {"filename": mark("trashed")}
    yield "merge_memories", {"source_files": ["same"], "target_file": "m", "summary_content": "x"}
    merging = {"target_file": mark("target"), "summary_content": f"# {mark('summary')}"}
    yield "merge_memories", {"source_files": [f"{FOLDER}/same", mark("successor")], **merging}
    yield "read_memory", {"filename": mark("target")}
    yield "get_memory_stats", {}
    yield "sync_memories", {"rebuild": True}
    yield "check_memories", {}
    yield from reviewing()
    yield "read_memory", {"filename": [mark("wrongkind")]}
    yield "read_memory", {mark("argument"): "x", "filename": "x" * 3000}
    yield "recall", {"query": "x", "mode": mark("mode")}


SEEN_INSIDE = (
    *("id", "title", "type", "tag", "alias", "agent", "sourcetype", "fileref", "symbolref", "kind"),
    *("entity", "key", "twice", "heading", "body", "block", "target", "linktext", "file", "folder"),
    *("otherfolder", "latin", "binary", "large", "successor", "trashed", "tomlkey", "tomltwice"),
    *("summary", "merged", "renamed", "status", "second", "relation", "words"),
)
"""Places that an agent certainly gets to see, so that the test looks where something is."""


WORDS = frozenset(
    {
        *("id", "note_id", "type", "kind", "obs_type", "source_type", "status", "path", "file"),
        *("anchor_id", "file_refs", "symbol_refs", "files_modified", "files_read", "missing"),
        *("same_as", "similar_to", "may_amend", "superseded_by", "newer", "merged", "old_path"),
        *("linked_to", "project", "version", "ids", "relinked", "paths"),
    }
)
"""Fields of a structure that name something in one word, which are plain."""


def structure_text(structure: Any) -> str:
    """Return a structure as JSON without what a field may name in one word."""

    def is_word(value: Any) -> bool:
        return isinstance(value, str) and not re.search(r"\s", value)

    def without_words(value: Any, field: str = "") -> Any:
        if isinstance(value, dict):
            return {
                "word" if field in {"tags", "types"} and is_word(key) else key: without_words(
                    item, key
                )
                for key, item in value.items()
            }
        if isinstance(value, list):
            return [without_words(item, field) for item in value]
        plain = field == "query" or (field in WORDS and is_word(value) and "<" not in value)
        return "word" if plain else value

    return json.dumps(without_words(structure), ensure_ascii=False)


def test_no_tool_says_what_a_file_says_outside_of_a_quote(serving: Make, hostile: Path) -> None:
    agent = serving(*ALL)
    seen: list[str] = []
    for tool, arguments in calls():
        answer = agent(tool, **arguments)
        told = [answer.text]
        if answer.result.structured_content is not None:
            told.append(structure_text(answer.result.structured_content))
        for text in told:
            assert "obeyme" not in outside(text).casefold(), (tool, arguments, text)
            seen.append(text)
    all_of_it = "\n".join(seen).casefold()
    assert [place for place in SEEN_INSIDE if mark(place) not in all_of_it] == []


def test_no_resource_says_what_a_file_says_outside_of_a_quote(serving: Make, hostile: Path) -> None:
    agent = serving()
    resources = agent.ask(agent.client.list_resources).resources
    assert any("obeyme" in resource.name for resource in resources)
    for resource in resources:
        shown = resource.model_dump_json(exclude={"uri"})
        bare = re.sub(r"<(q-[0-9a-f]{6})>.*?</\1>", "", shown)
        assert "obeyme" not in bare
    uris = [str(resource.uri) for resource in resources]
    uris += [f"memory://note/{mark('missing')}", "memory://note/same", f"memory://{mark('none')}"]
    uris += [f"memory://note/{mark('binary')}", f"memory://note/{FILE[:-1]}"]
    for uri in uris:
        try:
            (content,) = agent.ask(agent.client.read_resource, uri).contents
            text = content.text
            if content.mime_type == "application/json":
                text = structure_text(json.loads(text))
        except MCPError as error:
            text = error.error.message
        assert "obeyme" not in outside(text).casefold(), (uri, text)
    listed = agent.ask(agent.client.list_resource_templates).model_dump_json()
    listed += agent.ask(agent.client.list_prompts).model_dump_json()
    listed += agent.ask(agent.client.list_tools).model_dump_json()
    for name, arguments in (("recall-before-work", {"task": "x"}), ("save-what-we-learned", {})):
        listed += agent.ask(agent.client.get_prompt, name, arguments).model_dump_json()
    assert "obeyme" not in listed + (agent.server.instructions or "")


def test_progress_and_logs_say_nothing_of_files(serving: Make, hostile: Path) -> None:
    heard: list[str] = []

    async def hear(message: object) -> None:
        heard.append(repr(message))

    async def progress(_: float, __: float | None, what: str | None) -> None:
        heard.append(what or "")

    agent = serving(*ALL, message_handler=hear)

    def call() -> Any:
        return agent.client.call_tool(
            "sync_memories", {"rebuild": True}, progress_callback=progress
        )

    assert not agent.ask(call).is_error
    assert heard
    assert not [text for text in heard if "obeyme" in re.sub(r"memory://note/\S+", "", text)]


@pytest.mark.parametrize(
    "config",
    [
        f"[memory]\n{mark('setting')} = 1\n",
        f"[{mark('section')}]\na = 1\n",
        f"[memory]\nembedder = '{mark('embedder')}'\n",
        f"[memory]\nmax_note_bytes = '{mark('number')}'\n",
        f"[memory]\n{mark('toml')}\n",
        "[memory]\nenabled = false\n",
    ],
)
def test_settings_of_a_project_are_quoted(serving: Make, hostile: Path, config: str) -> None:
    (hostile / "config.toml").write_text(config)
    agent = serving(structured=False)
    for tool, arguments in (
        ("recall", {"query": "queue", "mode": "semantic"}),
        ("remember", {"content": "queue x"}),
        ("get_memory_stats", {}),
    ):
        text = agent(tool, **arguments).text
        assert "obeyme" not in outside(text), text
