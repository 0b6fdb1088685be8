"""How long after an editor's save a running server finds what was written.

    python -m tests.benchmarks.saves --notes 10000

"asked at once": the question comes right after the save, and catches up itself. "followed": nobody
asks; the server hears of the save, waits until writers pause (debounce), and indexes it.
"""

import argparse
import statistics
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path

from memory_bank.bank.bank import Bank, open_bank
from memory_bank.memory.retrieval.recall import recall
from memory_bank.search.watch import Watcher
from tests.benchmarks import corpus


def in_place(file: Path, text: str) -> None:
    """Save as nano does."""
    file.write_text(text, encoding="utf-8")


def beside(file: Path, text: str) -> None:
    """Save as VS Code does on many systems: a new file takes the name."""
    new = file.with_name(f"{file.name}.tmp")
    new.write_text(text, encoding="utf-8")
    new.replace(file)


def backup(file: Path, text: str) -> None:
    """Save as vim does."""
    old = file.with_name(f"{file.name}~")
    file.rename(old)
    file.write_text(text, encoding="utf-8")
    old.unlink()


RUN = time.time_ns()
"""No other run's text is the same, which would be no change."""
WAYS: tuple[Callable[[Path, str], None], ...] = (in_place, beside, backup)


def asked(bank: Bank, files: list[Path]) -> list[float]:
    """Save and ask at once; return the seconds until the answer has the note."""
    took = []
    for number, file in enumerate(files):
        word = f"asked{RUN}x{number}word"
        started = time.perf_counter()
        WAYS[number % 3](file, f"# Saved\n\nA new {word}.\n")
        found = recall(bank, word, mode="lexical", count_access=False)
        took.append(time.perf_counter() - started)
        path = file.relative_to(bank.layout.root).as_posix()
        assert found.notes[0].path == path, "the question after a save must find it"
        time.sleep(0.02)
    return took


def followed(bank: Bank, files: list[Path]) -> list[float]:
    """Save and wait for the follower; return the seconds until the note is indexed."""
    stop, indexed = threading.Event(), threading.Event()
    with Watcher(bank.watched) as watcher:

        def follow() -> None:
            while watcher.wait(stop):
                bank.catch_up()
                indexed.set()

        thread = threading.Thread(target=follow)
        thread.start()
        took = []
        for number, file in enumerate(files):
            time.sleep(0.3)
            indexed.clear()
            started = time.perf_counter()
            WAYS[number % 3](file, f"# Saved\n\nA new followed{RUN}x{number}word.\n")
            indexed.wait(30)
            took.append(time.perf_counter() - started)
        stop.set()
        thread.join()
    return took


def show(what: str, took: list[float]) -> None:
    """Print a row of the table."""
    cuts = statistics.quantiles(took, n=20)
    print(f"| {what} | {cuts[9] * 1000:.0f} ms | {cuts[18] * 1000:.0f} ms | {len(took)} |")


def main() -> None:
    """Measure."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--notes", type=int, default=10_000)
    parser.add_argument("--saves", type=int, default=60)
    parser.add_argument("--keep", type=Path, help="folder whose notes are kept for the next run")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = given.keep or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        if not any(folder.rglob("*.md")):
            corpus.make(folder, given.notes)
        files = sorted(folder.rglob("*.md"))[: given.saves]
        with open_bank(folder, settings={"memory.embedder": "static"}) as bank:
            bank.sync()
            recall(bank, "warm", count_access=False)
            recall(bank, "warm", count_access=False)
            print(f"{given.notes} notes\n\n| save → found | p50 | p95 | saves |\n|---|---|---|---|")
            show("asked at once", asked(bank, files))
            show("followed, debounce of 100 ms included", followed(bank, files))


if __name__ == "__main__":
    main()
