"""Compare the citations of code in notes with the code as it is at a commit, or now."""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Collection, Iterable, Sequence

from memory_bank.bank.bank import Bank
from memory_bank.bank.note_files import open_history
from memory_bank.base import Closable, NamedTuple
from memory_bank.base.dates import seconds_to_iso
from memory_bank.base.errors import MemoryBankError, StorageFailed
from memory_bank.base.filenames import NOTE_SUFFIXES
from memory_bank.code.changes import Comparison, State, SymbolChanges
from memory_bank.code.code_at import FOLDER, CodeAt, CodePlace
from memory_bank.code.code_words import CodeWords, NamedCode
from memory_bank.code.index.work_tree import find_work_tree
from memory_bank.code.languages.base import detect_language
from memory_bank.code.parse.parsed_file import ParsedFile
from memory_bank.git import objects
from memory_bank.git.commits import Change, CommitsAt
from memory_bank.git.history import SECONDS, merge_changes
from memory_bank.trust.citations import CodeCitation, list_named_code, write_target
from memory_bank.trust.records import (
    MOVED,
    STALE,
    TOUCHED,
    UNCOMMITTED,
    VERIFIED,
    Citation,
    StaleCommit,
)

_DROPPED = (
    "verified_commit {} is not in the history of this commit (a squash or rebase drops commits):"
    " the commit that wrote it counts"
)

_UNCOMMITTED_SUBJECT = "changes that are not committed"

SHALLOW = "shallow clone: older changes of the note are not known"


class ComparedCitation(NamedTuple):
    """A citation with the result of its comparison."""

    cited: CodeCitation
    last_change: LastChange
    base: str
    """The commit that was compared; empty if none was."""
    comparison: Comparison
    names: tuple[str, ...] = ()
    """The names and numbers in the note whose code in the cited place is another now."""
    named_code: NamedCode | None = None
    """All that the note names of that place."""


class CodeComparison(Closable):
    """Compares the citations of one bank with the code at a commit."""

    def __init__(self, bank: Bank, head: str, *, end: str, seconds: float = SECONDS) -> None:
        """Compare with a commit; `end` is it, or NOW or STAGED on top of it.

        Listing the commits of the notes may take `seconds`.
        """
        self._bank = bank
        self._tree = find_work_tree(bank.layout.project)
        self.code = CodeAt(self._tree)
        self._head = head
        self._code_reader = NamedCodeReader(self.code)
        self._history = open_history(self._tree)
        at = self._history.at(head, again=True, seconds=seconds)
        if at is None:
            self._history.close()
            raise StorageFailed(
                f"git can't list the commits within {seconds:g} seconds", "try `git log` there"
            )
        self._commits = at
        self._changes = SymbolChanges(self.code, at, end=end)
        self._versions = NoteVersions(self.code, at)
        self._verified: dict[tuple[str, str], tuple[LastChange, str]] = {}
        self._compared: dict[tuple[str, CodePlace], Comparison] = {}

    def close(self) -> None:
        """End git and close the caches."""
        self.code.close()
        self._history.close()

    def compare_citations(
        self, citations: Sequence[CodeCitation], notes: Bank, base: str = ""
    ) -> list[ComparedCitation]:
        """Compare citations in some notes; with a base, only those of what changed since then.

        Raises StorageFailed if git can't list the commits of the notes in time.
        """
        if base:
            citations = self._filter_touched(citations, base)
        files = {cited.note: self.find_file(notes, cited.note) for cited in citations}
        self._versions.prefetch([file for file in files.values() if file])
        texts = {note: notes.store.read_bytes(note) for note, file in files.items() if file}
        rows = []
        for cited in citations:
            change = self._find_last_change(cited, files[cited.note], texts.get(cited.note))
            if not base or self._commits.is_after(change.commit, base):
                rows.append((cited, change, change.commit))
            elif change.commit:
                rows.append((cited, change, base))
        self._load((cited.place, commit) for cited, _, commit in rows if commit)
        return [
            self._judge_by_names(
                ComparedCitation(cited, change, commit, self._compare(cited, commit)), notes
            )
            for cited, change, commit in rows
        ]

    def list_untouched(self, citations: Sequence[CodeCitation], notes: Bank) -> set[str]:
        """Return the notes whose cited files no commit changed since the first of the note.

        That reads no file. Raises StorageFailed as `compare_citations`.
        """
        places: dict[str, set[CodePlace]] = {}
        for citation in citations:
            places.setdefault(citation.note, set()).add(citation.place)
        untouched = set()
        for note, note_places in places.items():
            paths = {place.path for place in note_places}
            ids = self.code.ids((self._head, path) for path in paths)
            if "" in paths or not all(ids[self._head, path] for path in paths):
                continue
            file = self.find_file(notes, note)
            created = self._versions.find_first_commit(file) if file else ""
            if created and not self._is_touched_since(created, paths):
                untouched.add(note)
        return untouched

    def describe(self, citation: ComparedCitation) -> Citation:
        """Return a citation for a report, with the commits that changed its code."""
        cited, change, comparison = citation.cited, citation.last_change, citation.comparison
        commits: list[StaleCommit] = []
        fix = None
        if comparison.state in {*STALE, *MOVED, TOUCHED} and comparison.before is not None:
            places, loses = (comparison.before, comparison.place), self._loss_test(citation)
            commits = [
                StaleCommit(commit.id, seconds_to_iso(commit.made), commit.author, commit.subject)
                for commit in self._changes.list_commits(citation.base, *places, loses=loses)
            ]
            if self._changes.end != self._head and self._is_uncommitted(*places):
                commits.insert(0, StaleCommit(UNCOMMITTED, "", "", _UNCOMMITTED_SUBJECT))
            if comparison.place and comparison.place != comparison.before:
                target = write_target(self._bank, self._tree, cited, comparison.place)
                fix = target if target != cited.written else None  # a symbol by its name alone
        is_shallow = change.commit in self._commits.ends and not change.remark
        return Citation(
            path=cited.note,
            line=cited.line,
            target=cited.written,
            kind=cited.kind,
            state=comparison.state,
            since=citation.base,
            since_date=self._base_date(citation),
            commits=tuple(commits),
            fix=fix,
            remark=SHALLOW if is_shallow else change.remark,
            names=citation.names,
        )

    def _base_date(self, citation: ComparedCitation) -> str:
        """Return when the commit was made with which a citation is compared."""
        change = citation.last_change
        if citation.base == change.commit:
            return seconds_to_iso(change.time) if change.time else ""
        return seconds_to_iso(self._read_commit_time(citation.base))

    def compare_state(self, cited: CodeCitation, commit: str) -> str:
        """Return what became of the cited code since a commit: see `records.Citation`."""
        return self._compare(cited, commit).state

    def find_file(self, notes: Bank, note: str) -> str:
        """Return the path of a note's file below the work tree; empty if it is elsewhere."""
        if notes.roots.is_private(note):
            return ""
        file = self._bank.layout.project / notes.roots.place(note)
        try:
            return file.relative_to(self._tree).as_posix()
        except ValueError:
            return ""

    def _compare(self, cited: CodeCitation, base: str) -> Comparison:
        if not base:  # nothing can have changed since now
            return Comparison("fresh", cited.place)
        key = base, cited.place
        if key not in self._compared:
            self._compared[key] = self._changes.compare(base, cited.place, by_name=cited.by_name)
        return self._compared[key]

    def _loss_test(self, citation: ComparedCitation) -> Callable[[str, str, str], bool] | None:
        """Return a test whether a blob of a path lost what the note names in the one before."""
        code, name = citation.named_code, citation.cited.place.name
        if code is None:
            return None

        def loses(path: str, old: str, new: str) -> bool:
            place = CodePlace(path, name)
            return bool(self._code_reader.list_lost(place, old, place, new, code))

        return loses

    def _judge_by_names(self, citation: ComparedCitation, notes: Bank) -> ComparedCitation:
        """Return a citation, if its code differs, with the names in the note that are concerned."""
        cited, comparison = citation.cited, citation.comparison
        before, place = comparison.before, comparison.place
        is_moved = comparison.state in MOVED
        differs = comparison.state == "changed" or (is_moved and comparison.is_rewritten)
        if not before or not place or not differs:
            return citation
        code = self._code_reader.read_named_code(cited, before, notes, citation.base)
        old = self.code.id(citation.base, before.path)
        new = self.code.id(self._changes.end, place.path)
        if names := self._code_reader.list_lost(before, old, place, new, code):
            comparison = comparison._replace(state="changed")
            return citation._replace(comparison=comparison, names=names, named_code=code)
        if not is_moved:
            state: State = TOUCHED
            if place.path != before.path and not cited.by_name:
                is_same = posixpath.basename(place.path) == posixpath.basename(before.path)
                state = "moved" if is_same or place.name else "renamed"
            comparison = comparison._replace(state=state)
        return citation._replace(comparison=comparison)

    def _find_last_change(self, cited: CodeCitation, file: str, now: bytes | None) -> LastChange:
        """Return the last change of the cited section, or the commit that confirmed the note.

        `now` is the content of the note; None of one without a file in the repository.
        """
        change = LastChange("")
        if now is not None:
            line = None if cited.in_front_matter else cited.line
            change = self._versions.find_last_change(file, now, line)
        if not change.commit:
            change = self._find_writing_commit(cited)
            if not change.commit and file and self.code.id(self._head, file):
                return change  # it was changed after it was confirmed, nobody knows when
        if not cited.verified:
            return change
        confirmation, remark = self._find_confirmation(cited.verified, file)
        if not confirmation.commit:
            return LastChange("", remark=remark) if remark else change
        if not change.commit or self._is_before(change.commit, confirmation.commit):
            return confirmation._replace(remark=remark)
        return change

    def _find_writing_commit(self, cited: CodeCitation) -> LastChange:
        """Return the commit that was checked out when a tool wrote this version of a note."""
        with self._bank.lock:
            head = self._bank.state.head(cited.etag)
        when = self._read_commit_time(head) if head else 0.0
        return LastChange(head, when) if when else LastChange("")

    def _find_confirmation(self, value: str, file: str) -> tuple[LastChange, str]:
        """Return the commit at which a note was confirmed, and what is not certain about it."""
        key = value, file
        if key not in self._verified:
            if self._is_before(value, self._head):
                commit = objects.find_commit(self._tree, value)
                self._verified[key] = LastChange(commit, self._read_commit_time(commit)), ""
            else:
                change = self._versions.find_confirmation(file, value) if file else LastChange("")
                self._verified[key] = change, _DROPPED.format(value[:12])
        return self._verified[key]

    def _is_before(self, commit: str, end: str) -> bool:
        record = self._commits.commit(commit)
        return record is not None and self._commits.is_before(record.id, end)

    def _read_commit_time(self, commit: str) -> float:
        """Return when a commit was made; 0 if git can't say."""
        record = self._commits.commit(commit)
        return float(record.made) if record else objects.read_commit_time(self._tree, commit)

    def _is_touched_since(self, commit: str, paths: Iterable[str]) -> bool:
        """Tell whether a commit after another one changed a file at or below some paths."""
        return any(
            self._commits.is_after(change.commit.id, commit)
            for change in self._commits.changes_below(*paths)
        )

    def _filter_touched(self, citations: Sequence[CodeCitation], base: str) -> list[CodeCitation]:
        """Return the citations of files and symbols that may differ from those of a base."""
        differing = self._changes.list_differing(base)
        folders = {path[:at] for path in differing for at in _find_slashes(path)}
        endings = {path[at + 1 :] for path in differing for at in _find_slashes(path)}
        paths = {*differing, *folders, *endings}
        is_named = any(cited.by_name for cited in citations)
        last_names = self._list_last_names(base, differing) if is_named else set()
        return [
            cited
            for cited in citations
            if (
                cited.place.name.rpartition(".")[2] in last_names
                if cited.by_name
                else cited.place.path in paths
            )
        ]

    def _list_last_names(self, base: str, paths: Iterable[str]) -> set[str]:
        """Return the last names of all symbols of some files, at both ends of a range."""
        files = [path for path in paths if detect_language(path)]
        versions = [(commit, path) for commit in (base, self._changes.end) for path in files]
        ids = self.code.ids(versions)
        blobs = [(path, ids[commit, path]) for commit, path in versions]
        self.code.load(blobs)
        parsed = (self.code.parsed(path, blob) for path, blob in blobs)
        return {symbol.name for file in parsed if file for symbol in file.symbols}

    def _load(self, places: Iterable[tuple[CodePlace, str]]) -> None:
        """Read the files of places at their base commits and at the end, all at once."""
        versions = [
            (commit, place.path)
            for place, base in places
            if place.path
            for commit in (base, self._changes.end)
        ]
        ids = self.code.ids(versions)
        self.code.load((path, ids[commit, path]) for commit, path in versions)

    def _is_uncommitted(self, before: CodePlace, after: CodePlace | None) -> bool:
        """Tell whether the end differs from the commit `head` in one of the places."""
        places = [before, *([after] if after else [])]
        states = [self._changes.compare(self._head, place).state for place in places]
        return any(state in {*STALE, *MOVED} for state in states)


def _find_slashes(path: str) -> list[int]:
    return [at for at, char in enumerate(path) if char == "/"]


class NamedCodeReader:
    """Reads what notes name of the code, and whether versions of files still have it; each once."""

    def __init__(self, code: CodeAt) -> None:
        self._code = code
        self._words: dict[tuple[CodePlace, str, bool], CodeWords | None] = {}
        self._named_code: dict[CodeCitation, NamedCode] = {}

    def read_named_code(
        self, cited: CodeCitation, place: CodePlace, notes: Bank, base: str
    ) -> NamedCode:
        """Return what the section of a citation names, or else what the whole note names.

        With `[[conf.yml#port]]`, it names `port`, too; with a link to a symbol, the symbol's name
        if it is a constant, or none for the parser, such as a field.
        """
        if cited not in self._named_code:
            note = notes.store.read(cited.note)
            sections = () if cited.in_front_matter else note.body.sections
            text = "".join(x.text for x in sections if x.line <= cited.line < x.end_line)
            code = list_named_code(text)
            if not code.names and not code.numbers:
                code = list_named_code(note.body_text)
            fragment = cited.written.partition("#")[2]
            if cited.kind == "symbol":
                kinds = {symbol.kind for symbol in self._code.symbols(base, place)}
                is_value = not place.name or "constant" in kinds
                fragment = cited.place.name.rpartition(".")[2] if is_value else ""
            self._named_code[cited] = (
                code._replace(names=code.names | {fragment}) if fragment else code
            )
        return self._named_code[cited]

    def list_lost(
        self, before: CodePlace, old: str, place: CodePlace, new: str, code: NamedCode
    ) -> tuple[str, ...]:
        """Return which of the named code is another in `place` of the blob `new` than `before`."""
        old_words = self._read_words(before, old)
        new_words = self._read_words(place, new, before=self._code.parsed(before.path, old))
        return old_words.list_lost(new_words, code) if old_words and new_words else ()

    def _read_words(
        self, place: CodePlace, blob: str, *, before: ParsedFile | None = None
    ) -> CodeWords | None:
        """Read a file, or a symbol together with the symbols that are new since `before`.

        Code that was taken out of a function into a new one is still the function's.
        """
        key = place, blob, before is not None
        if key not in self._words:
            data = self._code.data(blob) if blob and blob != FOLDER else None
            parsed = self._code.parsed(place.path, blob) if data is not None else None
            symbols = None
            if place.name and parsed:
                symbols = self._code.symbols_in(place, blob) or [*parsed.symbols]
                if before is not None:
                    former = {symbol.qualified for symbol in before.symbols}
                    symbols += [child for child in parsed.symbols if child.qualified not in former]
            self._words[key] = None
            if data is not None and not (parsed and parsed.refused):
                prose = place.path.endswith(NOTE_SUFFIXES)
                self._words[key] = CodeWords(data, parsed, prose=prose, symbols=symbols)
        return self._words[key]


_MOST_VERSIONS = 200
"""Maximum number of commits of one note that are read."""

_FIRST = 2
"""Number of the newest commits of each note that are read at once."""


SectionKey = tuple[tuple[str, ...], int]
"""The headings of a section, and the number of those before with the same."""


class NoteVersion(NamedTuple):
    """A version of a note in the parts that are compared."""

    sections: dict[SectionKey, str]
    """The texts of sections."""
    lines: dict[int, SectionKey]
    """The section of each line."""
    whole: str
    """The body, and the references of the front matter."""
    verified: str


class LastChange(NamedTuple):
    """The last change of a section."""

    commit: str
    """Empty if it is not committed."""
    time: float = 0.0
    remark: str = ""
    """What is not certain about it."""


class NoteVersions:
    """Reads the versions of notes from git, up to a commit."""

    def __init__(self, code: CodeAt, at: CommitsAt) -> None:
        self._code = code
        self._commits = at
        self._head = at.head
        self._changes_by_file: dict[str, list[Change]] = {}
        self._parts: dict[str, NoteVersion | None] = {}
        self._now: dict[str, tuple[bytes, NoteVersion | None]] = {}
        self._last_changes: dict[tuple[str, SectionKey | None], LastChange] = {}
        """The last changes by file and section, for the content in `_now`."""

    def prefetch(self, files: Collection[str]) -> None:
        """Read what is needed of most notes at once."""
        ids = self._code.ids((self._head, file) for file in files)
        blobs = [ids[self._head, file] for file in files]
        for file in files:
            for _, change in zip(range(_FIRST), self._list_changes(file), strict=False):
                blobs += [change.before, change.after]
        self._code.read(blob for blob in blobs if blob)

    def find_first_commit(self, file: str) -> str:
        """Return the first commit of a note; empty if it is not known."""
        commit = ""
        for change in self._list_changes(file):
            commit = "" if change.before else change.commit.id
        return commit

    def find_last_change(self, file: str, now: bytes, line: int | None) -> LastChange:
        """Return the last commit that changed the section of a line.

        `line` is None for the front matter: then it is the body, or the references. `now` is the
        content of the file, which may differ from that of the commit.
        """
        blob = self._code.id(self._head, file)
        if file not in self._now or self._now[file][0] != now:
            self._now[file] = now, _split_note(file, now)
            self._last_changes = {
                part: change for part, change in self._last_changes.items() if part[0] != file
            }
        parts, head_parts = self._now[file][1], self.read_parts(file, blob)
        if parts is None or head_parts is None:
            return LastChange("")
        key = None if line is None else parts.lines.get(line)
        if (file, key) not in self._last_changes:
            former_key = _find_former_key(head_parts, parts, key)
            is_committed = _section_text(parts, key) == _section_text(head_parts, former_key)
            change = self._find_section_change(file, former_key) if is_committed else LastChange("")
            self._last_changes[file, key] = change
        return self._last_changes[file, key]

    def find_confirmation(self, file: str, value: str) -> LastChange:
        """Return the commit that wrote a value of `verified_commit`."""
        parts = self.read_parts(file, self._code.id(self._head, file))
        if parts is None or parts.verified != value:
            return LastChange("")
        for change in self._list_changes(file):
            before = self.read_parts(change.old, change.before)
            if before is None or before.verified != value:
                return LastChange(change.commit.id, change.commit.made)
        return LastChange("")

    def read_parts(self, file: str, blob: str) -> NoteVersion | None:
        """Return the parts of a version; None if there is none, or it can't be read."""
        if blob not in self._parts:
            data = self._code.data(blob) if blob else None
            self._parts[blob] = None if data is None else _split_note(file, data)
        return self._parts[blob]

    def _find_section_change(self, file: str, key: SectionKey | None) -> LastChange:
        parts = self.read_parts(file, self._code.id(self._head, file))
        text = _section_text(parts, key)
        oldest = None
        for number, change in enumerate(self._list_changes(file)):
            after = self.read_parts(change.path, change.after)
            if number == 0 and _section_text(after, key) != text:
                return self._find_merge(file, key, text)
            oldest = change.commit
            before = self.read_parts(change.old, change.before)
            former_key = _find_former_key(before, after, key)
            if _section_text(before, former_key) != _section_text(after, key):
                return LastChange(oldest.id, oldest.made)
            key = former_key
        if oldest is None:
            return self._find_merge(file, key, text)
        return LastChange(oldest.id, oldest.made, "older commits of the note were not read")

    def _find_merge(self, file: str, key: SectionKey | None, text: str | None) -> LastChange:
        """Return the merge that made a section what it is."""
        for change in merge_changes(self._code.tree, self._commits, [file]):
            if _section_text(self.read_parts(file, change.after), key) == text:
                before = _section_text(self.read_parts(file, change.before), key)
                if before != text:
                    return LastChange(change.commit.id, change.commit.made)
        return LastChange(self._head, 0.0, "the commit that wrote it was not found")

    def _list_changes(self, file: str) -> Sequence[Change]:
        """Return the changes of a note, the newest first, under its former names, too."""
        if file not in self._changes_by_file:
            changes = [change for change in self._commits.changes(file) if not change.merged]
            self._changes_by_file[file] = changes[:_MOST_VERSIONS]
        return self._changes_by_file[file]


def _section_text(parts: NoteVersion | None, key: SectionKey | None) -> str | None:
    """Return the text of a section without its heading, or of the whole note."""
    if parts is None:
        return None
    if key is None:
        return parts.whole
    text = parts.sections.get(key)
    return text if text is None or not key[0] else text.partition("\n")[2].strip()


def _find_former_key(
    before: NoteVersion | None, after: NoteVersion | None, key: SectionKey | None
) -> SectionKey | None:
    """Return the key that a section had in an earlier version, if a heading was renamed since."""
    if key is None or before is None or after is None or key in before.sections:
        return key
    text = _section_text(after, key)
    gone = before.sections.keys() - after.sections.keys()
    candidates = [
        former for former in gone if text and former[0] and _section_text(before, former) == text
    ]
    return candidates[0] if len(candidates) == 1 else key


def _split_note(file: str, data: bytes) -> NoteVersion | None:
    from memory_bank.notes import parsing  # start-up: if nothing changed, no note is parsed

    try:
        note = parsing.parse(file, data)
    except MemoryBankError:
        return None
    sections: dict[SectionKey, str] = {}
    lines: dict[int, SectionKey] = {}
    counts: dict[tuple[str, ...], int] = {}
    for section in note.body.sections:
        number = counts[section.headings] = counts.get(section.headings, -1) + 1
        sections[section.headings, number] = _strip_lines(section.text)
        for line in range(section.line, section.end_line):
            lines[line] = section.headings, number
    meta = note.meta
    references = [*meta.file_refs, "", *meta.symbol_refs]
    body = _strip_lines(note.body_text)
    verified = str(meta.extra.get(VERIFIED) or "").strip()
    return NoteVersion(sections, lines, "\n".join([body, *references]), verified)


def _strip_lines(text: str) -> str:
    """Return a text without white space at the ends of its lines, and without empty last lines."""
    return "\n".join(line.rstrip() for line in text.strip().splitlines())
