"""Measure which files of a commit are found from one of them, by what older commits say.

python -m tests.benchmarks.coupling REPOSITORY…          (or MEMORY_BANK_REPOSITORIES, with ':' between)

Clones, bare or not, with their whole history. The newest fifth of the commits without merges is held out;
history, imports and texts are those of the commit before them. For each file that existed then, of a
held-out commit of 2 to 10 files, the others of the commit are what should be found among the first five.
"""

import argparse
import math
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from memory_bank.bank.note_files import open_history
from memory_bank.code.commits import CountedCommits, filter_counted
from memory_bank.code.coupled import LOW, RISKS, CoupledFile, Coupling, Similarity, file_words
from memory_bank.code.imports import Imports
from memory_bank.code.languages.base import detect_language
from memory_bank.code.parse import parsing
from memory_bank.git import repository as git_repository
from memory_bank.git.commits import PathPair

DEVELOPMENT = ("flask", "express", "ripgrep", "gson", "axios", "memory-bank")
"""Repositories on which the constants were chosen."""
MAX_FILES = 50
FIRST = 5
_MOST = 20_000
_MAX_BYTES = 1_000_000


class Repository(NamedTuple):
    """A repository as it was before the commits that are held out."""

    name: str
    history: CountedCommits
    texts: Mapping[str, str]
    files: frozenset[str]
    imports: Mapping[str, frozenset[str]]
    held_out: Sequence[frozenset[str]]
    """The files of each commit, under the names that they had before."""

    @property
    def queries(self) -> Iterator[tuple[str, frozenset[str]]]:
        """Yield files with those that should be found."""
        for commit in self.held_out:
            if 2 <= len(commit) <= 10:
                for file in sorted(commit & self.files):
                    yield file, commit - {file}


Ranking = Callable[[str], Sequence[str]]
Graded = Callable[[str], Sequence[CoupledFile]]


def repository(name: str, tree: Path) -> Repository:
    """Read a repository; raise ValueError if it can't be measured."""
    head = git_repository.read_head(tree)
    at = open_history(tree).at(head or "", seconds=600)
    listed = at.list_outlines(_MOST) if at else []
    if at is None or at.ends or len(listed) < 50:
        raise ValueError("it is no repository with its whole history")
    cut = len(listed) // 5
    changes = at.file_changes(1 << 40)
    rows = [(one, changes.get(one[0], ())) for one in listed]
    before = listed[cut][1]
    texts = dict(_texts(tree, before))
    files = frozenset(_paths(tree, before))
    return Repository(
        name,
        filter_counted(rows[cut:], MAX_FILES),
        texts,
        files,
        _imports(files, texts),
        list(_held_out(rows[:cut])),
    )


def recall(repository: Repository, ranking: Ranking) -> float:
    """Return the mean share of the files that are found among the first five."""
    known: dict[str, frozenset[str]] = {}
    shares = []
    for file, others in repository.queries:
        if file not in known:
            known[file] = frozenset(ranking(file)[:FIRST])
        shares.append(len(known[file] & others) / len(others))
    return sum(shares) / len(shares)


def by_confidence(repository: Repository) -> Ranking:
    """Rank by the share of a file's commits in which the other one is."""

    def ranking(file: str) -> list[str]:
        number: dict[str, int] = {}
        for commit in repository.history.of(file):
            for other in commit.files:
                number[other] = number.get(other, 0) + 1
        found = [other for other in number if other != file and other in repository.files]
        return sorted(found, key=lambda other: (-number[other], other))

    return ranking


def coupling(
    repository: Repository, *, imports: bool = True, likeness: bool = True, history: bool = True
) -> Graded:
    """Rank by the fused score, or without a part of it."""
    words = {path: file_words(path, text) for path, text in repository.texts.items()}
    return Coupling(
        repository.history if history else CountedCommits(),
        repository.files,
        imports=repository.imports if imports else {},
        likeness=Similarity(words) if likeness else None,
    ).of


def names_of(ranked: Graded) -> Ranking:
    return lambda file: [one.file for one in ranked(file)]


def risks(repositories: Sequence[Repository]) -> dict[str, tuple[int, int]]:
    """Count how often a file with a risk word is in a later commit of the other file.

    Of each file in held-out commits of at most MAX_FILES files: the pairs with a coupled file, and those
    of them that changed together.
    """
    found = dict.fromkeys((*(word for word, *_ in RISKS), LOW), (0, 0))
    for one in repositories:
        ranked = coupling(one)
        known: dict[str, Sequence[CoupledFile]] = {}
        for commit in one.held_out:
            for file in commit & one.files if len(commit) <= MAX_FILES else ():
                if file not in known:
                    known[file] = [pair for pair in ranked(file) if pair.support]
                for pair in known[file]:
                    pairs, both = found[pair.risk]
                    found[pair.risk] = pairs + 1, both + (pair.file in commit)
    return found


def table(repositories: Sequence[Repository]) -> str:
    """Return the table of one group of repositories."""
    parts = "without likeness | without imports | without commits"
    lines = [
        f"| repository | older commits | queries | can be found | confidence | fused | ratio | {parts} |",
        "|---|---|---|---|---|---|---|---|---|---|",
    ]
    ratios = []
    for one in repositories:
        plain = recall(one, by_confidence(one))
        parts = ({}, {"likeness": False}, {"imports": False}, {"history": False})
        whole, *rest = (recall(one, names_of(coupling(one, **without))) for without in parts)
        ratios.append(whole / plain)
        queries = list(one.queries)
        most = sum(len(others & one.files) / len(others) for _, others in queries) / len(queries)
        figures = " | ".join(f"{100 * value:.1f}" for value in rest)
        lines.append(
            f"| {one.name} | {len(one.history.commits):,} | {len(queries):,} | {100 * most:.0f} | {100 * plain:.1f}"
            f" | {100 * whole:.1f} | **{ratios[-1]:.2f}** | {figures} |"
        )
    mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
    lines.append(f"| geometric mean | | | | | | **{mean:.2f}** | | | |")
    return "\n".join(lines)


def _held_out(rows: Sequence[tuple[int, int, str, Sequence[PathPair]]]) -> Iterator[frozenset[str]]:
    """Yield the files of commits, oldest first, under their names before all of these."""
    former: dict[str, str] = {}
    for *_, changes in reversed(rows):
        yield frozenset(former.get(old or path, old or path) for old, path in changes)
        former |= {path: former.get(old, old) for old, path in changes if old}


def _paths(tree: Path, commit: str) -> list[str]:
    words = ("git", "-C", str(tree), "ls-tree", "-r", "-z", "--name-only", commit)
    listed = subprocess.run(words, capture_output=True, check=True).stdout
    return [name for name in listed.decode("utf-8", "replace").split("\0") if name]


def _texts(tree: Path, commit: str) -> Iterator[tuple[str, str]]:
    """Yield the files of a commit that are text, with their text."""
    words = ("git", "-C", str(tree), "cat-file", "--batch")
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        for path in _paths(tree, commit):
            process.stdin.write(f"{commit}:{path}\n".encode())
            process.stdin.flush()
            about = process.stdout.readline().split()
            if about[-1] == b"missing":
                continue
            data = process.stdout.read(int(about[2]) + 1)[:-1]
            if about[1] == b"blob" and b"\0" not in data[:8000] and len(data) <= _MAX_BYTES:
                yield path, data.decode("utf-8", "replace")


def _imports(files: frozenset[str], texts: Mapping[str, str]) -> dict[str, frozenset[str]]:
    """Map each file in a known language to the files that it imports."""
    imports, found = Imports(files, lambda path: texts.get(path, "")), {}
    for path, text in texts.items():
        language = detect_language(path, text.partition("\n")[0])
        if language is not None:
            parsed = parsing.parse(text.encode("utf-8", "replace"), language).imports
            found[path] = frozenset(
                file for one in parsed for file in imports.find_files(path, one)
            )
    return found


def _named(paths: Sequence[str]) -> dict[str, Path]:
    """Map the names of repositories, those of their folders, to their paths."""
    found = {}
    for path in map(Path, filter(None, paths)):
        if path.exists():
            found[path.absolute().name.removesuffix(".git")] = path
        else:
            print(f"skipped: {path} does not exist", file=sys.stderr)
    return found


def main(words: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("paths", nargs="*", metavar="REPOSITORY")
    given = parser.parse_args(words).paths
    named = _named(given or os.environ.get("MEMORY_BANK_REPOSITORIES", "").split(os.pathsep))
    read = []
    for name, path in named.items():
        try:
            read.append(repository(name, path))
        except ValueError as error:
            print(f"skipped: {path}: {error}", file=sys.stderr)
    for title, group in (
        ("Used for choosing the constants", [one for one in read if one.name in DEVELOPMENT]),
        ("Not used", [one for one in read if one.name not in DEVELOPMENT]),
    ):
        if group:
            print(f"{title}:\n\n{table(group)}\n")
            for word, (pairs, both) in risks(group).items():
                print(f"{word}: {both / max(1, pairs):.2f} of {pairs:,} pairs")
            print()
    if not read:
        print("skipped: name clones of repositories with their whole history")


if __name__ == "__main__":
    main()
