import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from memory_bank.bank.bank import Bank, open_bank
from memory_bank.base.errors import BadInput
from memory_bank.base.text import estimate
from memory_bank.sessions.context import inject_context
from memory_bank.sessions.observations import search_observations
from memory_bank.sessions.records import GitState, Observation, Summary
from tests.support import session_builder as builder

NOW = datetime.now(UTC)
ROW = re.compile(r"\| #(\S+) \| \d\d:\d\d \| ([a-z-]+) \| (.*) \| ~\d+ \| [\d,-]+ \|")


def observation(number: int, obs_type: str = "bugfix", **given: object) -> Observation:
    values: dict[str, object] = {
        "created_at": NOW - timedelta(hours=number),
        "narrative": "Because of this. " * 5,
        "discovery_tokens": 900,
    }
    return builder.observation(number, f"Title {number}", obs_type, **(values | given))


def write(
    folder: Path, name: str, *observations: Observation, hours: float = 1, **given: object
) -> None:
    start = NOW - timedelta(hours=hours)
    values: dict[str, object] = {"started_at": start, "agent": "", "summary": None} | given
    builder.write(folder, builder.session(name, *observations, **values))


@pytest.fixture
def bank(folder: Path) -> Iterator[Bank]:
    with open_bank(folder) as opened:
        yield opened


def rows(text: str) -> dict[str, str]:
    """Return the titles of a context's rows by their types; rows of one type are joined."""
    found: dict[str, str] = {}
    for _, kind, title in ROW.findall(text):
        found[kind] = f"{found[kind]}, {title}" if kind in found else title
    return found


def test_a_context_tells_the_types_that_matter_of_the_last_sessions(
    bank: Bank, folder: Path
) -> None:
    said = Summary("sum-1", "retry", "shop", NOW, request="Please do retry", completed="It retries")
    seen = (observation(1), observation(2, "decision"), observation(3, "discovery"))
    write(folder, "retry", *seen, summary=said)
    answer = inject_context(bank, "shop")
    assert answer.context.startswith("# [shop] recent context, ")
    assert rows(answer.context) == {
        "session-request": "It retries",
        "bugfix": "Title 1",
        "decision": "Title 2",
    }
    assert "Loading: 2 observations" in answer.context
    assert "work behind them: 1,800 tokens; saving: " in answer.context
    assert (answer.observation_count, answer.tokens) == (2, estimate(answer.context))


def test_tokens_to_read_are_those_of_the_search(bank: Bank, folder: Path) -> None:
    git = GitState("1a" * 20, "main", "2b" * 20)
    write(folder, "retry", observation(1, git=git), git=git)
    told = re.search(r"\| bugfix \| Title 1 \| ~(\d+) \|", inject_context(bank, "shop").context)
    (row,) = search_observations(bank, obs_type="bugfix").results
    assert told is not None
    assert abs(int(told[1]) - row.estimated_tokens) <= 2


def test_a_bank_without_sessions_has_an_empty_context(bank: Bank) -> None:
    assert "Nothing is recorded yet." in inject_context(bank, "shop").context


def test_a_request_may_choose_types_concepts_and_numbers(bank: Bank, folder: Path) -> None:
    write(
        folder,
        "one",
        observation(1, concepts=("Retries",)),
        observation(2),
        observation(3, "discovery"),
    )
    write(folder, "two", observation(30, concepts=("retries",)), hours=40)

    def titles(**given: object) -> str:
        found = rows(inject_context(bank, "shop", **given).context)  # type: ignore[arg-type]
        return ", ".join(title for kind, title in found.items() if kind != "session-request")

    assert titles() == "Title 1, Title 2, Title 30"
    assert titles(observation_types=["discovery"]) == "Title 3"
    assert titles(concepts=["retries"]) == "Title 1, Title 30"
    assert titles(observation_limit=1) == "Title 1"
    assert titles(session_limit=1) == "Title 1, Title 2"
    assert titles(days=1) == "Title 1, Title 2"
    with pytest.raises(BadInput, match="type of observation"):
        inject_context(bank, observation_types=["idea"])
    with pytest.raises(BadInput, match="negative"):
        inject_context(bank, observation_limit=-1)


def test_decisions_of_the_period_stay_although_newer_sessions_came(
    bank: Bank, folder: Path
) -> None:
    write(folder, "chosen", observation(9, "decision"), observation(10), hours=10)
    write(folder, "old", observation(24 * 40, "decision"), hours=24 * 40)
    write(folder, "elsewhere", observation(11, "decision"), hours=11, project="Blog")
    for number in range(1, 8):
        write(folder, f"short-{number}", observation(number), hours=number)
    told = rows(inject_context(bank, "shop").context)
    assert told["decision"] == "Title 9"
    assert told["bugfix"] == ", ".join(f"Title {number}" for number in range(1, 6))
    assert rows(inject_context(bank, "shop", observation_limit=4).context)["decision"] == "Title 9"
    assert "decision" not in rows(
        inject_context(bank, "shop", observation_types=["bugfix"]).context
    )


def test_the_settings_are_the_defaults(folder: Path) -> None:
    write(folder, "one", observation(1), observation(2, "discovery"))
    text = '[context]\nobservation_types = ["discovery"]\n'
    (folder / "config.toml").write_text(text, encoding="utf-8")
    with open_bank(folder) as bank:
        assert "discovery" in rows(inject_context(bank).context)
        assert "bugfix" not in rows(inject_context(bank).context)


def test_other_projects_are_not_told(bank: Bank, folder: Path) -> None:
    write(folder, "mine", observation(1))
    write(folder, "theirs", observation(2), project="Blog")
    assert rows(inject_context(bank, "shop").context)["bugfix"] == "Title 1"
    assert rows(inject_context(bank, "blog").context)["bugfix"] == "Title 2"
    assert rows(inject_context(bank).context)["bugfix"] == "Title 1, Title 2"


def test_the_next_steps_are_those_of_the_last_session(bank: Bank, folder: Path) -> None:
    for name, hours, steps in (("old", 50, "Start"), ("new", 5, "Write the changelog")):
        summary = Summary(f"sum-{name}", name, "shop", NOW, request=name, next_steps=steps)
        write(folder, name, hours=hours, summary=summary)
    write(folder, "now", hours=0)
    context = inject_context(bank, "shop", "now").context
    assert "**Next steps of the last session**: Write the changelog" in context
    assert "Please do now" not in context


def test_notes_that_changed_since_the_last_session_are_listed(bank: Bank, folder: Path) -> None:
    write(folder, "old", observation(5), hours=6)
    (folder / "facts").mkdir()
    text = "---\ncreated_at: 2020-01-01T00:00:00Z\n---\n# Long known\n\nText.\n"
    (folder / "facts" / "known.md").write_text(text, encoding="utf-8")
    (folder / "facts" / "queue.md").write_text("# Use a queue\n\nText.\n", encoding="utf-8")
    (folder / "facts" / "new.md").write_text("# New\n\nsupersedes:: [[queue]]\n", encoding="utf-8")
    context = inject_context(bank, "shop").context
    assert "- facts/queue.md: Use a queue (superseded)" in context
    assert "- facts/new.md: New" in context
    assert "Long known" not in context


@pytest.mark.parametrize(
    "files",
    [
        {"facts/new.md": "# New\n\nsupersedes:: [[sessions/one#^obs-000000000001]]\n"},
        {"sessions/one.md": "\n- superseded_by:: [[facts/new]]\n", "facts/new.md": "# New\n"},
        {
            "sessions/one.md": "\n- promoted_to:: [[facts/kept]]\n",
            "facts/kept.md": "# Kept\n",
            "facts/new.md": "# New\n\nsupersedes:: [[facts/kept]]\n",
        },
    ],
    ids=["by a link to it", "by a link from it", "by a successor of its note"],
)
def test_a_superseded_observation_is_marked(
    bank: Bank, folder: Path, files: dict[str, str]
) -> None:
    write(folder, "one", observation(1), observation(2))
    for path, text in files.items():
        file = folder / path
        file.parent.mkdir(exist_ok=True)
        before = file.read_text(encoding="utf-8") if file.exists() else ""
        at = before.find("\n^obs-000000000001") if before else 0
        file.write_text(before[:at] + text + before[at:], encoding="utf-8")
    assert rows(inject_context(bank).context)["bugfix"] == "Title 1 (superseded), Title 2"


def test_nothing_is_told_where_memory_is_turned_off(project: Path) -> None:
    (project / ".memories/config.toml").write_text("[memory]\nenabled = false\n")
    with open_bank(project) as bank, pytest.raises(BadInput, match="memory is turned off"):
        inject_context(bank)
