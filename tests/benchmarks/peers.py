"""Ask a peer of the same kind the same questions, installed in an environment of its own.

python -m tests.benchmarks.peers --keep DIR
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from urllib.parse import unquote

from tests.benchmarks import collections
from tests.benchmarks.collections import Collection
from tests.benchmarks.evaluation import measures
from tests.benchmarks.finding import DEPTH, HEADING, Score

BASIC_MEMORY = "basic-memory==0.21.6"
NAMES = ("sessions", "cacm")
_DRIVER = Path(__file__).with_name("peer_basic_memory.py")
_PYTHONS = ("3.12", "3.13")


class Absent(Exception):
    """A peer can't be had here, for the reason given."""


class BasicMemory:
    """basic-memory's text mode: SQLite FTS5 over whole notes, asked in one warm process."""

    name = f"{BASIC_MEMORY.replace('==', ' ')}, text"

    def __init__(self, work: Path) -> None:
        self.work = work / "basic-memory"
        self.program = self.work / "env" / "bin"
        self.environment = {
            **os.environ,
            "HOME": str(self.work / "home"),
            "BASIC_MEMORY_SEMANTIC_SEARCH_ENABLED": "false",  # its model would be downloaded
            "BASIC_MEMORY_NO_PROMOS": "1",
            "BASIC_MEMORY_LOG_LEVEL": "WARNING",
        }
        (self.work / "home").mkdir(parents=True, exist_ok=True)
        if not (self.program / "basic-memory").exists():
            self._install()

    def _install(self) -> None:
        python = next(filter(_works, _pythons()), None)
        if python is None:
            raise Absent(f"{BASIC_MEMORY} needs Python 3.12")
        for line in (
            [python, "-m", "venv", str(self.program.parent)],
            [str(self.program / "pip"), "install", "-q", BASIC_MEMORY],
        ):
            if subprocess.run(line, capture_output=True, check=False).returncode:
                raise Absent(f"{BASIC_MEMORY} can't be installed")

    def score(self, banks: Sequence[Collection]) -> Score:
        """Ask all questions of some banks; each is a project of its own."""
        score = Score()
        for one in banks:
            project = one.name.replace(" ", "-")
            self._index(project, one)
            asked = {
                "project": project,
                "questions": [question.text for question in one.questions],
                "limit": DEPTH,
            }
            told = self._run("python", "-P", str(_DRIVER), given=json.dumps(asked))
            for (names, seconds), question in zip(json.loads(told), one.questions, strict=True):
                score.take(list(map(unquote, names)), seconds, question)
        return score

    def _index(self, project: str, one: Collection) -> None:
        folder = self.work / "notes" / project
        if folder.exists():
            return
        ignored = shutil.ignore_patterns(".index")
        shutil.copytree(one.files(self.work), folder, ignore=ignored)  # it rewrites front matter
        self._run("basic-memory", "project", "add", project, str(folder), "--local")
        self._run("basic-memory", "reindex", "--search", "--full", "-p", project)

    def _run(self, *words: str, given: str = "") -> str:
        line = [str(self.program / words[0]), *words[1:]]
        done = subprocess.run(
            line, input=given, capture_output=True, text=True, check=False, env=self.environment
        )
        if done.returncode:
            raise Absent(f"{' '.join(words[:3])} failed: {done.stderr[-500:]}")
        return done.stdout


def rows(names: Sequence[str], work: Path) -> Iterator[str]:
    """Yield the table's lines, or the reason why there is none."""
    try:
        peer = BasicMemory(work)
        for name in names:
            yield peer.score(collections.of(name, work)).row(name, peer.name)
    except Absent as error:
        yield f"| | {error} |{' |' * (len(measures.NAMES) + 2)}"


def _pythons() -> Iterator[str]:
    """Yield newer Pythons: on the path, or beside this one, as version managers keep them."""
    beside = Path(sys.base_prefix).parent
    for version in _PYTHONS:
        yield from filter(None, [shutil.which(f"python{version}")])
        yield from map(str, sorted(beside.glob(f"*{version}*/bin/python{version}")))


def _works(python: str) -> bool:
    """Tell whether a Python starts; a version manager's stub may not."""
    return not subprocess.run([python, "-c", ""], capture_output=True, check=False).returncode


def main() -> None:
    """Print the table for the pieces of work that are asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default=",".join(NAMES))
    parser.add_argument("--keep", type=Path, help="keep unpacked data and indices there")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        print(HEADING)
        for row in rows(options.only.split(","), options.keep or Path(temporary)):
            print(row, flush=True)


if __name__ == "__main__":
    main()
