"""Findings of the lint rules in a bank, in some of its notes, or in files without an index."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from memory_bank.actions.editor.texts import note_path
from memory_bank.bank import Bank, View
from memory_bank.config import Settings
from memory_bank.errors import BadInput, MemoryBankError
from memory_bank.filenames import NOTE_SUFFIXES
from memory_bank.hints import Hint
from memory_bank.lint.base import (
    SEVERITIES,
    Context,
    Finding,
    Rule,
    Severity,
    chosen,
    findings,
    note_findings,
    order,
)
from memory_bank.lint.base import rules as all_rules
from memory_bank.notes.decoding import decode
from memory_bank.notes.note_text import NoteText
from memory_bank.similar_names import did_you_mean, similar_names

__all__ = [
    "SEVERITIES", "Chosen", "Finding", "RuleShown", "Severity", "choose", "fails", "in_files",
    "lint", "lint_text", "listed",
]  # fmt: skip

_MOST_BYTES = 100_000_000


class Chosen(NamedTuple):
    """The files that somebody named."""

    notes: tuple[str, ...]
    """Paths of notes of the bank."""
    others: tuple[Path, ...]
    """Files that are no notes of it."""


class RuleShown(NamedTuple):
    """A rule as it is listed."""

    rule: str
    severity: Severity
    """By the settings."""
    summary: str
    disabled: bool
    fixes: bool
    """Whether some of its findings have a change that fixes them."""
    needs_index: bool


def lint(
    bank: Bank, paths: Collection[str] | None = None, rules: Collection[str] = ()
) -> tuple[Finding, ...]:
    """Update the index, and return the findings in a bank, the most severe first.

    `paths` are those of notes to which the findings are limited; `rules` the names of the rules to
    run, by default all that the settings don't disable. Raises BadInput for an unknown rule.
    """
    check_rules(rules)
    bank.catch_up()
    bank.read(lambda view: view.index.indexer.refresh())  # moves in git

    def asked(view: View) -> list[Finding]:
        context = Context(bank.layout, bank.settings, bank.store, view.manifest, paths)
        return findings(context, rules)

    return tuple(bank.read(asked))


def in_files(
    files: Iterable[tuple[str, Path]], settings: Settings, rules: Collection[str] = ()
) -> tuple[Finding, ...]:
    """Return what the rules that need one text only find in files, without an index.

    Each file has the path by which its findings name it. Raises BadInput for an unknown rule.
    """
    check_rules(rules)
    some = [rule for rule in chosen(settings, rules) if rule.check_note]
    return tuple(
        sorted(
            (one for path, file in files for one in _of_file(path, file, settings, some)), key=order
        )
    )


def _of_file(path: str, file: Path, settings: Settings, some: Sequence[Rule]) -> list[Finding]:
    if not file.is_file():  # a link may lead to a device or a pipe, whose end never comes
        return [Finding("unindexed", "error", path, 1, "can't be read: it is no plain file")]
    try:
        with file.open("rb") as opened:
            data = opened.read(_MOST_BYTES)
        text = decode(data).text
    except OSError as error:
        return [Finding("unindexed", "error", path, 1, f"can't be read: {error.strerror}")]
    except MemoryBankError as error:
        return [Finding("unindexed", "error", path, 1, error.message)]
    return list(note_findings(NoteText(path, text, len(data)), settings, some))


def lint_text(path: str, text: str, settings: Settings) -> tuple[Finding, ...]:
    """Return what the rules that need one text only find in a note's text."""
    note = NoteText(path, text, len(text.encode("utf-8", "replace")))
    return tuple(sorted(note_findings(note, settings, chosen(settings)), key=order))


def choose(bank: Bank | None, names: Iterable[str]) -> Chosen:
    """Return the files that names lead to from the working directory; raise BadInput.

    A folder stands for the Markdown files below it, hidden ones left out.
    """
    notes: dict[str, None] = {}
    others: dict[Path, None] = {}
    for name in names:
        start = Path(os.path.abspath(name))  # noqa: PTH100  (links are not resolved)
        if not start.exists():
            raise BadInput(f"there is no file {name!r}", "give paths of files or folders")
        for file in _below(start) if start.is_dir() else (start,):
            path = note_path(bank, str(file)) if bank else ""
            if path:
                notes[path] = None
            else:
                others[file] = None
    return Chosen(tuple(notes), tuple(others))


def _below(folder: Path) -> Iterator[Path]:
    for place, folders, files in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        yield from (Path(place, name) for name in sorted(files) if name.endswith(NOTE_SUFFIXES))


def check_rules(names: Collection[str]) -> None:
    """Raise BadInput for a name that is no rule's."""
    known = all_rules() if names else {}
    for name in names:
        if name not in known:
            near = did_you_mean(similar_names(name, known))
            raise BadInput(f"there is no rule {name!r}{near}", Hint.LIST_RULES)


def listed(settings: Settings) -> tuple[RuleShown, ...]:
    """Return all rules."""
    disabled = settings.lint.disable
    return tuple(
        RuleShown(
            one.name,
            one.severity,
            one.summary,
            one.name in disabled,
            one.fixes,
            one.check is not None,
        )
        for one in chosen(settings, all_rules())
    )


def fails(worst: str | None, fail_on: str) -> bool:
    """Tell whether the highest severity of findings is `fail_on` or above; `never`: it is not."""
    if worst is None or fail_on == "never":
        return False
    severities: Sequence[str] = SEVERITIES
    return severities.index(worst) <= severities.index(fail_on)
