"""Answer one event of `memory-bank hook CLIENT EVENT`, and never fail the agent.

An agent waits for it at each step, so it doesn't load the command line.
"""

from __future__ import annotations

import gc
import json
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing, suppress
from types import ModuleType
from typing import Any

from memory_bank.agents import capture, clients
from memory_bank.agents.clients.base import HookEvent
from memory_bank.agents.hook_bank import HookBank, find_hook_bank
from memory_bank.base.detached import BACKGROUND, start_detached
from memory_bank.base.errors import BadInput, MemoryBankError, find_exhausted
from memory_bank.base.filenames import find_bank_above

AFTER = "--after"
"""In the place of an event: do the work that no agent waits for."""

_WAIT = 20.0
"""Seconds to wait for another process that compresses: events it leaves keep a session open."""

_MOST_INPUT = 256_000_000
"""Bytes of an event that is read; a longer one is dropped."""

# Bytes that are read of an event at a time.
_BLOCK = 1_000_000

_open: list[Any] = []
"""Queues that stay open until this process ends: to close one, SQLite copies its log and waits for
the disk, as the next process that closes it, or writes much, does too."""


Tell = Callable[[str], None]
"""Prints what the agent is told."""


class _Place:
    """Where an event happened, as far as it is known."""

    folder = "."
    root = ""
    """The bank's folder of notes."""
    state = ""


def run(args: Sequence[str]) -> int:
    """Answer the event that stdin has; return 0, whatever happens.

    What fails is written to a log that `doctor` reads.
    """
    names = [*args, "", ""][:2]
    place = _Place()
    try:
        if names[1] == AFTER:
            _run_afterwards(args, place)
        elif names[1] == BACKGROUND:
            _work(args[2], place)
        else:
            _answer(names[0], names[1], place)
    except MemoryBankError as error:
        _log(names, error.message, place)
    except OSError as error:
        plain = find_exhausted(error)
        message = plain.message if plain else f"{type(error).__name__}: {error.strerror or ''}"
        _log(names, message, place)
    except (KeyboardInterrupt, Exception) as error:  # noqa: BLE001  (the outermost frame)
        # no text of the error: it may quote what the agent did
        plain = find_exhausted(error)
        _log(
            names,
            plain.message if plain else f"unexpected {type(error).__name__} at {_find_line(error)}",
            place,
        )
    return 0


def _answer(name: str, event: str, place: _Place) -> None:
    """Print what the agent is told, and store the event."""
    gc.disable()  # this process ends before there is much to collect
    client = clients.load(name)
    payload = _read_payload()
    if client is None or payload is None:
        return
    event = event or str(payload.get("hook_event_name"))
    if event not in getattr(client, "EVENTS", ()):
        return
    hook_event: HookEvent | None = client.read(event, payload)
    if hook_event is None or (hook_event.kind == "prompt" and not hook_event.prompt):
        return  # no person typed it
    place.folder = hook_event.folder
    bank = find_hook_bank(hook_event.folder)
    if bank is None or not bank.capture:
        return
    place.root, place.state = bank.root, bank.state

    def tell(text: str) -> None:
        answer = client.answer(event, hook_event.kind, text) if text else None
        if answer is not None:
            _write(_render_json(answer).encode())

    if hook_event.kind == "start":
        _start(name, bank, hook_event, tell)
    elif hook_event.kind == "prompt":
        _take_prompt(name, bank, hook_event, tell)
    elif hook_event.kind in ("tool", "subagent"):
        _store(name, bank, hook_event)
    else:
        _catch_up(client, bank, hook_event)
        _end_turn(name, bank, hook_event, tell)


def _catch_up(client: ModuleType, bank: HookBank, event: HookEvent) -> None:
    """Store what only the transcript tells, and the turn's last text, before it is answered."""
    missed = list(client.unreported(event)) if hasattr(client, "unreported") else []
    if not (missed or event.said):
        return
    _open.append(capture.open_queue(bank))
    for call in missed:
        capture.capture(bank, _open[0], call)
    # an answer to our own question tells nothing of the turn
    if event.said and (event.asking or not _open[0].asked(event.session_id)):
        capture.capture(bank, _open[0], capture.make_message_event(event))


def _end_turn(name: str, bank: HookBank, event: HookEvent, tell: Tell) -> None:
    """Ask the agent what it learned, or start what follows the end of a turn or session."""
    if event.kind == "stop" and event.asking and event.attended:
        from memory_bank.agents.hook_answers import stop_question

        if text := stop_question(bank, event.session_id):
            tell(text)
            return
    if event.kind == "end":
        _open.append(capture.open_queue(bank))
        capture.end(_open[-1], event)
    _follow(name, bank, event)


def _store(name: str, bank: HookBank, event: HookEvent) -> None:
    """Store an event, and start what compresses a full batch."""
    _open.append(capture.open_queue(bank))
    if capture.capture(bank, _open[-1], event):
        _follow(name, bank, event)


def _take_prompt(name: str, bank: HookBank, event: HookEvent, tell: Tell) -> None:
    """Tell the agent what answers a prompt, then store the prompt.

    What is known is told also where nothing can be stored.
    """
    from memory_bank.agents import hook_answers
    from memory_bank.base.text import Quotes

    paths: Sequence[str] = ()
    try:
        if _is_first(bank, event):
            text, paths = hook_answers.prompt_context(
                bank, event.prompt, event.session_id, Quotes(), name
            )
            tell(text)
    finally:
        _store(name, bank, event)
        if paths:
            _open[-1].show(event.session_id, paths)


def _start(name: str, bank: HookBank, event: HookEvent, tell: Tell) -> None:
    """Tell the agent what it should know when its session starts, then store that it started.

    What is known is told also where nothing can be stored.
    """
    from memory_bank.agents import hook_answers
    from memory_bank.base.text import Quotes

    try:
        if _is_first(bank, event):
            tell(hook_answers.start_context(bank, event.session_id, Quotes(), name))
    finally:  # before, what follows would compress what waits while the start wants to tell it
        _open.append(capture.open_queue(bank))
        capture.capture(bank, _open[-1], event, hook_answers.read_git_state(bank))
        _follow(name, bank, event)


_AGAIN = 30.0
"""Seconds within which the same event of a session again comes from a second hook: one of the
project's bundle beside one of the user's own file, for example."""


def _is_first(bank: HookBank, event: HookEvent) -> bool:
    """Tell whether no other hook answers this event, as far as the queue can be asked."""
    from memory_bank.agents.payload import digest

    text = f"{event.kind} {digest(event.prompt or event.source)}"
    with suppress(MemoryBankError, OSError):
        return capture.open_queue(bank).claim(event.session_id, text, _AGAIN)
    return True


def _follow(name: str, bank: HookBank, event: HookEvent) -> None:
    """Start a process that compresses what waits, and ends the session at its end."""
    after = {
        "root": bank.root,
        "state": bank.state,
        "session": event.session_id,
        "kind": event.kind,
        "transcript": event.transcript,
    }
    start_detached(["hook", name, AFTER, _render_json(after)])


def _run_afterwards(args: Sequence[str], place: _Place) -> None:
    """Do what `_follow` started this process for."""
    from pathlib import Path

    client = clients.load(args[0])
    document = json.loads(args[2])
    place.root, place.state = document["root"], document["state"]
    tokens = 0, 0
    if client and hasattr(client, clients.TRANSCRIPTS) and document["transcript"]:
        with suppress(OSError, RecursionError):  # some programs write it late, or not at all
            read = client.read_transcript(Path(document["transcript"]))
            tokens = read.input_tokens, read.output_tokens
    for problem in compress_and_end(
        document["root"], document["session"], document["kind"], tokens
    ):
        _log(args, problem, place)
    if document["kind"] == "start":
        _work(place.root, place)


def _work(root: str, place: _Place) -> None:
    """Index and embed what queries and hooks have left, unless another process does it."""
    from memory_bank.memory import maintenance

    place.root = root
    maintenance.run(root)


def compress_and_end(
    root: str, session_id: str, kind: str, tokens: tuple[int, int]
) -> Sequence[str]:
    """Store a session's tokens, compress what waits, and end the session at its end.

    At the start of a session, what others have left is compressed too, and those whose programs
    were killed are ended. Events that the client's model is to compress wait for the session's end.
    Returns problems. Raises MemoryBankError.
    """
    from memory_bank.bank.bank import open_bank
    from memory_bank.sessions.compress import compress
    from memory_bank.sessions.queue import EventQueue
    from memory_bank.sessions.sessions import end_killed, end_session

    with open_bank(root) as bank:
        if any(tokens):
            with closing(EventQueue(bank.layout.state(bank.id))) as queue, suppress(BadInput):
                queue.update(session_id, input_tokens=tokens[0], output_tokens=tokens[1])
        if kind == "end":
            with suppress(BadInput):  # nothing of it was stored
                end_session(bank, session_id)
            return []
        if kind == "compact" or (kind != "start" and bank.settings.compression.mode == "client"):
            return []  # the turn goes on; or the client's server, which can ask its model, does it
        if kind != "start":
            return compress(bank, session_id, wait=0).problems
        return [*compress(bank, wait=_WAIT).problems, *end_killed(bank, session_id)]


def _read_payload() -> dict[str, Any] | None:
    """Read the event from stdin; None if there is none."""
    stream = sys.stdin
    if stream is None or stream.closed or stream.isatty():
        return None
    data = stream.buffer.read(_MOST_INPUT + 1)
    if not data.strip():
        return None
    if len(data) > _MOST_INPUT:
        while stream.buffer.read(_BLOCK):
            pass  # the agent's program may not expect that its pipe is closed
        raise BadInput(f"an event of more than {_MOST_INPUT:,} bytes was dropped")
    try:
        document = json.loads(data)
    except (ValueError, RecursionError) as error:
        where = f" at character {error.pos}" if isinstance(error, json.JSONDecodeError) else ""
        raise BadInput(f"the event is no JSON{where}: {len(data):,} bytes") from error
    if not isinstance(document, dict):
        raise BadInput(f"the event is no object: {type(document).__name__}")
    return document


def _render_json(value: Mapping[str, object]) -> str:
    from memory_bank.base.rendering import render_document  # start-up: most events have no answer

    return render_document(value, indent=None, ascii_only=True)


def _write(data: bytes) -> None:
    while data:
        data = data[os.write(1, data) :]


def _log(names: Sequence[str], message: str, place: _Place) -> None:
    from memory_bank.bank import hook_log

    root = place.root
    with suppress(OSError):  # the folder may be gone
        root = root or find_bank_above(os.path.realpath(place.folder)) or ""
    hook_log.record_failure(names[0], names[1], message, root=root, state=place.state)


def _find_line(error: BaseException) -> str:
    """Return the last of our lines that an error passed."""
    place, trace = "", error.__traceback__
    while trace is not None:
        code = trace.tb_frame.f_code
        place = f"{os.path.basename(code.co_filename)}:{trace.tb_lineno}"
        trace = trace.tb_next
    return place
