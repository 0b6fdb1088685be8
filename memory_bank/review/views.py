"""What a review of notes, the health of a bank and merges of git say."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path
from typing import Annotated

from memory_bank.bank.bank import Bank
from memory_bank.bank.records import SEVERITIES, ReviewFinding
from memory_bank.base import shorten
from memory_bank.base.hit_view import Place
from memory_bank.base.operation import FailOn, Param
from memory_bank.base.rendering import count
from memory_bank.base.repairs import describe_repairs
from memory_bank.base.screen import FAILED, FINDINGS, FOUND, NOTHING, Call, Piece, show_place
from memory_bank.base.view import Block, View
from memory_bank.memory import overview
from memory_bank.memory.records import Stats
from memory_bank.memory.views import view_stats
from memory_bank.notes.note_change import (
    START,
    ClaimChange,
    KeyChange,
    LinkChange,
    NoteChange,
    SectionChange,
    TextSpan,
    claim_spans,
    cut_context,
)
from memory_bank.review import lint
from memory_bank.review.records import BankHealth, CodeHealth, GitSetup, Resolved, Review

_FINDINGS, _FINDINGS_FOR_AGENTS = 100, 40
"""Most findings of a review for a person unless all are wanted, and for agents."""

_NOTES_FOR_AGENTS = 40
"""Most notes of a review."""

_FIRST_CLAIMS = 12
"""Number of claims of a note that are shown unless all are."""

_LONGEST = 600
"""Length of a claim that was added or removed beyond which it is cut."""

_STYLES = {"error": "bad", "warning": "warn", "info": "dim"}

_KINDS = {"added": ("+ ", "good"), "removed": ("- ", "bad"), "changed": ("~ ", "warn")}

_FIRST_FILES = 3
"""Number of files that are named of those that are refused for the same reason."""

_MORE = " (--all shows them)"

Line = Sequence[Piece | Place]


def view_review(review: Review, *, call: Call | None = None, every: bool = False) -> View:
    """Describe the findings of a review, then the changes of each note, or the first ones."""
    most = len(review.findings) if every else _FINDINGS if call else _FINDINGS_FOR_AGENTS
    parts: list[Block] = [Block([_write_summary(review)])] if call else []
    findings = review.new if call else review.findings
    lines = [_write_finding(finding, for_agents=call is None) for finding in findings[:most]]
    more_findings = len(findings) - len(lines)
    if more_findings > 0:
        lines.append([(f"… {count(more_findings, 'more new finding')}{_MORE}", "dim")])
    if call and (former_count := len(review.findings) - len(review.new)):
        lines.append([(f"{count(former_count, 'finding')} at BASE already (see --json)", "dim")])
    more = _MORE if call else ""
    changes = review.changes if call else review.changes[:_NOTES_FOR_AGENTS]
    for change in changes:
        lines += [*([[]] if call else []), *note_lines(change, every=every, more=more)]
    if more_notes := len(review.changes) - len(changes):
        lines.append([f"and {more_notes} more notes"])
    return View(
        f"{review.changed}; {review.tokens.before:,} to {review.tokens.after:,} tokens."
        " Claims: [-removed-] {+added+}",
        [*parts, *([Block(lines)] if lines else [])],
        notices=review.notices,
        remarks=_suggest_next_step(review, call, cut=_MORE in str(lines)) if call else (),
    )


def _suggest_next_step(review: Review, call: Call, *, cut: bool) -> Sequence[str]:
    """Return the command that shows what is left out, or edits the first note with a finding."""
    if cut:
        commits = [side.commit[:10] for side in (review.base, review.head) if side.commit]
        whole = f" {'..'.join(commits)}" if len(commits) > 1 else ""
        return [f"next: memory-bank review{whole} --all"]
    if not review.new:
        return ()
    # by its path from here, which may be below the work tree
    return [f"next: memory-bank edit {shlex.quote(call.place(review.new[0].path))}"]


def _write_summary(review: Review) -> Line:
    tokens = f"{review.tokens.before:,} → {review.tokens.after:,} tokens"
    new = Counter(finding.severity for finding in review.new)
    counts = [count(new[severity], severity) for severity in SEVERITIES if new[severity]]
    base, head = (
        side.commit[:10] if side.commit else side.name for side in (review.base, review.head)
    )
    notes, colon, kinds = review.changed.partition(":")
    return [
        (notes, "bold"),
        f"{colon}{kinds}; ",
        *([f"{tokens}; "] if review.changes else []),
        (
            ", ".join(counts) or "no new findings",
            _STYLES[review.worst] if review.worst else "good",
        ),
        (f" ({base}..{head})", "dim"),
    ]


def _write_finding(finding: ReviewFinding, *, for_agents: bool = False) -> Line:
    """Return the line of a finding of a review; for agents, those at BASE already are named."""
    line = f":{finding.line}" if finding.line > 1 else ""
    fix = f" (fix: {finding.fix})" if finding.fix else ""
    return [
        "known " if for_agents and not finding.new else "",
        (f"{finding.severity}", _STYLES[finding.severity]),
        " ",
        (f"{finding.file}{line}", "place"),
        f" {finding.message}",
        (fix, "good"),
        (f" [{finding.rule}]", "dim"),
    ]


def note_lines(change: NoteChange, *, every: bool = False, more: str = "") -> Iterator[Line]:
    """Yield the lines on a note's change; `every` claim, or the first ones.

    `more` says what shows the others.
    """
    yield _write_head(change)
    if change.remark:
        yield ["  ", (change.remark, "warn")]
    for key in change.front_matter:
        yield ["  ", *_write_key(key)]
    total = sum(len(section.claims) for section in change.sections) if every else _FIRST_CLAIMS
    for section in change.sections:
        if total > 0 or not section.claims:
            yield ["  ", *_write_section(section, whole=change.kind in {"added", "removed"})]
        for claim in section.claims[: max(total, 0)]:
            yield ["    ", *_write_claim(claim, every=every)]
        total -= len(section.claims)
    if total < 0:
        yield ["  ", (f"… {count(-total, 'claim')} more{more}", "dim")]
    for sign, style, links in (("+", "good", change.gained), ("-", "bad", change.lost)):
        if links:
            yield ["  ", (f"{sign} links: ", style), _write_links(links)]


def _write_head(change: NoteChange) -> Line:
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


def _write_key(key: KeyChange) -> Line:
    if key.gained or key.lost:
        removed = [(f" -{item}", "bad") for item in key.lost]
        return [(f"{key.key}:", "bold"), *removed, *[(f" +{item}", "good") for item in key.gained]]
    before = [(key.before, "bad")] if key.before is not None else []
    arrow = [" → "] if key.before is not None and key.after is not None else []
    after = [(key.after, "good")] if key.after is not None else []
    sign, style = _KINDS[key.kind]
    return [(sign, style), (f"{key.key}: ", "bold"), *before, *arrow, *after]


def _write_section(section: SectionChange, *, whole: bool) -> Line:
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


def _write_claim(claim: ClaimChange, *, every: bool) -> Line:
    sign, style = _KINDS[claim.kind]
    if claim.kind == "changed":
        return [(sign, style), *_yield_spans(claim_spans(claim))]
    text = " ".join("".join(span.text for span in claim.spans).split())
    return [(sign, style), (text if every else shorten(text, _LONGEST), style)]


def _yield_spans(spans: Sequence[TextSpan]) -> Iterator[Piece]:
    """Yield a diff with the marks of `git diff --word-diff`, long unchanged text shortened."""
    last = len(spans) - 1
    for number, span in enumerate(spans):
        text = " ".join(cut_context(spans, number).split())
        if not text:
            continue
        before = " " if span.text[:1].isspace() and number else ""
        after = " " if span.text[-1:].isspace() and number < last else ""
        style = {"delete": "bad", "insert": "good"}.get(span.kind, "")
        yield from (before, (span._replace(text=text).marked, style), after)


def _write_links(links: Sequence[LinkChange]) -> str:
    return ", ".join(
        f"{link.target}{f' ({link.type})' if link.type != 'related_to' else ''}"
        f"{f' ×{link.times}' if link.times > 1 else ''}"
        for link in links
    )


def view_health(
    health: BankHealth | Stats,
    bank: Bank | None = None,
    call: Call | None = None,
    *,
    check: Annotated[bool, Param("Exit with 1 if there are findings, see --fail-on")] = False,
    fail_on: FailOn = None,
) -> View:
    """Describe what is wrong with a bank, or its counts."""
    if isinstance(health, Stats):
        return view_stats(health)._replace(problem=bank.problem if bank else None)
    code = FINDINGS if check and lint.is_failure(health.worst, fail_on or "error") else FOUND
    if check and (health.problem or health.waiting):
        code = FAILED
    lines = [*_list_verdict(health, bank), *_yield_findings(health), *_yield_state(health, bank)]
    if health.code and bank:
        lines += _yield_code_lines(health.code)
    elif health.no_code and bank:
        lines.append([("code: ", "bold"), health.no_code])
    readable = (finding.path for finding in health.findings if finding.rule != "unindexed")
    remarks = []
    if call:
        own = next((path for path in readable if (Path(health.bank) / path).is_file()), "")
        step = "sync" if health.waiting else own and f"edit {shlex.quote(call.place(own))}"
        remarks = [f"next: memory-bank {step}"] if step else []
    notes, passages = count(health.notes, "note"), count(health.passages, "passage")
    return View(
        f"{notes}, {passages}{'. All is well' if health.clear else ''}",
        [Block(lines)] if lines else (),
        remarks=remarks,
        code=code,
    )


def _list_verdict(health: BankHealth, bank: Bank | None) -> list[Line]:
    """Return the lines on the bank as a whole, for a person."""
    if bank is None:
        return []
    number, counts = len(health.findings), overview.stats(bank)
    verdict: Sequence[Piece] = []
    if health.clear or number:
        verdict = [("all is well", "good") if health.clear else (count(number, "finding"), "bold")]
        verdict = [*verdict, ": "]
    notes, passages = count(health.notes, "note"), count(health.passages, "passage")
    parts = (
        counts.total_size,
        *(f"{kind} {number}" for kind, number in counts.types.items()),
        count(len(counts.tags), "tag"),
        count(counts.ghosts, "ghost"),
        count(counts.orphans, "orphan"),
    )
    return [
        [
            *verdict,
            f"{show_place(health.bank)} has {notes}, {passages}, embedder {health.embedder}",
        ],
        [("counts: ", "bold"), ", ".join(parts)],
    ]


def _yield_findings(health: BankHealth) -> Iterator[Line]:
    for rule, group in groupby(health.findings, lambda finding: finding.rule):
        findings = list(group)
        yield [(f"{rule} ({len(findings)}):", "bad")]
        for finding in findings:
            fix = f" (fix: {finding.fix})" if finding.fix else ""
            where = Place(finding.path, finding.line if finding.line > 1 else None)
            yield ["  ", where, f"  {finding.message}{fix}"]


def _yield_state(health: BankHealth, bank: Bank | None) -> Iterator[Line]:
    """Yield what may keep the index from being complete; the server tells agents of repairs."""
    if health.repaired and bank:
        yield [("repaired: ", "good"), describe_repairs(health.repaired)]
    if health.waiting:
        yield [("waiting: ", "warn"), f"{count(health.waiting, 'passage')} without a vector"]
    if health.problem:
        yield [("problem: ", "bad"), health.problem]
    if health.left_alone:
        where = show_place(health.index) if bank else "the index"
        yield [("index: ", "warn"), (where, "place"), f": {health.left_alone}"]
    facts = {
        "background": health.background,
        "polling": health.polling,
        "language": health.language,
        "git": health.git and f"{health.git}; dates are file dates",
        "hooks": health.hooks,
        "sessions": health.former_sessions
        and f"{health.former_sessions}; if they are this project's, bring them back:"
        " memory-bank session recover",
    }
    for name, text in facts.items():
        if text:
            yield [(f"{name}: ", "warn"), text]


def _yield_code_lines(code: CodeHealth) -> Iterator[Line]:
    """Yield a line on the code, and lines on what is not indexed of it, by reason."""
    counts = (count(code.files, "file"), count(code.symbols, "symbol"), count(code.tests, "test"))
    yield [("code: ", "bold"), ", ".join(counts)]
    refused: dict[str, list[str]] = {}
    for path, reason in code.unindexed.items():
        refused.setdefault(reason, []).append(path)
    if code.faults:
        refused["read only in part"] = list(code.faults)
    for reason, paths in refused.items():
        more = f" and {len(paths) - _FIRST_FILES} more" if len(paths) > _FIRST_FILES else ""
        yield [f"  {reason} ({len(paths)}): {', '.join(paths[:_FIRST_FILES])}{more}"]
    if code.problem:
        yield [("code: ", "warn"), code.problem]
    for note in code.history:
        yield [("history: ", "warn"), note]


def view_git_setup(git_setup: GitSetup) -> View:
    """Describe what git has for the notes."""
    lines: list[Line] = []
    for part in git_setup.parts:
        state = ("set  ", "good") if part.is_set else ("wrong  ", "bad")
        lines.append([state, part.name, f": {part.value}" if part.value else ""])
        lines += [[f"       {part.problem}"]] if part.problem else []
    return View(
        "",
        [Block(lines)],
        remarks=() if git_setup.is_set else ["next: memory-bank git install"],
        code=FOUND if git_setup.is_set else NOTHING,
    )


def view_git_installed(git_setup: GitSetup, call: Call) -> View:
    """Tell what was written for git."""
    view = _view_written(git_setup, "wrote", "All of it was set before")
    if git_setup.written:
        view = view._replace(remarks=[f"next: git add {call.place('.gitattributes')}"])
    return view._replace(code=FOUND if git_setup.is_set else NOTHING)


def view_git_removed(git_setup: GitSetup) -> View:
    """Tell what was removed for git."""
    return _view_written(git_setup, "removed", "Nothing was set")


def _view_written(git_setup: GitSetup, verb: str, nothing: str) -> View:
    lines: list[Line] = [
        [
            f"{verb} ",
            Place(part.name) if part.name.startswith(".") else (part.name, "place"),
            f": {part.value}" if part.value else "",
        ]
        for part in git_setup.parts
        if part.name in git_setup.written
    ]
    return View("" if lines else nothing, [Block(lines)] if lines else ())


def view_resolved(notes: tuple[Resolved, ...], call: Call) -> View:
    """Tell which notes' conflicts are resolved, and which are left."""
    lines: list[Line] = []
    for note in notes:
        if note.outcome == "merged":
            lines.append([("merged  ", "good"), Place(note.path)])
        elif note.outcome == "two_notes":
            lines.append([
                ("two notes  ", "good"), Place(note.path), " and ", Place(note.new_path),
                ": links by this name lead to the first one",
            ])  # fmt: skip
        else:
            lines.append([("left  ", "bad"), Place(note.path), f": {note.reason}"])
    merged = [note for note in notes if note.outcome != "left"]
    paths = [path for note in merged for path in (note.path, note.new_path) if path]
    words = " ".join(shlex.quote(call.place(path)) for path in paths)
    return View(
        "" if notes else "Git left no conflict in a note",
        [Block(lines)] if lines else (),
        remarks=[f"next: git add {words}"] if paths else (),
        code=NOTHING if len(merged) < len(notes) else FOUND,
        document={"result_count": len(notes), "notes": notes},
    )
