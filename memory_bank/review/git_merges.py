"""Tell git how to merge and show the notes of a bank, and finish conflicts that it left."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from memory_bank.bank import written_files
from memory_bank.bank.bank import Bank
from memory_bank.bank.written_files import FileEdit
from memory_bank.base.errors import BadInput, MemoryBankError, StorageFailed
from memory_bank.base.filenames import FOLDER, NOTE_SUFFIXES
from memory_bank.base.operation import operation, topic
from memory_bank.git import objects, process, repository
from memory_bank.memory.rules_block import FILE
from memory_bank.notes import names, parsing
from memory_bank.notes.characters import BOM
from memory_bank.notes.identity import hash_bytes
from memory_bank.notes.merging import conflicts, note_merge
from memory_bank.notes.merging.conflicts import ThreeWay
from memory_bank.notes.merging.note_merge import CannotMerge, MergedNote
from memory_bank.review import views
from memory_bank.review.records import GitSetting, GitSetup, Resolved

# Of a version of a note that git has.
_MOST_BYTES = 100_000_000

# Notes that may have one name before an error says so.
_MOST_NAMES = 1000

_BASE, _OURS, _THEIRS = "1", "2", "3"

MERGED, TWO_NOTES, LEFT = "merged", "two_notes", "left"


_Versions = ThreeWay[bytes | None]
"""The three versions of a note; None where a side does not have it."""


@operation(
    "git resolve",
    why="""
    After a merge, rebase, cherry-pick or `stash pop` with conflicts, merges the notes by section
    where that needs no decision, also if git merged them by lines. If both sides made a note of
    the same name with different texts, these become two notes: ours keeps the name, theirs gets
    the start of its id. Files that you have edited since stay as they are. The file before is
    copied to the trash, and git is not told: look at the notes, then `git add` them.

    The exit code is 1 if a conflict is left.
    """,
    examples=(("memory-bank git resolve", "after `git merge`"),),
    view=views.view_resolved,
)
def resolve(bank: Bank) -> tuple[Resolved, ...]:
    """Finish conflicts of notes that need no decision.

    Merge the notes that git left with conflicts, where that is possible without a decision.

    Two notes of one name, which both sides made, become two notes: ours keeps the name. A file that
    is no longer as git left it stays as it is. The file before is copied to the trash; git is not
    told, so that a person looks at it before `git add`. Raises BadInput outside a git work tree.
    """
    root = bank.layout.root
    tree = repository.find_worktree(root)
    if tree is None:
        raise BadInput(f"{root} is in no git repository", "there is nothing that git merged")
    bank.settings.check_enabled()
    merges = tuple(
        _resolve_note(bank, path, three_way) for path, three_way in _yield_unmerged(tree, root)
    )
    bank.catch_up()
    return merges


def _yield_unmerged(tree: Path, root: Path) -> Iterator[tuple[str, _Versions]]:
    """Yield the notes with conflicts, by their paths below the bank, with their versions."""
    folder_path = root.relative_to(tree).as_posix()
    words = ("ls-files", "--unmerged", "-z", "--full-name", "--", folder_path)
    output = process.run(tree, *words)
    if output is None:
        raise BadInput(
            repository.find_problem(root) or "git can't list conflicts", "try `git status`"
        )
    stages: dict[str, dict[str, str]] = {}
    for entry in filter(None, output.split("\0")):
        details, _, path = entry.partition("\t")
        _, object_id, stage = details.split()
        if objects.is_safe(path) and path.endswith(NOTE_SUFFIXES):
            stages.setdefault(path, {})[stage] = object_id
    object_ids = {
        object_id for path_stages in stages.values() for object_id in path_stages.values()
    }
    contents = dict(objects.read_blobs(tree, object_ids, _MOST_BYTES))
    prefix = "" if folder_path == "." else f"{folder_path}/"
    for path, path_stages in stages.items():
        versions = (contents.get(path_stages.get(stage, "")) for stage in (_BASE, _OURS, _THEIRS))
        yield path.removeprefix(prefix), _Versions(*versions)


def _resolve_note(bank: Bank, path: str, versions: _Versions) -> Resolved:
    """Resolve one note; a failure is its reason."""
    try:
        return _merge_note(bank, path, versions)
    except CannotMerge as error:
        return Resolved(path, LEFT, reason=str(error))
    except MemoryBankError as error:
        return Resolved(path, LEFT, reason=error.message)


def _merge_note(bank: Bank, path: str, versions: _Versions) -> Resolved:
    base, ours, theirs = versions
    if ours is None or theirs is None:
        missing = "ours" if ours is None else "theirs"
        return Resolved(path, LEFT, reason=f"{missing} deleted it: keep it or `git rm` it")
    now = bank.store.read_bytes(path)
    if not conflicts.find(now.decode(errors="replace")):
        return Resolved(path, LEFT, reason="it has no conflict any more: `git add` it")
    note = note_merge.merge(base or b"", ours, theirs)
    if not _is_untouched(now, versions, note):
        return Resolved(path, LEFT, reason="it was edited since: resolve the rest by hand")
    if note.are_two_notes:
        return _make_two_notes(bank, path, versions, hash_bytes(now))
    if not note.conflicts:
        _write_note(bank, path, note.data, hash_bytes(now))
        return Resolved(path, MERGED)
    count = note.conflicts
    return Resolved(path, LEFT, conflicts=count, reason="both sides changed the same place")


def _is_untouched(now: bytes, versions: _Versions, note: MergedNote) -> bool:
    """Tell whether a file is as a merge left it: labels and styles of markers differ.

    Its lines are those of the versions, and it has each of their lines that the merge keeps.
    """
    text = now.decode(errors="replace")
    marks = {marker for conflict in conflicts.find(text) for marker in conflict.markers}
    committed_lines = {line for data in versions if data for line in _split_lines(data)}
    kept_lines, lines = committed_lines & _split_lines(note.data), _split_lines(now)
    return kept_lines <= lines and lines - committed_lines - _split_lines(note.data) <= {
        marker.encode() for marker in marks
    }


def _split_lines(data: bytes) -> set[bytes]:
    return {line.removesuffix(b"\r") for line in data.removeprefix(BOM).split(b"\n")}


def _make_two_notes(bank: Bank, path: str, versions: _Versions, expected: str) -> Resolved:
    """Give ours the name and theirs another one."""
    ours, theirs = versions.ours or b"", versions.theirs or b""
    text = theirs.decode("utf-8-sig")
    new_path = _find_free_name(bank, path, parsing.front_matter(theirs).id)
    bank.store.create(new_path, text, caller_text=text)
    _write_note(bank, path, ours, expected)
    return Resolved(path, TWO_NOTES, new_path)


def _find_free_name(bank: Bank, path: str, key: str) -> str:
    """Return a free name for a note: with the start of its id, else with a number."""
    stem = names.name_of(path)
    ends = [key[:4]] if key[:4].isalnum() else []
    for end in (*ends, *range(2, _MOST_NAMES)):
        new = f"{stem}-{end}.md"
        if not bank.store.exists(new):
            return new
    raise BadInput(f"{_MOST_NAMES} notes are named like {path}", "rename some")


def _write_note(bank: Bank, path: str, data: bytes, expected: str) -> None:
    """Replace a note's text, after copying the file to the trash."""
    text = data.decode("utf-8-sig")
    bank.store.keep(path)
    bank.store.change(path, lambda _: text, expected, caller_text=text)


ATTRIBUTES = ".gitattributes"

DRIVER = "memory-bank"

_MERGE = f"merge.{DRIVER}.driver"

_NAME = f"merge.{DRIVER}.name"

_HEADINGS = f"diff.{DRIVER}.xfuncname"

_XFUNCNAME = "^ {0,3}#{1,6}[[:space:]].*$"

_LINES = tuple(f"*{suffix} merge={DRIVER} diff={DRIVER}" for suffix in NOTE_SUFFIXES)

_ANSWERED = 2
"""A larger exit code than 1, up to 128, tells that the driver did not run."""


@operation(
    "git check",
    why="""
    Shows the attributes that git has for the notes, and the settings of this clone. The exit code
    is 1 if something is missing or different.
    """,
    examples=(("memory-bank git check", "is the merge driver set?"),),
    view=views.view_git_setup,
)
def check(bank: Bank) -> GitSetup:
    """Tell whether git merges and shows notes by section here.

    Return what git has for the notes; raise BadInput outside a git work tree.
    """
    return _find_setup(bank.layout.root, _require_tree(bank))


@operation(
    "git install",
    why="""
    Names memory-bank as git's merge driver of the notes, and shows their headings in diffs. Two
    lines are added to .gitattributes in the folder of the notes, which you commit; three settings
    are written to this clone (.git/config), and a line by which AGENTS.md is merged, too
    (.git/info/attributes), which git never copies: every clone needs its own `git install`.
    Of two versions of the block of rules there, it makes one. Without it, and on servers, git
    merges the notes by lines, as any text.
    """,
    examples=(
        ("memory-bank git install", "in each clone"),
        ("git add .memories/.gitattributes", "then commit it"),
    ),
    view=views.view_git_installed,
)
def install(bank: Bank) -> GitSetup:
    """Let git merge and show notes by section in this clone.

    Write the lines of attributes for the notes, and the settings of this clone.

    Raises BadInput outside a git work tree, StorageFailed.
    """
    root, tree = bank.layout.root, _require_tree(bank)
    former_parts = {part.name: part for part in _find_setup(root, tree).parts}
    for file, ours in _list_attributes(root, tree).items():
        text = written_files.read_text(file)
        lines = (text or "").split("\n")
        if not former_parts[ATTRIBUTES].is_set or any(line not in lines for line in ours):
            kept_lines = _remove_lines(text or "", ours)
            end = len(kept_lines) - (
                not kept_lines[-1]
            )  # as before, the last line has a line end or none
            FileEdit(file, text, "\n".join([*kept_lines[:end], *ours, *kept_lines[end:]])).write()
    for key, value in _list_settings().items():
        if former_parts[key].value != value:
            _configure(tree, "--replace-all", key, value)
    return _find_changes(root, tree, former_parts)


@operation(
    "git uninstall",
    why="""
    Removes the lines of .gitattributes and the settings of this clone that `git install` wrote.
    """,
    examples=(("memory-bank git uninstall", "git merges by lines again"),),
    view=views.view_git_removed,
)
def uninstall(bank: Bank) -> GitSetup:
    """Remove what `git install` wrote.

    Remove what `install` wrote; raises as it does.
    """
    root, tree = bank.layout.root, _require_tree(bank)
    former_parts = {part.name: part for part in _find_setup(root, tree).parts}
    for file, ours in _list_attributes(root, tree).items():
        text = written_files.read_text(file)
        if text is not None and (remaining := "\n".join(_remove_lines(text, ours))) != text:
            FileEdit(file, text, remaining or None).write()
    for key in _list_settings():
        if process.run(tree, "config", "--local", "--get-all", key):
            _configure(tree, "--unset-all", key)
    return _find_changes(root, tree, former_parts)


def _find_changes(root: Path, tree: Path, former_parts: Mapping[str, GitSetting]) -> GitSetup:
    """Return what git has now, with the names of the parts that are not as before."""
    git_setup = _find_setup(root, tree)
    changed = (part.name for part in git_setup.parts if part != former_parts[part.name])
    return git_setup._replace(written=tuple(changed))


def _require_tree(bank: Bank) -> Path:
    tree = repository.find_worktree(bank.layout.root)
    if tree is None:
        raise BadInput(
            f"{bank.layout.root} is in no git repository", "git merges only what it tracks"
        )
    if problem := repository.find_problem(bank.layout.root):
        raise BadInput(problem, "git must be able to read its settings")
    return tree


def _list_attributes(root: Path, tree: Path) -> dict[Path, tuple[str, ...]]:
    """Map the files of attributes to our lines; raise BadInput for a link, which git ignores.

    What concerns AGENTS.md is in the clone: the file of the project's folder is not ours.
    """
    file = root / ATTRIBUTES
    if file.is_symlink():
        raise BadInput(f"{file} is a symbolic link, which git does not follow", "make it a file")
    lines_by_file, common = {file: _LINES}, repository.common_folder(tree)
    if (agents := _find_agents_file(root, tree)) and common:
        name = f"/{agents}"
        lines_by_file[common / "info/attributes"] = (f"{json.dumps(name)} merge={DRIVER}",)
    return lines_by_file


def _find_agents_file(root: Path, tree: Path) -> str:
    """Return the path of the file with the block of rules; empty for a bank in no project."""
    return f"{repository.tree_prefix(tree, root.parent)}{FILE}" if root.name == FOLDER else ""


def _remove_lines(text: str, ours: Sequence[str]) -> list[str]:
    r"""Return the lines that are not ours, without `\n`; the last one is empty after a line end."""
    return [line for line in text.split("\n") if line.removesuffix("\r") not in ours]


def _find_setup(root: Path, tree: Path) -> GitSetup:
    parts = (
        _check_attributes(root, tree),
        *(_check_setting(tree, *setting) for setting in _list_settings().items()),
    )
    return GitSetup(str(root), all(part.is_set for part in parts), parts)


def _check_attributes(root: Path, tree: Path) -> GitSetting:
    """Return what git's attributes say of a note, from whichever file they come."""
    notes = [(root.relative_to(tree) / f"note{suffix}").as_posix() for suffix in NOTE_SUFFIXES]
    agents = _find_agents_file(root, tree)
    words = ("--no-literal-pathspecs", "check-attr", "-z", "merge", "diff", "--", *notes)
    words += (agents,) if agents else ()
    fields = (process.run(tree, *words) or "").split("\0")
    rows = list(zip(fields[::3], fields[1::3], fields[2::3], strict=False))
    value = " ".join(f"{name}={value}" for path, name, value in rows if path == notes[0])
    wrong = [
        f"{path}: {name}={value}"
        for path, name, value in rows
        if value != DRIVER and (path, name) != (agents, "diff")
    ]
    expected = _LINES[0].partition(" ")[2]
    problem = f"it should be {expected}" if wrong or not rows else ""
    if problem and value.split() == expected.split():  # an older version knew fewer files
        problem = f"not for {wrong[0]}: run git install again"
    return GitSetting(ATTRIBUTES, value, not problem, problem)


def _list_settings() -> dict[str, str]:
    """Return the settings of the clone.

    If the program is gone, git merges the notes as it does without it: a driver that does not run
    would leave our side alone, without conflict markers.
    """
    program = " ".join(map(shlex.quote, written_files.find_program()))
    driver = (
        f"{program} merge-driver --marker-size=%L --ours=%X --theirs=%Y -- %O %A %B %P;"
        f" code=$?; test $code -lt {_ANSWERED} -o $code -gt 128 && exit $code;"
        " git merge-file --marker-size=%L -L ours -L base -L theirs %A %O %B"
    )
    return {_NAME: "merge notes by section", _MERGE: driver, _HEADINGS: _XFUNCNAME}


def _check_setting(tree: Path, key: str, text: str) -> GitSetting:
    value = (process.run(tree, "config", "--get", key) or "").removesuffix("\n")
    problem = ""
    if not value:
        problem = "it is not set in this clone"
    elif value != text:
        problem = "it has another value than this program writes"
    return GitSetting(key, value, not problem, problem)


def _configure(tree: Path, *words: str) -> None:
    """Change the settings of the clone, which its linked work trees share."""
    if process.run(tree, "config", "--local", *words) is None:
        raise StorageFailed(
            f"git could not write the settings of {tree}",
            "try: git config --local {key}",
            key=words[1],
        )


topic(
    "git",
    "Let git merge and show notes by section.",
    group="Review",
    why="""
    install tells git to merge notes with memory-bank; check shows whether it does; resolve
    finishes conflicts that a merge left.
    """,
    examples=(
        ("memory-bank git install", "in each clone"),
        ("memory-bank git resolve", "after a merge with conflicts"),
    ),
    options=True,
)
