"""Reading and writing the texts of a session takes linear time, whatever they say."""

import time

import pytest

from memory_bank.notes.characters import BREAK
from memory_bank.sessions import note_reading, note_text
from memory_bank.sessions.note_format import settle_observation
from tests.properties.hostile import TEXTS
from tests.sessions.sessions_of import OBSERVATION

pytestmark = pytest.mark.slow

MOST = 4.0
"""Seconds for 10,000 characters; a square would take some."""

NOTE = "---\ntype: session\nsession_id: s\nproject: p\n---\n## {} ^obs-aaaaaa\n\n- reads:: {}\n"


def test_any_text_is_written_and_read_in_time() -> None:
    slow = {}
    for name, make in TEXTS.items():
        text = make(10_000)
        began = time.process_time()
        written = note_text.escape_markdown(note_text.split_paragraphs(text))
        note_text.escape_heading(note_text.one_line(text))
        note_text.unescape_markdown(written)
        settle_observation(
            OBSERVATION.__class__(
                "obs-aaaaaa", "s", "p", "change", text, OBSERVATION.created_at, concepts=(text,)
            )
        )
        for one in (text, " ".join(text.split("\n")), text + "^obs-aaaaaa"):
            part = note_reading.NotePart("obs-aaaaaa", "", tuple(BREAK.split(one)), 0, 0, 0)
            note_reading.read_part(part, note_reading.OBSERVATION_KEYS)
        note_reading.parse("note.md", NOTE.format(" ".join(text.split("\n")), text).encode())
        if (took := time.process_time() - began) > MOST:
            slow[name] = took
    assert slow == {}
