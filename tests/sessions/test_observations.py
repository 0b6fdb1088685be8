"""Search, timeline and get_observations: three layers over sessions and notes."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from memory_bank.bank.bank import Bank, open_bank
from memory_bank.base.errors import BadInput, NoteNotFound
from memory_bank.base.rendering import to_plain
from memory_bank.memory.links import links_of
from memory_bank.memory.remember import remember
from memory_bank.memory.retrieval.recall import recall
from memory_bank.sessions.answers import ObservationRows
from memory_bank.sessions.get_observations import get_observations, timeline
from memory_bank.sessions.observations import changes_for_file, decisions, search
from memory_bank.sessions.records import GitState, Observation, Session
from memory_bank.sessions.sessions import end_session, store_observation
from tests.support.session_builder import START, observation, session, write

GIT = GitState("1a2b", "main", "9f8e")
LONG = "# Queues\n\nJobs wait.\n\n" + "".join(
    f"## Part {name}\n\n{f'The {name} of the queue is told here at length. ' * 20}\n\n"
    for name in ("broker", "worker", "backoff")
)


def obs(number: int) -> str:
    return f"obs-{number:012x}"


@pytest.fixture
def bank(tmp_path: Path, opening: Callable[..., Bank]) -> Bank:
    """Make a bank in a project named shop with two sessions, one of another project, and notes."""
    folder = tmp_path / "shop" / ".memories"
    write(
        folder,
        session(
            "retry",
            observation(1, "Retry the payment job", concepts=("retries", "payments")),
            observation(
                2,
                "Choose tantivy for the index",
                "decision",
                facts=("Whoosh is dead", "It is fast"),
                narrative="We compared both.",
                subtitle="for search",
                files_read=("src/pay.py",),
                files_modified=("src/job.py", "docs/a b.md"),
                prompt_number=1,
                discovery_tokens=900,
                git=GIT,
            ),
            observation(3, "Read the gateway's log", "discovery", files_read=("src/job.py",)),
            git=GIT,
        ),
        session(
            "cache",
            observation(60, "Cache the price list", "feature", files_modified=("src/pay.py",)),
            observation(61, "Cache invalidation by key", "decision"),
        ),
        session("other", observation(90, "Paint the shed", "change"), project="Garden"),
    )
    (folder / "decisions").mkdir()
    (folder / "decisions/gateway.md").write_text(
        "---\ntype: decision\ntags: [payments]\ncreated_at: 2026-11-01T10:30:00Z\n---\n"
        "# Gateway retries\n\nThe payment job retries. See [[src/pay.py]].\n"
    )
    (folder / "queues.md").write_text(f"---\ncreated_at: 2026-01-01\n---\n{LONG}")
    return opening(folder.parent)


def ids(found: ObservationRows) -> list[str]:
    return [row.id for row in found.results]


def test_without_a_query_the_newest_come_first(bank: Bank) -> None:
    found = search(bank)
    assert (found.schema_version, found.count) == ("1.0", len(found.results))
    assert found.hint == (
        "Use timeline(anchor=ID) for context, get_observations(ids=[...]) for details"
    )
    times = [row.created_at for row in found.results]
    assert times == sorted(times, reverse=True)
    assert len(ids(found)) == 11
    assert ids(search(bank, order_by="date_asc")) == ids(found)[::-1]
    assert ids(search(bank, limit=3)) + ids(search(bank, limit=4, offset=3)) == ids(found)[:7]
    assert search(bank, limit=0).count == 1


def test_a_row_says_what_it_is_and_what_it_costs(bank: Bank) -> None:
    (row,) = search(bank, "tantivy index", type="observation", limit=1).results
    assert to_plain(row._replace(estimated_tokens=0)) == {
        "id": obs(2),
        "type": "observation",
        "obs_type": "decision",
        "title": "Choose tantivy for the index",
        "project": "shop",
        "created_at": "2026-11-01T10:02:00Z",
        "estimated_tokens": 0,
    }
    assert 60 < row.estimated_tokens < 160
    (whole,) = search(bank, "cache the price list", type="session", limit=1).results
    assert (whole.type, whole.obs_type, whole.title) == ("session", None, "Cache the price list")
    (note,) = search(bank, "gateway retries", type="note", limit=1).results
    assert (note.id, note.type, note.project) == ("decisions/gateway", "note", "shop")
    (part,) = search(bank, "backoff", limit=1).results
    assert (part.id, part.type, part.title) == ("queues#Part backoff", "section", "Part backoff")
    assert search(bank, "backoff", type="note").results[0].id == "queues"


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"type": "observation"}, [obs(n) for n in (1, 2, 3, 60, 61, 90)]),
        ({"obs_type": "decision"}, [obs(2), obs(61)]),
        ({"obs_type": ["Bugfix", "feature"]}, [obs(1), obs(60)]),
        ({"concepts": ["Payments", "retries"]}, [obs(1)]),
        ({"concepts": ["payments"]}, ["decisions/gateway", obs(1)]),
        ({"files": ["src/job.py"]}, [obs(2), obs(3)]),
        ({"files": ["./src/pay.py", "x"]}, ["decisions/gateway", obs(2), obs(60)]),
        ({"files": ["docs/a b.md"], "type": "observation"}, [obs(2)]),
        ({"project": "garden", "type": "observation"}, [obs(90)]),
        ({"project": "Garden", "obs_type": "decision"}, []),
        ({"project": "Shop", "obs_type": "change"}, [obs(90)]),  # the bank's own: no condition
        (
            {"date_start": "2026-11-01T11:00:00Z", "type": "observation"},
            [obs(60), obs(61), obs(90)],
        ),
        ({"date_end": "2026-11-01T10:02:00Z", "type": "observation"}, [obs(1)]),
        ({"date_start": 1793527320, "date_end": 1793527380000, "type": "observation"}, [obs(2)]),
        ({"date_end": "2026-11-01", "type": "observation"}, []),
    ],
)
def test_filters_apply_before_ranking(
    bank: Bank, given: dict[str, object], expected: list[str]
) -> None:
    for query in (None, "retry payment gateway tantivy cache price paint"):
        found = search(bank, query, **given)  # type: ignore[arg-type]
        assert sorted(ids(found)) == sorted(expected)
        if expected:  # no other takes the place
            assert ids(search(bank, query, limit=1, **given))[0] in expected  # type: ignore[arg-type]


def test_all_kinds_of_a_project_are_searched_at_once(bank: Bank) -> None:
    assert ids(search(bank, "retry payment cache price paint", project="Garden")) == [obs(90)]


def test_a_session_is_told_beside_its_observation_where_its_summary_fits_better(
    tmp_path: Path,
) -> None:
    (tmp_path / "shop" / ".memories").mkdir(parents=True)
    with open_bank(tmp_path / "shop") as bank:
        store_observation(bank, "s-9", title="Cache the price list")
        end_session(bank, "s-9", {"next_steps": "Write the changelog of the release"})
        later, done = search(bank, "changelog of the release").results
        assert (later.type, done.type, later.title) == ("session", "observation", done.title)
        (only,) = search(bank, "cache the price list").results
        assert only.type == "observation"


def test_words_rank_and_time_orders(bank: Bank) -> None:
    assert ids(search(bank, "cache price list"))[0] == obs(60)
    cached = ids(search(bank, "cache", type="observation", order_by="date_desc"))
    assert cached == [obs(61), obs(60)]
    assert ids(search(bank, "cache", type="observation", order_by="date_asc")) == cached[::-1]
    assert search(bank, "zzqqxx").results == ()
    assert ids(search(bank, "tag:payments gateway")) == ["decisions/gateway"]


@pytest.mark.parametrize(
    "wrong",
    [
        {"type": "notes"}, {"order_by": "date"}, {"obs_type": "bug"}, {"date_start": "soonish"},
        {"offset": -1},
    ],
)  # fmt: skip
def test_wrong_filters_are_refused(bank: Bank, wrong: dict[str, object]) -> None:
    with pytest.raises(BadInput):
        search(bank, **wrong)  # type: ignore[arg-type]


def test_a_timeline_is_strictly_older_and_newer_nearest_first(bank: Bank) -> None:
    found = timeline(bank, obs(60))
    assert (found.anchor_id, found.anchor.title) == (obs(60), "Cache the price list")
    cache = search(bank, "cache", type="session").results[0].id
    assert [row.id for row in found.before] == [cache, obs(3), obs(2)]
    assert found.after[0].id == obs(61)
    assert {row.type for row in (*found.before, *found.after)} == {"observation", "session"}
    near = timeline(bank, obs(60), depth_before=0, depth_after=1, project="shop")
    assert (near.before, [row.id for row in near.after]) == ((), [obs(61)])
    assert obs(90) in {row.id for row in timeline(bank, obs(60), depth_after=9).after}
    assert {row.project for row in timeline(bank, obs(90), project="GARDEN").before} == {"Garden"}
    of_words = timeline(bank, query="which tantivy index")
    assert of_words.anchor_id == obs(2)
    around = timeline(bank, "decisions/gateway", depth_before=9, depth_after=9)
    assert "queues" in {row.id for row in around.before}
    assert around.after[-1].id == obs(90)


def test_entries_of_one_time_are_ordered_by_id(
    tmp_path: Path, opening: Callable[..., Bank]
) -> None:
    same = [observation(n, f"Step {n}", created_at=START) for n in (5, 3, 4, 1, 2)]
    write(tmp_path, session("one", *same, started_at=START - timedelta(days=1)))
    bank = opening(tmp_path)
    found = timeline(bank, obs(3), depth_before=9)
    assert [row.id for row in found.before][:2] == [obs(2), obs(1)]
    assert [row.id for row in found.after] == [obs(4), obs(5)]
    assert ids(search(bank, type="observation")) == [obs(n) for n in (5, 4, 3, 2, 1)]


def test_what_the_timeline_refuses_word_for_word(bank: Bank) -> None:
    with pytest.raises(BadInput, match=r"^anchor or query required$"):
        timeline(bank)
    with pytest.raises(NoteNotFound, match=r"^Observation not found$"):
        timeline(bank, "obs-ffffffffffff")
    with pytest.raises(NoteNotFound, match=r"^Observation not found$"):
        timeline(bank, obs(60), project="garden")
    with pytest.raises(NoteNotFound, match=r"^No matching observation$"):
        timeline(bank, query="zzqqxx")
    with pytest.raises(BadInput, match="not the id of an observation") as refused:
        timeline(bank, "#12")
    assert "obs-3f2a9c1b7d04" in str(refused.value.hint)


def test_details_are_all_that_the_note_says(bank: Bank) -> None:
    asked = [obs(61), "obs-ffffffffffff", obs(2), f"#{obs(61)}", "^nothing"]
    found = get_observations(bank, asked)
    assert found.missing == ("obs-ffffffffffff", "^nothing")
    assert [one.row.id for one in found.observations] == [obs(61), obs(2)]
    one = found.observations[1].stored
    assert isinstance(one, Observation)
    assert (one.obs_type, one.title, one.subtitle) == (
        "decision", "Choose tantivy for the index", "for search",
    )  # fmt: skip
    assert (one.facts, one.narrative) == (("Whoosh is dead", "It is fast"), "We compared both.")
    assert (one.files_read, one.files_modified) == (
        ("src/pay.py",), ("src/job.py", "docs/a b.md"),
    )  # fmt: skip
    assert (one.session_id, one.prompt_number, one.discovery_tokens) == ("retry", 1, 900)
    assert one.git == GIT
    by_time = get_observations(bank, asked, order_by="date_asc", limit=1)
    assert [one.row.id for one in by_time.observations] == [obs(2)]
    elsewhere = get_observations(bank, [obs(2), obs(90)], project="garden")
    assert [one.row.id for one in elsewhere.observations] == [obs(90)]
    assert elsewhere.missing == (obs(2),)
    with pytest.raises(BadInput, match="12"):
        get_observations(bank, [obs(2), "12"])
    with pytest.raises(BadInput, match="7"):
        get_observations(bank, [7])  # type: ignore[list-item]


def test_every_id_of_search_is_accepted(bank: Bank) -> None:
    rows = [*search(bank).results, *search(bank, "backoff broker", type="section").results]
    assert {row.type for row in rows} == {"observation", "session", "note", "section"}
    found = get_observations(bank, [row.id for row in rows])
    assert not found.missing
    assert {one.row.id for one in found.observations} == {row.id for row in rows}
    for row in rows:
        assert timeline(bank, row.id).anchor == row
    of = {one.row.id: one for one in found.observations}
    assert (of["queues"].content or "").startswith("# Queues")
    assert (of["queues#Part backoff"].content or "").startswith("## Part backoff")
    whole = next(
        one for one in found.observations if one.observations and one.stored.session_id == "retry"
    )
    session = whole.stored
    assert isinstance(session, Session)
    assert session.summary.request == "Work on retry"
    assert [prompt.prompt_text for prompt in session.prompts] == ["Please do retry"]
    assert [row.id for row in whole.observations or ()] == [obs(1), obs(2), obs(3)]
    for name in ("retry", session.summary.id, whole.row.path):
        assert get_observations(bank, [name]).observations == (whole,)


def test_shortcuts_list_decisions_and_the_changes_of_a_file(bank: Bank) -> None:
    assert ids(decisions(bank)) == [obs(61), "decisions/gateway", obs(2)]
    assert ids(decisions(bank, "garden")) == []
    assert ids(decisions(bank, limit=1)) == [obs(61)]
    assert ids(changes_for_file(bank, "src/pay.py")) == [obs(60)]
    assert ids(changes_for_file(bank, str(bank.layout.project / "src/job.py"))) == [obs(2)]


def test_archived_and_edited_notes_are_as_their_files_say(bank: Bank) -> None:
    file = bank.layout.root / "sessions/retry.md"
    text = file.read_text().replace("Choose tantivy", "Prefer tantivy")
    file.write_text(text.replace("obs_type:: discovery", "obs_type:: musing"))
    assert search(bank, "tantivy", limit=1).results[0].title == "Prefer tantivy for the index"
    assert [row.id for row in search(bank, obs_type="discovery").results] == []
    odd = get_observations(bank, [obs(3)]).observations[0]
    assert odd.row.obs_type == "discovery"
    file.write_text(text.replace("type: session", "type: session\nstatus: archived"))
    assert obs(2) not in ids(search(bank))
    assert get_observations(bank, [obs(2)]).observations


def test_an_observation_that_a_person_divides_by_headings_stays_one(bank: Bank) -> None:
    (before,) = get_observations(bank, ["retry"]).observations
    (short,) = search(bank, obs_type="decision", query="tantivy", limit=1).results
    file = bank.layout.root / "sessions/retry.md"
    more = "### Pitfalls\n\nA lighthouse keeper sleeps.\n\n#### Foghorn\n\nIt is loud.\n\n"
    file.write_text(
        file.read_text().replace("We compared both.\n\n", f"We compared both.\n\n{more}", 1)
    )
    for asked in ("lighthouse keeper", "pitfalls", "foghorn loud"):
        for limits in ({}, {"obs_type": "decision"}, {"type": "observation"}):
            found = search(bank, asked, limit=1, **limits)  # type: ignore[arg-type]
            assert ids(found) == [obs(2)], (asked, limits)
    as_its_text = search(bank, "Whoosh is dead", type="session")
    assert ids(search(bank, "lighthouse keeper", type="session")) == ids(as_its_text)
    assert ids(search(bank, "lighthouse", obs_type="feature")) == []
    (one,) = get_observations(bank, [obs(2)]).observations
    assert "A lighthouse keeper sleeps." in str(one.stored.narrative)
    assert one.row.estimated_tokens > short.estimated_tokens
    (whole,) = get_observations(bank, ["retry"]).observations
    assert whole.row.estimated_tokens == before.row.estimated_tokens
    path = file.relative_to(bank.layout.root).as_posix()
    recalled = recall(bank, "lighthouse keeper").notes[0]
    assert recalled.path == path
    assert "A lighthouse keeper sleeps." in recalled.content
    linked = remember(bank, f"See [[{path[:-3]}#Pitfalls]].")
    assert [link.problem for link in links_of(bank, linked.path).outgoing] == [None]


def test_a_short_note_in_another_time_zone_of_dates(tmp_path: Path) -> None:
    """Dates without a zone are UTC, ages count from now."""
    with open_bank(tmp_path, settings={"memory.embedder": "none"}) as bank:
        remember(bank, "# Today\n\nNow.")
        assert search(bank, date_start="1d").count == 1
        assert search(bank, date_start=datetime.now(UTC) - timedelta(hours=1)).count == 1
        assert search(bank, date_end=datetime.now(UTC) - timedelta(hours=1)).count == 0


def test_events_that_wait_are_found_at_once(bank: Bank) -> None:
    tool_input = {"file_path": "src/queue.py", "old_string": "a = 1", "new_string": "retries = 3"}
    store_observation(bank, "live", "Edit", "shop", tool_input, "ok")
    (row,) = changes_for_file(bank, "src/queue.py").results
    assert row.type == "observation"
    assert timeline(bank, row.id).anchor == row


def test_what_hardly_answers_is_listed_on_the_next_page_only(bank: Bank) -> None:
    for number in range(9):
        store_observation(bank, "talk", title=f"Sweep the yard of gate {number} each night of rain")
    first = search(bank, "retry the payment gateway at night")
    assert 4 < len(first.results) < 9
    assert search(bank, "retry the payment gateway at night", offset=len(first.results)).results


def test_pages_are_full_and_repeat_nothing_although_sessions_fold(tmp_path: Path) -> None:
    """A session titled as its observation is no row of its own, on whatever page it would be."""
    sessions = [
        session(
            f"day-{number}",
            observation(number, f"Rotate the zebra key of host {number}"),
            summary=None,
            prompts=(),
        )
        for number in range(6)
    ]
    with open_bank(tmp_path, settings={"memory.embedder": "none"}) as bank:
        write(bank.layout.root, *sessions)
        for order in ("relevance", "date_desc"):
            whole = ids(search(bank, "rotate zebra key", order_by=order))  # type: ignore[arg-type]
            assert sorted(whole) == [obs(number) for number in range(6)]
            for size in (1, 2, 4):
                pages = [
                    search(bank, "rotate zebra key", limit=size, offset=offset, order_by=order)  # type: ignore[arg-type]
                    for offset in range(0, 8, size)
                ]
                assert [row for page in pages for row in ids(page)] == whole
                assert [page.count for page in pages[: 6 // size]] == [size] * (6 // size)
