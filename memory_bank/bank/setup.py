"""Create a bank, and find what a project has that it may include."""

from __future__ import annotations

import os
import posixpath
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from memory_bank.bank import note_files, written_files
from memory_bank.bank.config_file import change_file, set_setting
from memory_bank.bank.written_files import RULES
from memory_bank.base import lazy_pattern, paths, settings
from memory_bank.base.errors import BadInput, MemoryBankError, StorageFailed
from memory_bank.base.filenames import FOLDER, NOTE_SUFFIXES, find_bank_above, why_outside
from memory_bank.base.paths import Layout, link_error, user_bank_folder
from memory_bank.git import repository
from memory_bank.notes import decision_records, parsing
from memory_bank.notes.storage import files

_RECORDS = "decision records"

_INSTRUCTIONS = "instructions for agents"

_KINDS = {
    "CLAUDE.md": _INSTRUCTIONS,
    "AGENTS.md": _INSTRUCTIONS,
    "GEMINI.md": _INSTRUCTIONS,
    ".github/copilot-instructions.md": _INSTRUCTIONS,
    ".github/instructions": _INSTRUCTIONS,
    "constitution.md": "the project's constitution",
    ".specify/memory/constitution.md": "the project's constitution",
    ".claude/rules": "rules of Claude Code",
    ".claude/agent-memory": "memories of Claude Code's subagents",
    ".cursor/rules": "rules of Cursor",
    ".windsurf/rules": "rules of Windsurf",
    ".clinerules": "rules of Cline",
    "memory-bank": "Cline's memory bank",
    ".kiro/steering": "steering of Kiro",
    ".serena/memories": "memories of Serena",
}
"""Files and folders that programs of agents keep in a project."""

_DECISIONS = ("adr", "adrs", "decisions", "architecture/decisions", "architecture/adr")
"""Folders of decision records, in `docs` or `doc`."""

_FOLDERS = (
    *(f"{above}/{name}" for above in ("docs", "doc") for name in _DECISIONS), "adr", "adrs",
)  # fmt: skip

_MOST_FOLDERS, _MOST_READ, _MOST_RECORD_BYTES = 5, 5, 200_000
"""Folders of decision records that are offered, the files of one that are read, their size."""

_EXAMPLES = lazy_pattern(
    r"(?:^|[-_/])(?:tests?|fixtures?|examples?|samples?|templates?|vendor|node_modules)\b"
)
"""In a path of folders whose records are not the project's own."""

_VAULT = ".obsidian"


@dataclass(frozen=True, slots=True)
class MadeBank:
    """A bank that exists now."""

    bank: str
    created: tuple[str, ...]
    """New files."""
    included: tuple[str, ...] = ()
    """What the bank's settings include of the project."""
    found: tuple[IncludeCandidate, ...] = ()
    """What they could include, too."""


@dataclass(frozen=True, slots=True)
class IncludeCandidate:
    """A folder or a file of a project that its bank could include."""

    path: str
    """Relative to the project."""
    notes: int
    """Markdown files in it."""
    kind: str = ""
    """What it is; empty for other Markdown."""


def init(
    folder: str | Path | None = None, *, user: str = "", include: Sequence[str] = ()
) -> MadeBank:
    """Create `.memories` in a folder (the working directory), or the user's own bank of a name.

    With the setting `storage_strategy = "user"`, a project's bank is a user bank with the project's
    name. Its settings then have the paths `include`, too. Other existing files are not changed.
    Raises BadName, BadInput for a path that can't be included, NoBank for a `.memories` that is a
    symbolic link, StorageFailed.
    """
    place = Path(folder or Path.cwd()).resolve()
    user = user or _strategy(place, folder)
    root = user_bank_folder(user) if user else place / FOLDER
    if root.is_symlink() and not user:
        raise link_error(root, root)
    if user and include:
        raise BadInput(f"the bank {user!r} is in no project: it includes nothing", _NO_INCLUDE)
    paths = [_path_below(place, path) for path in include]
    created = _make(root)
    if user:
        return MadeBank(str(root), created)
    if paths:
        _include(root / "config.toml", paths)
    former_include = settings.load(root).memory.include
    return MadeBank(str(root), created, former_include, find_candidates(place))


_NO_INCLUDE = "make one in the project, or leave out what to include"


def find_enclosing_bank(folder: str | Path | None = None) -> str:
    """Return the bank of the project that a folder is part of, but not the root; else nothing.

    A project ends where its git work tree ends.
    """
    place = Path(folder or Path.cwd()).resolve()
    if (place / FOLDER).exists() or _strategy(place, folder):
        return ""
    text, tree = find_bank_above(str(place)), repository.find_worktree(place)
    if text is None or (tree is not None and not Path(text).is_relative_to(tree)):
        return ""
    return text


def find_candidates(folder: str | Path | None = None) -> tuple[IncludeCandidate, ...]:
    """Return what a project has that its bank could include, and does not."""
    place = Path(folder or Path.cwd()).resolve()
    home = place / FOLDER
    include = settings.load(home if home.is_dir() else None).memory.include
    covered = [posixpath.normpath(path) for path in include]
    records = _records(place)
    visible = [
        path
        for path in dict.fromkeys((*_vaults(place), *_KINDS, *_FOLDERS, *records))
        if os.path.lexists(place / path)
        and not any(covers_folder(parent, path) for parent in covered)
        and not _is_written(place / path)
    ]
    includable = note_files.list_includable(Layout(home, home), visible) if visible else ()
    counts = {path: sum(covers_folder(path, file) for file in includable) for path in visible}
    return tuple(
        IncludeCandidate(
            path, count, _KINDS.get(path, _RECORDS if path in {*records, *_FOLDERS} else "")
        )
        for path, count in counts.items()
        if count
        and not any(
            covers_folder(other_count, path)
            for other_count in counts
            if counts[other_count] and other_count != path
        )
    )


def _is_written(path: Path) -> bool:
    """Tell whether a file, or each file of a folder, has rules that this program writes there.

    They are in notes already.
    """
    pending = [path]
    if path.is_dir():
        pending = [file for file in path.rglob("*") if file.suffix in NOTE_SUFFIXES]
    return bool(pending) and all(f"<!-- {RULES}" in (_text(file) or "") for file in pending)


def _text(file: Path) -> str | None:
    try:
        return written_files.read_text(file)
    except MemoryBankError:
        return None


def _records(place: Path) -> list[str]:
    """Return the folders of decision records that git does not ignore, the largest first."""
    tree = repository.find_worktree(place)
    not_ignored = repository.list_not_ignored(tree, place, ["."]) if tree else ()
    folders = Counter[str]()
    inside: dict[str, list[str]] = {}
    for path in sorted(map(os.fsdecode, not_ignored or ())):
        folder, name = posixpath.split(path)
        if not name.endswith(NOTE_SUFFIXES) or _EXAMPLES.search(folder):
            continue
        if not path.startswith(f"{FOLDER}/") and decision_records.is_numbered(name):
            folders[folder] += 1
            inside.setdefault(folder, []).append(path)
    numbered = [
        folder or "."
        for folder, _ in folders.most_common()
        if posixpath.basename(folder).lower() in decision_records.FOLDERS
        or _are_records(place, inside[folder][:_MOST_READ])
    ]
    return numbered[:_MOST_FOLDERS]


def _are_records(place: Path, paths: Sequence[str]) -> bool:
    """Tell whether most of several files are decision records: a review may read like one."""
    total = sum(_is_record(place, path) for path in paths)
    return total > 1 and total * 2 > len(paths)


def _is_record(place: Path, path: str) -> bool:
    """Tell whether a file is a decision record with a usual status, or with what was decided."""
    try:
        data = files.read_in(place, path) or b""
        note = parsing.parse(path, data[:_MOST_RECORD_BYTES])
    except MemoryBankError:
        return False
    status = note.meta.status
    return note.meta.type == "decision" and (not status or status in decision_records.USUAL)


def _strategy(place: Path, folder: str | Path | None) -> str:
    """Return the name of the user's bank that the settings want for a project; empty if none."""
    by_user = folder is None and settings.load().memory.storage_strategy == "user"
    return paths.project_name(place) if by_user else ""


def _make(root: Path) -> tuple[str, ...]:
    fields = {root / ".gitignore": paths.GITIGNORE, root / "config.toml": settings.make_template()}
    created = []
    try:
        files.make_folder(root)
    except OSError as error:
        raise StorageFailed(f"{root} can't be created: {error.strerror}") from error
    for file, text in fields.items():
        if not file.exists():
            files.replace(file, text.encode(), files.ABSENT)
            created.append(str(file))
    return tuple(created)


def _path_below(place: Path, path: str) -> str:
    """Return a path to include as the settings have it; raise BadInput."""
    whole = Path(path).expanduser()
    if whole.is_absolute() and whole.is_relative_to(place):
        path = whole.relative_to(place).as_posix()
    if reason := why_outside(path):
        raise BadInput(f"{path!r} can't be included: it {reason}", "name a path of the project")
    path = posixpath.normpath(path)
    if not os.path.lexists(place / path):
        raise BadInput(f"there is no {path!r} in {place}", "name a folder or a Markdown file of it")
    if path == FOLDER or path.startswith(f"{FOLDER}/"):
        raise BadInput(f"{path!r} is in the bank already", "leave it out")
    if not (place / path).is_dir() and not path.endswith(NOTE_SUFFIXES):
        raise BadInput(
            f"{path!r} is no Markdown file", f"its name must end in {', '.join(NOTE_SUFFIXES)}"
        )
    return path


def _include(file: Path, paths: Sequence[str]) -> None:
    """Add paths to the bank's settings; the rest of the file is unchanged."""
    settings.load(file.parent)  # raises BadSetting
    former_include = settings.read_file(file)[1].get("memory", {}).get("include", ())
    fromkeys = list(dict.fromkeys((*former_include, *paths)))
    change_file(file, lambda text: set_setting(text, "memory", "include", fromkeys))


def _vaults(place: Path) -> Iterator[str]:
    """Yield the vaults of Obsidian: the project itself, or folders in it."""
    if (place / _VAULT).is_dir():
        yield "."
    try:
        below = sorted(path.name for path in place.iterdir() if not path.name.startswith("."))
    except OSError:
        return
    for name in below:
        if (place / name / _VAULT).is_dir():
            yield name


def covers_folder(folder: str, path: str) -> bool:
    """Tell whether an included folder includes another path; hidden folders are not included."""
    if path == folder:
        return True
    rest = path if folder == "." else path.removeprefix(f"{folder}/")
    inside = folder == "." or rest != path
    return inside and not any(part.startswith(".") for part in rest.split("/"))
