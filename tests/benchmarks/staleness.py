"""Measure how well stale citations are found in real histories.

python -m tests.benchmarks.staleness REPOSITORY…          (or MEMORY_BANK_REPOSITORIES, with ':' between)

Clones, bare or not, with their whole history. The history of first parents is cut into windows of equal length;
further windows reach from older commits to the newest. At the start of each, a note for each file of code cites
each of its functions, methods and classes; a merge brings these notes to the end, as a pull request does. What
became of each definition, and which commits did it, is said by `definitions`, which doesn't use the project's parser.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from functools import cache
from itertools import pairwise
from pathlib import Path

from memory_bank.bank.bank import open_bank
from memory_bank.trust.records import Citation
from memory_bank.trust.stale import stale
from tests.benchmarks.definitions import SUFFIXES, Definition, definitions_in
from tests.git.history_builder import run as git

WINDOWS = 40
SHARES = (0.5, 0.75, 0.85, 0.9, 0.95)
"""Where in the history of first parents the windows up to the newest commit start."""
KINDS = (
    "as written", "reformatted", "moved", "renamed", "in several new places", "changed", "gone",
)  # fmt: skip
STALE = {"changed", "touched", "gone"}
"""The states of code that is another: these notes name nothing, so that a change only touches them."""
Place = tuple[str, str]
"""A path, and the name of a definition."""


@cache
def in_blob(folder: Path, blob: str, suffix: str) -> dict[str, Definition] | None:
    """Return the definitions of a blob; none for the id of no blob, None if it can't be read."""
    return definitions_in(git(folder, "cat-file", "blob", blob), suffix) if blob.strip("0") else {}


def definitions(folder: Path, commit: str) -> tuple[dict[Place, Definition], set[str]]:
    """Return the definitions of a commit, tests and examples too, and the files that can't be read."""
    found, unreadable = {}, set()
    for row in git(folder, "ls-tree", "-r", commit).splitlines():
        about, path = row.split("\t")
        if path.endswith(SUFFIXES) and " blob " in about:
            inside = in_blob(folder, about.split()[2], Path(path).suffix)
            if inside is None:
                unreadable.add(path)
            found.update({(path, name): one for name, one in (inside or {}).items()})
    return found, unreadable


def truth(
    old: dict[Place, Definition], new: dict[Place, Definition]
) -> Iterator[tuple[Place, str, set[str]]]:
    """Yield definitions with what became of them, and the targets where they may be now."""
    fresh = {place: one for place, one in new.items() if place not in old}
    by_code: dict[str, set[Place]] = {}
    by_nameless: dict[str, set[Place]] = {}
    for place, one in fresh.items():
        by_code.setdefault(one.code, set()).add(place)
        by_nameless.setdefault(one.nameless, set()).add(place)
    for place, one in old.items():
        now = new.get(place)
        if now:
            same = "as written" if now.written == one.written else "reformatted"
            yield place, same if now.code == one.code else "changed", set()
            continue
        moved = by_code.get(one.code, set())
        renamed = by_nameless.get(one.nameless, set())
        targets = {f"{path}#{name}" for path, name in moved or renamed}
        kind = "moved" if moved else "renamed" if renamed else "gone"
        yield place, "in several new places" if len(targets) > 1 else kind, targets


def changing(folder: Path, start: str, end: str, place: Place) -> set[str] | None:
    """Return the commits, merges aside, that changed a definition; None if a version can't be read."""
    path, name = place
    words = ("log", "--no-merges", "--raw", "--no-abbrev", "--no-renames", "--format=%H")
    commit, found = "", set()
    for row in git(folder, *words, f"{start}..{end}", "--", path).splitlines():
        if not row.startswith(":"):
            commit = row or commit
            continue
        before, after = (in_blob(folder, blob, Path(path).suffix) for blob in row.split()[2:4])
        if before is None or after is None:
            return None
        if code_of(before.get(name)) != code_of(after.get(name)):
            found.add(commit)
    return found


def code_of(one: Definition | None) -> str:
    """Return the code of a definition; empty if there is none."""
    return one.code if one else ""


def brought(
    source: Path, folder: Path, ends: tuple[str, str], old: dict[Place, Definition]
) -> None:
    """Clone a repository, commit notes at the start of a window, and merge them into its end."""
    start, end = ends
    subprocess.run(["git", "clone", "-q", "--shared", str(source), str(folder)], check=True)
    git(folder, "checkout", "-q", "--detach", start)
    by_file: dict[str, list[str]] = {}
    for path, name in old:
        by_file.setdefault(path, []).append(name)
    for path, names in by_file.items():
        note = folder / ".memories" / f"on-{path.replace('/', '-')}.md"
        note.parent.mkdir(exist_ok=True)
        note.write_text("".join(f"## {name}\n\nSee [[{path}#{name}]].\n\n" for name in names))
    git(folder, "add", "-Af", ".memories")
    git(folder, "commit", "-qm", "Notes")
    notes = git(folder, "rev-parse", "HEAD").strip()
    git(folder, "checkout", "-q", "--detach", end)
    git(folder, "merge", "-q", "-s", "ours", "--no-commit", notes)
    git(folder, "checkout", notes, "--", ".memories")
    git(folder, "commit", "-qm", "Merge")


def found_by(
    source: Path, ends: tuple[str, str], old: dict[Place, Definition]
) -> tuple[dict[str, Citation], float]:
    """Return what the project says of each target, and in how many seconds."""
    with tempfile.TemporaryDirectory() as home:
        folder = Path(home) / "clone"
        brought(source, folder, ends, old)
        with open_bank(folder / ".memories", settings={"memory.embedder": "none"}) as bank:
            bank.sync()
            started = time.perf_counter()
            report = stale(bank)
            return {one.target: one for one in report.citations}, time.perf_counter() - started


def measured(source: Path, ends: tuple[str, str]) -> tuple[Counter[str], list[str]]:
    """Return the numbers of one window, and the disagreements."""
    (old, _), (new, unreadable) = definitions(source, ends[0]), definitions(source, ends[1])
    old = {place: one for place, one in old.items() if place[0] not in unreadable}
    numbers, wrong = Counter[str](), list[str]()
    by_target, seconds = found_by(source, ends, old) if old else ({}, 0.0)
    numbers["ms"] = round(seconds * 1000)
    for place, kind, targets in truth(old, new):
        one = by_target.get("#".join(place))
        if one is None or one.state == "unknown":
            numbers["unread"] += 1
            wrong.append(f"unread {kind} {'#'.join(place)}")
            continue
        numbers[kind] += 1
        numbers[f"{kind} stale"] += one.stale
        numbers[f"{kind} found"] += bool(one.fix and one.fix in targets)
        said = f"{kind} {'#'.join(place)}: {one.state} {one.fix or ''}"
        if one.stale != (kind in STALE) and kind != "in several new places":
            wrong.append(said)
        if kind == "changed" and one.stale:
            commits = {commit.id for commit in one.commits}
            by_oracle = changing(source, *ends, place)
            numbers["commits known"] += by_oracle is not None
            numbers["commits"] += commits == by_oracle
            if by_oracle is not None and commits != by_oracle:
                wrong.append(f"commits {said} {sorted(commits ^ by_oracle)}")
    return numbers, [f"{source.parent.name} {ends[0][:10]}..{ends[1][:10]} {one}" for one in wrong]


def windows(source: Path) -> list[tuple[str, str]]:
    """Return the first and last commits of the windows."""
    line = git(source, "rev-list", "--first-parent", "--reverse", "HEAD").split()
    cuts = [line[number * (len(line) - 1) // WINDOWS] for number in range(WINDOWS + 1)]
    starts = [line[int(share * (len(line) - 1))] for share in SHARES]
    return [*pairwise(cuts), *((start, line[-1]) for start in starts)]


def main() -> None:
    """Print a table for each repository."""
    parser = argparse.ArgumentParser(description=__doc__)
    given = os.environ.get("MEMORY_BANK_REPOSITORIES", "")
    parser.add_argument(
        "repositories", nargs="*", type=Path, default=[Path(p) for p in given.split(":") if p]
    )
    parser.add_argument("--wrong", action="store_true", help="list the disagreements")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    options = parser.parse_args()
    os.environ["XDG_CACHE_HOME"] = tempfile.mkdtemp()
    os.environ["XDG_STATE_HOME"] = tempfile.mkdtemp()
    for repository in options.repositories:
        n = Counter[str]()
        ends = windows(repository)
        with ProcessPoolExecutor(options.jobs) as pool:
            for numbers, wrong in pool.map(measured, [repository] * len(ends), ends):
                n += numbers
                for one in wrong if options.wrong else ():
                    print(one, file=sys.stderr, flush=True)
        name = repository.parent.name if repository.name == "repo" else repository.name
        print(f"\n{name}: {n['ms'] / 1000:.0f} s, {n['unread']} not read\n")
        print(
            "| what became of the symbols | symbols | called stale | new place offered | the right commits |"
        )
        print("|---|---|---|---|---|")
        for kind in KINDS:
            offered = f"{n[f'{kind} found']:,}" if kind in KINDS[2:5] else ""
            commits = f"{n['commits']:,} of {n['commits known']:,}" if kind == "changed" else ""
            print(f"| {kind} | {n[kind]:,} | {n[f'{kind} stale']:,} | {offered} | {commits} |")


if __name__ == "__main__":
    main()
