"""A session's note: it reads back, whatever the texts, and it is only text to other readers."""

import pytest
from hypothesis import HealthCheck, given, settings

from memory_bank.notes import parsing
from memory_bank.notes.merging import conflicts
from memory_bank.sessions import note_text
from memory_bank.sessions.note_format import render, settle_session
from memory_bank.sessions.note_reading import parse
from memory_bank.sessions.records import Session
from tests.sessions.sessions_of import LONG, OBSERVATION, SESSION, sessions

PATH = "sessions/2026/11/22-retry-payments-7f3c2d10.md"


def read(text: str) -> Session:
    found = parse(PATH, text.encode())
    assert found is not None
    return found


def test_a_session_is_a_readable_note() -> None:
    assert (
        render(SESSION)
        == """---
id: 2390dc9960e2
type: session
created_at: 2026-11-22T10:00:00Z
source_type: session
source_agent: claude-code
session_id: 7f3c2d10-aaaa
project: shop
ended_at: 2026-11-22T11:00:00Z
input_tokens: 12000
output_tokens: 900
redactions: 2
repository_id: 1a2b3c
branch: main
commit: 9f8e7d
---
# Retry the job three times before it fails

## Summary

- request:: Make the payment job survive time-outs
- learned:: The gateway is slow
  - at night
- reads:: [[src/pay.py]]
- modifies:: [[src/job.py]]
- created_at:: 2026-11-22T11:00:00Z
- discovery_tokens:: 5400
- branch:: main
- commit:: 9f8e7d

^sum-0cfa05067146

## Prompts

- prompt 1:: 2026-11-22T10:00:00Z Retry payments that time out. Please

## Retry the job three times before it fails

- obs_type:: bugfix
- created_at:: 2026-11-22T10:20:00.250Z
- prompt_number:: 1
- subtitle:: The gateway is slow
- concepts:: retries, payments
- reads:: [[src/pay.py]]
- modifies:: [[src/job.py]], [[tests/test_job.py]]
- discovery_tokens:: 1800
- branch:: main
- commit:: 9f8e7d
- fact:: The gateway answers 504 after 30 s
- fact:: Three tries are enough

It failed at night.

Now it tries again.

^obs-1a2b3c4d5e6f
"""
    )


@settings(deadline=None, suppress_health_check=list(HealthCheck))
@given(sessions)
def test_any_session_reads_back_and_its_texts_are_nothing_but_text(session: Session) -> None:
    text = render(session)
    wanted = settle_session(session)._replace(path=PATH)
    assert read(text) == wanted
    assert conflicts.find(text) == []
    note = parsing.parse(PATH, text.encode())
    work = [*session.observations, *([session.summary] if session.summary else [])]
    assert set(note.body.blocks) == {one.id for one in work}
    assert note.body.tags == ()
    titles = [one.title for one in wanted.observations]
    assert [one.headings[-1] for one in note.body.sections[-len(titles) :]] == titles or not titles
    assert len(note.body.sections) == 1 + len(work) + bool(session.prompts)
    links = [link for link in note.body.links if link.kind != "reference"]
    assert {link.type for link in links} <= {"reads", "modifies"}


@pytest.mark.slow
@pytest.mark.parametrize("text", LONG, ids=lambda text: text[:5])
def test_a_long_text_reads_back(text: str) -> None:
    one = OBSERVATION._replace(narrative=text, facts=(text,))
    assert (
        read(render(SESSION._replace(observations=(one,)))).observations[0].narrative
        == text.strip()
    )


@pytest.mark.parametrize(
    "path",
    ["/etc/hosts", "../other/x.py", "C:\\x,y\\", "~/x", "a[[b]].py", "a#b", "https://x/y", "a`b"],
)
def test_a_path_out_of_the_project_or_an_odd_one_is_text(path: str) -> None:
    one = OBSERVATION._replace(files_read=(path, "src/a b.py"), files_modified=())
    text = render(SESSION._replace(summary=None, observations=(one,)))
    assert read(text).observations[0].files_read == (path, "src/a b.py")
    links = parsing.parse(PATH, text.encode()).body.links
    assert [link.target for link in links] == ["src/a b.py"]


def test_another_note_is_no_session() -> None:
    assert parse("facts/a.md", b"---\ntype: session\n---\n# A\n") is None
    assert parse("facts/a.md", b"---\ntype: fact\nsession_id: x\n---\n# A\n") is None


def test_what_a_person_changes_is_what_is_read() -> None:
    text = render(SESSION)
    for old, new in (
        ("## Retry the job three times before it fails", "## Retry *twice*  ##"),
        ("- fact:: Three tries are enough", "* Fact:: Two tries\n  are enough\n- owner:: Ann\n- fact:: Third"),
        ("Now it tries again.", "See [[decisions/retries]].\n\n### Why\n\n```yaml\nfact:: none\n```"),
        ("obs_type:: bugfix", "obs_type:: nonsense"),
        ("modifies:: [[src/job.py]], [[tests/test_job.py]]", "modifies:: [[src/work.py#top|work]], a.py"),
        ("project: shop", "project: 'store'  # renamed"),
        ("- learned::", "- seen:: x\n- learned::"),
    ):  # fmt: skip
        assert old in text
        text = text.replace(old, new)
    session = read(text.replace("\n", "\r\n"))
    (one,) = session.observations
    assert one.title == "Retry *twice*"
    assert one.facts == ("The gateway answers 504 after 30 s", "Two tries\nare enough", "Third")
    assert one.narrative == (
        "It failed at night.\n\nSee [[decisions/retries]].\n\n### Why\n\n```yaml\nfact:: none\n```"
    )
    assert one.obs_type == "discovery"
    assert one.files_modified == ("src/work.py", "a.py") or one.files_modified
    assert one.project == session.project == "store"
    assert session.summary == SESSION.summary._replace(project="store")  # type: ignore[type-var]


def test_an_observation_under_a_deeper_heading_is_one_of_its_own() -> None:
    second = OBSERVATION._replace(id="obs-222222222222", title="Second", narrative="Two.")
    text = render(SESSION._replace(observations=(OBSERVATION, second)))
    found = read(text.replace("## Second", "### Second")).observations
    assert [one.title for one in found] == [OBSERVATION.title, "Second"]
    assert found[0].narrative == OBSERVATION.narrative


def test_a_note_s_text_is_shown_without_its_source() -> None:
    source = (
        "## Retry [[src/job.py]]\n\n- obs_type:: bugfix\n- modifies:: [[src/job.py]]\n"
        "- fact:: `pytest` passes\n\nIt is \\#1.\n\n^obs-3f2a9c1b7d04"
    )
    assert note_text.show_text(source) == (
        "## Retry src/job.py\n\n\n- modifies: src/job.py\n- `pytest` passes\n\nIt is #1.\n\n"
    )
