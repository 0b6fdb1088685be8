"""Banks in git, beside bare indices of the same notes, kept where wanted."""

import json
import re
import shutil
import subprocess
import tarfile
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from memory_bank.bank.bank import Bank
from tests.benchmarks import collections, corpus
from tests.benchmarks.bare import Bare
from tests.git.history_builder import commit_all, run

ROOT = Path(__file__).parents[2]
ODD = collections.SHARED.with_name("odd")
_FILES = 240
_COMMITS = 5
_QUERIES = 60
_TITLE = re.compile(r"[A-Za-z]{4,}( [A-Za-z]{4,})+")


class Folder(NamedTuple):
    """A bank of a project in git, its bare index, and questions to ask."""

    name: str
    notes: Path
    bare: Bare
    questions: list[str]

    def files(self) -> list[Path]:
        """Return the notes."""
        return [file for file in self.notes.rglob("*.md") if ".index" not in file.parts]


def generated(notes: int, work: Path) -> Folder:
    """Return a bank of that many made-up notes, which cite code that changed since."""

    def make(project: Path) -> None:
        code = corpus.make_code(project, _FILES)
        corpus.make(project / ".memories", notes, code=code)
        corpus.make_json(project / ".memories")
        _commit(project)
        for number in range(1, _COMMITS):  # each changes half of what the last one did
            corpus.make_code(project, _FILES >> number, seed=number + 1)
            _commit(project)

    return _made(f"notes-{notes}", work, make, corpus.questions(_QUERIES))


def real(work: Path) -> Folder:
    """Return a bank of real notes with odd and large ones; raise LookupError if there are none."""
    archive = collections.SHARED / "obsidian-help.tar.gz"
    if not archive.exists():
        raise LookupError(f"no real notes at {archive}")

    def make(project: Path) -> None:
        with tarfile.open(archive) as packed:
            packed.extractall(project / ".memories", filter="data")
        if ODD.is_dir():
            shutil.copytree(ODD, project / ".memories" / "odd")
        corpus.make_json(project / ".memories")
        _commit(project)

    folder = _made("real", work, make, [])
    names = sorted({file.stem for file in folder.files() if _TITLE.fullmatch(file.stem)})
    return folder._replace(questions=names[:: max(1, len(names) // _QUERIES)][:_QUERIES])


def own(work: Path) -> Folder:
    """Return a clone of this repository, whose bank has questions."""

    def make(project: Path) -> None:
        subprocess.run(["git", "clone", "-q", str(ROOT), str(project)], check=True)

    rows = json.loads(ROOT.joinpath("tests/benchmarks/own_questions.json").read_text("utf-8"))
    return _made("own", work, make, [row["query"] for row in rows][:_QUERIES])


def _made(name: str, work: Path, make: Callable[[Path], None], questions: list[str]) -> Folder:
    project, done = work / name, work / f"made-{name}"
    if not done.exists():
        shutil.rmtree(project, ignore_errors=True)
        make(project)
        done.touch()
    notes = project / ".memories"
    return Folder(name, notes, Bare(notes, work / f"bare-{name}"), questions)


def _commit(project: Path) -> None:
    run(project, "init", "-q")
    commit_all(project, "Change")


def ready(bank: Bank, bare: Bare) -> None:
    """Build what is not built yet, and open the bare index."""
    if not bare.built:
        bare.build()
    bare.open()
    bank.sync()
