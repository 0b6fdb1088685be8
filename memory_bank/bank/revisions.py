"""Open a bank as of another revision, or as in a fresh clone at a commit."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from memory_bank.bank import copies, note_files
from memory_bank.bank.bank import Bank, Conditions
from memory_bank.bank.copies import (
    CopiedRoot,
    CopiedRoots,
    CopyLayout,
    WantedFiles,
    bank_files,
    project_names,
)
from memory_bank.base import settings
from memory_bank.base.errors import BadInput, BadSetting
from memory_bank.base.filenames import SETTINGS
from memory_bank.base.paths import Layout
from memory_bank.base.settings import Settings
from memory_bank.git import objects
from memory_bank.git.file_commits import FileCommits
from memory_bank.git.objects import Revision
from memory_bank.notes.roots import IncludedRoot

_MOST_SETTINGS = 1_000_000
"""Maximum bytes of a file of settings."""

_BAD_SETTINGS = "the settings of that revision can't be read: those of today are used"


@contextmanager
def bank_at(
    bank: Bank,
    rev: str,
    *,
    required: bool = False,
    left_out: Collection[str] = (),
    by_meaning: bool = True,
) -> Iterator[Bank]:
    """Open a bank as of a revision: a commit, tag, branch or `HEAD~3`, or "staged".

    It can be read like any bank, and not be changed. The bank itself is left alone: no access is
    counted, and no file of it is touched. Notes of sessions in the private state are not in it, nor
    those whose paths are `left_out`. Without `by_meaning`, no text is embedded.
    If the revision's own settings can't be read, its settings are those of today, and their
    `problems` say why. Raises BadInput if there is no such revision, or, if notes
    are `required`, if it has none.
    """
    place = bank.layout.origin
    tree = find_tree(bank)
    revision = objects.find_revision(tree, rev)
    own = bank_files(tree, place, revision)
    if required and not (own.blobs or own.refused):
        raise _no_notes(tree, bank, revision)
    files, settings = _add_included(bank, revision, own)
    files = files._replace(
        blobs={
            path: blob
            for path, blob in files.blobs.items()
            if path.removeprefix(place.prefix) not in left_out
        }
    )
    commit = "" if revision.staged else revision.commit
    limit = settings.memory.max_note_bytes
    vectors = place.index / "vectors" if by_meaning else None
    with copies.hold_copy(place, tree, files, revision.when, limit, vectors) as slot:
        names = partial(project_names, tree, place, revision)
        layout = CopyLayout(slot, place, names, commit)
        layout.root.mkdir(parents=True, exist_ok=True)
        settings = _settings(bank, layout.root)  # they name their file now
        if not by_meaning:
            settings = settings._replace(memory=settings.memory._replace(embedder="none"))
        roots = _roots(layout, copies.read_refused(slot), revision, settings)
        conditions = Conditions(progress=bank.progress)
        with Bank(layout, settings, conditions=conditions, roots=roots) as copy:
            copy.revision, copy.edits_of = revision, bank
            if _is_unreadable(settings):
                copy.add_notice(_BAD_SETTINGS)
            _fill(copy)
            copies.mark_indexed(slot)
            yield copy


def notes_at(bank: Bank, rev: str) -> dict[str, str]:
    """Return the object ids of the notes of a revision by their paths; raise as `bank_at`."""
    place = bank.layout.origin
    revision = find_revision(bank, rev)
    own = copies.bank_files(find_tree(bank), place, revision)
    files, _ = _add_included(bank, revision, own)
    return {
        path.removeprefix(place.prefix): blob
        for path, blob in files.blobs.items()
        if path != f"{place.prefix}{SETTINGS}"
    }


def _add_included(bank: Bank, revision: Revision, own: WantedFiles) -> tuple[WantedFiles, Settings]:
    """Add the included files to the files of a bank; return the settings that include them."""
    tree, place = find_tree(bank), bank.layout.origin
    with _settings_file(tree, place, own) as folder:
        settings = _settings(bank, folder)
    more = copies.included_files(tree, place, revision, settings.memory.include)
    return WantedFiles({**more.blobs, **own.blobs}, {**more.refused, **own.refused}), settings


def find_tree(bank: Bank) -> Path:
    """Return the work tree of a bank's repository; raise BadInput outside git."""
    return copies.find_work_tree(bank.layout.origin)


def _is_unreadable(settings: Settings) -> bool:
    """Tell whether settings are not those of the bank's file, since that can't be read."""
    return any(not setting_problem.ignored for setting_problem in settings.problems)


def find_revision(bank: Bank, rev: str) -> Revision:
    """Return the revision of a name; raise BadInput if there is none."""
    return objects.find_revision(find_tree(bank), rev)


def _fill(copy: Bank) -> None:
    """Index what changed, and embed all of it: answers must not depend on the time."""
    report = copy.read(lambda view: view.index.indexer.sync(thorough=False))
    if report.waiting:
        copy.sync()


def _roots(
    place: CopyLayout, refused: Mapping[str, str], revision: Revision, settings: Settings
) -> CopiedRoots:
    """Return the folders of notes of a copy."""
    prefix, origin = place.prefix, place.origin
    shared = note_files.open_history
    history = FileCommits(origin.root, shared, commit=revision.commit)
    below = {path.removeprefix(prefix): reason for path, reason in refused.items()}
    root = CopiedRoot(place.root, history, below)
    paths, is_bundle = settings.memory.include, note_files.is_bundle(settings)
    if not (prefix and paths):
        return CopiedRoots(root, prefix, is_bundle=is_bundle)
    outside = FileCommits(origin.project, shared, paths, commit=revision.commit)
    included_root = IncludedRoot(
        place.project,
        paths,
        bank=prefix.rstrip("/"),
        origin="the settings of that revision",
        history=outside,
        optional=True,
    )
    return CopiedRoots(root, prefix, included_root, is_bundle=is_bundle)


@contextmanager
def _settings_file(tree: Path, place: Layout, files: WantedFiles) -> Iterator[Path]:
    """Yield a folder that has the file of settings of a revision, if that has one."""
    with TemporaryDirectory(prefix="memory-bank-") as folder:
        blob = files.blobs.get(place.prefix + SETTINGS)
        for _, data in objects.read_blobs(tree, [blob] if blob else [], _MOST_SETTINGS):
            Path(folder, SETTINGS).write_bytes(data)
        yield Path(folder)


def _settings(bank: Bank, folder: Path) -> Settings:
    """Return the settings of today on this machine, with those in a folder of notes.

    What decides whether and how texts are embedded stays as it is, and so do limits.
    """
    now = bank.settings
    try:
        then = bank.settings_in(folder)
    except BadSetting:
        return now._replace(problems=settings.list_problems(folder))
    memory = then.memory._replace(
        enabled=now.memory.enabled,
        embedder=now.memory.embedder,
        storage_strategy=now.memory.storage_strategy,
        max_note_bytes=min(now.memory.max_note_bytes, then.memory.max_note_bytes),
    )
    return then._replace(memory=memory, embedders=now.embedders)


def _no_notes(tree: Path, bank: Bank, revision: Revision) -> BadInput:
    first = copies.first_commit(tree, bank.layout.origin)
    hint = "its first commit is {first}" if first else "commit its notes"
    text = "is staged" if revision.staged else f"was in it at {revision.asked}"
    staged = revision.staged or revision.commit.startswith(revision.asked)
    commit = "" if staged else f" (commit {revision.commit[:12]})"
    return BadInput(f"{bank.layout.root}: no note {text}{commit}", hint, first=first)
