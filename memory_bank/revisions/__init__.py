"""Open a bank as of another revision: a copy from git, with its own index in the user's cache."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from memory_bank import config
from memory_bank.bank import Bank, Conditions
from memory_bank.config import Settings
from memory_bank.errors import BadInput, BadSetting
from memory_bank.filenames import QUERIES, SETTINGS
from memory_bank.layout import Layout
from memory_bank.repo import git_objects
from memory_bank.repo.commit_history import CommitHistory
from memory_bank.repo.git_objects import STAGED, Revision
from memory_bank.revisions import revision_files, slots
from memory_bank.revisions.copied_files import CopiedFiles
from memory_bank.revisions.copied_roots import CopiedIncludes, CopiedRoot, CopiedRoots, Listing
from memory_bank.revisions.copy_layout import CopyLayout, project_in
from memory_bank.revisions.revision_files import Wanted

__all__ = [
    "STAGED", "Revision", "bank_at", "notes_at", "revision_of", "settings_at", "tree_of",
    "unreadable",
]  # fmt: skip

_MOST_SETTINGS = 1_000_000
"""Maximum bytes of a file of settings."""
_BAD_SETTINGS = "the settings of that revision can't be read: those of today are used"


@contextmanager
def bank_at(
    bank: Bank,
    rev: str,
    *,
    required: bool = False,
    otherwise: Settings | None = None,
    left_out: Collection[str] = (),
) -> Iterator[Bank]:
    """Open a bank as of a revision: a commit, tag, branch or `HEAD~3`, or "staged".

    It can be read like any bank, and not be changed. The bank itself is left alone: no access is
    counted, and no file of it is touched. Notes of sessions in the private state are not in it, nor
    those whose paths are `left_out`.
    If the revision's own settings can't be read, its settings are `otherwise`, or else those of
    today, and their `problems` say why. Raises BadInput if there is no such revision, or, if notes
    are `required`, if it has none.
    """
    place = bank.layout.origin
    tree = tree_of(bank)
    revision = git_objects.revision_of(tree, rev)
    own = revision_files.bank_files(tree, place, revision)
    if required and not (own.blobs or own.refused):
        raise _no_notes(tree, bank, revision)
    wanted, settings = _with_included(bank, revision, own, otherwise)
    wanted = wanted._replace(
        blobs={
            path: one
            for path, one in wanted.blobs.items()
            if path.removeprefix(place.prefix) not in left_out
        }
    )
    commit = "" if revision.staged else revision.commit
    with slots.held(place, wanted.blobs, commit) as slot:
        names = partial(revision_files.project_names, tree, place, revision)
        files = CopiedFiles(slot, project_in(slot))
        layout = CopyLayout(slot, place, names, commit)
        layout.root.mkdir(parents=True, exist_ok=True)
        files.update(tree, wanted, commit, settings.memory.max_note_bytes)
        settings = _settings(bank, layout.root, otherwise)  # they name their file now
        roots = _roots(layout, files, revision, settings)
        conditions = Conditions(progress=bank.progress)
        with Bank(layout, settings, conditions=conditions, roots=roots) as copy:
            copy.revision, copy.edits_of = revision, bank
            if otherwise is None and unreadable(settings):
                copy.add_notice(_BAD_SETTINGS)
            _fill(copy, [place.index, *slots.indices(place, but=slot)])
            slots.filled(slot)
            yield copy


def notes_at(bank: Bank, rev: str) -> dict[str, str]:
    """Return the object ids of the notes of a revision by their paths; raise as `bank_at`."""
    place = bank.layout.origin
    revision = revision_of(bank, rev)
    own = revision_files.bank_files(tree_of(bank), place, revision)
    wanted, _ = _with_included(bank, revision, own, None)
    others = {f"{place.prefix}{name}" for name in (SETTINGS, QUERIES)}
    return {
        path.removeprefix(place.prefix): one
        for path, one in wanted.blobs.items()
        if path not in others
    }


def _with_included(
    bank: Bank, revision: Revision, own: Wanted, otherwise: Settings | None
) -> tuple[Wanted, Settings]:
    """Add the included files to the files of a bank; return the settings that include them."""
    tree, place = tree_of(bank), bank.layout.origin
    with _settings_file(tree, place, own) as folder:
        settings = _settings(bank, folder, otherwise)
    more = revision_files.included_files(tree, place, revision, settings.memory.include)
    return Wanted({**more.blobs, **own.blobs}, {**more.refused, **own.refused}), settings


def tree_of(bank: Bank) -> Path:
    """Return the work tree of a bank's repository; raise BadInput outside git."""
    return revision_files.work_tree_of(bank.layout.origin)


def settings_at(place: Layout, rev: str) -> Settings:
    """Return the settings of today, but with the bank's file as of a revision; raise BadSetting.

    Raises BadInput if there is no such revision.
    """
    tree = revision_files.work_tree_of(place)
    wanted = revision_files.bank_files(tree, place, git_objects.revision_of(tree, rev))
    with _settings_file(tree, place, wanted) as folder:
        return config.load(folder)


def unreadable(settings: Settings) -> bool:
    """Tell whether settings are not those of the bank's file, since that can't be read."""
    return any(not one.ignored for one in settings.problems)


def revision_of(bank: Bank, rev: str) -> Revision:
    """Return the revision of a name; raise BadInput if there is none."""
    return git_objects.revision_of(tree_of(bank), rev)


def _fill(copy: Bank, others: list[Path]) -> None:
    """Index what changed, and embed all of it: answers must not depend on the time.

    Vectors come from the indices of the bank and of other copies, if they have them.
    """
    copy.read(lambda view: view.index.retrievers.borrow(others))
    report = copy.read(lambda view: view.index.indexer.sync(thorough=False))
    if report.waiting:
        copy.sync()


def _roots(
    place: CopyLayout, files: CopiedFiles, revision: Revision, settings: Settings
) -> CopiedRoots:
    """Return the folders of notes of a copy."""
    prefix, origin = place.prefix, place.origin
    listing = {
        path: one for path, one in files.files.items() if path.endswith((".md", ".markdown"))
    }

    def part(*, bank: bool) -> Listing:
        def own(found: dict[str, str]) -> dict[str, str]:
            return {
                path.removeprefix(prefix) if bank else path: one
                for path, one in found.items()
                if path.startswith(prefix) == bank
            }

        return Listing(own(listing), own(files.refused), revision.when)

    history = CommitHistory(
        origin.root, lambda: place.index / "commits.db", (".",), revision.commit
    )
    root = CopiedRoot(place.root, part(bank=True), history)
    paths = settings.memory.include
    if not (prefix and paths):
        return CopiedRoots(root, prefix)
    cache = place.index / "commits-included.db"
    outside = CommitHistory(origin.project, lambda: cache, paths, revision.commit)
    others = CopiedIncludes(place.project, paths, part(bank=False), outside, prefix.rstrip("/"))
    return CopiedRoots(root, prefix, others)


@contextmanager
def _settings_file(tree: Path, place: Layout, wanted: Wanted) -> Iterator[Path]:
    """Yield a folder that has the file of settings of a revision, if that has one."""
    with TemporaryDirectory(prefix="memory-bank-") as folder:
        one = wanted.blobs.get(place.prefix + SETTINGS)
        for _, data in git_objects.blobs(tree, [one] if one else [], _MOST_SETTINGS):
            Path(folder, SETTINGS).write_bytes(data)
        yield Path(folder)


def _settings(bank: Bank, folder: Path, otherwise: Settings | None) -> Settings:
    """Return the settings of today on this machine, with those in a folder of notes.

    What decides whether and how texts are embedded stays as it is, and so do limits. See `bank_at`
    for `otherwise`.
    """
    now = bank.settings
    try:
        then = bank.settings_in(folder)
    except BadSetting:
        return (otherwise or now)._replace(problems=config.problems(folder))
    memory = then.memory._replace(
        enabled=now.memory.enabled,
        embedder=now.memory.embedder,
        storage_strategy=now.memory.storage_strategy,
        max_note_bytes=min(now.memory.max_note_bytes, then.memory.max_note_bytes),
        writable_includes=(),
    )
    return then._replace(memory=memory, embedders=now.embedders)


def _no_notes(tree: Path, bank: Bank, revision: Revision) -> BadInput:
    first = revision_files.first_commit(tree, bank.layout.origin)
    hint = "its first commit is {first}" if first else "commit its notes"
    what = "is staged" if revision.staged else f"was in it at {revision.asked}"
    known = revision.staged or revision.commit.startswith(revision.asked)
    commit = "" if known else f" (commit {revision.commit[:12]})"
    return BadInput(f"{bank.layout.root}: no note {what}{commit}", hint, first=first)
