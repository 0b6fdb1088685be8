"""What three layers over sessions cost: tokens to reach the evidence, and time at 10,000 observations.

python -m tests.benchmarks.sessions [--only tokens,speed] [--talks conv-30] [--observations 10000]
"""

import argparse
import json
import random
import re
import statistics
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Generic, NamedTuple, TypeVar

from memory_bank.bank.bank import Bank, open_bank
from memory_bank.base.setting_sections import OBSERVATION_TYPES
from memory_bank.base.text import Quotes, estimate
from memory_bank.base.view import write_agent
from memory_bank.memory.retrieval.recall import recall
from memory_bank.sessions import note_format, views
from memory_bank.sessions.get_observations import get_observations, timeline
from memory_bank.sessions.observations import search
from memory_bank.sessions.records import Observation, Session
from tests.benchmarks import collections, corpus
from tests.benchmarks.timing import timed

_TURN = re.compile(
    r"^- \*\*(?P<speaker>[^:*]+):\*\* (?P<text>.*) \^(?P<name>d\d+-\d+)$", re.MULTILINE
)
_FRONT = re.compile(r"^created: (\S+)$", re.MULTILINE)
_TITLE = 90
CHOSEN = 5
"""Observations that are fetched, and notes that are loaded whole."""
SESSIONS = 300
_ASKED = 40
_TRIES = 3


@dataclass
class Talk:
    """A LoCoMo conversation as a bank of session notes, one observation for each turn."""

    name: str
    bank: Bank
    turns: Mapping[str, str]
    """Names of turns by the ids of their observations."""
    questions: Sequence[tuple[str, frozenset[str]]]
    """Questions and the turns that answer them."""


@dataclass
class Reached:
    """Of each question: the share of its evidence that was read, and the tokens spent."""

    found: list[float] = field(default_factory=list)
    tokens: list[int] = field(default_factory=list)

    def add(self, seen: set[str], wanted: frozenset[str], tokens: int) -> None:
        self.found.append(len(seen & wanted) / len(wanted))
        self.tokens.append(tokens)

    @property
    def recall(self) -> float:
        return statistics.mean(self.found)

    @property
    def cost(self) -> float:
        return statistics.mean(self.tokens)


def talks(work: Path, opened: ExitStack, names: Sequence[str] = ()) -> Iterator[Talk]:
    """Convert the development conversations, and open a bank for each."""
    root = collections.unpacked("locomo-dev", work) / "dev"
    asked = json.loads((root / "queries.json").read_text(encoding="utf-8"))
    asked = [one for one in asked if one["category"] != 5 and one["relevant_turns"]]
    for name in sorted({one["conversation"] for one in asked}):
        if names and name not in names:
            continue
        turns: dict[str, str] = {}
        folder = work / "as-sessions" / name
        (folder / "sessions").mkdir(parents=True)
        for file in sorted((root / name / "sessions").glob("*.md")):
            made = _session(name, file.read_text(encoding="utf-8"), file.stem, turns)
            (folder / "sessions" / file.name).write_text(note_format.render(made), encoding="utf-8")
        bank = opened.enter_context(open_bank(folder))
        bank.sync()
        mine = [one for one in asked if one["conversation"] == name]
        questions = [(one["query"], frozenset(one["relevant_turns"])) for one in mine]
        yield Talk(name, bank, turns, questions)


def _session(talk: str, text: str, name: str, turns: dict[str, str]) -> Session:
    """Make a session of a conversation's note, an observation of each turn; add their ids."""
    dated = _FRONT.search(text)
    start = datetime.fromisoformat(f"{dated[1] if dated else '2022-01-01'}+00:00")
    observations = []
    for number, turn in enumerate(_TURN.finditer(text)):
        found = Observation(
            id=f"obs-{talk.partition('-')[2]}x{turn['name'].replace('-', 'x'):0>8}",
            session_id=name,
            project=talk,
            obs_type="discovery",
            title=f"{turn['speaker']}: {turn['text']}"[:_TITLE],
            narrative=f"{turn['speaker']}: {turn['text']}",
            created_at=start + timedelta(minutes=number),
        )
        observations.append(found)
        turns[found.id] = f"{talk}-{turn['name']}"
    return Session(name, talk, start, observations=tuple(observations))


def reached(talk: Talk, rows: int) -> dict[str, Reached]:
    """Ask each question, and read the first five hits in three ways."""
    found = {way: Reached() for way in ("three layers", "hits whole", "talks whole")}
    sizes: dict[str, int] = {}
    for text, wanted in talk.questions:
        index = search(talk.bank, text, type="observation", limit=rows)
        chosen = [row.id for row in index.results[:CHOSEN]]
        seen = {talk.turns[one] for one in chosen}
        spent = estimate(write_agent(views.view_rows(index), Quotes()))
        paths: list[str] = []
        if chosen:
            around = timeline(talk.bank, chosen[0])
            details = get_observations(talk.bank, chosen)
            paths = list(dict.fromkeys(one.row.path for one in details.observations))
            spent += estimate(write_agent(views.view_timeline(around), Quotes()))
            spent += estimate(write_agent(views.view_details(details), Quotes()))
        found["three layers"].add(seen, wanted, spent)
        for path in paths:
            if path not in sizes:
                sizes[path] = estimate((talk.bank.layout.root / path).read_text(encoding="utf-8"))
        found["hits whole"].add(seen, wanted, sum(sizes[path] for path in paths))
        words = sum(_words(talk, path) for path in paths)
        found["talks whole"].add(seen, wanted, words)
    return found


def _words(talk: Talk, path: str) -> int:
    """Count the tokens of what was said in a session, without ids, times and other fields."""
    text = (talk.bank.layout.root / path).read_text(encoding="utf-8")
    said = [line for line in text.splitlines() if line and line[0] not in "#-^"]
    return estimate("\n".join(said))


def best_notes(talk: Talk, count: int) -> Reached:
    """Ask each question, and load what was said in the first sessions that `recall` finds."""
    found = Reached()
    for text, wanted in talk.questions:
        paths = [one.path for one in recall(talk.bank, text, count, count_access=False).notes]
        sessions = {int(path.rpartition("-s")[2].removesuffix(".md")) for path in paths}
        seen = {one for one in wanted if int(one.split("-d")[-1].split("-")[0]) in sessions}
        found.add(seen, wanted, sum(_words(talk, path) for path in paths))
    return found


def tokens(
    work: Path, names: Sequence[str] = (), most: int | None = None
) -> dict[str, tuple[float, float]]:
    """Return the mean share of evidence read and the mean tokens of each way, over all questions."""
    every: dict[str, Reached] = {}
    with ExitStack() as opened:
        for talk in talks(work, opened, names):
            talk.questions = talk.questions[:most]
            found = {f"{way}, {rows} rows": one for rows in (5, 20) for way, one in
                     reached(talk, rows).items() if rows == 5 or way == "three layers"}  # fmt: skip
            found |= {f"recall, {n} whole": best_notes(talk, n) for n in (1, 2, 5)}
            for way, one in found.items():
                into = every.setdefault(way, Reached())
                into.found += one.found
                into.tokens += one.tokens
    return {way: (one.recall, one.cost) for way, one in every.items()}


def made(folder: Path, count: int, sessions: int = SESSIONS) -> int:
    """Write that many observations in sessions below a folder; return the tokens of one."""
    rng = random.Random(3)
    words = corpus.words_of(rng)
    start = datetime(2026, 1, 1, tzinfo=UTC)
    text = ""
    (folder / "sessions").mkdir(parents=True)
    for number in range(sessions):
        some = range(number * count // sessions, (number + 1) * count // sessions)
        observations = tuple(_observation(rng, words, n, number, start) for n in some)
        one = Session(
            f"session-{number}",
            f"project-{number % 3}",
            observations[0].created_at,
            observations=observations,
        )
        text = note_format.render(one)
        (folder / "sessions" / f"{number}.md").write_text(text, encoding="utf-8")
    return estimate(text) // len(some)


def _observation(
    rng: random.Random, words: Iterator[str], number: int, session: int, start: datetime
) -> Observation:
    def said(count: int) -> str:
        return " ".join(islice(words, count))

    return Observation(
        id=f"obs-{number:012x}",
        session_id=f"session-{session}",
        project=f"project-{session % 3}",
        obs_type=rng.choice(OBSERVATION_TYPES),
        title=said(8).capitalize(),
        narrative=said(50),
        facts=(said(8), said(8)),
        concepts=(said(1), said(1)),
        files_modified=(f"src/{said(1)}.py",),
        created_at=start + timedelta(minutes=10 * number),
        discovery_tokens=1800,
    )


Each = TypeVar("Each")


class Times(NamedTuple, Generic[Each]):
    """Of each way of asking: the work, or its median in seconds."""

    recall: Each
    """In the bank of notes, the others in that of sessions."""
    search: Each
    of_project: Each
    of_types: Each
    newest: Each
    timeline: Each


def speed(work: Path, count: int, questions: int = _ASKED) -> Times[float]:
    """Return the medians of questions in two banks: of notes, and of observations."""
    notes, sessions = work / "notes", work / "sessions"
    notes.mkdir(parents=True)
    corpus.make(notes, count, words=20)
    made(sessions, count, max(count * SESSIONS // 10_000, 3))
    asked = corpus.questions(questions)
    with open_bank(notes) as ours, open_bank(sessions) as worked:
        ours.sync()
        worked.sync()
        rows = search(worked, type="observation", limit=questions).results
        of_one: Times[Callable[[int], object]] = Times(
            lambda number: recall(ours, asked[number], count_access=False),
            lambda number: search(worked, asked[number]),
            lambda number: search(worked, asked[number], project="project-1"),
            lambda number: search(worked, asked[number], obs_type=("bugfix", "decision")),
            lambda _: search(worked),
            lambda number: timeline(worked, rows[number % len(rows)].id),
        )
        every: list[list[float]] = [[] for _ in of_one]
        for number in (0, *range(questions)):  # the first loads what a server has loaded
            for least, ask in zip(every, of_one, strict=True):
                least.append(min(timed(partial(ask, number)) for _ in range(_TRIES)))
        return Times(*(statistics.median(least[1:]) for least in every))


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="tokens,speed", help="tokens, speed")
    parser.add_argument("--talks", default="", help="conversations, separated by commas")
    parser.add_argument("--observations", type=int, default=10_000)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        if "tokens" in options.only:
            print("| way | evidence read | tokens a question |\n|---|---|---|", flush=True)
            chosen = [name for name in options.talks.split(",") if name]
            for way, (share, cost) in tokens(Path(folder), chosen).items():
                print(f"| {way} | {100 * share:.1f} | {cost:,.0f} |", flush=True)
        if "speed" in options.only:
            found = speed(Path(folder), options.observations)
            for name, seconds in found._asdict().items():
                ratio = seconds / found.recall
                print(f"{name}: {1000 * seconds:.1f} ms, {ratio:.2f} of recall", flush=True)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
