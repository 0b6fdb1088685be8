"""Banks of made-up notes in git, beside bare indices of the same notes, kept where wanted."""

import shutil
import subprocess
from pathlib import Path

from memory_bank.bank.bank import Bank
from tests.benchmarks import corpus
from tests.benchmarks.bare import Bare


def made(notes: int, work: Path) -> tuple[Path, Bare, int]:
    """Return a folder of that many notes, made if need be, its bare index and its bytes."""
    folder, said = work / f"notes-{notes}", work / f"made-{notes}"
    if not said.exists():
        shutil.rmtree(folder, ignore_errors=True)
        size = corpus.make(folder, notes)
        for words in (("init", "-q"), ("add", "-A"), ("commit", "-q", "-m", "Start")):
            who = ("-c", "user.name=A", "-c", "user.email=a@example.org", "-c", "gc.auto=0")
            subprocess.run(["git", "-C", str(folder), *who, *words], check=True)
        said.write_text(str(size), encoding="utf-8")
    return folder, Bare(folder, work / f"bare-{notes}"), int(said.read_text(encoding="utf-8"))


def ready(bank: Bank, bare: Bare) -> None:
    """Build what is not built yet, and open the bare index."""
    if not bare.built:
        bare.build()
    bare.open()
    bank.sync()
