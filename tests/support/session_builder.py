"""Notes of sessions for tests, written as the store writes them."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

from memory_bank.sessions import note_format
from memory_bank.sessions.records import Observation, Prompt, Session, Summary

START = datetime(2026, 11, 1, 10, tzinfo=UTC)


def observation(number: int, title: str, obs_type: str = "bugfix", **given: object) -> Observation:
    """Make the observation `obs-<number>`, that many minutes after START unless told otherwise."""
    made = Observation(
        id=f"obs-{number:012x}",
        session_id="",
        project="",
        obs_type=obs_type,
        title=title,
        created_at=START + timedelta(minutes=number),
    )
    return made._replace(**given)  # type: ignore[arg-type]


def session(name: str, *observations: Observation, **given: object) -> Session:
    """Make a session with a prompt and a summary that starts with its first observation."""
    start = observations[0].created_at if observations else START
    made = Session(
        session_id=name,
        project="shop",
        started_at=start,
        agent="claude-code",
        observations=observations,
        prompts=(Prompt(name, 1, f"Please do {name}", start),),
        summary=Summary("", name, "shop", start, request=f"Work on {name}"),
    )
    return made._replace(**given)  # type: ignore[arg-type]


def write(bank: Path, *sessions: Session) -> None:
    """Write the notes of sessions below a bank's folder."""
    for one in sessions:
        file = bank / "sessions" / f"{one.session_id}.md"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(note_format.render(one), encoding="utf-8")
