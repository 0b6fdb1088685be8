"""Links and references that lead nowhere, to several notes, or to a former name."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from contextlib import suppress
from itertools import islice

from memory_bank.bank.records import Edit, Finding
from memory_bank.base import lazy_pattern
from memory_bank.base.documents import Link
from memory_bank.base.errors import (
    BadInput,
    MemoryBankError,
    did_you_mean,
    differ_by_one_letter,
    without_one_letter,
)
from memory_bank.base.filenames import NOTE_SUFFIXES
from memory_bank.code.code_at import NOW
from memory_bank.code.index.work_tree import find_work_tree
from memory_bank.notes import front_matter
from memory_bank.notes.characters import BREAK
from memory_bank.notes.link_targets import path_names
from memory_bank.notes.links import plan_edits
from memory_bank.notes.names import file_link_name, lookup_key, name_of, strip_id_start
from memory_bank.notes.note import RELATIVE_KINDS
from memory_bank.review.rules.base import RuleContext, bank_rule, problem
from memory_bank.search.manifest import document_rows
from memory_bank.search.manifest.link_rows import all_links, find_problems, read_links_of
from memory_bank.trust.citations import find_target_spans, list_citations
from memory_bank.trust.records import Citation
from memory_bank.trust.stale import find_moved_citations


@bank_rule("warning", "a link leads to a missing heading or block")
def broken_link(bank: RuleContext) -> Iterator[Finding]:
    """Yield the broken links."""
    for row, text in bank.once(yield_broken):
        if not row.ambiguous:
            yield problem(row.source_key, row.line, text)


def yield_broken(bank: RuleContext) -> Iterator[tuple[Link, str]]:
    """Yield the broken and the ambiguous links, each with its problem."""
    rows = bank.once(read_links)
    for row, message in zip(rows, find_problems(bank.manifest, rows), strict=True):
        if message:
            yield row, message


def read_links(bank: RuleContext) -> list[Link]:
    """Return the links of the bank, or of the notes whose findings are wanted."""
    if bank.paths is None:
        return all_links(bank.manifest)
    return read_links_of(bank.manifest, bank.paths)


_FIX_AMBIGUOUS_LINK = "write the path of the note that is meant"


@bank_rule("warning", "a link may mean several notes")
def ambiguous_link(bank: RuleContext) -> Iterator[Finding]:
    """Yield the ambiguous links, each with the notes that it may mean."""
    for row, text in bank.once(yield_broken):
        if row.ambiguous:
            yield problem(row.source_key, row.line, text, _FIX_AMBIGUOUS_LINK)


_NO_FILE = lazy_pattern(r"[*?\[\0]|://|\A[A-Za-z]:|\A/|\A\.\.?(?:/|\Z)")
"""Patterns, URLs, and paths outside the project, which are not checked."""

_PLAIN = lazy_pattern(r"[\w./-]+(?:[#:][\w.-]+)?")
"""Paths that are written in front matter as they are."""

_INSIDE = lazy_pattern(r"[#:].*", re.DOTALL)
"""A line or a heading after a file's name."""


@bank_rule("warning", "a file in file_refs does not exist", fixes=True)
def missing_file_ref(bank: RuleContext) -> Iterator[Finding]:
    """Yield the references to missing files, with the new name if git moved the file."""
    if not bank.layout.prefix:
        return  # a bank without a project: the location of its files is unknown
    missing = list(_yield_missing(bank))
    fixes = {
        (citation.path, citation.target): citation.fix for citation in bank.once(_yield_moved_code)
    }
    moved = bank.moved({file for _, _, file in missing}, bank.layout.project)
    for path, written, former_file in missing:
        file, inside = moved.get(former_file), _INSIDE.search(written)
        new = fixes.get((path, written)) or (
            f"{file}{inside[0] if inside else ''}" if file else None
        )
        text = "which git moved" if new else "which does not exist"
        line = _find_line(bank.text(path) or "", written)
        message = f"file_refs names {written}, {text}"
        edits = _edit_citation(bank, path, 1, written, new)
        yield problem(path, line, message, new, edits=edits)


MOVED_CODE = "moved-code"
"""The rule of what a review and `stale` say themselves."""


@bank_rule("warning", "a link names code that was moved or renamed", fixes=True)
def moved_code(bank: RuleContext) -> Iterator[Finding]:
    """Yield the citations of code that is in another place, with that."""
    missing = {(path, written) for path, written, _ in bank.once(_yield_missing)}
    for citation in bank.once(_yield_moved_code):
        line, note = citation.line, bank.note(citation.path)
        above = note is not None and line <= note.text.count("\n", 0, note.body_start)
        if above and (citation.path, citation.target) in missing:
            continue  # a missing-file-ref
        text = f"names {citation.target}, which was {citation.state}"
        edits = _edit_citation(bank, citation.path, citation.line, citation.target, citation.fix)
        yield problem(citation.path, line, text, citation.fix, words=citation.target, edits=edits)


def _yield_moved_code(bank: RuleContext) -> Iterator[Citation]:
    """Yield the citations of code that is in another place, or has another name, in the work tree.

    At a revision there are none: a review lists what a change does to citations.
    """
    if bank.tree is None or bank.layout.listed() is not None:
        return
    notes = None if bank.paths is None else document_rows.find_numbers(bank.manifest, bank.paths)
    with suppress(MemoryBankError):
        citations = list_citations(
            bank.manifest, bank.bank, find_work_tree(bank.layout.project), notes
        )
        yield from (
            citation
            for citation in find_moved_citations(bank.bank, citations, end=NOW)
            if citation.moved
        )


def _edit_citation(
    bank: RuleContext, path: str, line: int, written: str, new: str | None
) -> tuple[Edit, ...] | None:
    """Return the change of a citation, if it is written once, and needs no quotes."""
    note = bank.note(path)
    if note is None or not new or not _PLAIN.fullmatch(new) or not _PLAIN.fullmatch(written):
        return None
    places = find_target_spans(note.text, note.body_start, line, written)
    if len(places) != 1:
        return None
    return (Edit(places[0][0], written, new),)


def _yield_missing(bank: RuleContext) -> Iterator[tuple[str, str, str]]:
    """Yield the references to missing files: the note, what it writes, the file in the project."""
    exists: dict[str, bool] = {}
    for path, references in document_rows.yield_data(bank.manifest, "file_refs"):
        for written in references:
            file = posixpath.normpath(file_link_name(str(written), bank.layout))
            if file not in exists:
                outside = any(map(_NO_FILE.search, (str(written), file)))
                exists[file] = outside or _exists(bank, file)
            if not exists[file]:
                yield path, str(written), _INSIDE.sub("", file)


def _exists(bank: RuleContext, file: str) -> bool:
    """Tell whether a file or a note has this name, with or without its line or heading."""
    names = {file, _INSIDE.sub("", file)}
    places = (place for name in names for place in (name, f"{bank.layout.prefix}{name}"))
    return any(map(bank.layout.project_has, places))


def _find_line(text: str, written: str) -> int:
    """Return the line of a reference in the front matter."""
    parts = front_matter.split(text)
    lines = BREAK.split(parts.opening + parts.block)
    return next((number for number, line in enumerate(lines, 1) if written in line), 1)


_REFERENCE = "reference"


@bank_rule("warning", "a link leads to a note's former name", fixes=True)
def moved_link(bank: RuleContext) -> Iterator[Finding]:
    """Yield the links to ghosts that were the name of a note before git moved it."""
    for row, old, new in bank.once(_yield_moved_links):
        text = f"leads to {old}, which git moved to {new}"
        target = write_target(bank, row, new)
        edits = _edit_link(bank, row, target)
        yield problem(row.source_key, row.line, text, target, words=row.target, edits=edits)


def _yield_moved_links(bank: RuleContext) -> Iterator[tuple[Link, str, str]]:
    """Yield the links to former names, each with the former path and the new one."""
    prefix = bank.layout.prefix
    ghosts = [
        (row, lookup_key(name_of(row.ghost.removeprefix(prefix))))
        for row in bank.once(read_links)
        if row.ghost and not row.ambiguous and row.kind != _REFERENCE
    ]
    if not ghosts:
        return
    former = _find_former_paths(bank, {name for _, name in ghosts})
    moved = bank.moved_notes(set(former.values()))
    for row, name in ghosts:
        old = former.get(name, "")
        if new := moved.get(old):
            yield row, old, new


def _edit_link(bank: RuleContext, row: Link, target: str) -> tuple[Edit, ...] | None:
    """Return the changes that give a link its new target; None if it can't have that."""
    note = bank.note(row.source_key)
    if note is None:
        return None
    lines = row.line, row.target
    try:
        link_edits = plan_edits(
            note.text,
            lambda link: target if (link.line, link.target) == lines else None,
            note.body_start,
        )
    except BadInput:
        return None
    return tuple(Edit(at, note.text[at:end], new) for (at, end), new in link_edits.items()) or None


def _find_former_paths(bank: RuleContext, names: set[str]) -> dict[str, str]:
    """Map names to the former paths of the notes that had them, if only one had."""
    present = set(bank.files)
    paths_by_name: dict[str, dict[int, set[str]]] = {}
    for path in bank.committed():
        if path.endswith(NOTE_SUFFIXES) and path not in present:
            for name, rank in path_names(path, ()):
                if name in names:
                    paths_by_name.setdefault(name, {}).setdefault(rank, set()).add(path)
    best = {name: paths[min(paths)] for name, paths in paths_by_name.items()}
    return {name: next(iter(paths)) for name, paths in best.items() if len(paths) == 1}


def write_target(bank: RuleContext, row: Link, new: str) -> str:
    """Return a link's new target."""
    if row.kind in RELATIVE_KINDS:
        here = posixpath.dirname(bank.roots.place(row.source_key))
        return posixpath.relpath(bank.roots.place(new), here or ".")
    return name_of(new)


_SHORTEST, _LONGEST = 5, 100
"""Characters of a name from which on another letter is a mistake rather than another name, and up
to which it is looked for."""

_NUMBERED = lazy_pattern(r"(?:.*/)?[^\W\d_]+[-_ ]?\d+(?=[-_ ])")

_MOST = 5_000
"""Names of ghosts that are compared: all their forms are in memory."""


@bank_rule("warning", "a link's target is nearly the name of a note")
def mistyped_link(bank: RuleContext) -> Iterator[Finding]:
    """Yield the links to ghosts that nearly have the name of a note, with that name."""
    ghosts = {row: name for row in bank.once(read_links) if (name := _find_name(bank, row))}
    for row, _, _ in bank.once(_yield_moved_links):
        ghosts.pop(row, None)  # git tells the new name of these
    near = _find_near_notes(bank, set(ghosts.values())) if ghosts else {}
    for row, name in ghosts.items():
        paths = sorted(near.get(name, set()) - {row.source_key})
        if not paths:
            continue
        text = f"leads to no note{did_you_mean(paths)}"
        target = write_target(bank, row, paths[0]) if len(paths) == 1 else None
        yield problem(row.source_key, row.line, f"{row.target!r} {text}", target, words=row.target)


def _find_name(bank: RuleContext, row: Link) -> str:
    """Return the name of the note that a link may mean; empty if it leads to something else."""
    ambiguous = not row.ghost or row.ambiguous or row.kind == "reference" or ":" in row.ghost
    if ambiguous or any(map(bank.layout.project_has, row.files(bank.roots.place(row.source_key)))):
        return ""
    return lookup_key(row.ghost.removeprefix(bank.layout.prefix))


def _find_near_notes(bank: RuleContext, ghost_names: set[str]) -> dict[str, set[str]]:
    """Map names to the paths of the notes whose names are that near."""
    reduced: dict[str, set[str]] = {}
    for name in islice(filter(_fits, sorted(ghost_names)), _MOST):
        for shorter in without_one_letter(name):
            reduced.setdefault(shorter, set()).add(name)
    near_names: dict[str, set[str]] = {}
    for path, title, _ in document_rows.read_titles(bank.manifest):
        names = {text for text, _ in path_names(path, ())} | {lookup_key(title)}
        for near_name in names:
            for stem in {strip_id_start(near_name), _leading_number(near_name)} & ghost_names - {
                near_name
            }:
                near_names.setdefault(stem, set()).add(path)
            for shorter in without_one_letter(near_name) if _fits(near_name) else ():
                for name in reduced.get(shorter, ()):
                    if differ_by_one_letter(name, near_name):
                        near_names.setdefault(name, set()).add(path)
    return near_names


def _leading_number(name: str) -> str:
    """Return the number with which a name begins, such as `spec-10` of `spec-10 one index`."""
    match = _NUMBERED.match(name)
    return match[0] if match else ""


def _fits(name: str) -> bool:
    return _SHORTEST <= len(name) <= _LONGEST
