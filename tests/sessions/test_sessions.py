"""The life of a session: started, recorded, compressed, ended, resumed, shown."""

import json
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest

from memory_bank.bank.bank import Bank, open_bank
from memory_bank.base.errors import BadInput
from memory_bank.base.locks import hold_lock
from memory_bank.sessions.compress import _FOLDER, compress
from memory_bank.sessions.events import subscribe
from memory_bank.sessions.listing import list_sessions, show_session
from memory_bank.sessions.note_format import settle_session
from memory_bank.sessions.records import Event, Observation, Session
from memory_bank.sessions.sessions import (
    end_session,
    start_session,
    store_observation,
    store_prompt,
)
from memory_bank.sessions.state import bank_project, git_state, open_store
from tests.sessions.sessions_of import START

Git = Callable[..., str]
EDIT = {"file_path": "src/index.py", "old_string": "...", "new_string": "return 1"}
TOKEN = "ghp_" + "a1B2c3D4e5F6g7H8i9J0" + "k1L2m3N4o5P6q7R8"


def shown(bank: Bank, session_id: str = "s-1") -> Session:
    return show_session(bank, session_id).session


def text_of(bank: Bank, session_id: str = "s-1") -> str:
    return bank.store.read(shown(bank, session_id).path).text


def worked(bank: Bank, session_id: str = "s-1") -> None:
    """Let a session ask, edit and run something."""
    start_session(bank, session_id, "shop", "claude-code")
    store_prompt(bank, session_id, "Make the index faster. Please")
    store_observation(bank, session_id, "Edit", "shop", EDIT, {"ok": True})
    store_observation(bank, session_id, "Bash", "shop", {"command": "pytest"}, "1 passed")


def test_a_session_from_start_to_end(bank: Bank, git: Git, project: Path) -> None:
    assert start_session(bank, "s-1", "shop", "claude-code").state == "new"
    assert start_session(bank, "s-1").state == "active"
    assert store_prompt(bank, "s-1", "Make the index faster. Please").prompt_number == 1
    stored = store_observation(bank, "s-1", "Edit", "shop", EDIT, {"ok": True})
    assert stored.pending_id
    assert stored.prompt_number == 1
    with open_store(bank) as store:
        (event,) = store.get_pending("s-1")
        assert json.loads(event.tool_input) == EDIT
    summary_id = end_session(bank, "s-1")
    found = shown(bank)
    assert found.summary is not None
    assert found.summary.id == summary_id
    assert found.ended_at is not None
    assert found.path.startswith(f"sessions/{found.started_at:%Y/%m/%d}-change-src-index-py-")
    assert [one.files_modified for one in found.observations] == [("src/index.py",)]
    assert found.summary.request == "Make the index faster. Please"
    assert found.summary.files_edited == ("src/index.py",)
    assert found.git is not None
    assert found.git.commit == git(project, "rev-parse", "HEAD").strip()
    assert found.git == found.observations[0].git == found.summary.git
    with open_store(bank) as store:
        assert store.get_pending() == []
    assert "[[src/index.py]]" in text_of(bank)
    assert git(project, "status", "--porcelain") == ""
    assert start_session(bank, "s-1").state == "resumed"
    assert shown(bank).ended_at is None
    assert "ended_at" not in text_of(bank)


def test_a_session_in_which_nothing_happened_leaves_no_note(bank: Bank) -> None:
    start_session(bank, "s-1")
    assert end_session(bank, "s-1") is None
    assert shown(bank).path == ""
    assert shown(bank).ended_at is not None
    with pytest.raises(BadInput):
        end_session(bank, "unknown")


def test_no_note_is_written_for_each_event(bank: Bank) -> None:
    start_session(bank, "s-1", "shop")
    store_observation(bank, "s-1", "Bash", "shop", {"command": "ls"}, "a")
    with open_store(bank) as store:
        found = store.get_session("s-1")
        assert found is not None
        assert found.path == ""


def test_an_observation_in_the_agents_words_is_a_part_of_the_note(bank: Bank) -> None:
    words = {
        "title": "Retry three times", "obs_type": "Decision", "narrative": "# Why\n\nThe gateway is slow.",
        "facts": ["It answers 504"], "concepts": ["retries"], "files_modified": ["src/index.py"],
    }  # fmt: skip
    stored, again = (store_observation(bank, "new session: é", **words) for _ in range(2))  # type: ignore[arg-type]
    assert stored.observation_id == again.observation_id
    (one,) = shown(bank, "new session: é").observations
    assert (one.id, one.obs_type, one.title) == (
        stored.observation_id,
        "decision",
        "Retry three times",
    )
    assert one.narrative == "# Why\n\nThe gateway is slow."
    assert one.project == bank_project(bank) == "project"
    links = [link.type for link in bank.store.read(shown(bank, "new session: é").path).body.links]
    assert links == ["modifies"]


@pytest.mark.parametrize(
    "given",
    [
        {"title": "x" * 100}, {"title": "a", "obs_type": "bug"}, {"narrative": "No title"}, {},
        {"tool_name": " "},
    ],
)  # fmt: skip
def test_what_is_no_observation_is_refused(bank: Bank, given: dict[str, str]) -> None:
    with pytest.raises(BadInput):
        store_observation(bank, "s-1", **given)  # type: ignore[arg-type]
    assert list_sessions(bank).total == 0


def test_secrets_and_private_spans_are_redacted_and_counted(bank: Bank) -> None:
    store_prompt(bank, "s-1", f"Use {TOKEN} <private>my wife</private>")
    store_observation(bank, "s-1", "Bash", None, {"command": f"curl -H 'token: {TOKEN}'"}, TOKEN)
    store_observation(bank, "s-1", title=f"Found {TOKEN}", narrative="<PRIVATE>x")
    end_session(bank, "s-1", {"learned": f"It is {TOKEN}"})
    assert TOKEN not in text_of(bank)
    assert "my wife" not in text_of(bank)
    state = bank.layout.state(bank.id)
    assert all(
        TOKEN.encode() not in file.read_bytes() for file in state.rglob("*") if file.is_file()
    )
    assert shown(bank).redactions >= 6


def test_a_secret_that_only_the_note_shows_loses_nothing(
    bank: Bank, monkeypatch: pytest.MonkeyPatch
) -> None:
    with open_store(bank) as store:
        store.create_session(Session("s-1", "shop", START))
        stored = Observation("obs-aaaaaaaaaaaa", "s-1", "shop", "change", f"Set {TOKEN}", START)
        store.store_observation(stored)
        store.store_observation(stored._replace(id="obs-bbbbbbbbbbbb"))
    assert [one.title for one in shown(bank).observations] == ["Set [redacted]"] * 2
    assert shown(bank).redactions >= 2
    assert TOKEN not in text_of(bank)


def test_a_summary_of_the_agent_or_a_person_is_not_replaced_by_a_local_one(bank: Bank) -> None:
    worked(bank)
    end_session(bank, "s-1")
    start_session(bank, "s-1")
    store_observation(bank, "s-1", title="Second thing", obs_type="feature")
    end_session(bank, "s-1")
    local = shown(bank).summary
    assert local is not None
    assert "Second thing" in local.completed
    end_session(bank, "s-1", "All of it")
    end_session(bank, "s-1")
    said = shown(bank).summary
    assert said is not None
    assert said.completed == "All of it"
    assert said.request == local.request
    path = shown(bank).path
    bank.store.change(path, lambda text: text.replace("All of it", "All, by hand"))
    end_session(bank, "s-1")
    edited = shown(bank).summary
    assert edited is not None
    assert edited.completed == "All, by hand"
    for wrong in ({"mood": "good"}, {"learned": 5}):
        with pytest.raises(BadInput):
            end_session(bank, "s-1", wrong)


def test_a_moved_note_and_a_lost_queue_are_found_by_the_session_id(bank: Bank) -> None:
    worked(bank)
    end_session(bank, "s-1")
    before = shown(bank)
    file = bank.roots.file(before.path)
    file.rename(file.parents[2] / "moved.md")
    assert shown(bank).path == "sessions/moved.md"
    for file in bank.layout.state(bank.id).glob("sessions.db*"):
        file.unlink()
    found = shown(bank)
    assert found._replace(path=before.path) == settle_session(before)._replace(path=before.path)
    with subscribe(bank) as events:
        assert start_session(bank, "s-1").state == "resumed"
        assert events.take() == []
    assert store_prompt(bank, "s-1", "More").prompt_number == 2
    store_observation(bank, "s-1", title="More")
    assert shown(bank).path == "sessions/moved.md"
    assert len(shown(bank).observations) == len(before.observations) + 1


def test_a_deleted_note_is_written_anew(bank: Bank) -> None:
    worked(bank)
    end_session(bank, "s-1")
    bank.store.delete(shown(bank).path)
    assert shown(bank).path == ""
    store_observation(bank, "s-1", title="More")
    assert [one.title for one in shown(bank).observations] == ["More"]


@pytest.mark.parametrize("step", ["written", "marked"])
def test_a_batch_that_was_cut_short_is_finished_once(
    bank: Bank, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    worked(bank)

    def die(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        name = "remove_pending" if step == "written" else "store_observations"
        patched.setattr(f"memory_bank.sessions.note_store.NoteStore.{name}", die)
        with pytest.raises(KeyboardInterrupt):
            compress(bank)
    with open_store(bank) as store:
        assert len(store.get_pending()) == 2
    compress(bank)
    compress(bank)
    found = shown(bank)
    assert len(found.observations) == len({one.id for one in found.observations})
    assert sum(one.files_modified == ("src/index.py",) for one in found.observations) == 1
    with open_store(bank) as store:
        assert store.get_pending() == []


def test_one_process_compresses_at_a_time(bank: Bank) -> None:
    worked(bank)
    store_observation(bank, "s-1", "Bash", None, {"command": "ls"}, "a")
    folder = bank.layout.state(bank.id) / _FOLDER
    folder.mkdir(parents=True, exist_ok=True)
    with hold_lock(folder):
        assert compress(bank, wait=0).busy
    assert not compress(bank).busy


def test_a_note_that_cannot_be_changed_keeps_its_events_and_others_go_on(bank: Bank) -> None:
    store_observation(bank, "s-1", title="First")
    path = shown(bank).path
    bank.roots.file(path).write_bytes(bank.store.read_bytes(path) + b"\xff")
    for name in ("s-1", "s-2"):
        store_observation(bank, name, "Bash", None, {"command": "ls"}, "a")
    done = compress(bank)
    assert len(done.problems) == 1
    assert "s-1" in done.problems[0]
    assert len(shown(bank, "s-2").observations) == 1
    with open_store(bank) as store:
        assert len(store.get_pending("s-1")) == 1


def test_two_work_trees_share_sessions_and_names_of_projects(
    bank: Bank, project: Path, tmp_path: Path, git: Git
) -> None:
    git(project, "worktree", "add", "-q", "-b", "other", str(tmp_path / "tree"))
    with open_bank(tmp_path / "tree") as other:
        assert bank_project(other) == bank_project(bank) == "project"
        start_session(other, "s-2")
        assert [one.session_id for one in list_sessions(bank).sessions] == ["s-2"]
        state = git_state(tmp_path / "tree")
        assert state is not None
        assert state.branch == "other"
        git(tmp_path / "tree", "commit", "-q", "--allow-empty", "-m", "Next")
        assert git_state(tmp_path / "tree") != state
    git(tmp_path, "init", "-q", "foreign")
    git(tmp_path / "foreign", "commit", "-q", "--allow-empty", "-m", "First")
    for name, place in (("tree", "tree"), ("foreign", "project")):
        event = Event(0, name, "Bash", "ls", "", 1, datetime.now(UTC), cwd=str(tmp_path / name))
        with open_store(bank) as store:
            store.queue_pending(event, name)
        compress(bank, session_id=name)
        assert shown(bank, name).observations[0].git == git_state(tmp_path / place)


def test_notes_that_a_project_keeps_are_in_the_work_tree_of_their_session(
    project: Path, tmp_path: Path, git: Git
) -> None:
    tree = tmp_path / "tree"
    git(project, "worktree", "add", "-q", "-b", "other", str(tree))
    settings = {"sessions.keep": "project"}
    with open_bank(project, settings=settings) as here, open_bank(tree, settings=settings) as there:
        store_observation(there, "s-1", "Bash", None, {"command": "ls"}, "a")
        compress(here)
        with open_store(here) as store:
            assert len(store.get_pending()) == 1
        compress(there)
        assert (tree / ".memories" / shown(there).path).is_file()
        assert shown(here).path == ""


def test_outside_git_there_is_no_git_state(folder: Path) -> None:
    with open_bank(folder) as bank:
        store_observation(bank, "s-1", title="First")
        assert shown(bank).git is None
        assert shown(bank).observations[0].git is None


def test_sessions_are_listed_and_shown(bank: Bank) -> None:
    worked(bank, "abc-1")
    end_session(bank, "abc-1")
    start_session(bank, "abc-2", "Shop")
    start_session(bank, "x", "other")
    assert [row.session_id for row in list_sessions(bank).sessions] == ["x", "abc-2", "abc-1"]
    assert (list_sessions(bank, 1).count, list_sessions(bank, 1).total) == (1, 3)
    found = list_sessions(bank, project="SHOP")
    assert (found.count, found.total) == (2, 2)
    _, row = found.sessions
    assert (row.title, row.counts.prompts, row.pending) == ("Change src/index.py", 1, 0)
    assert show_session(bank, "abc-1").session == show_session(bank, row.path).session
    assert show_session(bank, "x").session.project == "other"
    for unclear in ("abc", "nothing", ""):
        with pytest.raises(BadInput):
            show_session(bank, unclear)


def test_nothing_is_stored_where_sessions_are_not_captured(project: Path) -> None:
    with open_bank(project, settings={"sessions.capture": False}) as bank:
        for refused in (
            lambda: start_session(bank, "s-1"),
            lambda: store_prompt(bank, "s-1", "a"),
            lambda: store_observation(bank, "s-1", "Bash"),
        ):
            with pytest.raises(BadInput, match="not captured"):
                refused()
        assert list_sessions(bank).total == 0


def test_a_rule_of_the_user_is_learned_and_never_completed(bank: Bank) -> None:
    start_session(bank, "one")
    rule = "From now on all retries use jitter"
    store_observation(bank, "one", title=rule, obs_type="decision", facts=[f"decided: {rule}"])
    end_session(bank, "one")
    summary = show_session(bank, "one").session.summary
    assert summary
    assert rule in summary.learned
    assert rule not in summary.completed
