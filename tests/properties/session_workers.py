"""Processes that record and compress sessions at once, and are killed at random moments.

`session_workers.py ACKS SEED KILLS FOLDER...`: in each folder, an agent queues the use of tools, an
agent words observations, and a process compresses. One after the other is killed without a chance to
clean up, and started again. An agent writes what was stored into a file in ACKS, after it was told so;
after a kill it sends again what it was not told of.
"""

import os
import random
import signal
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from memory_bank.bank.bank import Bank, open_bank
from memory_bank.sessions.compress import compress
from memory_bank.sessions.records import Event, Session
from memory_bank.sessions.sessions import store_observation
from memory_bank.sessions.state import open_store
from tests.sessions.sessions_of import START

SETTINGS = {
    "memory.embedder": "none",
    "compression.mode": "none",
    "compression.max_batch_tokens": 100,
}
PAUSE = 0.02
Work = Callable[[Bank, str], object]


def queue(bank: Bank, marker: str) -> None:
    session_id = f"tools-{marker[1]}"
    with open_store(bank) as store:
        store.create_session(Session(session_id, "shop", START))
        event = Event(0, session_id, "Bash", f'{{"command": "echo {marker}"}}', "", 0, START)
        store.queue_pending(event, marker)


def word(bank: Bank, marker: str) -> None:
    store_observation(bank, f"words-{marker[1]}", title=f"Did {marker}", facts=["One fact"])


def agent(folder: Path, acks: Path, kind: str, work: Work) -> None:
    done = acks.read_text().split() if acks.exists() else []
    with open_bank(folder, settings=SETTINGS) as bank:
        for number in range(len(done), 10_000):
            marker = f"{kind}{number:04}z"
            work(bank, marker)
            with acks.open("a") as file:
                file.write(f"{marker}\n")
            time.sleep(3 * PAUSE)


def compressor(folder: Path) -> None:
    with open_bank(folder, settings=SETTINGS) as bank:
        while True:
            compress(bank)
            time.sleep(PAUSE)


def started(work: Callable[[], None]) -> int:
    pid = os.fork()
    if not pid:
        try:
            work()
        except BaseException as error:  # noqa: BLE001  (a fork must not go on as its parent)
            sys.stdout.write(f"failed: {error!r}\n")
            sys.stdout.flush()
        os._exit(1)
    return pid


def warm() -> None:
    """Load all that the work needs before the forks, which then begin at once."""
    with tempfile.TemporaryDirectory() as folder, open_bank(folder, settings=SETTINGS) as bank:
        queue(bank, "q00000z")
        word(bank, "w00000z")
        compress(bank)


def _least(acks: Path, agents: int) -> int:
    """Return how much the agent that was told of least was told of."""
    told = [len(file.read_text().split()) for file in acks.iterdir()]
    return min(told) if len(told) == agents else 0


def main() -> None:
    warm()
    acks, seed, kills, *folders = sys.argv[1:]
    chance = random.Random(int(seed))
    works: list[Callable[[], None]] = []
    for number, name in enumerate(folders):
        folder = Path(name)
        for kind, work in ((f"q{number}", queue), (f"w{number}", word)):
            file = Path(acks) / kind
            works.append(lambda f=folder, a=file, k=kind, w=work: agent(f, a, k, w))
        works.append(lambda f=folder: compressor(f))
    pids = [started(work) for work in works]
    for _ in range(int(kills)):
        time.sleep(chance.uniform(0, 8 * PAUSE))
        victim = chance.randrange(len(works))
        os.kill(pids[victim], signal.SIGKILL)
        os.waitpid(pids[victim], 0)
        pids[victim] = started(works[victim])
    end = time.monotonic() + 60  # until each agent was told of some, however slow the machine is
    while _least(Path(acks), 2 * len(folders)) < 5 and time.monotonic() < end:
        time.sleep(PAUSE)
    for pid in pids:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)


if __name__ == "__main__":
    main()
