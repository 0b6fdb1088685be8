"""Writers at the same time lose nothing: processes, threads, and those that name a version."""

from __future__ import annotations

import subprocess
import sys
import threading
from pathlib import Path

import pytest

from memory_bank import Bank, append, open_bank, show, update
from memory_bank.actions.upkeep import compare
from memory_bank.errors import Conflict

_WRITER = """
import sys
from memory_bank import append, open_bank
who, count = sys.argv[2], int(sys.argv[3])
with open_bank(sys.argv[1], settings={"memory.embedder": "none"}) as bank:
    for number in range(count):
        append(bank, "facts/bm25", f"line {who}-{number}.")
"""


def test_processes_that_append_lose_no_line(project: Path) -> None:
    writers = [
        subprocess.Popen([sys.executable, "-c", _WRITER, str(project), str(who), "8"])
        for who in range(3)
    ]
    assert [writer.wait(90) for writer in writers] == [0, 0, 0]
    text = (project / ".memories/facts/bm25.md").read_text(encoding="utf-8")
    wanted = {f"line {who}-{number}." for who in range(3) for number in range(8)}
    assert {line for line in text.splitlines() if line.startswith("line ")} == wanted
    with open_bank(project, settings={"memory.embedder": "none"}) as bank:
        assert compare(bank).differences == ()


def test_threads_of_one_bank_lose_no_line(project: Path) -> None:
    with open_bank(project, settings={"memory.embedder": "none"}) as bank:
        threads = [
            threading.Thread(
                target=lambda who=who: [
                    append(bank, "facts/bm25", f"line {who}-{n}.") for n in range(5)
                ]
            )
            for who in range(4)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
        text = show(bank, "facts/bm25").content
    assert text.count("line ") == 20


def test_of_two_who_read_the_same_version_one_wins(project: Path) -> None:
    """Each round, writers replace the note as they read it: exactly one may."""
    won: list[str] = []
    refused: list[str] = []

    def rewrite(bank: Bank, etag: str, gate: threading.Barrier, who: str) -> None:
        gate.wait(20)
        try:
            update(bank, "facts/bm25", f"# Written by {who}\n", if_match=etag)
        except Conflict:
            refused.append(who)
        else:
            won.append(who)

    with (
        open_bank(project, settings={"memory.embedder": "none"}) as one,
        open_bank(project, settings={"memory.embedder": "none"}) as other,
    ):
        for number in range(6):
            etag = show(one, "facts/bm25").etag
            gate = threading.Barrier(2)
            pair = [
                threading.Thread(target=rewrite, args=(bank, etag, gate, f"{name}{number}"))
                for name, bank in (("a", one), ("b", other))
            ]
            for thread in pair:
                thread.start()
            for thread in pair:
                thread.join(30)
            assert show(one, "facts/bm25").body.strip() == f"# Written by {won[-1]}"
    assert (len(won), len(refused)) == (6, 6)


def test_an_old_version_is_refused_and_nothing_is_written(bank: Bank, project: Path) -> None:
    etag = show(bank, "facts/bm25").etag
    file = project / ".memories/facts/bm25.md"
    file.write_text("# Edited in vim\n", encoding="utf-8")
    with pytest.raises(Conflict, match="changed since it was read"):
        append(bank, "facts/bm25", "mine", if_match=etag)
    assert file.read_text(encoding="utf-8") == "# Edited in vim\n"
