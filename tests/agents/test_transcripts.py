"""Transcripts of agents' programs become sessions: once, with their times, whatever is in them."""

import json
import random
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from memory_bank.agents import clients, payload
from memory_bank.agents.capture import capture, make_message_event, open_queue
from memory_bank.agents.clients import claude_code
from memory_bank.agents.clients.base import HookEvent
from memory_bank.agents.hook_bank import find_hook_bank
from memory_bank.agents.transcripts import ImportedSessions, import_sessions
from memory_bank.bank.bank import Bank, open_bank
from memory_bank.base.errors import BadInput
from memory_bank.sessions.listing import list_sessions, show_session
from memory_bank.sessions.queue_rows import MESSAGE
from memory_bank.sessions.sessions import end_session
from memory_bank.sessions.state import open_store
from tests.sessions.transcripts_of import FOLDER, PROJECTS

IDS = {
    "claude-code": "f3cc0f22-7180-4fca-be6f-72191207449e",
    "codex": "01a205c3-787d-7a93-95c4-050584928753",
}
COUNTS = {"claude-code": (4, 41), "codex": (3, 31)}
"""Prompts and events of the recorded sessions, with the last text of each turn."""


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give the user a home without transcripts."""
    folder = tmp_path / "home"
    folder.mkdir()
    monkeypatch.setenv("HOME", str(folder))
    for name in ("CLAUDE_CONFIG_DIR", "CODEX_HOME"):
        monkeypatch.delenv(name, raising=False)
    return folder


def text_of(client: str, project: Path) -> str:
    """Return a recorded transcript as if it was recorded in a project."""
    text = (FOLDER / f"{client}.jsonl").read_text(encoding="utf-8")
    return text.replace(f"/home/dev/{PROJECTS[client]}", str(project))


def place(client: str, home: Path, project: Path, text: str | None = None) -> Path:
    """Put a transcript where its program keeps it."""
    names = {
        "claude-code": f".claude/projects/-x/{IDS[client]}.jsonl",
        "codex": f".codex/sessions/2026/11/23/rollout-2026-11-23T00-17-06-{IDS[client]}.jsonl",
    }
    file = home / names[client]
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text_of(client, project) if text is None else text, encoding="utf-8")
    return file


def states(done: ImportedSessions) -> list[tuple[str, str, int, int]]:
    return [(one.client, one.state, one.prompts, one.events) for one in done.sessions]


@pytest.mark.parametrize("client", IDS)
def test_a_transcript_becomes_a_session_once(
    client: str, bank: Bank, project: Path, home: Path
) -> None:
    file = place(client, home, project)
    dry = import_sessions(bank, dry_run=True)
    assert states(dry) == [(client, "new", *COUNTS[client])]
    assert not list_sessions(bank).sessions
    done = import_sessions(bank)
    assert states(done) == states(dry)
    assert done.observations >= 2
    assert done.sessions[0].files == (str(file),)
    session = show_session(bank, IDS[client]).session
    assert (len(session.prompts), session.agent) == (COUNTS[client][0], client)
    assert session.started_at.isoformat()[:10] == "2026-11-23"
    assert session.ended_at is not None
    assert (session.ended_at - session.started_at).total_seconds() < 200, "its own times"
    assert session.summary is not None
    assert session.summary.created_at == session.ended_at
    assert session.summary.completed
    assert session.input_tokens > 1000
    assert all(
        session.started_at <= one.created_at <= session.ended_at for one in session.observations
    )
    text = bank.store.read(session.path).text
    again = import_sessions(bank, client)
    assert states(again) == [(client, "unchanged", 0, 0)]
    assert bank.store.read(session.path).text == text


@pytest.mark.parametrize("client", IDS)
def test_a_session_that_has_grown_is_continued(
    client: str, bank: Bank, project: Path, home: Path
) -> None:
    whole = text_of(client, project)
    half = whole[: len(whole) // 2]
    place(client, home, project, half)
    first = import_sessions(bank)
    skipped = first.sessions[0].skipped_lines
    assert skipped["cut off"] == 1
    place(client, home, project, whole)
    second = import_sessions(bank)
    assert [one.state for one in (*first.sessions, *second.sessions)] == ["new", "continued"]
    cut_off = first.events + second.events - COUNTS[client][1]
    assert cut_off in (0, 1), "what was said last before it was cut is a message, too"
    assert first.sessions[0].prompts + second.sessions[0].prompts == COUNTS[client][0]
    made = show_session(bank, IDS[client]).session
    assert len({one.id for one in made.observations}) == first.observations + second.observations


def test_what_hooks_captured_is_not_imported_again(bank: Bank, project: Path, home: Path) -> None:
    client = "claude-code"
    read = clients.find(client, clients.TRANSCRIPTS).read_transcript(place(client, home, project))
    hook_bank = find_hook_bank(str(project))
    assert hook_bank is not None
    queue = open_queue(hook_bank)
    for number, step in enumerate(read.steps[:20]):
        base: dict[str, Any] = {
            "session_id": IDS[client],
            "cwd": str(project),
            "timestamp": f"2026-11-23T00:23:{number:02}Z",
        }
        if step.kind == "prompt":
            event = {**base, "prompt": step.prompt, "prompt_id": step.key}
            name = "UserPromptSubmit"
        elif step.call.name == MESSAGE:
            said = HookEvent("stop", IDS[client], client, "", said=step.call.output)
            capture(hook_bank, queue, make_message_event(said))
            continue
        else:
            used = {
                "tool_name": step.call.name,
                "tool_input": step.call.input,
                "tool_response": step.call.output,
            }
            event = {**base, **used, "tool_use_id": step.key}
            name = "PostToolUse"
        hook = claude_code.read(name, event)
        assert hook is not None
        capture(hook_bank, queue, hook)
    queue.close()
    done = import_sessions(bank)
    captured = Counter(step.kind == "tool" for step in read.steps[:20])
    assert states(done) == [
        (
            client,
            "continued",
            COUNTS[client][0] - captured[False],
            COUNTS[client][1] - captured[True],
        )
    ]


def test_a_fork_repeats_nothing(bank: Bank, project: Path, home: Path) -> None:
    text = text_of("claude-code", project).replace("toolu_", "toolu_01A09q90qw90lq91")
    file = place("claude-code", home, project, text)
    import_sessions(bank)
    file.with_name("00000000-0000-4000-8000-00000000000f.jsonl").write_text(text)
    again = import_sessions(bank)
    assert sorted(states(again)) == [("claude-code", "unchanged", 0, 0)] * 2
    assert len(list_sessions(bank).sessions) == 1


def test_transcripts_of_other_projects_are_only_counted(
    bank: Bank, project: Path, home: Path, tmp_path: Path
) -> None:
    (tmp_path / "other").mkdir()
    place("claude-code", home, tmp_path / "other")
    place("codex", home, project / "src" / "gone")
    done = import_sessions(bank)
    assert (done.elsewhere, [one.client for one in done.sessions]) == (1, ["codex"])
    given = import_sessions(bank, "claude-code", path=home / ".claude", dry_run=True)
    assert [one.state for one in given.sessions] == ["new"], "a given path is taken as it is"
    assert not import_sessions(bank, since="2027-01-01").sessions


def test_secrets_and_private_parts_are_redacted(bank: Bank, project: Path, home: Path) -> None:
    token = "ghp_" + "a8Kd03mXq7Lw2ZpR5tYv9NcB1sFhJ6uE4gTo"
    text = text_of("claude-code", project).replace(
        "Use exponential backoff", f"<private>x</private> {token} Use"
    )
    text = text.replace("GatewayTimeout:", token)
    place("claude-code", home, project, text)
    import_sessions(bank)
    session = show_session(bank, IDS["claude-code"]).session
    assert session.redactions > 2
    assert token not in bank.store.read(session.path).text
    assert [one.state for one in import_sessions(bank).sessions] == ["unchanged"]


@pytest.mark.parametrize("client", IDS)
def test_no_line_of_a_transcript_is_trusted(
    client: str, project: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    odd: list[Any] = [
        None,
        7,
        "",
        "x\x1b[31m\x00",
        [],
        {},
        [[]],
        {"a": 1},
        True,
        1e400,
        -1,
        "../../../etc/passwd",
        ["x", {"type": 3}],
    ]
    chance = random.Random(3)

    def change(value: Any) -> Any:
        if chance.random() < 0.06:
            return chance.choice(odd)
        if isinstance(value, dict):
            return {key: change(item) for key, item in value.items()}
        return [change(item) for item in value] if isinstance(value, list) else value

    good = [json.loads(line) for line in text_of(client, project).splitlines()]
    for _ in range(15):
        text = "\n".join(json.dumps(change(line)) for line in good)
        made = clients.find(client, clients.TRANSCRIPTS).read_transcript(
            place(client, home, project, text + '\n{"cut')
        )
        assert all(isinstance(step.created_at, float) for step in made.steps)
    monkeypatch.setattr(payload, "MOST_LINE", 200)
    made = clients.find(client, clients.TRANSCRIPTS).read_transcript(place(client, home, project))
    assert made.skipped["line too long"] > 10


def test_names_and_ids_of_a_hostile_transcript_do_no_harm(
    bank: Bank, project: Path, home: Path
) -> None:
    text = text_of("codex", project).replace(IDS["codex"], "../../../x")
    text = text.replace("Add support for inline code", r"]] \u001b[31m ../../.. `rm`")
    place("codex", home, project, text)
    done = import_sessions(bank)
    assert [one.state for one in done.sessions] == ["new"]
    (row,) = list_sessions(bank).sessions
    note = show_session(bank, row.session_id).session.path
    assert note.startswith("sessions/") or "sessions/" in note
    assert ".." not in note
    assert "\x1b" not in bank.store.read(note).text


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"client": "emacs"}, "has no transcripts that can be read"),
        ({"path": "."}, "needs a client"),
        ({"client": "codex", "path": "missing"}, "missing"),
        ({"since": "soonish"}, "soonish"),
    ],
)
def test_wrong_arguments_are_refused(
    bank: Bank, home: Path, options: dict[str, str], message: str
) -> None:
    with pytest.raises(BadInput, match=message):
        import_sessions(bank, **options)  # type: ignore[arg-type]


def test_nothing_is_imported_where_sessions_are_not_captured(project: Path, home: Path) -> None:
    place("codex", home, project)
    (project / ".memories" / "config.toml").write_text("[sessions]\ncapture = false\n")
    with open_bank(project) as bank, pytest.raises(BadInput, match="not captured"):
        import_sessions(bank)


def test_older_lines_of_codex_tell_the_same(project: Path, home: Path) -> None:
    old = [
        {"type": "session_meta", "payload": {"id": IDS["codex"], "cwd": str(project)}},
        {"type": "event_msg", "payload": {"type": "user_message", "message": "Do it"}},
        {"type": "response_item", "payload": {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "<environment_context>x"}]}},
        {"type": "response_item", "payload": {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Do it"}]}},
        {"type": "response_item", "payload": {"type": "function_call", "name": "shell", "call_id": "c1", "arguments": '{"command": ["bash", "-lc", "make"]}'}},
        {"type": "event_msg", "payload": {"type": "exec_command_end", "call_id": "c1", "command": ["bash", "-lc", "make"], "exit_code": 2, "aggregated_output": "bad"}},
        {"type": "response_item", "payload": {"type": "function_call_output", "call_id": "c1", "output": "bad"}},
        {"type": "response_item", "payload": {"type": "function_call", "name": "shell", "call_id": "c2", "arguments": '{"command": ["ls"]}'}},
        {"type": "response_item", "payload": {"type": "function_call_output", "call_id": "c2", "output": '{"output": "x", "metadata": {"exit_code": 1}}'}},
        {"type": "event_msg", "payload": {"type": "token_count", "info": {"total_token_usage": {"input_tokens": 9, "cached_input_tokens": 4, "output_tokens": 2}}}},
    ]  # fmt: skip
    text = "".join(
        json.dumps({"timestamp": f"2026-01-01T00:00:{n:02}Z", **line}) + "\n"
        for n, line in enumerate(old)
    )
    made = clients.find("codex", clients.TRANSCRIPTS).read_transcript(
        place("codex", home, project, text)
    )
    prompt, make, ls = made.steps
    assert (prompt.prompt, make.call.input, make.call.failed) == (
        "Do it",
        {"command": "make"},
        True,
    )
    assert (ls.call.input, ls.call.failed) == ({"command": "ls"}, True)
    assert (made.input_tokens, made.output_tokens) == (5, 2)


def test_a_session_that_ended_stays_ended(bank: Bank, project: Path, home: Path) -> None:
    place("claude-code", home, project)
    import_sessions(bank)
    end_session(bank, IDS["claude-code"], "I did it all")
    import_sessions(bank)
    with open_store(bank) as store:
        session = store.get_session(IDS["claude-code"])
    assert session is not None
    assert session.summary is not None
    assert session.summary.completed == "I did it all"


def test_an_absurd_number_stops_no_import(bank: Bank, project: Path, home: Path) -> None:
    lines = text_of("claude-code", project).replace(
        '"output_tokens":', f'"output_tokens":{10**30},"x":'
    )
    place("claude-code", home, project, lines)
    place("codex", home, project)
    done = import_sessions(bank)
    assert {client for client, *_ in states(done)} == set(IDS)
    assert show_session(bank, IDS["claude-code"]).session.output_tokens >= 10**12


def test_a_transcript_that_is_not_understood_stops_no_other(
    bank: Bank, project: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(_: Path) -> None:
        raise OverflowError("int too large to convert to float")

    for client in IDS:
        place(client, home, project)
    monkeypatch.setattr(claude_code, "read_transcript", fail)
    done = import_sessions(bank)
    assert [client for client, *_ in states(done)] == ["codex"]
    assert [one.client for one in done.skipped] == ["claude-code"]
