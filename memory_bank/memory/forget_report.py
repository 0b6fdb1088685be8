"""What forgetting did, or would do, and the places that it can't reach."""

from __future__ import annotations

import mmap
import os
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from memory_bank.bank.bank import Bank
from memory_bank.bank.bank_id import former_ids
from memory_bank.base import NamedTuple, lazy_pattern, paths, with_schema_version
from memory_bank.base.errors import BadInput, MemoryBankError
from memory_bank.base.hit_view import Place, style_piece
from memory_bank.base.removed_text import RemovedText
from memory_bank.base.rendering import count
from memory_bank.base.screen import FAILED, FOUND, NOTHING, Call, Piece
from memory_bank.base.view import Block, View
from memory_bank.git import repository
from memory_bank.git.repository import repository_cache

_REMEMBERED = lazy_pattern(rb"([0-9a-f]{16}) \S* (.+)", re.DOTALL)
"""What is stored with the id of an index: the bank's id, and its folder."""

_HISTORY = "git history"

_KEPT = (
    "and so do remotes, clones and reviews with that commit: to remove it, rewrite the history (git"
    " filter-repo) and publish it again"
)


def add(run: Removal, *, removed: RemovedText | None = None, paths: Sequence[str] = ()) -> None:
    """Report the places beyond reach that may have a text, or notes at some paths."""
    if removed is not None:
        if removed.count(str(run.bank.layout.root)):
            run.left(str(run.bank.layout.root), "the path of the bank has the text")
        _add_remains(run, removed)
    _add_git(run, removed, paths)
    _add_other_banks(run)
    _add_other_state(run)
    embedder = run.bank.settings.memory.embedder
    if embedder == "http":
        run.left("the server of the embedder", "it was sent the texts of notes")
    run.left(
        "transcripts of agents' programs",
        "Claude Code, Codex, Gemini and others keep their own, in ~/.claude, ~/.codex, ~/.gemini",
    )
    run.left(
        "copies",
        "backups, other machines, the history of your shell, and what a model was told before",
    )


def _add_git(run: Removal, removed: RemovedText | None, paths: Sequence[str]) -> None:
    root = run.bank.layout.root
    tree = repository.find_worktree(root)
    if tree is None:
        return
    commit = repository.find_commit_of_text(tree, root, removed.text) if removed is not None else ""
    if commit:
        run.left(_HISTORY, f"commit {commit[:12]} has it, {_KEPT}")
        return
    changed = [place.place for place in run.places if place.kind == "note"]
    notes = {path for path in (*paths, *changed) if not run.bank.roots.is_private(path)}
    if commit == "" and not notes:
        return
    commit = (
        repository.find_commit_of_files(tree, [root / path for path in sorted(notes)])
        if notes
        else None
    )
    if commit:
        run.left(_HISTORY, f"commit {commit[:12]} has a version of a note that had it, {_KEPT}")
    elif commit is None:
        run.left(_HISTORY, "git did not say whether a commit has it")
    else:
        run.left("git objects", "what was staged with `git add` stays in .git until git removes it")


def _add_other_banks(run: Removal) -> None:
    """Report other folders whose banks share the private state: their notes and indices stay."""
    layout = run.bank.layout
    if layout.ids is None:
        return
    bank_id = run.bank.id.encode()
    for remembered in paths.read_all_remembered(layout.ids):
        match = _REMEMBERED.fullmatch(remembered)
        folder = Path(os.fsdecode(match[2])) if match and match[1] == bank_id else layout.root
        if folder != layout.root and folder.is_dir():
            run.left(
                str(folder),
                "another work tree or clone with its own notes and index: forget there, too",
            )


def _add_other_state(run: Removal) -> None:
    """Report what other commands keep: sessions of former ids, and the index of the code."""
    layout = run.bank.layout
    for former in former_ids(layout, run.bank.id):
        why = "it has sessions that this folder had under another id: `session recover`, then again"
        run.left(str(layout.state(former)), why)
    tree = repository.find_worktree(layout.root)
    code = repository_cache(tree) if tree else None
    if code is not None and (code / "parses.db").exists():
        why = "the index of the project's code may have what its files had: delete it if so"
        run.left(str(code), why)


def _add_remains(run: Removal, removed: RemovedText) -> None:
    """Look for the bytes of the text in all files of the bank and of the private state."""
    if run.dry_run:
        return
    for file in _yield_files(run):
        has_it = False
        with run.trying(str(file)):
            has_it = _has_bytes(file, removed.bytes)
        failed = [reach for reach in run.beyond if reach.failed and str(file).endswith(reach.place)]
        run.still = run.still or (has_it and bool(failed))
        if has_it and not any(str(file).endswith(reach.place) for reach in run.beyond):
            derived = file.is_relative_to(run.bank.layout.index)
            why = (
                "it has what is named here, such as names of files in git's history"
                if derived
                else "it has the text still"
            )
            place = str(run.bank.layout.index) if derived else str(file)
            run.left(place, why, failed=not derived)
            run.still = run.still or not derived


def _yield_files(run: Removal) -> Iterator[Path]:
    layout = run.bank.layout
    elsewhere = [] if layout.index.is_relative_to(layout.root) else [layout.index]
    for folder in (layout.root, run.state, *elsewhere):
        for where, below, names in os.walk(folder):
            below[:] = [name for name in below if name != ".git"]
            yield from (Path(where, name) for name in names)


def _has_bytes(file: Path, forms: Sequence[bytes]) -> bool:
    if file.is_symlink() or not file.is_file() or not file.stat().st_size:
        return False
    with file.open("rb") as stream, mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ) as data:
        return any(data.find(form) >= 0 for form in forms)


TEXT, NOTE, OBSERVATION, SESSION = "text", "note", "observation", "session"

REPLACED, REMOVED, RENAMED, REBUILT = "replaced", "removed", "renamed", "rebuilt"


@dataclass(frozen=True, slots=True)
class ForgottenPlace:
    """A place that had what is forgotten."""

    place: str
    """A note's path, or the name of another part."""
    kind: str
    """`note`, `trash`, `queue`, `log`, `leftover`, `index`."""
    count: int
    action: str
    """`replaced`, `removed`, `renamed` or `rebuilt`."""


class OutOfReach(NamedTuple):
    """A place that has it still, or may have it."""

    place: str
    reason: str
    failed: bool = False
    """Whether it should have been removed there, and could not be."""


@with_schema_version("1.0")
@dataclass(frozen=True, slots=True)
class Forgotten:
    """What was forgotten, and what is left to others."""

    kind: str
    """`text`, `note`, `observation` or `session`."""
    done: bool
    """False if nothing was changed, as in a dry run."""
    count: int
    """How often it was found, apart from the index."""
    places: tuple[ForgottenPlace, ...]
    beyond: tuple[OutOfReach, ...]
    still: bool = False
    """Whether a place that failed surely has it; else it may have it."""


class Removal:
    """One run: what it found so far. In a dry run nothing is changed."""

    def __init__(self, bank: Bank, kind: str, dry_run: bool) -> None:  # noqa: FBT001
        """Begin with nothing found."""
        self.bank, self.kind, self.dry_run = bank, kind, dry_run
        self.places: list[ForgottenPlace] = []
        self.beyond: list[OutOfReach] = []
        self.still = False
        """Whether a file that could not be changed surely has it."""

    @property
    def state(self) -> Path:
        """The bank's private state."""
        return self.bank.layout.state(self.bank.id)

    def found(self, place: str, kind: str, count: int, action: str = REMOVED) -> None:
        """Add a place that had it."""
        if count:
            self.places.append(ForgottenPlace(place, kind, count, action))

    def left(self, place: str, reason: str, *, failed: bool = False) -> None:
        """Add a place that has it still, or may have it; a failure replaces what was said first."""
        reach = next((row for row in self.beyond if row.place == place), None)
        if reach is None:
            self.beyond.append(OutOfReach(place, reason, failed))
        elif failed and not reach.failed:
            self.beyond[self.beyond.index(reach)] = OutOfReach(place, reason, failed)

    @contextmanager
    def trying(self, place: str) -> Iterator[None]:
        """Report an error and go on: the place still has what is forgotten."""
        try:
            yield
        except FileNotFoundError:
            pass  # another process was faster
        except OSError as error:
            self.left(place, f"it can't be read or changed: {error.strerror}", failed=True)
        except MemoryBankError as error:
            self.left(place, error.message, failed=True)

    def result(self) -> Forgotten:
        """Return the outcome of the run."""
        number = sum(place.count for place in self.places if place.kind != "index")
        return Forgotten(
            kind=self.kind,
            done=not self.dry_run,
            count=number,
            places=tuple(self.places),
            beyond=tuple(self.beyond),
            still=self.still,
        )


def view_forgotten(removal: Forgotten) -> View:
    """Tell what was forgotten, or would be, and where it may still be."""
    failures = [place for place in removal.beyond if place.failed]
    lines: list[Sequence[Piece | Place]] = []
    if failures:
        where = count(len(failures), "place")
        is_or_may = "is" if removal.still else "may be"
        text = f"the {removal.kind} {is_or_may} still here: {where} can't be read or changed"
        lines.append([(text, "warn")])
        lines += [["  ", (place.place, "place"), f": {place.reason}"] for place in failures]
    if not removal.count:
        lines.append([f"the {removal.kind} is nowhere {'else ' if failures else ''}here"])
    elif removal.done:
        lines.append([f"{'elsewhere, ' if failures else ''}forgot {_describe_removal(removal)}"])
    else:
        lines.append([f"found {_describe_removal(removal)}; nothing was changed"])
    lines += [*_place_lines(removal), ["beyond reach:"]]
    lines += [
        ["  ", (place.place, "place"), f": {place.reason}"]
        for place in removal.beyond
        if not place.failed
    ]
    found = FOUND if removal.count else NOTHING
    return View("", [Block(lines)], code=FAILED if failures else found)


def ask_to_remove(call: Call, removal: Forgotten) -> bool:
    """Show where something is, and ask whether to remove it; if it is nowhere, return True."""
    if not removal.count:
        return True
    if call.json or not call.interactive:
        raise BadInput(
            f"{_describe_removal(removal)} would be removed for good, "
            "but confirmation needs a terminal",
            "add --yes to forget without a question, or --dry-run to see where it is",
        )
    for line in _place_lines(removal):
        call.console.line(*(style_piece(call, piece) for piece in line))
    return call.confirm(f"Remove {_describe_removal(removal)} for good?")


def _describe_removal(removal: Forgotten) -> str:
    """Return what is forgotten, without quoting it."""
    places = sum(place.kind != "index" for place in removal.places)
    return f"the {removal.kind} ({count(removal.count, 'occurrence')} in {count(places, 'place')})"


def _place_lines(removal: Forgotten) -> Iterator[Sequence[Piece | Place]]:
    would = "" if removal.done else "would be "
    for place in removal.places if removal.count or removal.done else ():
        is_path = place.kind in ("note", "trash") and not place.place.startswith("/")
        where = Place(place.place) if is_path else (place.place, "place")
        number = "" if place.kind == "index" else f" {place.count}"
        yield [f"  {would}{place.action}{number}: ", where, f" ({place.kind})"]
