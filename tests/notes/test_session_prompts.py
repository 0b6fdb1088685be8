"""Of a session's note, what was asked is kept and shown, but neither searched nor quoted."""

import time
from datetime import UTC, datetime
from pathlib import Path

import pytest

from memory_bank.bank.bank import open_bank
from memory_bank.memory.remember import session_note
from memory_bank.memory.retrieval.recall import recall
from memory_bank.notes import parsing
from memory_bank.notes.source import prompts_in
from memory_bank.sessions import note_format
from memory_bank.sessions.observations import search_observations
from memory_bank.sessions.records import Observation, Prompt, Session, Summary
from memory_bank.sessions.sessions import start_session
from tests.support.growth import times_as_long

NOW = datetime(2026, 11, 24, 10, tzinfo=UTC)
PROMPT = "Why does the nightly import stop at the second file? Please mend it"


def written(*observations: Observation, request: str = PROMPT, **texts: str) -> str:
    """Return the note of a session with one prompt."""
    said = Summary("", "s", "shop", NOW, request=request, **texts)
    return note_format.render(
        Session(
            "s",
            "shop",
            NOW,
            prompts=(Prompt("s", 1, PROMPT, NOW),),
            observations=observations,
            summary=said,
        )
    )


def one(obs_type: str, title: str, **texts: str) -> Observation:
    """Return an observation."""
    return Observation("obs-0123456789ab", "s", "shop", obs_type, title, NOW, **texts)  # type: ignore[arg-type]


@pytest.fixture
def sessions(folder: Path) -> Path:
    """Return the folder of the sessions of a bank."""
    (folder / "sessions").mkdir()
    return folder / "sessions"


@pytest.mark.parametrize("mode", ["lexical", "semantic", "hybrid"])
def test_a_session_is_found_by_what_it_learned_and_not_by_what_was_asked(
    sessions: Path, mode: str
) -> None:
    learned = "The reader kept an offset in a global variable"
    found = one("bugfix", "Reset the offset", subtitle="Why does the nightly import stop at the…")
    (sessions / "why-does-the-nightly-import-stop.md").write_text(written(found, learned=learned))
    with open_bank(sessions.parent) as bank:
        if mode != "semantic":  # which always shows the nearest
            # of a small bank, the best guess is listed as a weak match
            assert all(note.weak for note in recall(bank, "nightly import", mode=mode).notes)
            assert all(note.weak for note in recall(bank, PROMPT, mode=mode).notes)
        (note,) = recall(bank, "offset in a global variable", mode=mode).notes
        assert note.title == "Reset the offset"
        assert learned in note.content
        assert "nightly" not in repr(note._replace(path="", note_id=""))


@pytest.mark.parametrize(
    ("title", "kept"),
    [
        ("Look into: Why does the nightly import stop at the second file? (a.py)", False),
        ("Change a.py for: Why does the nightly import stop at the second…", False),
        (PROMPT, False),
        ("Close the nightly file before the second one opens", True),
        ("Second file", True),
    ],
)
def test_titles_that_are_made_of_a_prompt_are_not_searched(
    sessions: Path, title: str, kept: bool
) -> None:
    (sessions / "s.md").write_text(written(one("change", title, narrative="Closed early.")))
    with open_bank(sessions.parent) as bank:
        found = [row.title for row in search_observations(bank, "second nightly").results]
        assert (title in found) == kept


def test_a_prompt_that_decides_is_found_as_the_decision_it_is(sessions: Path) -> None:
    decision = one("decision", "Please mend it")
    (sessions / "s.md").write_text(written(decision))
    with open_bank(sessions.parent) as bank:
        (note,) = recall(bank, "mend").notes
        assert "# Please mend it" in note.content


def test_a_note_that_an_agent_wrote_in_a_session_is_searched_whole(folder: Path) -> None:
    with open_bank(folder) as bank:
        start_session(bank, "s")
        session_note(bank, "- request:: the nightly import", session_id="s")
        best, *others = recall(bank, "nightly import").notes
        assert not best.weak
        assert all(note.weak for note in others)


@pytest.mark.slow
def test_time_is_linear_in_prompts_and_lines() -> None:
    def took(size: int) -> float:
        lines = [f"- prompt {n}:: 2026-11-24T10:00:00Z please do the {n}th" for n in range(size)]
        text = "\n".join(["## Prompts", *lines, *(f"- please do the {n}" for n in range(size))])
        before = time.process_time()
        note = parsing.parse("s.md", b"---\ntype: session\nsession_id: s\nproject: p\n---\n")
        asked = prompts_in(note.meta, text)
        assert asked
        asked.blank_prompts(text)
        return time.process_time() - before

    assert times_as_long(took, 500, 2000, enough=0.05, most=8) < 8
