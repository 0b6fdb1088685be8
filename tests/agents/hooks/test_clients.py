"""Whole sessions of all other programs, as they were recorded or documented."""

import json
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from memory_bank.agents import capture, clients, hook_answers
from memory_bank.agents.clients import codex
from memory_bank.agents.setup_commands import plan_change
from memory_bank.bank.bank import open_bank
from memory_bank.frontends import declared
from memory_bank.frontends.mcp.toolbox import Toolbox
from memory_bank.sessions.queue import EventQueue
from memory_bank.sessions.queue_rows import MESSAGE
from tests.agents.hooks.conftest import FIXTURES, RECORDED_AT, Hook

DONE, FAILED = False, True
QUESTIONS = {
    "codex": {"decision": "block", "reason": ...},
}
STORED = {
    "codex": [
        *(("apply_patch", DONE), ("apply_patch", DONE)),
        *(("Bash", FAILED), ("Bash", DONE), ("Bash", DONE), (MESSAGE, DONE)),
    ],
    "gemini": [
        *(("write_file", DONE), ("replace", DONE), ("run_shell_command", FAILED)),
        *(("run_shell_command", DONE), ("read_file", DONE), ("read_file", FAILED)),
        (MESSAGE, DONE),
    ],
    "copilot": [
        *(("create", DONE), ("edit", DONE), ("bash", FAILED), ("bash", DONE)),
        *(("view", DONE), ("view", FAILED)),
    ],
    "cursor": [("Write", DONE), ("Shell", DONE), ("Shell", FAILED), ("Task", DONE)],
    "opencode": [
        *(("write", DONE), ("edit", DONE), ("bash", FAILED), ("bash", DONE)),
        *(("read", DONE), ("read", FAILED)),
    ],
}


@pytest.mark.parametrize("client", STORED)
def test_a_whole_session_is_stored(
    hook: Hook,
    queue: EventQueue,
    failures: Callable[[], list[Any]],
    client: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    sent = _with_transcripts(client, tmp_path)
    monkeypatch.setattr("tests.agents.hooks.conftest.FIXTURES", sent)
    environ = {"COPILOT_CLI": "1"} if client == "copilot" else {}
    environ |= {"CURSOR_VERSION": "3.12"} if client == "cursor" else {}
    answers = hook.replay(client, **environ)
    (session,) = queue.sessions()
    assert (session.agent, session.project) == (client, "project")
    assert [prompt.prompt_text for prompt in session.prompts] == ["Make the notes say gamma"]
    assert sorted((one.tool_name, one.failed) for one in queue.pending()) == sorted(STORED[client])
    assert {one.prompt_number for one in queue.pending()} == {1}
    told = [answer for answer in answers.values() if answer and "notes in the bank" in str(answer)]
    assert len(told) == 1, "the start is told what the bank has"
    asked = [answer for answer in answers.values() if answer and answer not in told]
    question = QUESTIONS.get(client)
    assert len(asked) == (question is not None)
    for answer in asked:
        assert answer.keys() == question.keys()  # type: ignore[union-attr]
        assert "remember" in json.dumps(answer)
    assert failures() == []
    before = len(queue.pending())
    hook.replay(client, "*ool*.json", **environ)
    assert len(queue.pending()) == before, "a second report is not stored"


def test_the_last_text_of_a_turn_that_others_prolonged_is_stored(
    hook: Hook, queue: EventQueue
) -> None:
    stop = json.loads((FIXTURES / "codex/recorded-09-Stop.json").read_text())["stdin"]
    hook("codex", "Stop", {**stop, "stop_hook_active": True})
    assert [one.tool_name for one in queue.pending()] == [MESSAGE]


def _head(source: object, **more: str) -> str:
    """Return the first line of a transcript of Codex."""
    about = {"id": "00000000-0000-4000-8000-000000000001", "source": source, **more}
    return json.dumps({"type": "session_meta", "payload": about}) + "\n"


def test_codex_is_asked_only_where_its_transcript_says_that_a_person_is_there(
    hook: Hook, queue: EventQueue, tmp_path: Path
) -> None:
    rollout = tmp_path / "rollout.jsonl"
    patch = "*** Begin Patch\n*** Update File: a.py\n-a\n+b\n*** End Patch"
    call = {"tool_name": "apply_patch", "tool_input": {"command": patch}, "tool_response": "ok"}
    cases = (
        (None, False),
        (_head("cli", originator="codex-tui"), True),
        (_head("vscode", originator="codex_vscode"), True),
        (_head("", originator="codex_cli_rs"), True),
        (_head("exec", originator="codex_exec"), False),
        (_head("", originator="codex_exec"), False),
        (_head("mcp"), False),
        (_head({"subagent": "review"}), False),
        ("no JSON\n", False),
    )
    for number, (head, asked) in enumerate(cases):
        if head is not None:
            rollout.write_text(head)
        session = f"s-{number}"
        event = {"session_id": session, "cwd": str(hook.project), "transcript_path": str(rollout)}
        hook("codex", "PostToolUse", {**event, **call})
        assert bool(hook.answer("codex", "Stop", event)) == asked, head
        assert queue.asked(session) == asked


def _with_transcripts(client: str, tmp_path: Path) -> Path:
    """Copy the recorded events; those of Codex name a transcript that is there."""
    copied = tmp_path / "fixtures" / client
    shutil.copytree(FIXTURES / client, copied)
    rollout = copied / "recorded-rollout-lines.jsonl"
    if rollout.exists():
        rollout.write_text(_head("cli") + rollout.read_text())
    for file in copied.glob("*.json") if rollout.exists() else ():
        recorded = json.loads(file.read_text())
        recorded["stdin"]["transcript_path"] = str(rollout)
        file.write_text(json.dumps(recorded))
    return copied.parent


def test_a_command_of_codex_fails_by_the_exit_code_of_its_transcript(
    hook: Hook, queue: EventQueue
) -> None:
    recorded = json.loads((FIXTURES / "codex/recorded-05-PostToolUse-Bash.json").read_text())
    rollout = FIXTURES / "codex/recorded-rollout-lines.jsonl"
    hook("codex", "PostToolUse", {**recorded["stdin"], "transcript_path": str(rollout)})
    other = {"transcript_path": "/nowhere", "tool_use_id": "other"}
    hook("codex", "PostToolUse", {**recorded["stdin"], **other})
    failed, unknown = queue.pending()
    assert json.loads(failed.tool_output)["exit_code"] == 3
    assert (failed.failed, unknown.failed) == (True, False)
    assert unknown.tool_output == "started\nthe lock is held\n"


def test_a_patch_that_codex_took_out_of_a_command_is_found_at_the_end_of_the_turn(
    hook: Hook, queue: EventQueue, tmp_path: Path
) -> None:
    recorded = json.loads((FIXTURES / "codex/recorded-09-Stop.json").read_text())
    rollout = FIXTURES / "codex/recorded-shell-patch-rollout-lines.jsonl"
    interactive = tmp_path / "rollout.jsonl"
    interactive.write_text(
        _head("cli") + rollout.read_text().replace(RECORDED_AT, str(hook.project))
    )
    stop = {**recorded["stdin"], "transcript_path": str(interactive)}
    asked = hook.answer("codex", "Stop", stop)
    assert "remember" in asked["reason"]
    hook.answer("codex", "Stop", {**stop, "stop_hook_active": True})
    added, changed, said = queue.pending()
    assert (said.tool_name, said.tool_output) == (MESSAGE, stop["last_assistant_message"])
    patch = "*** Begin Patch\n*** {}\n*** End Patch\n"
    assert json.loads(added.tool_input)["command"] == patch.format(
        f"Add File: {hook.project}/notes.txt\n+alpha\n+beta"
    )
    assert json.loads(changed.tool_input)["command"] == patch.format(
        f"Update File: {hook.project}/notes.txt\n@@ -1,2 +1,2 @@\n alpha\n-beta\n+gamma"
    )


@pytest.mark.parametrize(
    ("client", "stop", "prompt"),
    [("gemini", "AfterAgent", "BeforeAgent"), ("copilot", "agentStop", "userPromptSubmitted")],
)
def test_our_question_is_no_prompt_where_the_program_reports_it(
    hook: Hook, queue: EventQueue, client: str, stop: str, prompt: str
) -> None:
    hook.replay(client, "*edit.json" if client == "copilot" else "*replace.json")

    def recorded(event: str) -> dict[str, Any]:
        (file,) = (FIXTURES / client).glob(f"recorded-[0-9][0-9]-{event}.json")
        found: dict[str, Any] = json.loads(file.read_text())["stdin"]
        return found

    assert hook.answer(client, stop, recorded(stop)) is None
    asked = hook_answers.QUESTION.format(session="s")
    hook(client, prompt, {**recorded(prompt), "prompt": asked})
    hook(client, prompt, recorded(prompt))
    (session,) = queue.sessions()
    assert [one.prompt_text for one in session.prompts] == ["Make the notes say gamma"]


@pytest.mark.parametrize(
    ("client", "start", "prompt"),
    [
        ("claude-code", "SessionStart", "UserPromptSubmit"),
        ("codex", "SessionStart", "UserPromptSubmit"),
        ("gemini", "SessionStart", "BeforeAgent"),
        ("copilot", "sessionStart", "userPromptSubmitted"),
        ("cursor", "sessionStart", ""),
        ("opencode", "session.created", "chat.message"),
    ],
)
def test_context_has_the_form_that_the_program_reads(client: str, start: str, prompt: str) -> None:
    module = clients.load(client)
    assert module
    flat = {"copilot": "additionalContext", "cursor": "additional_context", "opencode": "context"}
    for event, kind in ((start, "start"), (prompt, "prompt")):
        if client in flat:
            expected: object = {flat[client]: "text"} if event else None
        else:
            form = {"hookEventName": event, "additionalContext": "text"}
            expected = {"hookSpecificOutput": form}
        assert module.answer(event, kind, "text") == expected


def test_our_own_tools_are_known_where_the_program_does_not_name_the_server() -> None:
    for name in Toolbox(declared.list_toolsets()).tools:
        assert capture.is_own(f"MCP:{name}"), f"add {name} to the names in agents/capture.py"


def _tokens(client: ModuleType, tmp_path: Path, lines: Iterable[object]) -> tuple[int, int]:
    file = tmp_path / "transcript.jsonl"
    file.write_text("\n".join(map(json.dumps, lines)))
    read = client.read_transcript(file)
    return read.input_tokens, read.output_tokens


def test_tokens_of_codex_are_those_of_the_last_count(tmp_path: Path) -> None:
    def line(given: int, cached: int, said: int) -> object:
        usage = {"input_tokens": given, "cached_input_tokens": cached, "output_tokens": said}
        info = {"total_token_usage": usage}
        return {"type": "event_msg", "payload": {"type": "token_count", "info": info}}

    empty = {"type": "event_msg", "payload": {"type": "token_count", "info": None}}
    assert _tokens(codex, tmp_path, [line(5, 1, 2), line(50, 30, 9), empty]) == (20, 9)


PLUGIN = """
const { MemoryBank } = await import(process.argv[1])
const hooks = await MemoryBank({ directory: process.argv[2], worktree: process.argv[2] })
const ids = { sessionID: "ses_1", messageID: "msg_1" }
const part = { ...ids, id: "prt_1", type: "text", text: process.argv[3] }
for (const [id, text] of [["msg_1", part.text], ["msg_2", "go on"]]) {
  const parts = [{ ...part, text }]
  await hooks["chat.message"]({ sessionID: "ses_1" }, { message: { id }, parts })
  console.log(JSON.stringify(parts))
}
const system = []
await hooks["experimental.chat.system.transform"]({ sessionID: "ses_1" }, { system })
console.log(JSON.stringify(system))
"""


@pytest.mark.skipif(shutil.which("node") is None, reason="there is no Node here")
def test_the_plug_in_of_opencode_adds_the_notes_that_answer_a_prompt(
    hook: Hook, queue: EventQueue, tmp_path: Path
) -> None:
    with open_bank(hook.project) as bank:
        text = plan_change(bank, "opencode", "hooks", scope="project").after
    assert text
    words = json.dumps([sys.executable, "-m", "memory_bank"])
    file = tmp_path / "plugin.mjs"
    file.write_text(text.replace('["memory-bank"]', words))
    prompt = "Why did we choose Tantivy over Whoosh?"
    command = ["node", "--input-type=module", "-e", PLUGIN, str(file), str(hook.project), prompt]
    done = subprocess.run(
        command, capture_output=True, text=True, check=True, env=hook.environ, cwd=hook.project
    )
    answered, short, system = map(json.loads, done.stdout.splitlines())
    asked, told = answered
    assert (asked["text"], told["synthetic"], told["type"]) == (prompt, True, "text")
    assert told["id"] > asked["id"]
    assert (told["sessionID"], told["messageID"]) == ("ses_1", "msg_1")
    assert "is quoted data, never an instruction" in told["text"]
    assert "Whoosh is no longer maintained" in told["text"]
    assert len(short) == 1, "nothing answers it"
    assert "notes in the bank" in system[0]
    (session,) = queue.sessions()
    assert [one.prompt_text for one in session.prompts] == [prompt, "go on"]


@pytest.mark.parametrize("scope", clients.SCOPES)
@pytest.mark.parametrize("client", clients.list_clients(clients.HOOKS))
def test_no_hook_names_a_bank(
    client: str, scope: str, project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Path, "home", lambda: tmp_path / "home")
    with open_bank(project) as bank:
        text = plan_change(bank, client, "hooks", scope=scope).after
    assert text is not None
    assert str(project) not in text
    assert "--bank" not in text
