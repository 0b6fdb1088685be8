from datetime import timedelta
from pathlib import Path

import pytest

from memory_bank.bank.bank import Bank
from memory_bank.base.errors import BadInput, NoteNotFound
from memory_bank.memory.confirm import promote
from memory_bank.sessions.listing import PAGE, view_session
from memory_bank.sessions.records import Prompt
from memory_bank.sessions.sessions import store_observation, store_prompt
from tests.support.session_builder import START, observation, session, write


def prompts(*texts: str) -> tuple[Prompt, ...]:
    return tuple(Prompt("a", n, text, START) for n, text in enumerate(texts, 1))


def test_each_prompt_has_the_observations_that_it_led_to(bank: Bank, project: Path) -> None:
    work = [
        observation(1, "First", prompt_number=1),
        observation(2, "Before all"),
        observation(3, "Third", prompt_number=3),
        observation(4, "Of a prompt that is gone", prompt_number=9),
    ]
    write(project / ".memories", session("a", *work, prompts=prompts("One", "Two", "Three")))
    steps = [
        (
            prompt and prompt.prompt_text,
            [observation.title for observation in observations],
        )
        for prompt, observations in view_session(bank, "a").steps
    ]
    assert steps == [
        (None, ["Before all", "Of a prompt that is gone"]),
        ("One", ["First"]),
        ("Two", []),
        ("Three", ["Third"]),
    ]


def test_files_that_are_notes_are_known(bank: Bank, project: Path) -> None:
    files = (".memories/decisions/tantivy.md", ".memories/gone.md", "src/job.py")
    write(project / ".memories", session("a", observation(1, "One", files_modified=files)))
    view = view_session(bank, "a")
    ((shown,),) = (shown for _, shown in view.steps if shown)
    assert shown.files_modified == files
    assert view.note_paths == {files[0]: "decisions/tantivy.md"}


def test_what_was_promoted_names_its_note(bank: Bank) -> None:
    stored = store_observation(bank, "s-1", title="Retry three times")
    assert stored.observation_id is not None
    done = promote(bank, stored.observation_id)
    assert view_session(bank, "s-1").promoted == {stored.observation_id: done.path}


def test_a_session_is_named_by_its_id_a_start_of_it_or_its_note(bank: Bank, project: Path) -> None:
    write(project / ".memories", session("abc-1", observation(1, "One")))
    write(project / ".memories", session("abc-2", observation(2, "Two")))
    for name in ("abc-1", "sessions/abc-1.md", "sessions/abc-1"):
        assert view_session(bank, name).session.session_id == "abc-1", name
    with pytest.raises(BadInput, match="starts 2 sessions"):
        view_session(bank, "abc")
    for name in ("nothing", ""):
        with pytest.raises(NoteNotFound, match="no session"):
            view_session(bank, name)


def test_a_long_session_has_pages(bank: Bank, project: Path) -> None:
    work = [
        observation(n, f"Step {n}", created_at=START + timedelta(seconds=n))
        for n in range(1, PAGE + 12)
    ]
    write(project / ".memories", session("a", *work, prompts=()))
    first, last = view_session(bank, "a"), view_session(bank, "a", page=99)
    assert (first.page, first.pages, len(first.steps[0][1])) == (1, 2, PAGE)
    assert (last.page, len(last.steps[0][1])) == (2, 11)
    assert view_session(bank, "a", at=work[-1].id).page == 2
    assert view_session(bank, "a", at="obs-unknown").page == 1
    assert first.entry.counts.observations == PAGE + 11


def test_a_damaged_session_shows_what_is_kept_beside_its_note(bank: Bank) -> None:
    store_prompt(bank, "s-1", "Please mend it")
    store_observation(bank, "s-1", title="Mended")
    path = view_session(bank, "s-1").entry.path
    bank.roots.file(path).write_bytes(b"\0\1\2")
    view = view_session(bank, "s-1")
    assert view.problem
    assert (view.entry.state, view.entry.path) == ("damaged", path)
    assert [prompt and prompt.prompt_text for prompt, _ in view.steps] == ["Please mend it"]
