"""The text at the start of a session says in few words what is open, decided, learned and kept."""

import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import pytest

from memory_bank.bank.bank import Bank, open_bank
from memory_bank.base.text import Quotes, estimate
from memory_bank.memory.remember import remember
from memory_bank.memory.show import show
from memory_bank.sessions.context import inject_context
from memory_bank.sessions.get_observations import get_observations, timeline
from memory_bank.sessions.listing import list_sessions, show_session
from memory_bank.sessions.observations import search, session_store
from memory_bank.sessions.records import Event, Prompt, Session
from memory_bank.sessions.sessions import (
    end_session,
    start_session,
    store_observation,
    store_prompt,
)
from memory_bank.sessions.start import MOST_TOKENS, start_text
from tests.git.history_builder import commit_all


@pytest.fixture
def bank(folder: Path) -> Bank:
    with open_bank(folder) as bank:
        yield bank


def worked(bank: Bank, name: str, title: str, *, steps: str = "", kind: str = "feature") -> None:
    """End a session with one observation, and with next steps."""
    start_session(bank, name)
    store_prompt(bank, name, f"please do what {name} asks for")
    store_observation(bank, name, title=title, obs_type=kind, files_modified=["src/job.py"])
    end_session(bank, name, {"completed": title, "next_steps": steps})


def test_the_newest_open_step_comes_first_and_stays_until_it_is_done(bank: Bank) -> None:
    worked(bank, "one", "Add retries", steps="Translate the overview page into German")
    worked(bank, "two", "Fix the price list", steps="Ask Ann for the new exchange rates")
    worked(bank, "three", "Rename the cart")
    lines = start_text(bank).splitlines()
    at = lines.index("**Open steps**:")
    assert lines[at + 1 : at + 3] == [
        "- Ask Ann for the new exchange rates",
        "- Translate the overview page into German",
    ]
    worked(bank, "four", "The overview page is in German", kind="change")
    assert "Translate" not in start_text(bank)
    assert "Ask Ann" in start_text(bank)


def test_rules_what_was_learned_and_what_the_bank_has_are_told(bank: Bank) -> None:
    remember(bank, "# Use Tantivy\n\nWhoosh is no longer maintained.", type="decision")
    remember(bank, "# Prices\n\nThey are in cents.")
    start_session(bank, "one")
    facts = ["decided: We never retry a payment twice", "`pytest` passes: 4 passed"]
    store_observation(bank, "one", title="Charge once", obs_type="decision", facts=facts)
    store_observation(bank, "one", title="Change run()", obs_type="change", files_modified=["a.py"])
    end_session(bank, "one")
    text = start_text(bank)
    assert "- We never retry a payment twice" in text
    assert "- Change run() (a.py)" in text
    assert "2 notes in the bank" in text
    assert "- Use Tantivy" in text
    assert not any(word in text for word in ("sum-", "please do"))


def test_lines_of_observations_and_notes_have_an_id_and_the_tokens_of_the_whole(
    bank: Bank, folder: Path
) -> None:
    path = remember(bank, "# Use Tantivy\n\nWhoosh is no longer maintained.", type="decision").path
    note = folder / path
    text = note.read_text("utf-8")
    note.write_text(re.sub("created_at: 20..", "created_at: 2024", text), "utf-8")
    os.utime(note, (1_700_000_000, 1_700_000_000))  # it did not change since the last session
    worked(bank, "one", "Charge once", kind="decision", steps="Ask Ann for the rates")
    worked(bank, "two", "Change run()")
    lines = start_text(bank).splitlines()
    marked = {
        found[1]: found.groups()[1:]
        for line in lines
        if (found := re.fullmatch(r"- (.+?)(?: \(\S+\))? #(\S+) ~(\d+)", line))
    }
    assert {*marked} == {"Charge once", "Change run()", "Use Tantivy"}
    for title, (name, tokens) in marked.items():
        (whole,) = get_observations(bank, [name]).observations
        assert (whole.row.title, whole.row.estimated_tokens) == (
            title,
            pytest.approx(int(tokens), abs=2),
        )


def test_what_was_remembered_in_the_last_session_is_told(bank: Bank) -> None:
    start_session(bank, "one")
    remember(bank, "# The gateway is slow\n\nIt answers after 30 s.")
    store_observation(bank, "one", title="Look at the gateway")
    end_session(bank, "one")
    changed = start_text(bank).partition("**Changed since the last session began**")[2]
    assert "The gateway is slow" in changed


def test_it_is_short_and_quoted_and_nothing_is_told_of_an_empty_bank(bank: Bank) -> None:
    assert start_text(bank) == ""
    quotes = Quotes()
    for number in range(12):
        worked(
            bank,
            f"s-{number}",
            f"Learn thing {number} " + "about the gateway " * 4,
            steps=f"Go on with part {number} " + "x" * 90,
        )
    told = start_text(bank, quote=quotes.introduced)
    assert estimate(told) <= MOST_TOKENS
    assert f"<q-{quotes.mark}>" in told


def test_work_on_files_with_uncommitted_changes_comes_first(project: Path) -> None:
    for name in ("cart.py", "job.py"):
        (project / name).write_text("x = 1\n")
    commit_all(project, "Add two files")
    with open_bank(project) as bank:
        start_session(bank, "one")
        for name, title in (("cart.py", "Round the sum"), ("job.py", "Retry three times")):
            store_observation(bank, "one", title=title, files_modified=[name], obs_type="change")
        end_session(bank, "one")
        assert told_first(bank) == "- Retry three times (job.py)"
        (project / "cart.py").write_text("x = 2\n")
        assert told_first(bank) == "- Round the sum (cart.py)"


def told_first(bank: Bank) -> str:
    """Return the first line of what was learned and done, without its id."""
    lines = [line.partition(" #")[0] for line in start_text(bank).splitlines()]
    return lines[lines.index("**Learned and done in the last sessions**:") + 1]


@pytest.fixture
def tried(project: Path, git: Callable[..., str]) -> Path:
    """Return a project on the branch `work`, in whose last session two files were changed."""
    for name in ("job.py", "cart.py"):
        (project / name).write_text("x = 1\n")
    commit_all(project, "Add two files")
    git(project, "checkout", "-qb", "work")
    now = datetime.now(UTC)
    with open_bank(project) as bank:
        with closing(session_store(bank)) as store:
            store.create_session(Session("one", "project", now))
            store.store_prompt(Prompt("one", 1, "try something", now))
            for number, name in enumerate(("job.py", "cart.py")):
                change = {"file_path": str(project / name), "old_string": "1", "new_string": "2"}
                event = Event(0, "one", "Edit", json.dumps(change), "", 1, now, cwd=str(project))
                store.queue_pending(event, str(number))
                (project / name).write_text("x = 2\n")
        end_session(bank, "one", ended_at=now)
    return project


def is_told_as_taken_back(project: Path) -> bool:
    """Return what the next session in a work tree is told of the changes."""
    with open_bank(project) as bank:
        told = start_text(bank)
    assert "job.py" in told or "Tried and taken back: " in told, "the work is told in any case"
    return "Tried and taken back: " in told


def test_changes_that_a_later_turn_took_back_are_not_told_as_done(
    tried: Path, git: Callable[..., str]
) -> None:
    assert not is_told_as_taken_back(tried)
    git(tried, "checkout", "--", ".")
    assert is_told_as_taken_back(tried)
    with open_bank(tried) as bank:
        end_session(bank, "one", {"learned": ""})
        assert "job.py" not in show_session(bank, "one").session.summary.files_edited


@pytest.mark.parametrize(
    "commands",
    [
        ["commit -qam Done", "checkout -q main"],
        ["commit -qam Done", "checkout -q main", "merge -q --squash work", "commit -qm Squashed"],
        ["checkout -qb other", "commit -qam Done", "checkout -q work"],
        ["stash -q"],
        ["stash -q", "worktree add -q ../tree main", "-C ../tree stash pop -q"],
        ["checkout -q --detach", "checkout -q -- ."],
    ],
)
def test_work_that_may_be_elsewhere_is_not_told_as_taken_back(
    tried: Path, git: Callable[..., str], commands: list[str]
) -> None:
    git(tried, "branch", "-f", "main")
    for command in commands:
        git(tried, *command.split())
    assert not is_told_as_taken_back(tried)


def test_work_in_another_clone_or_work_tree_is_not_told_as_taken_back(
    tried: Path, git: Callable[..., str]
) -> None:
    time.sleep(1.1)  # git tells the time of a clone in whole seconds
    git(tried, "clone", "-q", str(tried), "../clone")
    git(tried, "worktree", "add", "-q", "--detach", "../tree")
    for place in ("clone", "tree"):
        assert not is_told_as_taken_back(tried.parent / place)


def test_decisions_with_nearly_one_title_are_all_told_the_newest_and_most_used_first(
    bank: Bank,
) -> None:
    for number in range(10):
        text = f"---\ntype: decision\ncreated_at: 2026-01-{number + 1:02}\n---\n# Split service {number} off\n"
        (bank.layout.root / f"split-{number}.md").write_text(text)
    with (bank.layout.root / "split-8.md").open("a") as old:
        old.write("\n- superseded_by:: [[split-9]]\n")
    remember(bank, "# Prices\n\nThey are in cents.")
    for name in ("prices", "prices", "split-2"):
        show(bank, name)
    lines = start_text(bank).splitlines()
    at = lines.index("**11 notes in the bank, the newest and most used decisions first**:")
    assert [line.split()[3] for line in lines[at + 1 : at + 7]] == ["9", "7", "6", "2", "5", "4"]


def test_a_note_is_told_once_with_a_path_that_opens_it(bank: Bank) -> None:
    start_session(bank, "one")
    title = "The gateway dedupes charges by order id " + "and the amount in cents " * 5
    path = remember(bank, f"# {title}\n\nSo a retry never charges twice.", type="decision").path
    end_session(bank, "one", {"learned": "Charges are deduped."})
    text = start_text(bank)
    assert text.count("The gateway dedupes charges") == 1
    assert f"({path})" in text


def test_sessions_are_told_whatever_the_folder_was_called_then(
    project: Path, git: Callable[..., str]
) -> None:
    with open_bank(project) as bank:
        worked(bank, "one", "Skip empty rows")
    moved = project.rename(project.with_name("shop2"))
    with open_bank(moved) as bank:
        assert "Skip empty rows" in start_text(bank, "shop2")
        assert "Skip empty rows" in inject_context(bank, "shop2").context
        assert "Skip empty rows" in inject_context(bank, project.name).context
        [row] = search(bank, "empty rows", project="shop2", type="observation").results
        assert timeline(bank, row.id, project="Shop2").anchor_id == row.id
        assert not get_observations(bank, [row.id], project="shop2").missing
        assert list_sessions(bank, project="shop2").count == 1
        assert not search(bank, "empty rows", project="garden").results
    git(moved, "clone", "-q", str(moved), "../other")
    with open_bank(moved.with_name("other")) as bank:
        assert "Skip empty rows" in start_text(bank)


def test_what_is_known_is_told_where_nothing_can_be_stored(
    project: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    with open_bank(project) as bank:
        bank.sync()
    (tmp_path / "file").write_text("no folder")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "file"))
    event = {"session_id": "s", "cwd": str(project), "prompt": "Why Tantivy over Whoosh?"}
    for name in ("SessionStart", "UserPromptSubmit"):
        told = subprocess.run(
            [sys.executable, "-m", "memory_bank", "hook", "claude-code", name],
            input=json.dumps(event),
            capture_output=True,
            text=True,
            check=True,
        )
        assert "Tantivy" in told.stdout, name
