"""When the sections of notes last changed, by the commits of their files."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import NamedTuple

from memory_bank.base.errors import MemoryBankError
from memory_bank.code.code_at import CodeAt
from memory_bank.git.commits import Change, CommitsAt
from memory_bank.git.history import merge_changes
from memory_bank.trust.citations import VERIFIED

_MOST_VERSIONS = 200
"""Maximum number of commits of one note that are read."""

_FIRST = 2
"""Number of the newest commits of each note that are read at once."""


class ComparedParts(NamedTuple):
    """A version of a note in the parts that are compared."""

    sections: dict[tuple[tuple[str, ...], int], str]
    """The texts of sections by their headings, and the number of those before with the same."""
    lines: dict[int, tuple[tuple[str, ...], int]]
    """The section of each line."""
    whole: str
    """The body, and the references of the front matter."""
    verified: str


class Since(NamedTuple):
    """The last change of a section."""

    commit: str
    """Empty if it is not committed."""
    time: float = 0.0
    remark: str = ""
    """What is not certain about it."""


class NoteVersions:
    """Reads the versions of notes from git, up to a commit."""

    def __init__(self, code: CodeAt, at: CommitsAt) -> None:
        """Read the history of the notes up to a commit."""
        self._code = code
        self._at = at
        self._head = at.head
        self._steps: dict[str, list[Change]] = {}
        self._parts: dict[str, ComparedParts | None] = {}
        self._now: dict[str, tuple[bytes, ComparedParts | None]] = {}

    def prefetch(self, files: Collection[str]) -> None:
        """Read what is needed of most notes at once."""
        ids = self._code.ids((self._head, file) for file in files)
        blobs = [ids[self._head, file] for file in files]
        for file in files:
            for _, step in zip(range(_FIRST), self._history(file), strict=False):
                blobs += [step.before, step.after]
        self._code.read(blob for blob in blobs if blob)

    def created(self, file: str) -> str:
        """Return the first commit of a note; empty if it is not known."""
        commit = ""
        for step in self._history(file):
            commit = "" if step.before else step.commit.id
        return commit

    def since(self, file: str, now: bytes, line: int | None) -> Since:
        """Return the last commit that changed the section of a line.

        `line` is None for the front matter: then it is the body, or the references. `now` is the
        content of the file, which may differ from that of the commit.
        """
        blob = self._code.id(self._head, file)
        if file not in self._now or self._now[file][0] != now:
            self._now[file] = now, _parts(file, now)
        current, committed = self._now[file][1], self.parts(file, blob)
        if current is None or committed is None:
            return Since("")
        key = None if line is None else current.lines.get(line)
        if _part(current, key) != _part(committed, key):
            return Since("")
        return self._last_change(file, key)

    def verified(self, file: str, value: str) -> Since:
        """Return the commit that wrote a value of `verified_commit`."""
        committed = self.parts(file, self._code.id(self._head, file))
        if committed is None or committed.verified != value:
            return Since("")
        for step in self._history(file):
            before = self.parts(step.old, step.before)
            if before is None or before.verified != value:
                return Since(step.commit.id, step.commit.made)
        return Since("")

    def parts(self, file: str, blob: str) -> ComparedParts | None:
        """Return the parts of a version; None if there is none, or it can't be read."""
        if blob not in self._parts:
            data = self._code.data(blob) if blob else None
            self._parts[blob] = None if data is None else _parts(file, data)
        return self._parts[blob]

    def _last_change(self, file: str, key: tuple[tuple[str, ...], int] | None) -> Since:
        committed = self.parts(file, self._code.id(self._head, file))
        wanted = _part(committed, key)
        oldest = None
        for number, step in enumerate(self._history(file)):
            after = _part(self.parts(step.path, step.after), key)
            if number == 0 and after != wanted:
                return self._by_merge(file, key, wanted)
            oldest = step.commit
            if _part(self.parts(step.old, step.before), key) != after:
                return Since(oldest.id, oldest.made)
        if oldest is None:
            return self._by_merge(file, key, wanted)
        return Since(oldest.id, oldest.made, "older commits of the note were not read")

    def _by_merge(
        self, file: str, key: tuple[tuple[str, ...], int] | None, wanted: str | None
    ) -> Since:
        """Return the merge that made a section what it is."""
        for step in merge_changes(self._code.tree, self._at, [file]):
            if _part(self.parts(file, step.after), key) == wanted:
                before = _part(self.parts(file, step.before), key)
                if before != wanted:
                    return Since(step.commit.id, step.commit.made)
        return Since(self._head, 0.0, "the commit that wrote it was not found")

    def _history(self, file: str) -> Sequence[Change]:
        """Return the changes of a note, the newest first, under its former names, too."""
        if file not in self._steps:
            found = [one for one in self._at.changes(file) if not one.merged]
            self._steps[file] = found[:_MOST_VERSIONS]
        return self._steps[file]


def _part(parts: ComparedParts | None, key: tuple[tuple[str, ...], int] | None) -> str | None:
    if parts is None:
        return None
    return parts.whole if key is None else parts.sections.get(key)


def _parts(file: str, data: bytes) -> ComparedParts | None:
    from memory_bank.notes import parsing  # start-up: if nothing changed, no note is parsed

    try:
        note = parsing.parse(file, data)
    except MemoryBankError:
        return None
    sections: dict[tuple[tuple[str, ...], int], str] = {}
    lines: dict[int, tuple[tuple[str, ...], int]] = {}
    counts: dict[tuple[str, ...], int] = {}
    for section in note.body.sections:
        number = counts[section.headings] = counts.get(section.headings, -1) + 1
        sections[section.headings, number] = _plain(section.text)
        for line in range(section.line, section.end_line):
            lines[line] = section.headings, number
    meta = note.meta
    references = [*meta.file_refs, "", *meta.symbol_refs]
    body = _plain(note.text[note.body_start :])
    verified = str(meta.extra.get(VERIFIED) or "").strip()
    return ComparedParts(sections, lines, "\n".join([body, *references]), verified)


def _plain(text: str) -> str:
    """Return a text without white space at the ends of its lines, and without empty last lines."""
    return "\n".join(line.rstrip() for line in text.strip().splitlines())
