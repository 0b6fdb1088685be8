"""Additions to a session's note: what a person wrote stays, and all reads back."""

import difflib

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memory_bank.sessions.note_format import render, settle_observation, settle_session
from memory_bank.sessions.note_reading import parse
from memory_bank.sessions.records import Observation, Prompt, Session, Summary
from memory_bank.sessions.session_edit import (
    add_observations,
    add_prompts,
    set_state,
    set_summary,
)
from tests.sessions.sessions_of import OBSERVATION, SESSION, START, SUMMARY, observations, summaries

PATH = "sessions/2026/11/22-retry-payments-7f3c2d10.md"
BEGUN = SESSION._replace(ended_at=None, summary=None, observations=(), prompts=(), redactions=0)
NEW = OBSERVATION._replace(id="obs-bbbbbbbbbbbb", title="Second")


def read(text: str) -> Session:
    found = parse(PATH, text.encode())
    assert found is not None
    return found


def removed(old: str, new: str) -> list[str]:
    """Return the lines of a text that another does not have."""
    changes = difflib.ndiff(old.splitlines(), new.splitlines())
    return [line[2:] for line in changes if line.startswith("- ")]


def grown(text: str) -> str:
    """Add all that a session can get."""
    text = add_observations(PATH, text, [OBSERVATION])
    text = add_prompts(PATH, text, [Prompt(SESSION.session_id, 1, "First", START)])
    text = set_state(text, SESSION)
    text = set_summary(PATH, text, SUMMARY)
    text = add_prompts(PATH, text, [Prompt(SESSION.session_id, 2, "Second", START)])
    return add_observations(PATH, text, [OBSERVATION, NEW])


def test_a_note_that_grew_is_as_one_written_at_once() -> None:
    prompts = tuple(
        Prompt(SESSION.session_id, number, text, START)
        for number, text in enumerate(("First", "Second"), 1)
    )
    whole = SESSION._replace(prompts=prompts, observations=(OBSERVATION, NEW))
    text = grown(render(BEGUN))
    assert read(text) == settle_session(whole)._replace(path=PATH)
    head, body = render(whole).split("# Retry", 1)
    assert sorted(text.split("# Session")[0].splitlines()) == sorted(head.splitlines())
    assert text.split("\n## ", 1)[1] == body.split("\n## ", 1)[1]
    assert grown(text) == text


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize(
    "edit",
    [
        ("\n# ", "\nmine: true # not yours\n# "),
        ("---\n# Session", "---\nA word before.\n\n# My own title {x}\n\n```\nunclosed"),
        ("^obs-1a2b3c4d5e6f\n", "^obs-1a2b3c4d5e6f\n\n## My notes\n\n- seen:: [[a]]\n\n<!-- open"),
        ("- obs_type:: bugfix", "Words first.\n\n* Obs_type:: bugfix\n* owner:: Ann"),
        ("^obs-1a2b3c4d5e6f\n", "^obs-1a2b3c4d5e6f"),
        ("session_id: 7f3c2d10-aaaa", "'session_id': \"7f3c2d10-aaaa\"\naliases: [x]"),
    ],
    ids=lambda edit: edit[1][:12],
)
def test_what_a_person_wrote_stays(edit: tuple[str, str], newline: str) -> None:
    text = add_observations(PATH, render(BEGUN), [OBSERVATION])
    assert edit[0] in text
    text = text.replace(*edit).replace("\n", newline)
    new = grown(text)
    assert removed(text, new) == []
    assert {one.id for one in read(new).observations} == {OBSERVATION.id, NEW.id}
    assert read(new).summary is not None
    assert [prompt.prompt_text for prompt in read(new).prompts] == ["First", "Second"]
    assert newline == "\r" or new.count("\r") in (0, new.count("\n"))


def test_a_new_summary_replaces_the_old_one_and_nothing_else() -> None:
    text = render(SESSION).replace("- learned::", "- mood:: good\n- learned::")
    text = text.replace("^sum-", "A word of mine.\n\n^sum-")
    new = SUMMARY._replace(request="Other", learned="", notes="One\ntwo", files_read=())
    changed = set_summary(PATH, text, new)
    assert read(changed).summary == new
    assert removed(text, changed) == [
        "- request:: Make the payment job survive time-outs",
        "- learned:: The gateway is slow",
        "  - at night",
        "- reads:: [[src/pay.py]]",
    ]


@settings(deadline=None, suppress_health_check=list(HealthCheck))
@given(
    st.lists(st.tuples(st.integers(0, 60), st.text(max_size=30)), max_size=4),
    observations(),
    summaries,
)
def test_lines_that_nobody_knows_survive_any_addition(
    lines: list[tuple[int, str]], one: Observation, summary: Summary
) -> None:
    text = render(SESSION)
    start = text.index("\n# ")
    rows = text[start:].split("\n")
    for at, line in lines:
        rows.insert(
            1 + at % (len(rows) - 1), " ".join(line.encode("utf-8", "replace").decode().split())
        )
    text = text[:start] + "\n".join(rows).replace("\0", "")
    one = one._replace(id="obs-999999999999")
    added = add_observations(PATH, text, [one])
    git = read(text).git
    if one.id not in {known.id for known in read(text).observations}:
        assert settle_observation(one, git) in read(added).observations
    assert removed(text, added) == []
    read(set_summary(PATH, added, summary))
