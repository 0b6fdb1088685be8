"""The current rules of a project: notes that say what holds, and for which files.

A rule is a note of the type `rule`, or with `pin: true`. Any agent can write one, so only those
count that are committed, and reviewed where the repository knows reviews; the others wait.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence

from memory_bank.bank.bank import Bank
from memory_bank.base import NamedTuple, lazy_pattern
from memory_bank.base.documents import Document
from memory_bank.base.errors import MemoryBankError
from memory_bank.base.filenames import matches_file, yield_patterns
from memory_bank.git.process import LIMIT
from memory_bank.notes import names
from memory_bank.notes.identity import make_slug
from memory_bank.notes.inline import plain_text
from memory_bank.notes.note import Note
from memory_bank.notes.sections import first_sentence
from memory_bank.search.index import IndexView
from memory_bank.search.manifest import document_rows, link_rows
from memory_bank.trust import trust
from memory_bank.trust.trust import REVIEWED, UNCOMMITTED, UNKNOWN, NoteTrust

RULE = "rule"
"""The type of notes that are rules."""

NOT_COMMITTED = "it is not committed as it is now"

NOT_REVIEWED = "no review of its text is known"

COMMITS_UNKNOWN = "its commits are not known here"

NOT_IN_GIT = "it is in no git repository"

_NOT_CURRENT = frozenset(
    ["proposed", "draft", "rejected", "deprecated", "superseded", "superceded", "obsolete"]
)
"""Statuses of the user's own with which a note is no rule."""

_LONGEST = 300
"""Characters of what a rule says on one line."""


_MARKS = lazy_pattern(r"\A(?:(?:[#>|+*-]|\d{1,9}[.)])[ \t]+|[#>|]+)")


class ProjectRule(NamedTuple):
    """A note that is a rule."""

    path: str
    name: str
    """The shortest name that leads to the note."""
    title: str
    text: str
    """What it says, on one line: the first sentence of its text."""
    applies_to: tuple[str, ...]
    """Patterns of the files that it is for; empty if it is for all."""
    pinned: bool
    waits: str = ""
    """Why it does not count yet; empty if it does."""

    def applies(self, file: str) -> bool:
        """Return whether the rule is for a file, by its path from the project's root."""
        return not self.applies_to or any(
            matches_file(pattern, file) for pattern in self.applies_to
        )


class ProjectRules(NamedTuple):
    """The rules of a bank, by path."""

    rules: tuple[ProjectRule, ...]
    """Those that count."""
    pending: tuple[ProjectRule, ...]
    """Those that wait, each with its reason."""
    limits: tuple[str, ...] = ()
    """What is not known of the repository, and why."""


PATIENCE = 60.0
"""Longest wait for git, in seconds, of a command that is about rules: a block written from half of
the history would leave rules out."""


def list_rules(bank: Bank, seconds: float = PATIENCE) -> ProjectRules:
    """Return the rules that count now, and those that wait; no archived and superseded notes.

    `seconds` is the longest wait for git.
    """
    bank.catch_up()
    return list_indexed_rules(bank, seconds)


def list_indexed_rules(bank: Bank, seconds: float = LIMIT) -> ProjectRules:
    """Return the rules as `list_rules` does, without looking whether files have changed."""

    def read(view: IndexView) -> tuple[list[Document], Counter[str]]:
        manifest = view.manifest
        current = {
            row.number: row
            for field in (("type", RULE), ("pin", "true"))
            for row in document_rows.find_by_field(manifest, *field)
            if _is_current(row) and not bank.roots.is_private(row.key)
        }
        for old in link_rows.map_superseded(manifest, current):
            current.pop(old)
        stems = (
            Counter(_stem(key) for _, key in document_rows.all_keys(manifest)) if current else None
        )
        return sorted(current.values(), key=lambda row: row.key), stems or Counter()

    with bank.lock:
        rows, stems = bank.read(read)
        waiting, limits = _find_waiting(bank, [row.key for row in rows], seconds)
        rules = [
            rule._replace(waits=waiting.get(row.key, ""))
            for row in rows
            if (rule := _read_rule(bank, row, stems)) is not None
        ]
    return ProjectRules(
        tuple(rule for rule in rules if not rule.waits),
        tuple(rule for rule in rules if rule.waits),
        limits,
    )


def select_rules(rules: Sequence[ProjectRule], files: Collection[str]) -> tuple[ProjectRule, ...]:
    """Return the rules that are for one of some files, those with patterns first."""
    chosen = [rule for rule in rules if any(rule.applies(file) for file in files)]
    return tuple(sorted(chosen, key=lambda rule: (not rule.applies_to, rule.path)))


def _is_current(row: Document) -> bool:
    status = row.data.get("extra", {}).get("status") or row.data.get("status") or ""
    status = str(status).split(" ")[0].casefold()
    return status not in _NOT_CURRENT


def _find_waiting(
    bank: Bank, paths: Sequence[str], seconds: float
) -> tuple[Mapping[str, str], tuple[str, ...]]:
    """Return the notes that do not count yet with the reason, and what git does not know."""
    if not paths:
        return {}, ()
    limits = trust.refresh_commits(bank, paths, seconds)
    tiers = dict(zip(paths, trust.list_note_tiers(bank, paths, seconds), strict=True))
    reviews = REVIEWED in tiers.values() or any(
        commits.has_request() for commits in dict.fromkeys(filter(None, map(bank.commits, paths)))
    )
    reasons = {
        path: _why_waiting(bank, path, tier, reviews=reviews) for path, tier in tiers.items()
    }
    return {path: reason for path, reason in reasons.items() if reason}, limits


def _why_waiting(bank: Bank, path: str, tier: str, *, reviews: bool) -> str:
    if not tier:
        return NOT_IN_GIT
    if tier == UNKNOWN:
        return COMMITS_UNKNOWN
    try:
        clean = NoteTrust(bank, path).clean
    except MemoryBankError:
        clean = False  # gone meanwhile
    if tier == UNCOMMITTED or not clean:
        return NOT_COMMITTED
    return NOT_REVIEWED if reviews and tier != REVIEWED else ""


def _read_rule(bank: Bank, row: Document, stems: Mapping[str, int]) -> ProjectRule | None:
    try:
        note = bank.store.read(row.key)
    except MemoryBankError:
        return None  # gone meanwhile
    stem = note.name.rpartition("/")[2]
    extra = note.meta.extra
    return ProjectRule(
        path=row.key,
        name=stem if stems[stem.casefold()] == 1 else note.name,
        title="" if make_slug(note.title) == make_slug(stem) else note.title,
        text=_first_sentence(note),
        applies_to=tuple(yield_patterns(extra.get("applies_to"))),
        pinned=str(extra.get("pin", "")).lower() == "true",
    )


def _stem(key: str) -> str:
    return names.name_of(key).rpartition("/")[2].casefold()


def _first_sentence(note: Note) -> str:
    """Return the first sentence of a note's text below its title."""
    for section in note.body.sections:
        text = section.text.strip()
        if section.level:
            text = text.partition("\n")[2]
        for paragraph in re.split(r"\n[ \t]*\n", text.replace("\r\n", "\n")):
            bare = paragraph.strip()
            if not bare or bare.startswith(("```", "~~~", "<!--")):
                continue
            plain = plain_text(_MARKS.sub("", bare, count=1))
            if any(map(str.isalpha, plain)):
                return first_sentence(plain)[:_LONGEST]
    return ""
