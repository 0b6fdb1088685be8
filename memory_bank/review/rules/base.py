"""The interface of lint rules, their context, and the run of all rules.

A rule is a function of a module of this package, declared by a decorator with its severity and a
line that says what it finds: `bank_rule` for one that gets a bank, `note_rule` for one that gets
one note's text and the settings. Both yield a `problem` for each. Its name is that of
the function, with `-` for `_`.
"""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar, cast

from memory_bank.bank.bank import Bank
from memory_bank.bank.records import Edit, Finding, Severity, order
from memory_bank.base import NamedTuple, in_json, plugins
from memory_bank.base.errors import MemoryBankError
from memory_bank.base.setting_sections import OFF
from memory_bank.base.settings import Settings
from memory_bank.git import process, repository
from memory_bank.git.file_commits import FileCommits
from memory_bank.memory.rules_block import FILE
from memory_bank.notes.characters import decode
from memory_bank.notes.parsing import NoteText
from memory_bank.search.index import IndexView

AGENTS = f"../{FILE}"
"""The path of AGENTS.md, beside the bank."""

ALLOW = "lint_allow"
"""Key of front matter with the names of rules whose findings in the note are accepted."""

_NEVER_ALLOWED = frozenset({"secret", "merge-conflict"})
"""Rules that a note can't turn off: a secret is allowed by its hash, in the settings."""

MOST_IN_NOTE = 500
"""Findings of a rule in one note that are listed: a hostile note could have a million."""

_KIND = "review.rules"

Fact = TypeVar("Fact")


def problem(
    path: str,
    line: int,
    message: str,
    fix: str | None = None,
    *,
    severity: Severity = "info",
    words: str | None = None,
    edits: tuple[Edit, ...] | None = None,
) -> Finding:
    """Return what a rule found in a file of the bank; the run of rules names the rule."""
    return Finding("", severity, path, line, message, fix, words=words, edits=edits)


def at(
    note: NoteText,
    start: int,
    end: int,
    message: str,
    fix: str | None = None,
    *,
    words: str | None = None,
    edits: tuple[Edit, ...] | None = None,
) -> Finding:
    """Return what was found between two offsets of a note's text."""
    line, column = note.place(start)
    end_line, end_column = note.place(end)
    finding = problem(note.path, line, message, fix, words=words, edits=edits)
    return finding._replace(column=column, end_line=end_line, end_column=end_column)


@in_json("rule", "severity", "summary", "disabled", "fixes", "needs_index")
class Rule(NamedTuple):
    """A rule, as its module declares it."""

    name: str
    summary: str
    severity: Severity
    """By default; the settings may say another one."""
    check: Callable[[RuleContext], Iterable[Finding]] | None = None
    """Yields the problems of a bank; None for a rule of a note's text."""
    check_note: Callable[[NoteText, Settings], Iterable[Finding]] | None = None
    """Yields the problems of one note's text."""
    private: bool = False
    """Whether `check_note` also applies to notes in this machine's private state."""
    fixes: bool = False
    """Whether some of its findings have a change that fixes them."""
    disabled: bool = False
    """By the settings."""
    has_remarks: bool = False
    """Whether it finds remarks, too, which stay of the severity info."""

    @property
    def rule(self) -> str:
        """Its name."""
        return self.name

    @property
    def needs_index(self) -> bool:
        """Whether it needs more than one note's text."""
        return self.check is not None


CheckBank = Callable[["RuleContext"], Iterable[Finding]]
CheckNote = Callable[[NoteText, Settings], Iterable[Finding]]
_declared: dict[tuple[str, str], Rule] = {}
"""The rules by module and name."""


class RuleContext:
    """A rule's access to a bank; everything is read lazily."""

    def __init__(
        self,
        bank: Bank,
        view: IndexView,
        paths: Collection[str] | None = None,
        *,
        searches: bool = False,
    ) -> None:
        """Give access to a bank whose index is up to date; see `paths` and `view`."""
        self.bank = bank
        self.layout = bank.layout
        self.settings = bank.settings
        self.manifest = view.manifest
        """The indexed documents; prefer it to reading files."""
        self.paths = None if paths is None else frozenset(paths)
        """The files whose findings are wanted; None for all. A rule need not look at others."""
        self.view = view if searches else None
        """The whole index; None where an answer must come soon: then rules don't search it."""
        self._store = bank.store
        self.roots = bank.roots
        """The folders of the notes."""
        self._note: NoteText | None = None
        """The note that was read last."""
        self._facts: dict[Callable[..., Any], tuple[Any, ...]] = {}
        self.named: Collection[str] = ()
        """The rules that were asked for by name."""

    def once(self, function: Callable[[RuleContext], Iterable[Fact]]) -> tuple[Fact, ...]:
        """Return what a function yields for this bank; it is called once and cached."""
        if function not in self._facts:
            self._facts[function] = tuple(function(self))
        return cast("tuple[Fact, ...]", self._facts[function])

    def wanted(self, paths: Iterable[str]) -> Iterable[str]:
        """Return those of some files whose findings are wanted."""
        path_set = self.paths
        return paths if path_set is None else [path for path in paths if path in path_set]

    def is_included(self, path: str) -> bool:
        """Tell whether a note is a file of the project that settings include."""
        return self.roots.is_included(path)

    @cached_property
    def files(self) -> tuple[str, ...]:
        """The paths of all files that may be notes, including those not indexed."""
        return tuple(sorted(self._store.paths()))

    @cached_property
    def texts(self) -> tuple[str, ...]:
        """The paths of text files whose names do not end like those of notes."""
        return tuple(sorted(self._store.scan().texts))

    def text(self, path: str) -> str | None:
        """Return a file's text; None if it was removed or can't be read."""
        note = self.note(path)
        return note.text if note else None

    def note(self, path: str) -> NoteText | None:
        """Return a file's text and what is in it; None if it was removed or can't be read."""
        if self._note is None or self._note.path != path:
            with suppress(MemoryBankError):
                data = self._store.read_bytes(path)
                self._note = NoteText(path, decode(data).text, len(data))
                return self._note
            return None
        return self._note

    @cached_property
    def tree(self) -> Path | None:
        """The git work tree that contains the bank."""
        return repository.find_worktree(self.layout.origin.root)

    @cached_property
    def tracked(self) -> Collection[str]:
        """The paths below the bank of all files that git has, or had in its revision."""
        prefix, listed = self.layout.prefix, self.layout.listed()
        if listed is not None:
            return sorted(path.removeprefix(prefix) for path in listed if path.startswith(prefix))
        names = process.run(self.layout.root, "ls-files", "-z", "--", ".") if self.tree else ""
        return [name for name in (names or "").split("\0") if name]

    def committed(self) -> Collection[str]:
        """Return the paths of all files that were ever committed: of the bank, and included."""
        return {path for root in self.roots.all() for path in root.committed()}

    def moved_notes(self, paths: Collection[str]) -> dict[str, str]:
        """Map paths of former notes to the paths of the notes to which git moved them."""
        layout, included = self.layout, self.roots.included
        moved = self.moved(paths, layout.root)
        if included is not None:
            moves = self.moved([path for path in paths if included.owns(path)], layout.project)
            moved |= {old: new for old, new in moves.items() if included.owns(new)}
        return moved

    def moved(self, names: Collection[str], folder: Path) -> dict[str, str]:
        """Map names of files in a folder that git moved to their new names.

        Files that were moved out of the folder are omitted.
        """
        layout, origin = self.layout, self.layout.origin  # a copy is in no repository
        folder = origin.project if folder == layout.project else origin.root
        tree = repository.find_worktree(folder)
        if tree is None or not names:
            return {}
        home = folder.relative_to(tree).as_posix()
        paths = {posixpath.normpath(f"{home}/{name}"): name for name in names}
        project = origin.project.relative_to(tree).as_posix()

        def there(path: str) -> bool:
            return layout.project_has(posixpath.relpath(path, project))

        root = self.roots.included if folder == origin.project else self.roots.bank
        commits = (root or self.roots.bank).history
        moves = commits.find_moves(paths, there) if isinstance(commits, FileCommits) else {}
        relpaths = {paths[old]: posixpath.relpath(new, home) for old, new in moves.items()}
        return {old: new for old, new in relpaths.items() if not new.startswith("../")}


def bank_rule(
    severity: Severity, summary: str, *, fixes: bool = False, has_remarks: bool = False
) -> Callable[[CheckBank], CheckBank]:
    """Declare a function that yields the problems of a bank as a rule of its name.

    With `has_remarks`, those of the severity info stay so.
    """

    def declared(check: CheckBank) -> CheckBank:
        name = check.__name__.replace("_", "-")
        _declared[check.__module__, name] = Rule(
            name, summary, severity, check, fixes=fixes, has_remarks=has_remarks
        )
        return check

    return declared


def note_rule(
    severity: Severity, summary: str, *, private: bool = False, fixes: bool = False
) -> Callable[[CheckNote], CheckNote]:
    """Declare a function that yields the problems of one note's text as a rule of its name.

    A `private` rule also applies to notes in this machine's private state.
    """

    def declared(check: CheckNote) -> CheckNote:
        name = check.__name__.replace("_", "-")
        _declared[check.__module__, name] = Rule(
            name, summary, severity, None, check, private=private, fixes=fixes
        )
        return check

    return declared


def rules() -> dict[str, Rule]:
    """Return the rules by their names."""
    rule_of: dict[str, Rule] = {}
    for name in reversed(plugins.list_plugins(_KIND)):  # ours last, so that no other takes its name
        module = plugins.load(_KIND, name).__name__
        rule_of |= {rule.name: rule for (where, _), rule in _declared.items() if where == module}
    return dict(sorted(rule_of.items()))


def choose_rules(settings: Settings, names: Collection[str] = ()) -> list[Rule]:
    """Return the rules of some names, or all; with the severities of the settings.

    Rules that the settings disable are left out unless they are named.
    """
    return [
        rule
        for rule in list_settings(settings)
        if (rule.name in names if names else not rule.disabled)
    ]


def list_settings(settings: Settings) -> list[Rule]:
    """Return all rules as the settings have them."""
    severities = settings.lint.severity
    return [
        rule._replace(disabled=True)
        if severities.get(name) == OFF
        else rule._replace(severity=cast("Severity", severities.get(name, rule.severity)))
        for name, rule in rules().items()
    ]


def findings(
    bank: RuleContext, names: Collection[str] = (), without: Collection[str] = ()
) -> list[Finding]:
    """Return the findings in a bank, or in the files that are wanted, the most severe first.

    `names` are those of rules; by default all that are not disabled. `without` names some to skip.
    """
    chosen_rules = [rule for rule in choose_rules(bank.settings, names) if rule.name not in without]
    bank.named = names
    all_findings = [
        place._replace(
            rule=rule.name,
            severity=place.severity
            if rule.has_remarks and place.severity == "info"
            else rule.severity,
        )
        for rule in chosen_rules
        for place in (rule.check(bank) if rule.check else ())
        if bank.paths is None or place.path in bank.paths
    ]
    all_findings = [
        finding
        for finding in all_findings
        if finding.rule not in list_allowed(bank.note(finding.path), finding.rule)
    ]
    for path in bank.files if bank.paths is None else sorted(bank.paths):
        if note := bank.note(path):
            private = bank.roots.is_private(path)
            all_findings += note_findings(note, bank.settings, chosen_rules, private=private)
    return sorted(all_findings, key=order)


def note_findings(
    note: NoteText, settings: Settings, note_rules: Iterable[Rule], *, private: bool = False
) -> Iterator[Finding]:
    """Yield the findings of those of some rules that need one note's text only.

    Of a rule, the first ones, and one that says that there are more.
    """
    for rule in note_rules:
        if rule.check_note is None or (private and not rule.private):
            continue
        if rule.name not in list_allowed(note, rule.name):
            for number, place in enumerate(rule.check_note(note, settings)):
                if number == MOST_IN_NOTE:
                    message = f"{place.message}; what is below is not listed"
                    yield Finding(rule.name, rule.severity, note.path, place.line, message)
                    break
                yield place._replace(rule=rule.name, severity=rule.severity)


def list_allowed(note: NoteText | None, rule: str) -> Collection[str]:
    """Return the names of rules whose findings the front matter of a note accepts."""
    if note is None or ALLOW not in note.head or rule in _NEVER_ALLOWED:
        return ()
    key = note.keys.get(ALLOW)
    return [str(name) for name in (key if isinstance(key, list) else [key])]
