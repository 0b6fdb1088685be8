"""A rewritten first commit changes the bank's id, which names the place of its sessions."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from memory_bank.bank.bank import Bank
from memory_bank.base.errors import BadInput
from memory_bank.memory.forget import forget
from memory_bank.memory.remember import session_note
from memory_bank.review.doctor import doctor
from memory_bank.sessions.listing import list_sessions, recover, show_session
from memory_bank.sessions.redaction import Json
from memory_bank.sessions.sessions import (
    end_session,
    start_session,
    store_observation,
    store_prompt,
)

Git = Callable[..., str]
Opening = Callable[..., Bank]


def rewrite(project: Path, git: Git) -> None:
    """Rewrite the first commit, after which git is asked for it again."""
    git(project, "commit", "-q", "--amend", "-m", "Begin otherwise")
    config = project / ".git/config"
    config.write_text(config.read_text() + "[x]\n")


@pytest.mark.parametrize("index", ["stays", "is deleted"])
def test_doctor_names_the_sessions_and_recover_brings_them_back(
    project: Path, git: Git, opening: Opening, index: str
) -> None:
    bank = opening(project)
    store_prompt(bank, "before", "Look at the queue")
    noted = session_note(bank, "The queue drops jobs.")
    end_session(bank, "before")
    used: Json = {"command": "make"}
    store_observation(bank, "waiting", "Bash", tool_input=used, tool_output="done")
    assert doctor(bank).former_sessions is None
    former, state = bank.id, bank.layout.state(bank.id)
    bank.close()
    rewrite(project, git)
    if index == "is deleted":
        shutil.rmtree(project / ".memories/.index")

    bank = opening(project)
    assert bank.id != former
    start_session(bank, "after")
    assert [one.session_id for one in list_sessions(bank).sessions] == ["after"]
    assert str(state) in str(doctor(bank).former_sessions)
    done = recover(bank)
    assert (done.ids, done.notes, done.kept) == ((former,), 2, ())
    found = {one.session_id for one in list_sessions(bank).sessions}
    assert found == {"before", "waiting", "after"}
    assert show_session(bank, "before").session.summary
    assert show_session(bank, "before").notes == (noted.path,)
    assert len(show_session(bank, "waiting").session.observations) == 1
    assert doctor(bank).former_sessions is None
    assert recover(bank).ids == ()
    assert git(project, "status", "--porcelain") == ""


def test_a_note_that_is_there_already_stays_in_both_places(
    project: Path, git: Git, opening: Opening
) -> None:
    bank = opening(project)
    path = session_note(bank, "The queue drops jobs.").path
    file = bank.roots.file(path)
    bank.close()
    rewrite(project, git)
    bank = opening(project)
    assert session_note(bank, "The queue drops jobs.").path == path
    assert recover(bank).kept == (str(file),)
    assert file.exists()
    assert str(file.parents[2]) in str(doctor(bank).former_sessions)


def test_another_folder_has_nothing_of_it(
    project: Path, tmp_path: Path, git: Git, opening: Opening
) -> None:
    bank = opening(project)
    session_note(bank, "The queue drops jobs.")
    git(tmp_path, "clone", "-q", str(project), "clone")
    rewrite(tmp_path / "clone", git)
    assert doctor(opening(tmp_path / "clone")).former_sessions is None


def test_a_forgotten_session_is_not_brought_back(project: Path, git: Git, opening: Opening) -> None:
    bank = opening(project)
    for name in ("forgotten-before", "forgotten-after", "kept"):
        store_prompt(bank, name, "Look at the queue")
    forget(bank, "forgotten-before")
    former = bank.layout.state(bank.id)
    bank.close()
    rewrite(project, git)

    bank = opening(project)
    start_session(bank, "forgotten-after")
    done = forget(bank, "forgotten-after")
    assert str(former) in [one.place for one in done.beyond]
    recover(bank)
    assert [one.session_id for one in list_sessions(bank).sessions] == ["kept"]
    for name in ("forgotten-before", "forgotten-after"):
        with pytest.raises(BadInput, match="was forgotten"):
            start_session(bank, name)
