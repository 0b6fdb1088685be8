"""Nine processes on one bank, and kills at any moment: what was acknowledged must be there after.

    python -m tests.benchmarks.torture --minutes 10

Agents, library, command line and an editor create, append, update, rename, delete and search at the
same time, while a mender rebuilds the index and deletes it. Each writes a line of its own into notes
and keeps a log of what it was told. In the end every acknowledged line is in a note or in the trash,
unless a writer that had read it left it out; every refusal for a conflict had another write beside it;
the index is what a fresh one would be.
"""

import argparse
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from memory_bank.bank.bank import Bank, open_bank
from memory_bank.memory.maintenance import compare, sync
from memory_bank.memory.retrieval.recall import recall
from tests.benchmarks.transports import SETTINGS, Agent, CommandLine, Library
from tests.benchmarks.writers import NAMES, TOKEN, Editor, Log, Mender, Writer
from tests.search.views import view_of

KINDS = ("agent", "agent", "agent", "line", "editor", "library", "library", "library", "mender")
_LINE = re.compile(r"(?:tok[a-z]+\d+x\d+z)?")
_SKEW = 0.001


@dataclass
class Verdict:
    """What a history shows."""

    counts: dict[str, int] = field(default_factory=dict)
    wrongs: list[str] = field(default_factory=list)

    def count(self, what: str, number: int = 1) -> None:
        self.counts[what] = self.counts.get(what, 0) + number

    def __str__(self) -> str:
        said = ", ".join(f"{number} {what}" for what, number in sorted(self.counts.items()))
        return f"{said}\n" + "\n".join(f"WRONG: {wrong}" for wrong in self.wrongs)


def judge(folder: Path, logs: Path) -> Verdict:
    """Hold what writers were told against what is there now."""
    rows = [
        {**json.loads(line), "who": log.stem}
        for log in sorted(logs.glob("*.jsonl"))
        for line in log.read_text(encoding="utf-8").splitlines()
    ]
    found = Verdict()
    notes, trash = _tokens(folder, found), _tokens(folder / ".trash", found)
    dropped = {token for row in rows for token in row.get("dropped", ()) if _may_be_done(row, rows)}
    for row in rows:
        found.count(row["what"] if row["what"] != "refused" else f"refused: {row['code']}")
        if row["what"] == "wrote" and row["token"] not in notes | trash | dropped:
            found.wrongs.append(f"acknowledged, but lost: {row}")
        if row["what"] == "refused":
            if row["code"] == "conflict" and not any(_beside(row, other) for other in rows):
                found.wrongs.append(f"a conflict with nobody: {row}")
            if row["code"] not in {"conflict", "note_exists", "note_not_found", "busy"}:
                found.wrongs.append(f"refused without need: {row}")
        missed = row["what"] == "searched" and row["missed"] and not row["problem"]
        if missed and row["token"] in notes and not any(_moved(row, other) for other in rows):
            found.wrongs.append(f"is in a note, but was not found: {row}")
    return found


def _may_be_done(row: dict[str, Any], rows: Sequence[dict[str, Any]]) -> bool:
    """Tell a write that was done, or may be, from one that was refused: what was tried is not told."""
    if row["what"] != "tried":
        return True
    return row is [other for other in rows if other["who"] == row["who"]][-1]


def _tokens(folder: Path, found: Verdict) -> set[str]:
    """Return the lines in all notes below a folder; a note with another line is torn."""
    tokens: set[str] = set()
    for file in folder.rglob("*.md"):
        if folder.name != ".trash" and ".trash" in file.parts:
            continue
        text = file.read_text(encoding="utf-8")
        body = text.split("---\n", 2)[2] if text.startswith("---\n") else text
        tokens |= set(TOKEN.findall(body))
        if any(not _LINE.fullmatch(line) for line in body.splitlines()):
            found.wrongs.append(f"torn: {file}: {body!r}")
    return tokens


def _beside(row: dict[str, Any], other: dict[str, Any]) -> bool:
    """Tell whether another's write ran while this one did."""
    return (
        other["what"] in {"wrote", "moved"}
        and other is not row
        and other["began"] <= row["ended"] + _SKEW
        and row["began"] <= other["ended"] + _SKEW
    )


def _moved(row: dict[str, Any], other: dict[str, Any]) -> bool:
    """Tell whether an editor had taken a note away for a moment, or saved over one."""
    return other.get("by") == "editor" and _beside(row, other)


def crowd(folder: Path, operations: int, *, seed: int, kinds: tuple[str, ...] = KINDS) -> Verdict:
    """Let a crowd loose on a new bank and judge what it leaves."""
    logs = _begin(folder)
    words = [sys.executable, "-m", "tests.benchmarks.torture", "--worker"]
    workers = [
        subprocess.Popen(
            [*words, kind, str(folder), f"{kind}{number}", str(operations), str(seed + number)],
            stderr=subprocess.PIPE, text=True,
        )
        for number, kind in enumerate(kinds)
    ]  # fmt: skip
    said = [worker.communicate()[1] for worker in workers]
    found = judge(folder, logs)
    for kind, worker, error in zip(kinds, workers, said, strict=True):
        if worker.returncode:
            found.wrongs.append(f"{kind} crashed ({worker.returncode}): {error[-2000:]}")
    with open_bank(folder, settings=SETTINGS) as bank:
        found.wrongs += [f"index: {difference}" for difference in compare(bank)[1][:5]]
    return found


def _begin(folder: Path) -> Path:
    """Make some notes, and the folder for the logs."""
    for name in NAMES[:6]:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / f"{name}.md").write_text("", encoding="utf-8")
    logs = folder.with_name(f"{folder.name}-logs")
    logs.mkdir()
    return logs


def work(kind: str, folder: Path, who: str, operations: int, seed: int) -> None:
    """Be one of the crowd."""
    log = Log(folder.with_name(f"{folder.name}-logs") / f"{who}.jsonl")
    if kind in {"editor", "mender"}:
        one = Editor(folder, who, log, seed) if kind == "editor" else Mender(folder, log, seed)
        for _ in range(operations):
            one.step()
        return
    doors = {"agent": Agent, "line": CommandLine}
    door = doors.get(kind, Library)(folder)
    writer = Writer(door, who, log, seed)
    for _ in range(operations):
        writer.step()
    door.close()


def kills(folder: Path, times: int, *, seed: int) -> Verdict:
    """Kill a writer at any moment, again and again; each time all must be there and heal at once."""
    logs = _begin(folder)
    rng = random.Random(seed)
    found = Verdict()
    for number in range(times):
        log = logs / f"victim{number}.jsonl"
        child = os.fork()
        if child == 0:
            _be_killed(folder, number, log)
        if not _at_work(child, log):
            found.wrongs.append(f"victim {number} ended before it began")
            break
        time.sleep(rng.random() * 1.2)
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        found.count("kills")
        with open_bank(folder, settings=SETTINGS) as bank:
            found.wrongs += _repaired(bank, found)
        if found.wrongs:
            break
    verdict = judge(folder, logs)
    found.wrongs += verdict.wrongs
    found.wrongs += [f"crashed: {file.read_text()}" for file in logs.glob("*.crash")]
    for what, count in verdict.counts.items():
        found.count(what, count)
    return found


def _at_work(child: int, log: Path) -> bool:
    """Wait until a victim has begun; tell whether it did not end before."""
    while not log.exists():
        if os.waitpid(child, os.WNOHANG)[0]:
            return False
        time.sleep(0.001)
    return True


def _be_killed(folder: Path, number: int, log: Path) -> None:
    try:
        door = Library(folder)
        writer = Writer(door, f"victim{number}", Log(log), number)
        while True:
            for file in range(5):
                text = f"tokhand{number}x{file}z\n"
                (folder / f"by-hand{file}.{number}").write_text(text, encoding="utf-8")
                (folder / f"by-hand{file}.{number}").replace(folder / f"by-hand{file}.md")
            for _ in range(5):
                writer.step()
    except BaseException as error:  # noqa: BLE001  (the judge must hear of it)
        log.with_suffix(".crash").write_text(repr(error), encoding="utf-8")
    finally:
        os._exit(1)


def _repaired(bank: Bank, found: Verdict) -> Iterator[str]:
    """Ask once, as the next start does; then nothing may be left to repair."""
    cut = bank.store.interrupted()
    begun = view_of(bank).manifest.unfinished()
    recall(bank, "tok", mode="lexical", count_access=False)
    said = bank.take_repaired()
    for what, was in (("writing", cut), ("indexing", begun)):
        if was and what not in said:
            yield f"{what} was cut short, and the catch-up said {said}"
    if bank.store.interrupted() or view_of(bank).manifest.unfinished():
        yield "one catch-up did not heal it"
    for difference in compare(bank)[1][:3]:
        yield f"index: {difference}"
    found.count("found cut short while writing", cut)
    found.count("found cut short while indexing", begun)
    report = sync(bank)
    if report.repaired or report.indexed:
        yield f"a sync after it found more to do: {report}"


def main() -> int:
    """Torture for some minutes, or be one of the crowd; exit with 1 when a promise broke."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=1.0)
    parser.add_argument("--operations", type=int, default=200, help="of each process in a round")
    parser.add_argument("--kills", type=int, default=100, help="in a round")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", choices=["crowd", "kills"], help="the one or the other")
    parser.add_argument("--worker", nargs=5, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.worker:
        kind, folder, who, operations, seed = given.worker
        work(kind, Path(folder), who, int(operations), int(seed))
        return 0
    end = time.monotonic() + given.minutes * 60
    broken = False
    seed = given.seed
    base = Path(tempfile.mkdtemp(prefix="memory-bank-torture-"))
    while not broken and (seed == given.seed or time.monotonic() < end):
        for name, torture in (("crowd", crowd), ("kills", kills)):
            if given.only not in {None, name}:
                continue
            folder = base / f"{name}-{seed}"
            folder.mkdir()
            started = time.monotonic()
            count = given.operations if name == "crowd" else given.kills
            verdict = torture(folder, count, seed=seed)  # type: ignore[operator]
            print(f"{name}, seed {seed}, {time.monotonic() - started:.0f} s: {verdict}", flush=True)
            broken |= bool(verdict.wrongs)
        seed += 100
    if broken:
        print(f"what is left is in {base}")
        return 1
    shutil.rmtree(base)
    return 0


if __name__ == "__main__":
    sys.exit(main())
