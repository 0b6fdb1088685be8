"""OpenCode: its plug-in, and the sessions in its database. See https://opencode.ai/docs/plugins.

It starts no commands: our plug-in (`opencode.js`) sends what its hooks were
given, with the folder of the project. No event tells that the program ends: a session ends when it
is idle, and goes on with its next prompt.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import closing, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from memory_bank.agents import payload, transcript_lines
from memory_bank.agents.clients.base import HookEvent, Kind, Transcript, message_step
from memory_bank.agents.payload import Payload, fields, identifier, project, seconds, text

if TYPE_CHECKING:
    from memory_bank.agents.client_files import HookClient

NAME = "opencode"

EVENTS: dict[str, Kind] = {
    "session.created": "start",
    "chat.message": "prompt",
    "tool.execute.after": "tool",
    "message.part.updated": "tool",
    "session.compacted": "compact",
    "session.idle": "end",
    "session.deleted": "end",
}


def read(event: str, payload: Payload) -> HookEvent | None:
    """Return an event in the common form; None if it is to be ignored."""
    given = fields(payload, "input")
    session = identifier(given, "sessionID")
    if not session:
        return None
    folder = text(payload, "directory", "worktree")
    found = HookEvent(
        EVENTS[event],
        identifier(payload, "parent") or session,
        NAME,
        project({"cwd": folder}),
        cwd=folder,
        name=event,
        asking=False,
        said=text(given, "said"),
    )
    if found.kind == "prompt":
        return _prompt(found, fields(payload, "output"))
    if event == "message.part.updated":
        return _failed(found, fields(given, "part"))
    return _tool(found, given, payload.get("output")) if found.kind == "tool" else found


def _prompt(found: HookEvent, output: Payload) -> HookEvent | None:
    """Return what the user wrote; texts that the program or plug-ins added are left out."""
    parts = output.get("parts")
    texts = [
        payload.text(part, "text")
        for part in (parts if isinstance(parts, list) else [])
        if isinstance(part, dict) and part.get("type") == "text" and not part.get("synthetic")
    ]
    prompt = "\n".join(filter(None, texts))
    if prompt[:1] == prompt[-1:] == '"' and prompt.count('"') == 2:  # noqa: PLR2004
        prompt = prompt[1:-1]  # as `opencode run 'two words'` gives it
    key = payload.identifier(payload.fields(output, "message"), "id")
    return found._replace(prompt=prompt, key=key) if prompt.strip() else None


def _tool(found: HookEvent, given: Payload, output: Any) -> HookEvent | None:  # noqa: ANN401
    name = payload.text(given, "tool")
    said = output if isinstance(output, dict) else {}
    about = payload.fields(said, "metadata")
    if about:
        # its diff is in `filediff`, its output beside it
        kept = payload.without(about, "diff", "output", "preview", "diagnostics", "display")
        said = {"output": said.get("output"), "metadata": kept}
    if not name:
        return None
    return found._replace(
        key=payload.identifier(given, "callID"),
        tool_name=name,
        tool_input=given.get("args"),
        tool_output=said,
        failed=said.get("isError") is True or about.get("exit") not in (None, 0),
    )


def _failed(found: HookEvent, part: Payload) -> HookEvent | None:
    """Return a call of a tool that threw an error, which has no other event."""
    state, name = payload.fields(part, "state"), payload.text(part, "tool")
    if part.get("type") != "tool" or state.get("status") != "error" or not name:
        return None
    return found._replace(
        key=payload.identifier(part, "callID"),
        tool_name=name,
        tool_input=state.get("input"),
        tool_output=state.get("error"),
        failed=True,
    )


def files(environment: Mapping[str, str]) -> Iterator[Path]:
    """Yield the sessions on this machine, each as a path below the database."""
    data = environment.get("XDG_DATA_HOME") or f"{environment.get('HOME', '')}/.local/share"
    base = Path(data) / "opencode" / "opencode.db"
    yield from (base / row[0] for row in _rows(base, "SELECT id FROM session ORDER BY id"))


def folder(file: Path) -> str:
    """Return the folder in which the session began."""
    if file.parent.is_file():
        rows = _rows(file.parent, "SELECT directory FROM session WHERE id = ?", file.name)
        return next((str(row[0]) for row in rows), "")
    header = next(transcript_lines.first(file), {})
    return text(fields(header, "info"), "directory")


def read_transcript(file: Path) -> Transcript:
    """Return a session of the database, or of a file with its header and messages, one a line.

    A session that a subagent had belongs to the one that started it. Raises OSError.
    """
    made = Transcript(file, session_id=file.stem)
    stored = _stored(file) if file.parent.is_file() else None
    parent = False
    for line in transcript_lines.read(file, made.skipped) if stored is None else stored:
        info = fields(line, "info")
        if "directory" in info:
            made.cwd, parent = text(info, "directory"), bool(text(info, "parent_id"))
            made.session_id = identifier(info, "parent_id", "id") or made.session_id
            continue
        when = seconds(fields(info, "time").get("created"))
        made.saw(when)
        tokens = fields(info, "tokens")
        made.input_tokens += payload.number(tokens.get("input"))
        made.output_tokens += payload.number(tokens.get("output"))
        if not parent and info.get("role") == "user":
            given = {"parts": line.get("parts"), "message": info}
            asked = _prompt(HookEvent("prompt", "", NAME, ""), given)
            made.steps += [asked._replace(created_at=when)] if asked else []
            continue
        for part in transcript_lines.items(line, "parts"):
            if part.get("type") == "text" and not parent and (said := text(part, "text").strip()):
                made.steps.append(message_step(said, when))
            elif part.get("type") == "tool":
                made.steps += _call(part, when, made)
    made.settle()
    return made


def _call(part: Payload, when: float, made: Transcript) -> Iterator[HookEvent]:
    state = fields(part, "state")
    done = seconds(fields(state, "time").get("end")) or when
    made.saw(done)
    given = {"tool": part.get("tool"), "callID": part.get("callID"), "args": state.get("input")}
    found = HookEvent("tool", "", NAME, "")
    output = {key: state.get(key) for key in ("output", "metadata")}
    if call := _failed(found, part) or _tool(found, given, output):
        yield call._replace(created_at=done)


def _stored(file: Path) -> Iterator[Payload]:
    """Yield the header and the messages of a session of the database."""
    base, name = file.parent, file.name
    for row in _rows(base, "SELECT directory, parent_id FROM session WHERE id = ?", name):
        yield {"info": {"id": name, "directory": row[0], "parent_id": row[1]}}
    parts = dict[str, list[object]]()
    for message, data in _rows(
        base, "SELECT message_id, data FROM part WHERE session_id = ? ORDER BY id", name
    ):
        parts.setdefault(message, []).append(transcript_lines.parsed(data))
    for message, data in _rows(
        base, "SELECT id, data FROM message WHERE session_id = ? ORDER BY time_created, id", name
    ):
        info = transcript_lines.parsed(data)
        if isinstance(info, dict):
            yield {"info": {**info, "id": message}, "parts": parts.get(message, [])}


def _rows(base: Path, sql: str, *values: str) -> list[tuple[Any, ...]]:
    """Return rows of the database, which is only read; none if it can't be."""
    if not base.is_file():
        return []
    import sqlite3

    with suppress(sqlite3.Error):
        database = sqlite3.connect(f"{base.resolve().as_uri()}?mode=ro", uri=True)
        with closing(database):
            return database.execute(sql, values).fetchall()
    return []


def answer(event: str, kind: str, text: str) -> dict[str, object] | None:  # noqa: ARG001
    """Return the JSON that our plug-in adds to the system prompt, or to a prompt."""
    return {"context": text} if kind in ("start", "prompt") else None


def hooks() -> HookClient:
    """Return how its hooks are set up."""
    from memory_bank.agents.client_files import HookClient

    return HookClient(
        *(NAME, "OpenCode", "https://opencode.ai/docs/plugins"),
        *("$XDG/opencode/plugins/memory-bank.js", ".opencode/plugins/memory-bank.js"),
        events=tuple(EVENTS),
        plugin=Path(__file__).with_name("opencode.js"),
    )
