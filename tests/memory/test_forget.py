"""What is forgotten is in no file of the bank and of this machine's private state."""

import json
import os
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from memory_bank.agents.transcripts import import_sessions
from memory_bank.bank import hook_log
from memory_bank.bank.bank import Bank, open_bank
from memory_bank.base import sqlite
from memory_bank.base.errors import BadInput, NoteNotFound, NoteReadOnly, StorageFailed
from memory_bank.frontends.cli import main
from memory_bank.memory import forgotten_texts
from memory_bank.memory.confirm import promote
from memory_bank.memory.create import create
from memory_bank.memory.forget import forget
from memory_bank.memory.forget_report import Forgotten
from memory_bank.memory.remember import remember
from memory_bank.memory.retrieval.recall import recall
from memory_bank.memory.trash import delete, trash
from memory_bank.sessions.compress import compress
from memory_bank.sessions.listing import list_sessions, show_session
from memory_bank.sessions.observations import search_observations
from memory_bank.sessions.queue import EventQueue
from memory_bank.sessions.queue_rows import MESSAGE
from memory_bank.sessions.records import Event
from memory_bank.sessions.sessions import start_session, store_observation, store_prompt
from memory_bank.sessions.state import open_store
from tests.git.history_builder import commit_all
from tests.support import forked

TEXT = 'Zebra-42 of Jörg: "vault"'
PLAIN = "quaint harbour lantern"

Git = Callable[..., str]


def hook(project: Path, event: str, **payload: object) -> None:
    """Report an event as Claude Code does."""
    given = {"session_id": "s-forget-1", "cwd": str(project), "hook_event_name": event, **payload}
    done = forked.run(
        [sys.executable, "-m", "memory_bank", "hook", "claude-code", event],
        input=json.dumps(given), capture_output=True, text=True, cwd=project, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")


def used(project: Path, key: str, command: str, said: str, **more: object) -> None:
    """Report the use of the shell."""
    hook(
        project, "PostToolUse", tool_name="Bash", tool_use_id=key,
        tool_input={"command": command}, tool_response={"stdout": said}, **more,
    )  # fmt: skip


def forms(text: str) -> set[bytes]:
    """Return the bytes that a file with the text has, in Markdown, UTF-8, UTF-16 and JSON."""
    written = {text, json.dumps(text)[1:-1], json.dumps(text, ensure_ascii=False)[1:-1]}
    return {one.encode() for one in written} | {text.encode("utf-16-le")}


def holders(project: Path, *texts: str) -> list[str]:
    """Return the files of the bank and of the user's folders that have one of the texts."""
    wanted = set().union(*map(forms, texts))
    home = [Path(os.environ[f"XDG_{kind}_HOME"]) for kind in ("STATE", "CACHE", "DATA")]
    found = []
    for folder in (project / ".memories", *home):
        for file in folder.rglob("*"):
            data = file.read_bytes() if file.is_file() else b""
            if any(form in data or form in os.fsencode(file.name) for form in wanted):
                found.append(str(file))
    return found


def state_of(bank: Bank) -> Path:
    return bank.layout.state(bank.id)


def places(done: Forgotten) -> set[tuple[str, str, int, str]]:
    return {(one.place.rpartition("/")[2], one.kind, one.count, one.action) for one in done.places}


def reasons(done: Forgotten) -> str:
    return "\n".join(f"{one.place}: {one.reason}" for one in done.beyond)


def snapshot(project: Path) -> dict[str, bytes]:
    """Return the bytes of all files outside the index that a change would change."""
    state = Path(os.environ["XDG_STATE_HOME"])
    files = [*(project / ".memories").rglob("*"), *state.rglob("*")]
    return {
        str(file): rows(file) if file.suffix == ".db" else file.read_bytes()
        for file in files
        if file.is_file()
        and ".index" not in file.parts
        and file.suffix not in (".db-shm", ".db-wal")
    }


def rows(file: Path) -> bytes:
    """Return all rows of a database, also those that are in its log."""
    base = sqlite3.connect(f"file:{file}?mode=ro", uri=True)
    try:
        return "\n".join(base.iterdump()).encode()
    finally:
        base.close()


@pytest.fixture
def planted(project: Path) -> Path:
    """Put the text into a tracked note, a session of hooks, the trash, the queue and a log."""
    note = project / ".memories/facts/vault.md"
    note.write_text(
        f"---\ntype: fact\ntags: [vault]\ntitle: 'The {TEXT} fact'\n"
        f"---\n# The vault\n\nAsk for {TEXT}, or\nfor [{TEXT}](https://example.org).\n\n"
        f"It is {TEXT.replace(' of ', chr(10) + 'of ')}, too. Keep the {PLAIN}.\n",
        encoding="utf-8",
    )
    commit_all(project, "Add the vault")
    hook(project, "SessionStart", source="startup")
    hook(project, "UserPromptSubmit", prompt=f"Open {TEXT} and the {PLAIN}")
    used(project, "t1", f"echo '{TEXT}' && false", f"cannot open {TEXT}\nerror: {PLAIN}")
    with open_bank(project) as bank:
        store_observation(bank, "s-forget-1", title=f"Learned {TEXT}", facts=[f"{TEXT}!", PLAIN])
        remember(bank, f"# Old\n\nThis had {TEXT}.", name="facts/old")
        delete(bank, "facts/old")
        assert recall(bank, TEXT, mode="lexical").notes
        list_sessions(bank)
        state = state_of(bank)
    used(project, "t2", f"cat {TEXT}", json.dumps({"found": TEXT}))
    store = {"client": "claude", "event": "Stop", "message": f"no {TEXT}"}
    hook_log.record_failure(*store.values(), state=str(state))
    (project / ".memories/.mb-0123456789ab").write_text(f"half a note with {TEXT}")
    assert len(holders(project, TEXT)) > 5
    return project


def test_a_text_is_in_no_file_afterwards(planted: Path, git: Git) -> None:
    with open_bank(planted) as bank:
        done = forget(bank, TEXT)
        assert holders(planted, TEXT, "Zebra-42 of", "Zebra-42\nof", "Zebra-42") == []
        assert (done.kind, done.done) == ("text", True)
        found = places(done)
        assert ("vault.md", "note", 4, "replaced") in found
        assert ("old.md", "trash", 1, "replaced") in found
        assert any(one[0] == "sessions.db" and one[2] > 1 for one in found)
        assert ("hooks.log", "log", 1, "replaced") in found
        assert (".mb-0123456789ab", "leftover", 1, "removed") in found
        hits = recall(bank, TEXT, mode="lexical").notes
        assert "Zebra" not in repr(hits)
        others = recall(bank, PLAIN, mode="lexical").notes
        assert "facts/vault.md" in [one.path for one in others]
        assert search_observations(bank, "Learned forgotten").count >= 1
        (session,) = list_sessions(bank).sessions
        assert "Zebra" not in repr(show_session(bank, session.session_id))
    text = (planted / ".memories/facts/vault.md").read_text()
    assert "title: 'The forgotten fact'" in text
    assert "Ask for [forgotten], or\nfor [forgotten](https://example.org)." in text
    assert f"It is [forgotten], too. Keep the {PLAIN}." in text
    assert git(planted, "status", "--porcelain") == " M .memories/facts/vault.md\n"
    commit = git(planted, "rev-parse", "HEAD")[:12]
    assert f"git history: commit {commit} has it" in reasons(done)


def test_a_dry_run_changes_nothing_and_no_answer_has_the_text(planted: Path) -> None:
    with open_bank(planted) as bank:
        bank.catch_up()
        before = snapshot(planted)
        planned = forget(bank, TEXT, dry_run=True)
        assert snapshot(planted) == before
        done = forget(bank, TEXT)
    assert not planned.done
    assert "Zebra" not in repr((planned, done))
    assert places(planned) == places(done)
    assert planned.count == done.count


def test_a_second_time_it_is_found_nowhere(planted: Path) -> None:
    with open_bank(planted) as bank:
        forget(bank, TEXT)
        again = forget(bank, TEXT)
    assert again.count == 0
    assert [one.kind for one in again.places] == ["index"]


def test_it_works_where_nothing_was_ever_kept(project: Path, git: Git) -> None:
    with open_bank(project) as bank:
        done = forget(bank, "nobody wrote this")
        assert (done.count, done.kind) == (0, "text")
        assert "git history" not in reasons(done)
    assert git(project, "status", "--porcelain") == ""


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("abc", "at least 4 letters or digits"),
        ("--- ///", "at least 4 letters or digits"),
        ("", "at least 4 letters or digits"),
        ("a" * 10_001, "more than 10,000"),
        ("half a \ud800 pair", "characters that no note can have"),
        ("decision", "a word that notes are made of"),
        ("created_at", "a word that notes are made of"),
    ],
)
def test_a_text_that_cannot_be_told_from_others_is_refused(
    bank: Bank, text: str, told: str
) -> None:
    with pytest.raises(BadInput, match=told):
        forget(bank, text)


def test_case_counts(bank: Bank, project: Path) -> None:
    remember(bank, "# Words\n\nMarigold and marigold.", name="facts/words")
    assert forget(bank, "marigold").places[0].count == 1
    assert "Marigold and [forgotten]." in (project / ".memories/facts/words.md").read_text()


def test_files_that_are_not_written_are_named(project: Path) -> None:
    memories = project / ".memories"
    (memories / "config.toml").write_text('[memory]\ninclude = ["CLAUDE.md"]\n# marigold\n')
    (project / "CLAUDE.md").write_text("# Rules\n\nWater the marigold.\n")
    (memories / "facts/latin.md").write_bytes("# Étude marigold\n".encode("latin-1"))
    (memories / "facts/binary.md").write_bytes(b"\0marigold")
    (memories / "facts/marigold.md").write_text("# A flower\n")
    (memories / "facts/conflict.md").write_text(
        "<<<<<<< HEAD\nmarigold\n=======\nrose\n>>>>>>> other\n"
    )
    before = snapshot(project)
    with open_bank(project) as bank:
        done = forget(bank, "marigold")
    told = reasons(done)
    assert "CLAUDE.md: it has the text, but is a file of the project" in told
    assert "config.toml: it has the text, but is no note" in told
    assert "facts/latin.md: it has the text, but can't be rewritten: not UTF-8" in told
    assert "facts/binary.md: it has the text, but can't be rewritten" in told
    assert "facts/conflict.md: it has the text, but can't be rewritten: unresolved merge" in told
    assert "facts/marigold.md: its name has the text" in told
    assert {name: snapshot(project)[name] for name in before} == before


def test_a_name_that_was_made_of_a_title_is_changed(bank: Bank, project: Path) -> None:
    store_prompt(bank, "s-1", "Plan the Falcon Project launch")
    store_observation(bank, "s-1", title="The Falcon Project began")
    (row,) = list_sessions(bank).sessions
    assert row.path is not None
    assert "falcon-project" in row.path
    create(bank, "facts/two", f"# Two\n\nSee [[{row.path.removesuffix('.md')}]].")
    forget(bank, "Falcon Project")
    assert holders(project, "Falcon Project", "falcon-project") == []
    (after,) = list_sessions(bank).sessions
    assert after.path == row.path.replace("falcon-project", "forgotten")
    assert show_session(bank, "s-1").session.prompts[0].prompt_text == "Plan the [forgotten] launch"
    assert after.path.removesuffix(".md") in (project / ".memories/facts/two.md").read_text()


def test_what_an_agent_said_last_is_forgotten_with_its_bytes(bank: Bank, project: Path) -> None:
    store_prompt(bank, "s-1", "When is the launch?")
    said = "The **Falcon Project** is launched in May, since the gateway is not ready before."
    for text in (said, f"{said} Ann knows more about the Falcon Project."):
        with open_store(bank) as store:
            event = Event(0, "s-1", MESSAGE, "", text, 1, datetime.now(UTC))
            store.queue_pending(event, f"said {len(text)}")
        assert holders(project, "Falcon Project")
        if text == said:
            compress(bank)
    assert (
        "Falcon Project is launched in May"
        in show_session(bank, "s-1").session.observations[0].title
    )
    forget(bank, "Falcon Project")
    assert holders(project, "Falcon Project", "falcon-project") == []


def test_a_session_is_removed_whole_and_not_stored_again(planted: Path, git: Git) -> None:
    before = git(planted, "status", "--porcelain")
    with open_bank(planted) as bank:
        done = forget(bank, "s-forget-1")
        assert (done.kind, done.done) == ("session", True)
        assert list_sessions(bank).sessions == ()
        # a small bank's best guess is listed, so that notes may be
        left = search_observations(bank, "Learned").results
        assert {row.type for row in left} <= {"note"}
        kept = str(state_of(bank) / "forgotten-sessions")
        assert holders(planted, "s-forget-1") == [kept]
        assert not [one for one in trash(bank) if one.path.startswith("sessions/")]
    for key in ("t1", "t3"):
        used(planted, key, "make more", "done")
    hook(planted, "UserPromptSubmit", prompt="Go on")
    with open_bank(planted) as bank:
        assert list_sessions(bank).sessions == ()
        with pytest.raises(BadInput, match="was forgotten"):
            start_session(bank, "s-forget-1")
        assert start_session(bank, "s-forget-2").state == "new"
        assert forget(bank, "s-forget-1").count == 0
    assert git(planted, "status", "--porcelain") == before


def test_a_forgotten_session_is_not_imported(project: Path, tmp_path: Path) -> None:
    lines = [
        {"type": "user", "sessionId": "s-old", "cwd": str(project), "uuid": "u1",
         "timestamp": "2026-11-20T10:00:00Z", "message": {"role": "user", "content": "Fix it"}},
        {"type": "assistant", "sessionId": "s-old", "cwd": str(project), "uuid": "u2",
         "timestamp": "2026-11-20T10:00:05Z", "message": {"role": "assistant", "content": [
             {"type": "tool_use", "id": "toolu_0123456789abcdefghij", "name": "Bash",
              "input": {"command": "make"}}]}},
        {"type": "user", "sessionId": "s-old", "cwd": str(project), "uuid": "u3",
         "timestamp": "2026-11-20T10:00:09Z", "message": {"role": "user", "content": [
             {"type": "tool_result", "tool_use_id": "toolu_0123456789abcdefghij",
              "content": "error: no rule", "is_error": True}]}},
    ]  # fmt: skip
    file = tmp_path / "s-old.jsonl"
    file.write_text("".join(json.dumps(line) + "\n" for line in lines))
    with open_bank(project) as bank:
        assert import_sessions(bank, "claude-code", path=file).sessions[0].state == "new"
        (row,) = list_sessions(bank).sessions
        assert row.path is not None
        assert forget(bank, row.path).kind == "session"
        again = import_sessions(bank, "claude-code", path=file)
        assert again.sessions == []
        assert [one.reason for one in again.skipped] == ["the session was forgotten"]
        assert list_sessions(bank).sessions == ()


def test_an_observation_is_removed_from_its_note_and_from_the_trash(
    bank: Bank, project: Path
) -> None:
    keep = store_observation(bank, "s-1", title="Keep this", facts=["a heron"]).observation_id
    drop = store_observation(bank, "s-1", title="Drop this", facts=["a pelican"]).observation_id
    assert keep is not None
    assert drop is not None
    (row,) = list_sessions(bank).sessions
    assert row.path is not None
    bank.store.keep(row.path)
    done = forget(bank, f"#{drop}")
    assert sorted(one.kind for one in done.places) == ["index", "note", "trash"]
    assert holders(project, "a pelican", "Drop this", drop) == []
    assert [one.id for one in show_session(bank, "s-1").session.observations] == [keep]
    assert search_observations(bank, "heron", type="observation").count == 1
    with pytest.raises(NoteNotFound):
        forget(bank, drop)


def test_a_promoted_note_is_named(bank: Bank) -> None:
    name = store_observation(bank, "s-1", title="Retry often").observation_id
    assert name is not None
    made = promote(bank, name).path
    assert f"{made}: it links to" in reasons(forget(bank, name))


@pytest.mark.parametrize("by", ["id", "path", "name"])
def test_a_note_is_removed_with_its_versions_in_the_trash(
    bank: Bank, project: Path, git: Git, by: str
) -> None:
    made = remember(bank, "# Heron\n\nThe pelican nests.", name="facts/heron")
    bank.store.keep("facts/heron.md")
    (project / ".memories/facts/heron.md").rename(project / ".memories/facts/crane.md")
    names = {"id": made.note_id, "path": ".memories/facts/crane.md", "name": "facts/crane"}
    done = forget(bank, names[by])
    assert (done.kind, done.count) == ("note", 2)
    assert holders(project, "pelican") == []
    assert trash(bank) == []
    assert "pelican" not in repr(recall(bank, "pelican", mode="lexical").notes)
    assert git(project, "status", "--porcelain") == ""


def test_a_deleted_note_is_removed_from_the_trash(bank: Bank, project: Path) -> None:
    remember(bank, "# Heron\n\nThe pelican nests.", name="facts/heron")
    delete(bank, "facts/heron")
    assert forget(bank, "facts/heron").kind == "note"
    assert holders(project, "pelican") == []


def test_git_has_a_committed_note_still(bank: Bank, project: Path, git: Git) -> None:
    done = forget(bank, "decisions/whoosh.md")
    assert git(project, "status", "--porcelain") == " D .memories/decisions/whoosh.md\n"
    assert "git history: commit" in reasons(done)
    assert "has a version of a note that had it" in reasons(done)
    assert "decisions/tantivy.md: it links to decisions/whoosh.md" in reasons(done)


def test_git_has_a_text_that_was_broken_into_lines(bank: Bank, project: Path, git: Git) -> None:
    (project / ".memories/facts/rose.md").write_text("# A rose\n\nWater the white\nrose.\n")
    git(project, "add", "-A")
    assert "git objects: what was staged" in reasons(forget(bank, "Water the white", dry_run=True))
    git(project, "commit", "-q", "-m", "Add a rose")
    told = reasons(forget(bank, "white rose"))
    assert f"commit {git(project, 'rev-parse', 'HEAD')[:12]} has a version of a note" in told


def test_a_private_session_is_not_in_git(bank: Bank) -> None:
    store_observation(bank, "s-1", title="Drop this")
    assert "git" not in reasons(forget(bank, "s-1")).partition("transcripts")[0]


def test_the_name_of_a_note_is_only_a_text(bank: Bank, project: Path) -> None:
    assert forget(bank, "whoosh", dry_run=True).kind == "text"
    assert forget(bank, "decisions/whoosh", as_text=True, dry_run=True).kind == "text"
    assert (project / ".memories/decisions/whoosh.md").exists()


def test_an_included_file_is_not_removed(project: Path) -> None:
    (project / ".memories/config.toml").write_text('[memory]\ninclude = ["docs"]\n')
    (project / "docs").mkdir()
    (project / "docs/rules.md").write_text("# Rules\n")
    with open_bank(project) as bank, pytest.raises(NoteReadOnly):
        forget(bank, "docs/rules.md")


def test_a_damaged_queue_is_removed(bank: Bank, project: Path) -> None:
    store_prompt(bank, "s-1", "Plant the marigold")
    queue = state_of(bank) / "sessions.db"
    for suffix in ("-wal", "-shm"):
        queue.with_name(queue.name + suffix).unlink(missing_ok=True)
    data = bytearray(queue.read_bytes())
    data[:16] = b"no SQLite at all"
    queue.write_bytes(data)
    done = forget(bank, "marigold")
    assert ("sessions.db.damaged", "leftover", 1, "removed") in places(done)
    assert holders(project, "marigold") == []


def test_a_log_that_another_process_reads_is_named(
    bank: Bank, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sqlite, "SCRUB_SECONDS", 0.2)
    store_prompt(bank, "s-1", "Plant the marigold")
    reader = sqlite3.connect(state_of(bank) / "sessions.db", isolation_level=None)
    reader.execute("BEGIN")
    assert reader.execute("SELECT count(*) FROM prompts").fetchone() == (1,)
    assert "sessions.db: another process reads it" in reasons(forget(bank, "marigold"))
    reader.close()
    assert "sessions.db" not in reasons(forget(bank, "marigold"))
    assert holders(project, "marigold") == []


def test_other_work_trees_are_named(bank: Bank, project: Path, tmp_path: Path, git: Git) -> None:
    git(project, "worktree", "add", "-q", str(tmp_path / "tree"))
    with open_bank(tmp_path / "tree") as other:
        assert other.id == bank.id
        other.catch_up()
    told = reasons(forget(bank, "marigold"))
    assert f"{tmp_path / 'tree' / '.memories'}: another work tree or clone" in told


def test_an_agents_own_command_is_not_stored(project: Path) -> None:
    used(project, "t1", "memory-bank forget 'marigold' --yes", "forgot the text")
    used(project, "t2", "cd /x && mb --json forget marigold --yes", "{}")
    used(project, "t3", "memory-bank recall x; echo rose", "rose")
    with open_bank(project) as bank:
        queue = EventQueue(state_of(bank))
        assert [json.loads(one.tool_input)["command"] for one in queue.pending()] == [
            "memory-bank recall x; echo rose"
        ]
        queue.close()


KILLED = """
import os, signal, sys
from memory_bank import forget, open_bank
from memory_bank.{module} import {name} as real
import memory_bank.{module} as module

def killed(*args, **given):
    if {after}:
        real(*args, **given)
    os.kill(os.getpid(), signal.SIGKILL)

setattr(module, "{name}", killed)
with open_bank(sys.argv[1]) as bank:
    forget(bank, sys.argv[2])
"""


@pytest.mark.slow
@pytest.mark.parametrize("after", [False, True])
@pytest.mark.parametrize(
    ("module", "name"),
    [
        ("memory.forgotten_texts", "_replace_in_file"),
        ("memory.forgotten_texts", "_replace_in_databases"),
        ("memory.forgotten_texts", "_empty_index"),
        ("base.sqlite", "scrub"),
        ("notes.storage.files", "replace"),
    ],
)
def test_after_a_kill_the_same_call_finishes(
    planted: Path, module: str, name: str, *, after: bool
) -> None:
    run(KILLED.format(module=module, name=name, after=after), planted, TEXT)
    with open_bank(planted) as bank:
        forget(bank, TEXT)
        assert holders(planted, TEXT, "Zebra-42") == []
        assert recall(bank, PLAIN, mode="lexical").notes


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "module", "name"),
    [
        ("session", "sessions.queue_rows", "add_forgotten"),
        ("session", "memory.forgotten_texts", "remove_file"),
        ("session", "memory.forgotten_texts", "clean"),
        ("observation", "memory.forgotten_texts", "change"),
        ("observation", "base.sqlite", "scrub"),
        ("note", "memory.forgotten_texts", "remove_file"),
        ("note", "memory.forgotten_texts", "_empty_index"),
    ],
)
def test_after_a_kill_a_repeated_id_finishes(
    bank: Bank, project: Path, kind: str, module: str, name: str
) -> None:
    stored = store_observation(bank, "s-1", title="Drop this", facts=["a pelican"])
    remember(bank, "# Heron\n\nThe pelican nests.", name="facts/heron")
    assert stored.observation_id is not None
    what = {"session": "s-1", "observation": stored.observation_id, "note": "facts/heron"}[kind]
    run(KILLED.format(module=module, name=name, after=True), project, what)
    done = forget(bank, what)
    assert done.kind == kind
    gone = {"session": "a pelican", "observation": "a pelican", "note": "pelican nests"}[kind]
    assert holders(project, gone) == []
    assert not (state_of(bank) / "forgetting").exists()


def run(script: str, *args: object) -> None:
    done = forked.run([sys.executable, "-c", script, *map(str, args)], check=False)
    assert done.returncode == -signal.SIGKILL


KEPT = """
import sys
from memory_bank import open_bank, recall, remember, store_observation, list_sessions
with open_bank(sys.argv[1]) as bank:
    print(len(recall(bank, sys.argv[2], mode="lexical").notes), flush=True)
    list_sessions(bank)
    for line in sys.stdin:
        notes = recall(bank, line.strip(), mode="hybrid").notes
        stored = store_observation(bank, "s-kept", title="Still here")
        made = remember(bank, "# Later\\n\\nWritten later.", name="facts/later")
        print([note.path for note in notes if note.relevance_score > 0.5], flush=True)
"""


@pytest.mark.slow
def test_a_process_that_has_the_bank_open_goes_on(
    planted: Path, ending: Callable[..., Any]
) -> None:
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    kept = ending(forked.Popen([sys.executable, "-c", KEPT, str(planted), TEXT], **pipes))
    assert int(kept.stdout.readline()) > 0
    with open_bank(planted) as bank:
        done = forget(bank, TEXT)
        assert "another process reads it" not in reasons(done)
        assert holders(planted, TEXT, "Zebra-42") == []
    said, _ = kept.communicate(f"{PLAIN}\n", timeout=60)
    assert "facts/vault.md" in said
    assert kept.returncode == 0
    with open_bank(planted) as bank:
        assert recall(bank, "Written later", mode="lexical").notes[0].path == "facts/later.md"
    assert holders(planted, TEXT, "Zebra-42") == []


def test_the_first_line_says_that_the_text_is_still_here_if_a_note_cannot_be_changed(
    bank: Bank, project: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    create(bank, "facts/garden", "Plant the marigold")

    def no_space(*_: object) -> None:
        raise StorageFailed("No space left on device")

    monkeypatch.chdir(project)
    with monkeypatch.context() as patch:
        patch.setattr(forgotten_texts, "rewrite", no_space)
        assert main.run(["forget", "marigold", "--yes"]) == 3
    first, place = capsys.readouterr().out.splitlines()[:2]
    assert first == "the text is still here: 1 place can't be read or changed"
    assert place == "  facts/garden.md: No space left on device"
    assert main.run(["forget", "marigold", "--yes"]) == 0
    assert capsys.readouterr().out.startswith("forgot the text")
