"""`memory-bank lint`: find problems in notes by rules."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated

from memory_bank.bank.bank import Bank
from memory_bank.bank.findings import Finding, order
from memory_bank.base.errors import NoBank
from memory_bank.base.operation import FailOn, Param, operation
from memory_bank.base.rendering import count
from memory_bank.base.screen import FINDINGS, FOUND, Call, place
from memory_bank.base.settings import Settings, load
from memory_bank.review import lint
from memory_bank.review.records import Fixed
from memory_bank.review.rules.base import listed

_STYLES = {"error": "bad", "warning": "warn", "info": "dim"}


def _rules(start: str) -> list[str]:
    return [one.rule for one in listed(Settings()) if one.rule.startswith(start)]


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
        Param("Run only this rule; repeatable", flags="--rule", metavar="NAME", complete=_rules),
    ] = (),
    listing: Annotated[
        bool, Param("List the rules, with their severities", flags="--list")
    ] = False,
) -> int:
    """Find problems in notes by rules, and fix some."""
    try:
        with call.open() as bank:
            if listing:
                return _list(call, bank)
            chosen = lint.choose(bank, paths)

            def notes() -> tuple[Finding, ...]:
                some = chosen.notes if paths else None
                return () if paths and not some else lint.lint(bank, some, rules)

            fixed = lint.fix(bank, notes) if fix else None
            found, settings = notes(), bank.settings
    except NoBank:
        if call.named_bank or (not paths and not listing):
            raise
        if fix:
            raise call.usage_error("--fix needs a bank") from None
        if listing:
            return _list(call, None)
        chosen, found, fixed, settings = lint.choose(None, paths), (), None, load()
    others = {os.path.relpath(file): file for file in chosen.others}
    found = tuple(sorted((*found, *lint.in_files(others.items(), settings, rules)), key=order))
    _show(call, found, fixed, others)
    worst = found[0].severity if found else None
    return FINDINGS if lint.fails(worst, fail_on or "error") else FOUND


def _place(call: Call, one: Finding, others: Mapping[str, Path]) -> str:
    """Return where a finding is, as seen from the working directory."""
    other = others.get(one.path)
    shown = place(other, one.line) if other else call.place(one.path, one.line)
    return f"{shown}:{one.column}" if one.column else shown


def _show(
    call: Call, found: Sequence[Finding], fixed: Fixed | None, others: Mapping[str, Path]
) -> None:
    """Show findings; `others` are files that are no notes, by the paths in their findings."""
    counts: Counter[str] = Counter(one.severity for one in found)
    if call.json:
        answer = {"findings": found, "counts": {one: counts[one] for one in _STYLES}}
        call.document({**answer, **(fixed._asdict() if fixed else {})})
        return
    if found and call.console.terminal:
        said = (count(number, severity) for severity, number in counts.items())
        call.console.line((", ".join(said), "bold"))
    for one in found:
        fix = f" (fix: {one.fix})" if one.fix else ""
        where = (_place(call, one, others), "place")
        call.console.line(
            where, ": ", (one.severity, _STYLES[one.severity]), f" {one.rule}: {one.message}{fix}"
        )
    if fixed is not None:
        call.console.line(("fixed: ", "good"), count(len(fixed.fixed), "finding"))
        for why in fixed.failed:
            call.warn(f"not fixed: {why}")
    if not found:
        call.console.line(("no findings", "good"))
    elif fixed is None and any(one.edits or one.merge_into for one in found):
        call.remark("next: memory-bank lint --fix")


def _list(call: Call, bank: Bank | None) -> int:
    found = listed(bank.settings if bank else load())
    if call.json:
        call.document({"rules": found})
        return FOUND
    rows = [
        (
            one.rule,
            "disabled" if one.disabled else one.severity,
            "yes" if one.fixes else "",
            one.summary,
        )
        for one in found
    ]
    call.console.table(("rule", "severity", "--fix", "finds"), rows)
    return FOUND
