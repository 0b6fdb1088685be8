"""Links to no note whose target is one letter, or the start of an id, away from a note's name."""

from collections.abc import Iterator
from itertools import islice

from memory_bank.lint.base import Context, Place
from memory_bank.lint.broken_link import links
from memory_bank.lint.moved_link import former_names, written_target
from memory_bank.manifest import documents
from memory_bank.manifest.link_table import LinkRow
from memory_bank.notes.link_targets import path_names
from memory_bank.notes.names import key, without_id_start
from memory_bank.similar_names import differ_by_one_letter, without_one_letter

SUMMARY = "a link leads to no note, but its target is nearly the name of one"
SEVERITY = "warning"
_SHORTEST, _LONGEST = 5, 100
"""Characters of a name from which on another letter is a mistake rather than another name, and up
to which it is looked for."""
_MOST = 5_000
"""Names of ghosts that are compared: all their forms are in memory."""


def check(bank: Context) -> Iterator[Place]:
    """Yield the links to ghosts that nearly have the name of a note, with that name."""
    ghosts = {row: name for row in bank.once(links) if (name := _name(bank, row))}
    for row in former_names(bank):
        ghosts.pop(row, None)  # git tells the new name of these
    near = _near(bank, set(ghosts.values())) if ghosts else {}
    for row, name in ghosts.items():
        paths = sorted(near.get(name, set()) - {row.source_key})
        if not paths:
            continue
        what = f"leads to no note, but is nearly the name of {' and '.join(paths)}"
        target = written_target(bank, row, paths[0]) if len(paths) == 1 else None
        yield Place(row.source_key, row.line, f"{row.target!r} {what}", target, words=row.target)


def _name(bank: Context, row: LinkRow) -> str:
    """Return the name of the note that a link may mean; empty if it leads to something else."""
    other = not row.ghost or row.ambiguous or row.kind == "reference" or ":" in row.ghost
    if other or bank.layout.project_has(row.ghost):
        return ""
    return key(row.ghost.removeprefix(bank.layout.prefix))


def _near(bank: Context, wanted: set[str]) -> dict[str, set[str]]:
    """Map names to the paths of the notes whose names are that near."""
    reduced: dict[str, set[str]] = {}
    for name in islice(filter(_fits, sorted(wanted)), _MOST):
        for less in without_one_letter(name):
            reduced.setdefault(less, set()).add(name)
    found: dict[str, set[str]] = {}
    for path, title, _ in documents.titles(bank.manifest):
        names = {one for one, _ in path_names(path, ())} | {key(title)}
        for one in names:
            stem = without_id_start(one)
            if stem in wanted and stem != one:
                found.setdefault(stem, set()).add(path)
            for less in without_one_letter(one) if _fits(one) else ():
                for name in reduced.get(less, ()):
                    if differ_by_one_letter(name, one):
                        found.setdefault(name, set()).add(path)
    return found


def _fits(name: str) -> bool:
    return _SHORTEST <= len(name) <= _LONGEST
