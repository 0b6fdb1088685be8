"""Compare the citations of code in notes with the code as it is at a commit, or now."""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Self

from memory_bank.bank.bank import Bank
from memory_bank.bank.note_files import open_history
from memory_bank.base import NamedTuple
from memory_bank.base.dates import seconds_to_iso
from memory_bank.base.errors import MemoryBankError, StorageFailed
from memory_bank.base.filenames import NOTE_SUFFIXES
from memory_bank.code.changes import Compared, SymbolChanges
from memory_bank.code.code_at import FOLDER, CitedPlace, CodeAt
from memory_bank.code.code_words import CodeWords, NamedCode
from memory_bank.code.index.database import ParseCache
from memory_bank.code.index.work_tree import MAX_FILE_BYTES, find_work_tree
from memory_bank.code.parse import parsing
from memory_bank.code.parse.parsed_file import VERSION, ParsedFile
from memory_bank.git import objects
from memory_bank.git.commits import Change, CommitsAt
from memory_bank.git.history import SECONDS, merge_changes
from memory_bank.git.repository import shared_folder
from memory_bank.trust.citations import Cited, link_to
from memory_bank.trust.records import VERIFIED
from memory_bank.trust.stale_report import MOVED, STALE, TOUCHED, UNCOMMITTED, Citation, StaleCommit

_DROPPED = (
    "verified_commit {} is not in the history of this commit (a squash or rebase drops commits):"
    " the commit that wrote it counts"
)

_UNCOMMITTED_SUBJECT = "changes that are not committed"

SHALLOW = "shallow clone: older changes of the note are not known"


class ComparedCitation(NamedTuple):
    """A citation with the result of its comparison."""

    cited: Cited
    since: Since
    base: str
    """The commit that was compared; empty if none was."""
    compared: Compared
    names: tuple[str, ...] = ()
    """The names and numbers in the note whose code in the cited place is another now."""
    named: NamedCode | None = None
    """All that the note names of that place."""


class CodeComparison:
    """Compares the citations of one bank with the code at a commit."""

    def __init__(self, bank: Bank, head: str, *, end: str, seconds: float = SECONDS) -> None:
        """Compare with a commit; `end` is it, or NOW or STAGED on top of it.

        Listing the commits of the notes may take so many seconds.
        """
        self._bank = bank
        self._tree = find_work_tree(bank.layout.project)
        self._cache = ParseCache(shared_folder(self._tree) / "parses.db", VERSION)
        self.code = CodeAt(self._tree, self._cache, max_bytes=MAX_FILE_BYTES)
        self._head = head
        self._names = NamedChanges(self.code)
        self._history = open_history(self._tree)
        at = self._history.at(head, again=True, seconds=seconds)
        if at is None:
            self._history.close()
            raise StorageFailed(
                f"git can't list the commits within {seconds:g} seconds", "try `git log` there"
            )
        self._at = at
        self._changes = SymbolChanges(self.code, at, end=end)
        self._versions = NoteVersions(self.code, at)
        self._verified: dict[tuple[str, str], tuple[Since, str]] = {}
        self._compared: dict[tuple[str, CitedPlace], Compared] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.code.close()
        self._cache.close()
        self._history.close()

    def judge(
        self, citations: Sequence[Cited], notes: Bank, base: str = ""
    ) -> list[ComparedCitation]:
        """Compare citations in some notes; with a base, only those of what changed since then.

        Raises StorageFailed if git can't list the commits of the notes in time.
        """
        if base:
            citations = self._filter_touched(citations, base)
        files = {cited.note: self.file(notes, cited.note) for cited in citations}
        self._versions.prefetch([file for file in files.values() if file])
        texts = {note: notes.store.read_bytes(note) for note, file in files.items() if file}
        placed = [
            (cited, self._since(cited, files[cited.note], texts.get(cited.note)))
            for cited in citations
        ]
        bases = [
            (cited, since, since.commit if not base or self._at.after(since.commit, base) else base)
            for cited, since in placed
            if since.commit or not base
        ]
        self._load((cited.place, commit) for cited, _, commit in bases if commit)
        return [
            self._by_names(
                ComparedCitation(cited, since, commit, self._compare(cited, commit)), notes
            )
            for cited, since, commit in bases
        ]

    def untouched(self, citations: Sequence[Cited], notes: Bank) -> set[str]:
        """Return the notes whose cited files no commit changed since the first of the note.

        That reads no file. Raises StorageFailed as `judge`.
        """
        places: dict[str, set[CitedPlace]] = {}
        for citation in citations:
            places.setdefault(citation.note, set()).add(citation.place)
        result = set()
        for note, cited in places.items():
            paths = {place.path for place in cited}
            there = self.code.ids((self._head, path) for path in paths)
            if "" in paths or not all(there[self._head, path] for path in paths):
                continue
            file = self.file(notes, note)
            created = self._versions.created(file) if file else ""
            if created and not self._touched_since(created, paths):
                result.add(note)
        return result

    def citation(self, judged: ComparedCitation) -> Citation:
        """Return a citation with the commits that changed it."""
        cited, since, compared = judged.cited, judged.since, judged.compared
        commits: list[StaleCommit] = []
        fix = None
        if compared.state in {*STALE, *MOVED, TOUCHED} and compared.before is not None:
            places, lost = (compared.before, compared.place), self._losing(judged)
            commits = [
                StaleCommit(commit.id, seconds_to_iso(commit.made), commit.author, commit.subject)
                for commit in self._changes.commits(judged.base, *places, lost=lost)
            ]
            if self._changes.end != self._head and self._is_uncommitted(*places):
                commits.insert(0, StaleCommit(UNCOMMITTED, "", "", _UNCOMMITTED_SUBJECT))
            if compared.place and compared.place != compared.before:
                new = link_to(self._bank, self._tree, cited, compared.place)
                fix = new if new != cited.written else None  # a symbol by its name alone
        remark = SHALLOW if since.commit in self._at.ends and not since.remark else since.remark
        return Citation(
            path=cited.note,
            line=cited.line,
            target=cited.written,
            kind=cited.kind,
            state=compared.state,
            since=judged.base,
            since_date=self._date(judged),
            commits=tuple(commits),
            fix=fix,
            remark=remark,
            names=judged.names,
        )

    def _date(self, judged: ComparedCitation) -> str:
        """Return when the commit was made with which a citation is compared."""
        if judged.base == judged.since.commit:
            return seconds_to_iso(judged.since.time) if judged.since.time else ""
        return seconds_to_iso(self._commit_time_of(judged.base))

    def state(self, cited: Cited, commit: str) -> str:
        """Return what became of the cited code since a commit: see `stale_report.Citation`."""
        return self._compare(cited, commit).state

    def file(self, notes: Bank, note: str) -> str:
        """Return the path of a note's file below the work tree; empty if it is elsewhere."""
        if notes.roots.is_private(note):
            return ""
        place = self._bank.layout.project / notes.roots.place(note)
        try:
            return place.relative_to(self._tree).as_posix()
        except ValueError:
            return ""

    def _compare(self, cited: Cited, base: str) -> Compared:
        if not base:  # nothing can have changed since now
            return Compared("fresh", cited.place)
        key = base, cited.place
        if key not in self._compared:
            self._compared[key] = self._changes.compare(base, cited.place, by_name=cited.by_name)
        return self._compared[key]

    def _losing(self, judged: ComparedCitation) -> Callable[[str, str, str], bool] | None:
        """Return what tells whether a blob of a file lacks what a note names in the one before."""
        code, name = judged.named, judged.cited.place.name
        if code is None:
            return None
        return lambda path, old, new: bool(
            self._names.lost(CitedPlace(path, name), old, CitedPlace(path, name), new, code)
        )

    def _by_names(self, judged: ComparedCitation, notes: Bank) -> ComparedCitation:
        """Return a citation of changed code with what the note names of the change."""
        cited, compared = judged.cited, judged.compared
        before, place = compared.before, compared.place
        if not before or not place or not self._has_other_code(judged):
            return judged
        code = self._names.named(cited, before, notes, judged.base)
        blobs = self.code.id(judged.base, before.path), self.code.id(self._changes.end, place.path)
        names = self._names.lost(before, blobs[0], place, blobs[1], code)
        if names:
            changed = compared._replace(state="changed")
            return judged._replace(compared=changed, names=names, named=code)
        state = TOUCHED
        if compared.state in MOVED:
            state = compared.state
        elif place.path != before.path and not cited.by_name:
            is_same = posixpath.basename(place.path) == posixpath.basename(before.path)
            state = "moved" if is_same or place.name else "renamed"
        return judged._replace(compared=compared._replace(state=state))

    def _has_other_code(self, judged: ComparedCitation) -> bool:
        """Return whether the cited code differs, be it in its place or in another one."""
        compared = judged.compared
        return compared.state == "changed" or (compared.state in MOVED and compared.is_rewritten)

    def _since(self, cited: Cited, file: str, now: bytes | None) -> Since:
        """Return the last change of the cited section, or the commit that confirmed the note.

        `now` is the content of the note; None of one without a file in the repository.
        """
        since = Since("")
        if now is not None:
            line = None if cited.in_front_matter else cited.line
            since = self._versions.since(file, now, line)
        if not since.commit:
            since = self._writing_commit_of(cited)
            if not since.commit and file and self.code.id(self._head, file):
                return since  # it was changed after it was confirmed, nobody knows when
        if not cited.verified:
            return since
        verified, remark = self._confirming_commit_of(cited.verified, file)
        if not verified.commit:
            return Since("", remark=remark) if remark else since
        if not since.commit or self._is_before(since.commit, verified.commit):
            return verified._replace(remark=remark)
        return since

    def _writing_commit_of(self, cited: Cited) -> Since:
        """Return the commit that was checked out when a tool wrote this version of a note."""
        with self._bank.lock:
            head = self._bank.state.head(cited.etag)
        when = self._commit_time_of(head) if head else 0.0
        return Since(head, when) if when else Since("")

    def _confirming_commit_of(self, value: str, file: str) -> tuple[Since, str]:
        """Return the commit at which a note was confirmed, and what is not certain about it."""
        key = value, file
        if key not in self._verified:
            if self._is_before(value, self._head):
                commit = objects.commit_of(self._tree, value)
                sinces = Since(commit, self._commit_time_of(commit)), ""
            else:
                written = self._versions.verified(file, value) if file else Since("")
                sinces = written, _DROPPED.format(value[:12])
            self._verified[key] = sinces
        return self._verified[key]

    def _is_before(self, commit: str, text: str) -> bool:
        record = self._at.commit(commit)
        return record is not None and self._at.before(record.id, text)

    def _commit_time_of(self, commit: str) -> float:
        """Return when a commit was made; 0 if git can't say."""
        record = self._at.commit(commit)
        return float(record.made) if record else objects.commit_time(self._tree, commit)

    def _touched_since(self, commit: str, paths: Iterable[str]) -> bool:
        """Tell whether a commit after another one changed a file at or below some paths."""
        return any(self._at.after(change.commit.id, commit) for change in self._at.below(*paths))

    def _filter_touched(self, citations: Sequence[Cited], base: str) -> list[Cited]:
        """Return the citations of files and symbols that a range may have changed."""
        different = self._changes.different(base)
        folders = {path[:at] for path in different for at in _slashes(path)}
        endings = {path[at + 1 :] for path in different for at in _slashes(path)}
        paths = {*different, *folders, *endings}
        is_named = any(cited.by_name for cited in citations)
        words = self._last_names(base, different) if is_named else set()
        return [
            cited
            for cited in citations
            if (
                cited.place.name.rpartition(".")[2] in words
                if cited.by_name
                else cited.place.path in paths
            )
        ]

    def _last_names(self, base: str, paths: Iterable[str]) -> set[str]:
        """Return the last names of all symbols of some files, at both ends of a range."""
        files = [path for path in paths if parsing.detect_language(path)]
        ids = self.code.ids(
            (commit, path) for commit in (base, self._changes.end) for path in files
        )
        places = [
            (path, ids[commit, path]) for commit in (base, self._changes.end) for path in files
        ]
        self.code.load(places)
        parsed = (self.code.parsed(path, blob) for path, blob in places)
        return {symbol.name for file in parsed if file for symbol in file.symbols}

    def _load(self, entries: Iterable[tuple[CitedPlace, str]]) -> None:
        """Read the cited files at both ends at once."""
        pairs = [
            (commit, place)
            for place, base in entries
            if place.path
            for commit in (base, self._changes.end)
        ]
        ids = self.code.ids((commit, place.path) for commit, place in pairs)
        self.code.load((place.path, ids[commit, place.path]) for commit, place in pairs)

    def _is_uncommitted(self, before: CitedPlace, after: CitedPlace | None) -> bool:
        """Tell whether the work tree differs from its commit in a place, or in the later one."""
        places = [before, *([after] if after else [])]
        states = [self._changes.compare(self._head, place).state for place in places]
        return any(state in {*STALE, *MOVED} for state in states)


def _slashes(path: str) -> list[int]:
    return [at for at, char in enumerate(path) if char == "/"]


class NamedChanges:
    """Reads notes and versions of files, each once."""

    def __init__(self, code: CodeAt) -> None:
        self._code = code
        self._words: dict[tuple[CitedPlace, str, bool], CodeWords | None] = {}
        self._named: dict[Cited, NamedCode] = {}

    def named(self, cited: Cited, place: CitedPlace, notes: Bank, base: str) -> NamedCode:
        """Return what the section of a citation names, else what the note does.

        Of `[[conf.yml#port]]`, `port` is named, too; of a symbol, the name of a constant, and of
        what is no symbol for the parser, as a field.
        """
        from memory_bank.trust.named_code import (
            list_named_code,  # start-up: most files are as they were
        )

        if cited not in self._named:
            note = notes.store.read(cited.note)
            sections = () if cited.in_front_matter else note.body.sections
            text = "".join(x.text for x in sections if x.line <= cited.line < x.end_line)
            code = list_named_code(text)
            if not code.names and not code.numbers:
                code = list_named_code(note.text[note.body_start :])
            inner = cited.written.partition("#")[2]
            if cited.kind == "symbol":
                kinds = {symbol.kind for symbol in self._code.symbols(base, place)}
                is_value = not place.name or "constant" in kinds
                inner = cited.place.name.rpartition(".")[2] if is_value else ""
            self._named[cited] = code._replace(names=code.names | {inner}) if inner else code
        return self._named[cited]

    def lost(
        self, before: CitedPlace, old: str, place: CitedPlace, new: str, code: NamedCode
    ) -> tuple[str, ...]:
        """Return what is named and has other code in the second of two places, given with blobs."""
        first = self._read(before, old)
        second = self._read(place, new, before=self._code.parsed(before.path, old))
        return first.lost(second, code) if first and second else ()

    def _read(
        self, place: CitedPlace, blob: str, *, before: ParsedFile | None = None
    ) -> CodeWords | None:
        """Read a file, or a symbol together with the symbols that are new since `before`.

        Code that was taken out of a function into a new one is still the function's.
        """
        key = place, blob, before is not None
        if key not in self._words:
            path = place.path
            data = self._code.data(blob) if blob and blob != FOLDER else None
            parsed = self._code.parsed(path, blob) if data is not None else None
            is_known = data is not None and not (parsed and parsed.refused)
            prose = path.endswith(NOTE_SUFFIXES)
            symbols = None
            if place.name and parsed:
                symbols = self._code.symbols_in(place, blob) or [*parsed.symbols]
                if before is not None:
                    former = {symbol.qualified for symbol in before.symbols}
                    symbols += [child for child in parsed.symbols if child.qualified not in former]
            self._words[key] = (
                CodeWords(data or b"", parsed, prose=prose, symbols=symbols) if is_known else None
            )
        return self._words[key]


_MOST_VERSIONS = 200
"""Maximum number of commits of one note that are read."""

_FIRST = 2
"""Number of the newest commits of each note that are read at once."""


SectionKey = tuple[tuple[str, ...], int]
"""The headings of a section, and the number of those before with the same."""


class ComparedParts(NamedTuple):
    """A version of a note in the parts that are compared."""

    sections: dict[SectionKey, str]
    """The texts of sections."""
    lines: dict[int, SectionKey]
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
        self._code = code
        self._at = at
        self._head = at.head
        self._steps: dict[str, list[Change]] = {}
        self._parts: dict[str, ComparedParts | None] = {}
        self._now: dict[str, tuple[bytes, ComparedParts | None]] = {}
        self._since: dict[tuple[str, SectionKey | None], Since] = {}
        """The results of each file and section; of the content in `_now`."""

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
            self._since = {part: since for part, since in self._since.items() if part[0] != file}
        current, committed = self._now[file][1], self.parts(file, blob)
        if current is None or committed is None:
            return Since("")
        key = None if line is None else current.lines.get(line)
        if (file, key) not in self._since:
            before = _former_key(committed, current, key)
            is_committed = _words(current, key) == _words(committed, before)
            since = self._last_change(file, before) if is_committed else Since("")
            self._since[file, key] = since
        return self._since[file, key]

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

    def _last_change(self, file: str, key: SectionKey | None) -> Since:
        committed = self.parts(file, self._code.id(self._head, file))
        words = _words(committed, key)
        oldest = None
        for number, step in enumerate(self._history(file)):
            after = self.parts(step.path, step.after)
            if number == 0 and _words(after, key) != words:
                return self._by_merge(file, key, words)
            oldest = step.commit
            before = self.parts(step.old, step.before)
            former = _former_key(before, after, key)
            if _words(before, former) != _words(after, key):
                return Since(oldest.id, oldest.made)
            key = former
        if oldest is None:
            return self._by_merge(file, key, words)
        return Since(oldest.id, oldest.made, "older commits of the note were not read")

    def _by_merge(self, file: str, key: SectionKey | None, words: str | None) -> Since:
        """Return the merge that made a section what it is."""
        for step in merge_changes(self._code.tree, self._at, [file]):
            if _words(self.parts(file, step.after), key) == words:
                before = _words(self.parts(file, step.before), key)
                if before != words:
                    return Since(step.commit.id, step.commit.made)
        return Since(self._head, 0.0, "the commit that wrote it was not found")

    def _history(self, file: str) -> Sequence[Change]:
        """Return the changes of a note, the newest first, under its former names, too."""
        if file not in self._steps:
            changes = [change for change in self._at.changes(file) if not change.merged]
            self._steps[file] = changes[:_MOST_VERSIONS]
        return self._steps[file]


def _words(parts: ComparedParts | None, key: SectionKey | None) -> str | None:
    """Return the text of a section without its heading, or of the whole note."""
    if parts is None:
        return None
    if key is None:
        return parts.whole
    text = parts.sections.get(key)
    return text if text is None or not key[0] else text.partition("\n")[2].strip()


def _former_key(
    before: ComparedParts | None, after: ComparedParts | None, key: SectionKey | None
) -> SectionKey | None:
    """Return the key that a section had in an earlier version, if a heading was renamed since."""
    if key is None or before is None or after is None or key in before.sections:
        return key
    words = _words(after, key)
    gone = before.sections.keys() - after.sections.keys()
    gones = [former for former in gone if words and former[0] and _words(before, former) == words]
    return gones[0] if len(gones) == 1 else key


def _parts(file: str, data: bytes) -> ComparedParts | None:
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
