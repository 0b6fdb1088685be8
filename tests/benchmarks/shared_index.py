"""Measure a shared index of many repositories: publishing a change, and asking.

    python -m tests.benchmarks.shared_index --repos 1000 --passages 200 --to embedded:/tmp/shared

The index is filled with passages of words drawn by Zipf's law and random vectors; the index of
vectors is made afterwards, as one would load many repositories. One real repository is then
published again and again, each time with one changed note. An existing index is used as it is.
"""

import argparse
import random
import statistics
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

from memory_bank.bank.bank import open_bank
from memory_bank.shared import administration
from memory_bank.shared.engines.base import (
    Head,
    Position,
    Publication,
    PublishedNote,
    PublishedPassage,
    Where,
    open_engine,
)
from memory_bank.shared.engines.postgres.postgres import Postgres
from memory_bank.shared.publish import publish
from memory_bank.shared.word_weights import terms_of
from tests.shared.asked import asked_words, question_words

WORDS, VOCABULARY, PER_NOTE = 65, 30_000, 5
"""Words of a passage, words of the language, passages of a note."""
ASKED = 200
"""Number of questions of each kind."""
CHANGES = 20
"""Number of publications of one changed note."""


def main() -> None:
    """Fill an index and print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--to", required=True, help="URL of an index that may be filled")
    parser.add_argument("--repos", type=int, default=1000)
    parser.add_argument("--passages", type=int, default=200)
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        project = _project(Path(folder), chosen.passages)
        with open_bank(project, settings={"shared.url": chosen.to}) as bank:
            made = administration.make(bank.settings)
            with open_engine(chosen.to) as engine:
                assert isinstance(engine, Postgres)
                if made.created:
                    _fill(engine, chosen.repos, chosen.passages, made.dimension)
                print(f"{engine.size():,} passages in {len(engine.heads()):,} banks")
                _sizes(engine)
            first = publish(bank, force=True)
            print(f"publish {first.passages} passages at once: {first.seconds * 1000:,.0f} ms")
            _row("publish one changed note", list(_changes(project, lambda: publish(bank).seconds)))
        with open_engine(chosen.to) as engine:
            _ask(engine, made.dimension)


def _project(folder: Path, passages: int) -> Path:
    chance = random.Random(1)
    bank = folder / "project/.memories/facts"
    bank.mkdir(parents=True)
    for number in range(passages // PER_NOTE):
        sections = (f"## Part {n}\n\n{_text(chance)}\n" for n in range(PER_NOTE))
        text = f"# Note {number}\n\n" + "\n".join(sections)
        (bank / f"n{number}.md").write_text(text, encoding="utf-8")
    project = bank.parents[1]
    _git(project, "init", "-q")
    _git(project, "remote", "add", "origin", "git@github.com:bench/project.git")
    _commit(project)
    return project


def _changes(project: Path, measure: Callable[[], float]) -> Iterator[float]:
    chance = random.Random(2)
    for turn in range(CHANGES):
        note = project / f".memories/facts/n{turn % 7}.md"
        note.write_text(note.read_text() + f"\n## Change {turn}\n\n{_text(chance)}\n")
        _commit(project)
        yield measure()


def _commit(project: Path) -> None:
    _git(project, "add", "-A")
    who = ("-c", "user.name=B", "-c", "user.email=b@example.org")
    _git(project, *who, "commit", "-q", "-m", "Change")


def _git(folder: Path, *words: str) -> None:
    subprocess.run(["git", "-C", str(folder), *words], check=True)


def _text(chance: random.Random, words: int = WORDS) -> str:
    ranks = (int(VOCABULARY ** chance.random()) for _ in range(words))
    return " ".join(f"w{rank}x" for rank in ranks)


def _fill(engine: Postgres, repos: int, passages: int, dimension: int) -> None:
    started = time.monotonic()
    engine._connection.execute("DROP INDEX memory_bank.passages_nearest")
    chance, numbers = random.Random(3), np.random.default_rng(3)
    for repo in range(repos):
        vectors = numbers.standard_normal((passages, dimension))
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
        engine.publish(_publication(repo, passages, vectors.tolist(), chance))
    print(f"filled in {time.monotonic() - started:,.0f} s without the index of vectors")
    started = time.monotonic()
    engine._connection.execute("SET maintenance_work_mem = '1GB'")
    engine._connection.execute("SET statement_timeout = 0")
    engine._connection.execute(
        "CREATE INDEX passages_nearest ON memory_bank.passages USING hnsw"
        f" (vector {engine._vector}.halfvec_cosine_ops)".encode()
    )
    engine._connection.execute("ANALYZE")
    print(f"index of vectors made in {time.monotonic() - started:,.0f} s")


def _publication(
    repo: int, passages: int, vectors: list[list[float]], chance: random.Random
) -> Publication:
    name = f"bench/owner/r{repo}"
    paths = [f"facts/n{number}.md" for number in range(passages // PER_NOTE)]
    notes = [
        PublishedNote(
            path, path, "", path, ("decision", "fact")[n % 2], "active", (f"t{n % 50}",), 1e9 + repo,
            1e9 + repo, False, {}, "h",
        )
        for n, path in enumerate(paths)
    ]  # fmt: skip
    made = []
    for number, vector in enumerate(vectors):
        text = _text(chance)
        path = paths[number // PER_NOTE % len(paths)]
        place = Position(number % PER_NOTE, number, number + 1)
        key = f"{number:032x}"
        terms = terms_of(path, (), text)
        made.append(PublishedPassage(key, path, place, (), text, WORDS, terms, vector))
    head = Head(name, ".memories", f"{repo:040x}", 1e9, 1e9, "", len(notes), len(made))
    return Publication("", head, notes, (), made)


def _sizes(engine: Postgres) -> None:
    rows = engine._connection.execute(
        "SELECT relname, pg_total_relation_size(oid), pg_indexes_size(oid) FROM pg_class"
        " WHERE relnamespace = 'memory_bank'::regnamespace AND relkind = 'r'"
        " ORDER BY 2 DESC LIMIT 3"
    ).fetchall()
    size = engine.size()
    for name, total, indices in rows:
        print(
            f"  {name}: {total / size:,.0f} bytes a passage, {indices / size:,.0f} of them indices"
        )


def _ask(engine: object, dimension: int) -> None:
    assert isinstance(engine, Postgres)
    chance, numbers = random.Random(4), np.random.default_rng(4)
    kinds = {
        "all": Where(),
        "one repository": Where(repos=("r7",)),
        "a tag and a type": Where(tags=("t7",), types=("fact",)),
        "without one": Where(without_repo="bench/owner/r1"),
    }
    for name, where in kinds.items():
        times = []
        for _ in range(ASKED):
            vector = numbers.standard_normal(dimension)
            vector /= np.linalg.norm(vector)
            started = time.perf_counter()
            with engine.one_state():
                words = question_words(_text(chance, 6))
                asked = asked_words(words, engine.frequencies(words), engine.size())
                found = engine.words(asked, 100, where)
                near = engine.nearest(vector.tolist(), 100, where)
                engine.passages([one.row for one in (*found[:10], *near[:10])])
            times.append(time.perf_counter() - started)
        _row(f"ask: {name}", times)


def _row(name: str, seconds: list[float]) -> None:
    cuts = statistics.quantiles(seconds, n=20)
    print(f"{name}: p50 {1000 * statistics.median(seconds):,.0f} ms, p95 {1000 * cuts[-1]:,.0f} ms")


if __name__ == "__main__":
    main()
