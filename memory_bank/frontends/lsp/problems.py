"""What is wrong in a note: faults and links of its unsaved text, and the findings of all rules."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import islice

from memory_bank.bank.bank import Bank
from memory_bank.bank.records import Finding, Severity
from memory_bank.base import NamedTuple
from memory_bank.base.errors import MemoryBankError, NoteNotFound, similar_names
from memory_bank.frontends.lsp.open_texts import LinkTarget, Texts, list_goals
from memory_bank.notes.characters import BREAK
from memory_bank.notes.links import WholeLink, plan_edits
from memory_bank.notes.merging.conflicts import UNRESOLVED
from memory_bank.notes.names import name_of
from memory_bank.notes.note import Note
from memory_bank.notes.parsing import NoteText
from memory_bank.review.rules.base import (
    RuleContext,
    choose_rules,
    findings,
    list_allowed,
    note_findings,
    rules,
)
from memory_bank.review.rules.files import is_unparsed
from memory_bank.review.rules.links import MOVED_CODE
from memory_bank.search.index import IndexView

_LIVE = frozenset({"fault", "broken-link", "ambiguous-link"}).union(
    name for name, rule in rules().items() if rule.check_note
)
"""Rules whose findings are those of the text in the editor, not of the file."""

_MAX = 500
"""Problems of one note that are shown."""


class TextProblem(NamedTuple):
    """A problem with its place in the note's text."""

    rule: str
    severity: str
    """error, warning or info."""
    start: int
    end: int
    message: str


class Fix(NamedTuple):
    """A change of the note's text that removes a problem."""

    title: str
    start: int
    end: int
    text: str
    rule: str


def all_findings(bank: Bank) -> dict[str, tuple[Finding, ...]]:
    """Update the index, and return the findings of all rules in the bank's files, by path.

    It takes a while. Findings of rules that `list_problems` checks itself are left out.
    """
    bank.catch_up()
    bank.read(lambda view: view.index.indexer.refresh())  # moves in git

    def find(view: IndexView) -> list[Finding]:
        return findings(RuleContext(bank, view))

    by_path: dict[str, list[Finding]] = {}
    for finding in bank.read(find):
        if finding.rule not in _LIVE:
            by_path.setdefault(finding.path, []).append(finding)
    return {path: tuple(group) for path, group in by_path.items()}


def list_problems(texts: Texts, path: str, saved: Sequence[Finding] = ()) -> list[TextProblem]:
    """Return the problems of a note: of its text, and `saved` findings of other rules.

    Findings in lines that a change of the text may have moved are at those lines all the same.
    """
    try:
        note = texts.read(path)
    except NoteNotFound:
        return []
    except MemoryBankError as error:
        return [TextProblem("fault", "error", 0, 0, error.message)]
    lines = line_spans(note.text)
    severities = _read_severities(texts.bank, note)
    text_problems = [
        TextProblem("fault", severities["fault"], *_line_span(lines, fault.line), fault.reason)
        for fault in note.faults
        if "fault" in severities and not is_unparsed(fault) and fault.reason != UNRESOLVED
    ]
    with suppress(MemoryBankError):
        text_problems += [
            TextProblem(rule, severities[rule], written.first, written.last, goal.problem)
            for written, goal in list_goals(texts, path, note)
            if goal.problem and (rule := _choose_link_rule(goal)) in severities
        ]
    live = tuple(_find_in_text(texts.bank, note))
    text_problems += [
        TextProblem(
            finding.rule,
            finding.severity,
            *_find_span(lines, finding),
            _write_message(finding),
        )
        for finding in (*live, *saved)
    ]
    return text_problems[:_MAX]


def _read_severities(bank: Bank, note: Note) -> dict[str, Severity]:
    """Return the severities of the rules that neither the settings nor the note turn off."""
    text = _note_text(note)
    rules_on = choose_rules(bank.settings)
    return {
        rule.name: rule.severity
        for rule in rules_on
        if rule.name not in list_allowed(text, rule.name)
    }


def _note_text(note: Note) -> NoteText:
    return NoteText(note.path, note.text, note.size)


def _find_in_text(bank: Bank, note: Note) -> Iterator[Finding]:
    """Yield the findings of the rules that need the text only."""
    rules_on = choose_rules(bank.settings)
    text = _note_text(note)
    text_findings = note_findings(
        text, bank.settings, rules_on, private=bank.roots.is_private(note.path)
    )
    return islice(text_findings, _MAX)


def _find_span(lines: Sequence[tuple[int, int]], finding: Finding) -> tuple[int, int]:
    """Return the offsets of a finding: of its columns, else of its line."""
    start, end = _line_span(lines, finding.line)
    if finding.column is None or finding.end_line is None or finding.end_column is None:
        return start, end
    last, _ = _line_span(lines, finding.end_line)
    return start + finding.column - 1, last + finding.end_column - 1


def list_fixes(
    texts: Texts, path: str, start: int, end: int, saved: Sequence[Finding] = ()
) -> list[Fix]:
    """Return the changes that remove the problems between two offsets of a note."""
    note = texts.note(path)
    if note is None:
        return []
    fixes: list[Fix] = []
    severities = _read_severities(texts.bank, note)
    for written, goal in list_goals(texts, path, note):
        touched = written.first <= end and start <= written.last
        if touched and _choose_link_rule(goal) in severities:
            fixes += _yield_link_fixes(texts, note, written, goal)
    lines = line_spans(note.text)
    for finding in _find_in_text(texts.bank, note):
        first, last = _find_span(lines, finding)
        for edit in finding.edits or () if first <= end and start <= last else ():
            title = f"{(finding.fix or 'fix').capitalize()}: {finding.message}"
            fixes.append(Fix(title, edit.start, edit.start + len(edit.old), edit.new, finding.rule))
    for finding in saved:
        first, last = _line_span(lines, finding.line)
        if finding.rule == MOVED_CODE and first <= end and start <= last:
            fixes += _yield_edits(note, finding)
        elif finding.fix and first <= end and start <= last:
            fixes += _yield_saved_fixes(texts, path, note, finding)
    return fixes


def _choose_link_rule(goal: LinkTarget) -> str:
    return "ambiguous-link" if goal.candidates else "broken-link"


def _yield_link_fixes(
    texts: Texts, note: Note, written: WholeLink, goal: LinkTarget
) -> Iterator[Fix]:
    if goal.candidates:
        for path in goal.candidates[:10]:
            yield from retarget_link(note, written, name_of(path), _choose_link_rule(goal))
    elif goal.path and written.link.heading and goal.problem:
        goal_note = texts.note(goal.path)
        names = (
            [section.headings[-1] for section in goal_note.body.sections if section.level]
            if goal_note
            else []
        )
        note_names = {name.casefold(): name for name in names}
        at = note.text.find("#", written.end, written.last)
        stop = at + 1 + len(written.link.heading)
        as_written = note.text[at + 1 : stop] == written.link.heading
        near = (
            similar_names(written.link.heading.casefold(), note_names, most=3) if as_written else ()
        )
        for name in near:
            title = f"Change the heading to “{note_names[name]}”"
            yield Fix(title, at + 1, stop, note_names[name], "broken-link")


def _yield_edits(note: Note, finding: Finding) -> Iterator[Fix]:
    """Yield the changes of a saved finding whose places still have the text that they replace."""
    for edit in finding.edits or ():
        if note.text.startswith(edit.old, edit.start):
            end = edit.start + len(edit.old)
            yield Fix(f"Change the link to {edit.new}", edit.start, end, edit.new, finding.rule)


def _yield_saved_fixes(texts: Texts, path: str, note: Note, finding: Finding) -> Iterator[Fix]:
    """Yield the fix of a finding if it is a name to write, and only one place can take it."""
    new = finding.fix or ""
    on_line = [
        (written, goal)
        for written, goal in list_goals(texts, path, note)
        if written.link.line == finding.line and not goal.path and not goal.file
    ]
    kinds_by_rule = dict.fromkeys(("moved-link", "mistyped-link"), lambda kind: kind != "reference")
    kinds_by_rule["missing-file-ref"] = lambda kind: kind == "reference"
    fits = kinds_by_rule.get(finding.rule)
    links = [
        link for link, _ in on_line if fits and fits(link.link.kind) and _is_named(link, finding)
    ]
    if len(links) == 1:
        yield from retarget_link(note, links[0], new, finding.rule)


def _is_named(written: WholeLink, finding: Finding) -> bool:
    """Return whether a finding's message names a link's target."""
    return written.link.target.rpartition("/")[2].removesuffix(".md") in finding.message


def retarget_link(note: Note, written: WholeLink, new: str, rule: str) -> Iterator[Fix]:
    """Yield the change of a link's target, in the syntax of the link."""
    title = f"Change the link to {new}"
    if written.link.kind == "reference" and not note.text.startswith("[[", written.first):
        yield Fix(title, written.start, written.end, new, rule)
        return
    place = (written.link.line, written.link.target)
    with suppress(MemoryBankError):
        edits = plan_edits(
            note.text,
            lambda link: new if (link.line, link.target) == place else None,
            note.body_start,
        )
        text = edits.get((written.start, written.end))
        if text is not None:
            yield Fix(title, written.start, written.end, text, rule)


def line_spans(text: str) -> list[tuple[int, int]]:
    """Return the offsets of each line's start and end, line ends left out."""
    spans, at = [], 0
    for line_end in BREAK.finditer(text):
        spans.append((at, line_end.start()))
        at = line_end.end()
    return [*spans, (at, len(text))]


def _line_span(lines: Sequence[tuple[int, int]], number: int) -> tuple[int, int]:
    return lines[min(max(number, 1), len(lines)) - 1]


def _write_message(finding: Finding) -> str:
    return f"{finding.message}: {finding.fix}" if finding.fix else finding.message
