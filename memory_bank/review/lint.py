"""Findings of the lint rules in a bank, in some of its notes, or in files; and their fixes."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated

from memory_bank.bank.bank import Bank, note_path
from memory_bank.bank.records import SEVERITIES, Edit, Finding, order
from memory_bank.base.errors import (
    BadInput,
    Hint,
    MemoryBankError,
    NoBank,
    did_you_mean,
    similar_names,
)
from memory_bank.base.filenames import NOTE_SUFFIXES
from memory_bank.base.operation import FailOn, Param, operation
from memory_bank.base.rendering import count
from memory_bank.base.screen import FINDINGS, FOUND, Call, show_place
from memory_bank.base.settings import Settings, load
from memory_bank.memory.move_and_merge import merge
from memory_bank.notes import front_matter
from memory_bank.notes.characters import decode
from memory_bank.notes.parsing import NoteText
from memory_bank.review.rules.base import (
    Rule,
    RuleContext,
    choose_rules,
    findings,
    list_settings,
    note_findings,
)
from memory_bank.review.rules.base import rules as all_rules
from memory_bank.search.index import IndexView

# Of a file that is no note of the bank.
_MOST_BYTES = 100_000_000


def lint(
    bank: Bank,
    paths: Collection[str] | None = None,
    rules: Collection[str] = (),
    without: Collection[str] = (),
) -> tuple[Finding, ...]:
    """Update the index, and return the findings in a bank, the most severe first.

    `paths` are those of notes to which the findings are limited; `rules` the names of the rules to
    run, by default all that the settings don't disable; `without` of those to leave out. Raises
    BadInput for an unknown rule.
    """
    check_rules(rules)
    bank.catch_up()
    bank.read(lambda view: view.index.indexer.refresh())  # moves in git

    def list_findings(view: IndexView) -> list[Finding]:
        return findings(RuleContext(bank, view, paths, searches=True), rules, without)

    return tuple(bank.read(list_findings))


def lint_files(
    files: Iterable[tuple[str, Path]], settings: Settings, rules: Collection[str] = ()
) -> tuple[Finding, ...]:
    """Return what the rules that need one text only find in files, without an index.

    Each file has the path by which its findings name it. Raises BadInput for an unknown rule.
    """
    check_rules(rules)
    file_rules = [rule for rule in choose_rules(settings, rules) if rule.check_note]
    return tuple(
        sorted(
            (
                finding
                for path, file in files
                for finding in _lint_file(path, file, settings, file_rules)
            ),
            key=order,
        )
    )


def _lint_file(path: str, file: Path, settings: Settings, rules: Sequence[Rule]) -> list[Finding]:
    why = "can't be read: it is no plain file"
    try:
        if file.is_file():  # a link may lead to a device or a pipe, whose end never comes
            with file.open("rb") as opened:
                data = opened.read(_MOST_BYTES)
            note = NoteText(path, decode(data).text, len(data))
            return list(note_findings(note, settings, rules))
    except OSError as error:
        why = f"can't be read: {error.strerror}"
    except MemoryBankError as error:
        why = error.message
    return [Finding("unindexed", "error", path, 1, why)]


def choose_files(bank: Bank | None, names: Iterable[str]) -> tuple[list[str], list[Path]]:
    """Return the notes, by path, and the other files to which names lead; raise BadInput.

    A folder stands for the Markdown files below it, hidden ones left out.
    """
    notes: dict[str, None] = {}
    files: dict[Path, None] = {}
    for name in names:
        start = Path(os.path.abspath(name))  # noqa: PTH100  (links are not resolved)
        if not start.exists():
            raise BadInput(f"there is no file {name!r}", "give paths of files or folders")
        for file in _walk_folder(start) if start.is_dir() else (start,):
            path = note_path(bank, str(file)) if bank else ""
            if path:
                notes[path] = None
            else:
                files[file] = None
    return [*notes], [*files]


def _walk_folder(folder: Path) -> Iterator[Path]:
    for root, folders, files in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        yield from (Path(root, name) for name in sorted(files) if name.endswith(NOTE_SUFFIXES))


def check_rules(names: Collection[str]) -> None:
    """Raise BadInput for a name that is no rule's."""
    rules = all_rules() if names else {}
    for name in names:
        if name not in rules:
            near = did_you_mean(similar_names(name, rules))
            raise BadInput(f"there is no rule {name!r}{near}", Hint.LIST_RULES)


def is_failure(worst: str | None, fail_on: str) -> bool:
    """Tell whether the highest severity of findings is `fail_on` or above; `never`: it is not."""
    if worst is None or fail_on == "never":
        return False
    severities: Sequence[str] = SEVERITIES
    return severities.index(worst) <= severities.index(fail_on)


# A fix may make another one possible; five end in any case.
_ROUNDS = 5


def fix_all(bank: Bank, find: Callable[[], Iterable[Finding]]) -> tuple[list[Finding], list[str]]:
    """Apply the changes of all findings that have some, until none is left.

    Return these findings, and why changes were refused, each with the note's path.

    Of a note, only the characters of the changes are replaced, and only where the text is still the
    one in which they were found. Notes with the same content are merged into the oldest.
    """
    repaired: list[Finding] = []
    refused: dict[str, None] = {}
    for _ in range(_ROUNDS):
        findings_of_round = _fix_findings(bank, list(find()), refused)
        repaired += findings_of_round
        if not findings_of_round:
            break
    return repaired, list(refused)


def _fix_findings(
    bank: Bank, open_findings: list[Finding], refused: dict[str, None]
) -> list[Finding]:
    """Make the changes of findings, note by note; return those whose changes were made."""
    repaired: list[Finding] = []
    by_path: dict[str, list[Finding]] = {}
    for finding in open_findings:
        if finding.edits:
            by_path.setdefault(finding.path, []).append(finding)
    for path, path_findings in by_path.items():
        try:
            repaired += _edit_note(bank, path, path_findings)
        except MemoryBankError as error:
            refused[f"{path}: {error.message}"] = None
    for finding in open_findings:
        if finding.merge_into and finding.path not in by_path and finding.merge_into not in by_path:
            try:
                text = bank.store.read(finding.merge_into).text
                body = front_matter.split(text).body
                merge(bank, [finding.merge_into, finding.path], finding.merge_into, body)
                repaired.append(finding)
            except MemoryBankError as error:
                refused[f"{finding.path}: {error.message}"] = None
    return repaired


def _edit_note(bank: Bank, path: str, path_findings: list[Finding]) -> list[Finding]:
    """Make the changes of one note's text, at once; return the findings whose changes were made."""
    edited: list[Finding] = []

    def change(text: str) -> str:
        edited.clear()
        parts, at = list[str](), 0
        for finding in sorted(path_findings, key=lambda finding: _find_start(finding.edits or ())):
            edits = sorted(finding.edits or ())
            fits = all(text.startswith(edit.old, edit.start) for edit in edits)
            if not fits or _find_start(edits) < at:
                continue
            for edit in edits:
                parts += (text[at : edit.start], edit.new)
                at = edit.start + len(edit.old)
            edited.append(finding)
        return "".join((*parts, text[at:]))

    bank.store.change(path, change)
    return edited


def _find_start(edits: Iterable[Edit]) -> int:
    return min((edit.start for edit in edits), default=0)


_STYLES = {"error": "bad", "warning": "warn", "info": "dim"}


@operation(
    "lint",
    why="""
    Runs the rules of docs/lint.md on all notes, or on the files and folders that are named. It
    changes nothing without --fix. Of files that are no notes of a bank, only rules that need one
    file's text are run. The exit code is 1 if there is an error, or a finding as --fail-on says.
    """,
    examples=(
        ("memory-bank lint", "all notes"),
        ("memory-bank lint .memories/facts/bm25.md", "one file: for pre-commit"),
        ("memory-bank lint --fix --rule invisible-character", "remove invisible characters"),
        ("memory-bank lint --list", "all rules"),
    ),
    group="Review",
)
def lint_notes(
    call: Call,
    *,
    paths: Annotated[tuple[str, ...], Param(argument=True, metavar="[PATH]...", path="any")] = (),
    fail_on: FailOn = None,
    fix: Annotated[bool, Param("Apply the changes that fix findings, where known")] = False,
    rules: Annotated[
        tuple[str, ...],
        Param("Run only this rule; repeatable", flags="--rule", metavar="NAME"),
    ] = (),
    listing: Annotated[
        bool, Param("List the rules, with their severities", flags="--list")
    ] = False,
) -> int:
    """Find problems in notes by rules, and fix some."""
    try:
        with call.open() as bank:
            if listing:
                return _list_rules(call, bank)
            note_paths, files = choose_files(bank, paths)

            def notes() -> tuple[Finding, ...]:
                if paths and not note_paths:
                    return ()
                return lint(bank, note_paths if paths else None, rules)

            repairs = fix_all(bank, notes) if fix else None
            all_findings, settings = notes(), bank.settings
    except NoBank:
        if call.named_bank or (not paths and not listing):
            raise
        if fix:
            raise call.usage_error("--fix needs a bank") from None
        if listing:
            return _list_rules(call, None)
        (_, files), all_findings, repairs, settings = choose_files(None, paths), (), None, load()
    paths_of_files = {os.path.relpath(file): file for file in files}
    all_findings = tuple(
        sorted((*all_findings, *lint_files(paths_of_files.items(), settings, rules)), key=order)
    )
    _show_findings(call, all_findings, repairs, paths_of_files)
    worst = all_findings[0].severity if all_findings else None
    return FINDINGS if is_failure(worst, fail_on or "error") else FOUND


def _write_place(call: Call, finding: Finding, paths: Mapping[str, Path]) -> str:
    """Return where a finding is, as seen from the working directory."""
    path = paths.get(finding.path)
    written_place = (
        show_place(path, finding.line) if path else call.place(finding.path, finding.line)
    )
    return f"{written_place}:{finding.column}" if finding.column else written_place


def _show_findings(
    call: Call,
    all_findings: Sequence[Finding],
    repairs: tuple[list[Finding], list[str]] | None,
    paths: Mapping[str, Path],
) -> None:
    """Show findings; `paths` are files that are no notes, by the paths in their findings."""
    counts: Counter[str] = Counter(finding.severity for finding in all_findings)
    if call.json:
        document = {"findings": all_findings, "counts": {style: counts[style] for style in _STYLES}}
        call.document({**document, **dict(zip(("fixed", "failed"), repairs or (), strict=False))})
        return
    if all_findings and call.console.terminal:
        parts = (count(number, severity) for severity, number in counts.items())
        call.console.line((", ".join(parts), "bold"))
    for finding in all_findings:
        fix = f" (fix: {finding.fix})" if finding.fix else ""
        where = (_write_place(call, finding, paths), "place")
        call.console.line(
            where,
            ": ",
            (finding.severity, _STYLES[finding.severity]),
            f" {finding.rule}: {finding.message}{fix}",
        )
    if repairs is not None:
        repaired, refused = repairs
        call.console.line(("fixed: ", "good"), count(len(repaired), "finding"))
        for why in refused:
            call.warn(f"not fixed: {why}")
    if not all_findings:
        call.console.line(("no findings", "good"))
    elif repairs is None and any(finding.edits or finding.merge_into for finding in all_findings):
        call.remark("next: memory-bank lint --fix")


def _list_rules(call: Call, bank: Bank | None) -> int:
    rules = list_settings(bank.settings if bank else load())
    if call.json:
        call.document({"rules": rules})
        return FOUND
    rows = [
        (
            rule.rule,
            "disabled" if rule.disabled else rule.severity,
            "yes" if rule.fixes else "",
            rule.summary,
        )
        for rule in rules
    ]
    call.console.table(("rule", "severity", "--fix", "finds"), rows)
    return FOUND
