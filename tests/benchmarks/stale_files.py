"""List which notes that cite files or symbols are called stale in a real history, to be read.

python -m tests.benchmarks.stale_files REPOSITORY… [--notes JSON | --symbols] [--commits 300] [--touched]

Clones, bare or not, with their whole history. The notes are right for a commit of the first parents, by default the
300th before the newest, and are compared with the newest. Those of the JSON are `{"files": […], "text": "…"}`: write
them from the code of that commit, before you look at what came after it. Without it, a note for each file of code is
its longest doc text; with `--symbols`, a note for each symbol is its doc text. `--touched` lists what is not called
stale although its code changed. Whether a mark is right, whoever reads it has to say: would the note's author have to look at it?
"""

import argparse
import json
import os
import subprocess
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from memory_bank.bank.bank import open_bank
from memory_bank.code.languages.base import detect_language, find_rules, may_hold_tests
from memory_bank.code.parse import parsing
from memory_bank.git import objects
from memory_bank.trust.citations import list_named_code
from memory_bank.trust.records import TOUCHED, Citation, StaleReport
from memory_bank.trust.stale import stale
from tests.git.history_builder import run as git

COMMITS = 300
MOST_BYTES = 500_000


class Note(NamedTuple):
    """A note to be compared."""

    files: list[str]
    text: str


def written(file: Path) -> list[Note]:
    return [Note(one["files"], one["text"]) for one in json.loads(file.read_text("utf-8"))]


def from_docs(source: Path, commit: str, *, by_symbol: bool = False) -> Iterator[Note]:
    """Yield a note for each file of code, or each symbol: its longest doc text that names something."""
    for path, blob in sorted(objects.list_files_at(source, commit).items()):
        language = detect_language(path)
        if not language or find_rules(language).test_files is None:
            continue
        if may_hold_tests(path, language) and "test" in path:
            continue
        data = dict(objects.read_blobs(source, [blob.id], MOST_BYTES)).get(blob.id)
        parsed = parsing.parse(data, language) if data else None
        if by_symbol:
            for symbol in parsed.symbols if parsed else ():
                if list_named_code(symbol.doc).names:
                    yield Note([], f"{symbol.doc}\n\nSee [[{path}#{symbol.qualified}]].")
            continue
        docs = [parsed.doc, *(one.doc for one in parsed.symbols)] if parsed else []
        text = max(docs, key=len, default="")
        if list_named_code(text).names:
            yield Note([path], text)


def compared(source: Path, notes: list[Note], commit: str) -> StaleReport:
    """Return what the project says of notes that are right for a commit."""
    with tempfile.TemporaryDirectory() as home:
        folder = Path(home) / "clone"
        subprocess.run(["git", "clone", "-q", "--shared", str(source), str(folder)], check=True)
        bank = folder / ".memories"
        bank.mkdir(exist_ok=True)
        for number, note in enumerate(notes):
            head = f"verified_commit: {commit}\nfile_refs: {json.dumps(note.files)}\n"
            (bank / f"{number:03}.md").write_text(f"---\n{head}---\n{note.text}\n", "utf-8")
        with open_bank(bank, settings={"memory.embedder": "none"}) as opened:
            opened.sync()
            return stale(opened)


def show(one: Citation, note: Note) -> None:
    names = f": {', '.join(one.names)}" if one.names else ""
    print(f"\n{one.path} {one.target} {one.state}{names}")
    print("    " + note.text.strip().replace("\n", "\n    "))
    for commit in one.commits:
        print(f"    {commit.id[:10]} {commit.date[:10]} {commit.subject}")


def main() -> None:
    """Print the marks of each repository, then the numbers."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("repositories", nargs="+", type=Path)
    parser.add_argument("--notes", type=Path, help="a JSON file; for one repository")
    parser.add_argument("--symbols", action="store_true", help="cite symbols, by their doc texts")
    parser.add_argument("--touched", action="store_true", help="list what changed elsewhere, too")
    parser.add_argument("--commits", type=int, default=COMMITS)
    options = parser.parse_args()
    os.environ["XDG_CACHE_HOME"] = tempfile.mkdtemp()
    os.environ["XDG_STATE_HOME"] = tempfile.mkdtemp()
    for repository in options.repositories:
        commit = git(repository, "rev-list", "--first-parent", "HEAD").split()[options.commits]
        notes = (
            written(options.notes)
            if options.notes
            else list(from_docs(repository, commit, by_symbol=options.symbols))
        )
        report = compared(repository, notes, commit)
        elsewhere = [one for one in report.citations if options.touched and one.state == TOUCHED]
        for one in [*report.listed, *elsewhere]:
            show(one, notes[int(Path(one.path).stem)])
        states = Counter(one.state for one in report.citations)
        changed = states["changed"] + states["touched"]
        print(
            f"\n{repository}: {len(report.citations)} citations in {len(notes)} notes;"
            f" files changed {changed}, gone {states['gone']}, moved {states['moved']};"
            f" stale {len(report.stale)}"
        )


if __name__ == "__main__":
    main()
