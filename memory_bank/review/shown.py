"""Show a review of notes, the health of a bank and what git merged, on a terminal."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path
from typing import Annotated

from memory_bank.bank.bank import Bank
from memory_bank.bank.findings import SEVERITIES, Finding
from memory_bank.base.operation import FailOn, Param
from memory_bank.base.rendering import count
from memory_bank.base.screen import FAILED, FINDINGS, FOUND, NOTHING, Call, Piece, place
from memory_bank.base.view import write
from memory_bank.memory import overview
from memory_bank.memory.records import Stats
from memory_bank.memory.views import view_stats
from memory_bank.notes.compare.note_change import (
    START,
    ClaimChange,
    KeyChange,
    LinkChange,
    NoteChange,
    SectionChange,
    TextSpan,
)
from memory_bank.notes.compare.text_diff import context, spans_of
from memory_bank.review import lint
from memory_bank.review.records import BankHealth, CodeHealth, GitSetup, Resolved, Review

_FINDINGS = 100
"""Number of new findings that are shown unless all are."""

_FIRST_CLAIMS = 12
"""Number of claims of a note that are shown unless all are."""

_LONGEST = 600
"""Length of a claim that was added or removed beyond which it is cut."""

_STYLES = {"error": "bad", "warning": "warn", "info": "dim"}

_KINDS = {"added": ("+ ", "good"), "removed": ("- ", "bad"), "changed": ("~ ", "warn")}

_FIRST_FILES = 3
"""Number of files that are named of those that are refused for the same reason."""

_MORE = " (--all shows them)"

Line = Sequence[Piece]


def show(call: Call, review: Review, *, every: bool) -> None:
    """Print a review; `every` finding, and claim of each note, or the first ones."""
    call.console.hanging(0, _summary(review))
    new = review.new
    findings = new if every else new[:_FINDINGS]
    for finding in findings:
        call.console.hanging(2, finding_line(finding))
    if more := len(new) - len(findings):
        call.console.hanging(0, [(f"… {count(more, 'more new finding')}{_MORE}", "dim")])
    if known_count := len(review.findings) - len(new):
        call.console.hanging(
            0, [(f"{count(known_count, 'finding')} at BASE already (see --json)", "dim")]
        )
    cut = bool(more)
    for change in review.changes:
        call.console.line("")
        for indent, line in note_lines(change, every=every, more=_MORE):
            call.console.hanging(indent, line)
            cut = cut or _MORE in str(line)
    if cut or new:
        commits = [side.commit[:10] for side in (review.base, review.head) if side.commit]
        whole = "..".join(commits) if len(commits) > 1 else ""
        words = ["review", whole, "--all"]
        if not cut:  # by its path from here, which may be below the work tree
            words = ["edit", shlex.quote(call.place(new[0].path))]
        text = " ".join(filter(None, words))
        call.console.line("next: ", (f"memory-bank {text}", "bold"))


def _summary(review: Review) -> Line:
    tokens = f"{review.tokens.before:,} → {review.tokens.after:,} tokens"
    new = Counter(finding.severity for finding in review.new)
    entries = [
        count(new[severity], "remark" if severity == "info" else severity)
        for severity in SEVERITIES
        if new[severity]
    ]
    base, head = (
        side.commit[:10] if side.commit else side.name for side in (review.base, review.head)
    )
    notes, colon, kinds = review.changed.partition(":")
    return [
        (notes, "bold"),
        f"{colon}{kinds}; ",
        *([f"{tokens}; "] if review.changes else []),
        (
            ", ".join(entries) or "no new findings",
            _STYLES[review.worst] if review.worst else "good",
        ),
        (f" ({base}..{head})", "dim"),
    ]


def finding_line(finding: Finding) -> Line:
    """Return the line of a finding of a review."""
    line = f":{finding.line}" if finding.line > 1 else ""
    fix = f" (fix: {finding.fix})" if finding.fix else ""
    return [
        (f"{finding.severity}", _STYLES[finding.severity]),
        " ",
        (f"{finding.file}{line}", "place"),
        f" {finding.message}",
        (fix, "good"),
        (f" [{finding.rule}]", "dim"),
    ]


def note_lines(
    change: NoteChange, *, every: bool = False, more: str = ""
) -> Iterator[tuple[int, Line]]:
    """Yield the lines on a note's change, each with its indent; `every` claim, or the first ones.

    `more` says what shows the others.
    """
    yield 2, _head(change)
    if change.remark:
        yield 4, [(change.remark, "warn")]
    for key in change.front_matter:
        yield 4, _key(key)
    total = (
        sum(len(current_change.claims) for current_change in change.sections)
        if every
        else _FIRST_CLAIMS
    )
    for section in change.sections:
        if total > 0 or not section.claims:
            yield 4, _section(section, whole=change.kind in {"added", "removed"})
        for claim in section.claims[: max(total, 0)]:
            yield 6, _claim(claim, every=every)
        total -= len(section.claims)
    if total < 0:
        yield 4, [(f"… {count(-total, 'claim')} more{more}", "dim")]
    for sign, style, links in (("+", "good", change.gained), ("-", "bad", change.lost)):
        if links:
            yield 4, [(f"{sign} links: ", style), _links(links)]


def _head(change: NoteChange) -> Line:
    was = f" (was {change.old_path})" if change.old_path else ""
    words = [
        f"{sign}{number}"
        for sign, number in (("+", change.words_added), ("-", change.words_removed))
        if number
    ]
    tokens = f"{change.tokens_before:,} → {change.tokens_after:,} tokens"
    return [
        (f"{change.kind} ", "bold"),
        (change.path, "place"),
        f"{was}  ",
        (f"{' '.join(words)} words, {tokens}" if words else tokens, "dim"),
    ]


def _key(key: KeyChange) -> Line:
    if key.gained or key.lost:
        removed = [(f" -{item}", "bad") for item in key.lost]
        return [(f"{key.key}:", "bold"), *removed, *[(f" +{item}", "good") for item in key.gained]]
    before = [(key.before, "bad")] if key.before is not None else []
    arrow = [" → "] if key.before is not None and key.after is not None else []
    after = [(key.after, "good")] if key.after is not None else []
    sign, style = _KINDS[key.kind]
    return [(sign, style), (f"{key.key}: ", "bold"), *before, *arrow, *after]


def _section(section: SectionChange, *, whole: bool) -> Line:
    was = f" (was {' › '.join(section.old_headings) or START})" if section.old_headings else ""
    kind = "" if whole or section.kind == "changed" else f"{section.kind} "
    shortened = f" {section.shortened}" if section.shortened else ""
    return [
        (kind, _KINDS.get(section.kind, ("", "warn"))[1]),
        (f"# {section.title}", "bold"),
        was,
        (f"  line {section.line}", "dim"),
        (shortened, "warn"),
    ]


def _claim(claim: ClaimChange, *, every: bool) -> Line:
    sign, style = _KINDS[claim.kind]
    if claim.kind == "changed":
        return [(sign, style), *_spans(spans_of(claim))]
    text = " ".join("".join(span.text for span in claim.spans).split())
    cut = text if every or len(text) <= _LONGEST else f"{text[:_LONGEST]}…"
    return [(sign, style), (cut, style)]


def _spans(spans: Sequence[TextSpan]) -> Iterator[Piece]:
    """Yield a diff with the marks of `git diff --word-diff`, long unchanged text shortened."""
    last = len(spans) - 1
    for number, span in enumerate(spans):
        text = " ".join(context(spans, number).split())
        if not text:
            continue
        before = " " if span.text[:1].isspace() and number else ""
        after = " " if span.text[-1:].isspace() and number < last else ""
        style = {"delete": "bad", "insert": "good"}.get(span.kind, "")
        yield from (before, (span._replace(text=text).marked, style), after)


def _links(links: Sequence[LinkChange]) -> str:
    return ", ".join(
        f"{link.target}{f' ({link.type})' if link.type != 'related_to' else ''}"
        f"{f' ×{link.times}' if link.times > 1 else ''}"
        for link in links
    )


def health(
    call: Call,
    answer: BankHealth | Stats,
    bank: Bank,
    *,
    check: Annotated[bool, Param("Exit with 1 if there are findings, see --fail-on")] = False,
    fail_on: FailOn = None,
) -> int:
    """Show what is wrong with a bank, or its counts."""
    if isinstance(answer, Stats):
        return write(call, answer, view_stats(answer)._replace(problem=bank.problem))
    call.answer(answer, lambda health: _health(call, health, overview.stats(bank)))
    if check and (answer.problem or answer.waiting):
        return FAILED
    return FINDINGS if check and lint.fails(answer.worst, fail_on or "error") else FOUND


def _health(call: Call, health: BankHealth, counts: Stats) -> None:
    console, number = call.console, len(health.findings)
    verdict: Piece = ("all is well", "good") if health.clear else (count(number, "finding"), "bold")
    console.line(
        verdict if health.clear or number else "",
        ": " if health.clear or number else "",
        place(health.bank),
        f" has {count(health.notes, 'note')}, {count(health.passages, 'passage')}",
        f", embedder {health.embedder}",
    )
    parts = (
        counts.total_size,
        *(f"{kind} {number}" for kind, number in counts.types.items()),
        count(len(counts.tags), "tag"),
        count(counts.ghosts, "ghost"),
        count(counts.orphans, "orphan"),
    )
    console.line(("counts: ", "bold"), ", ".join(parts))
    for rule, findings in groupby(health.findings, lambda finding: finding.rule):
        found_findings = list(findings)
        console.line((f"{rule} ({len(found_findings)}):", "bad"))
        for finding in found_findings:
            fix = f" (fix: {finding.fix})" if finding.fix else ""
            where = (call.place(finding.path, finding.line if finding.line > 1 else None), "place")
            console.line("  ", where, f"  {finding.message}{fix}")
    call.show_repaired(health.repaired)
    _health_state(call, health)
    if health.code:
        _code_health(call, health.code)
    elif health.no_code:
        console.line(("code: ", "bold"), health.no_code)
    readable = (finding.path for finding in health.findings if finding.rule != "unindexed")
    own = next((path for path in readable if (Path(health.bank) / path).is_file()), "")
    if health.waiting or own:
        text = "sync" if health.waiting else f"edit {shlex.quote(call.place(own))}"
        console.line("next: ", (f"memory-bank {text}", "bold"))


def _health_state(call: Call, health: BankHealth) -> None:
    """Print what may keep the index from being complete."""
    console = call.console
    if health.waiting:
        console.line(("waiting: ", "warn"), f"{count(health.waiting, 'passage')} without a vector")
    if health.problem:
        console.line(("problem: ", "bad"), health.problem)
    if health.left_alone:
        console.line(("index: ", "warn"), (place(health.index), "place"), f": {health.left_alone}")
    entries = {
        "background": health.background,
        "polling": health.polling,
        "language": health.language,
        "git": health.git and f"{health.git}; dates are file dates",
        "hooks": health.hooks,
        "sessions": health.former_sessions
        and f"{health.former_sessions}; if they are this project's, bring them back:"
        " memory-bank session recover",
    }
    for name, word in entries.items():
        if word:
            console.line((f"{name}: ", "warn"), word)


def _code_health(call: Call, code: CodeHealth) -> None:
    """Print a line on the code, and lines on what is not indexed of it, by reason."""
    counts = (count(code.files, "file"), count(code.symbols, "symbol"), count(code.tests, "test"))
    call.console.line(("code: ", "bold"), ", ".join(counts))
    refused: dict[str, list[str]] = {}
    for path, reason in code.unindexed.items():
        refused.setdefault(reason, []).append(path)
    if code.faults:
        refused["read only in part"] = list(code.faults)
    for reason, paths in refused.items():
        more = f" and {len(paths) - _FIRST_FILES} more" if len(paths) > _FIRST_FILES else ""
        call.console.line(f"  {reason} ({len(paths)}): {', '.join(paths[:_FIRST_FILES])}{more}")
    if code.problem:
        call.console.line(("code: ", "warn"), code.problem)
    for note in code.history:
        call.console.line(("history: ", "warn"), note)


def git_installed(call: Call, git_setup: GitSetup) -> int:
    """Show what was written for git."""
    call.answer(
        git_setup, lambda git_setup: _change(call, git_setup, "wrote", "all of it was set before")
    )
    return FOUND if git_setup.is_set else NOTHING


def git_removed(call: Call, git_setup: GitSetup) -> None:
    """Show what was removed."""
    call.answer(git_setup, lambda git_setup: _change(call, git_setup, "removed", "nothing was set"))


def git_checked(call: Call, git_setup: GitSetup) -> int:
    """Show what git has for the notes."""
    call.answer(git_setup, lambda git_setup: _setup(call, git_setup))
    return FOUND if git_setup.is_set else NOTHING


def resolved(call: Call, resolveds: tuple[Resolved, ...]) -> int:
    """Show the notes whose conflicts are resolved, and those that are left."""
    answer = {"result_count": len(resolveds), "notes": resolveds}
    call.answer(answer, lambda _: _resolved(call, resolveds))
    return (
        NOTHING
        if any(current_resolved.outcome == "left" for current_resolved in resolveds)
        else FOUND
    )


def _setup(call: Call, git_setup: GitSetup) -> None:
    for part in git_setup.parts:
        state = ("set  ", "good") if part.is_set else ("wrong  ", "bad")
        call.console.line(state, part.name, f": {part.value}" if part.value else "")
        if part.problem:
            call.console.line("       ", part.problem)
    if not git_setup.is_set:
        call.console.line("next: ", ("memory-bank git install", "bold"))


def _change(call: Call, git_setup: GitSetup, verb: str, nothing: str) -> None:
    for part in git_setup.parts:
        if part.name in git_setup.written:
            where = call.place(part.name) if part.name.startswith(".") else part.name
            call.console.line(f"{verb} ", (where, "place"), f": {part.value}" if part.value else "")
    if not git_setup.written:
        call.console.line(nothing)
    elif verb == "wrote":
        call.console.line("next: ", (f"git add {call.place('.gitattributes')}", "bold"))


def _resolved(call: Call, resolveds: tuple[Resolved, ...]) -> None:
    if not resolveds:
        call.remark("git left no conflict in a note")
    for current_resolved in resolveds:
        if current_resolved.outcome == "merged":
            call.console.line(("merged  ", "good"), (call.place(current_resolved.path), "place"))
        elif current_resolved.outcome == "two_notes":
            call.console.line(
                ("two notes  ", "good"), (call.place(current_resolved.path), "place"),
                " and ", (call.place(current_resolved.new_path), "place"),
                ": links by this name lead to the first one",
            )  # fmt: skip
        else:
            call.console.line(
                ("left  ", "bad"),
                (call.place(current_resolved.path), "place"),
                f": {current_resolved.reason}",
            )
    done_resolveds = [
        current_resolved for current_resolved in resolveds if current_resolved.outcome != "left"
    ]
    paths = [
        path
        for current_resolved in done_resolveds
        for path in (current_resolved.path, current_resolved.new_path)
        if path
    ]
    if paths:
        words = " ".join(shlex.quote(call.place(path)) for path in paths)
        call.console.line("next: ", (f"git add {words}", "bold"))
