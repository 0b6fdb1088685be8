"""Tell which names and numbers in a note have other code in a new version of a file."""

from __future__ import annotations

from memory_bank.bank.bank import Bank
from memory_bank.base.filenames import NOTE_SUFFIXES
from memory_bank.code.code_at import FOLDER, CodeAt
from memory_bank.code.code_words import CodeWords, NamedCode
from memory_bank.trust.citations import Cited


class NamedChanges:
    """Reads notes and versions of files, each once."""

    def __init__(self, code: CodeAt) -> None:
        """Read the files of one repository."""
        self._code = code
        self._words: dict[tuple[str, str], CodeWords | None] = {}
        self._named: dict[Cited, NamedCode] = {}

    def named(self, one: Cited, notes: Bank) -> NamedCode:
        """Return what the section of a citation names, else what the note does.

        Of `[[conf.yml#port]]`, `port` is named, too.
        """
        from memory_bank.trust.named_code import named_in  # start-up: most files are as they were

        if one not in self._named:
            note = notes.store.read(one.note)
            sections = () if one.in_front_matter else note.body.sections
            text = "".join(x.text for x in sections if x.line <= one.line < x.end_line)
            found = named_in(text)
            if not found.names and not found.numbers:
                found = named_in(note.text[note.body_start :])
            inner = one.written.partition("#")[2]
            self._named[one] = found._replace(names=found.names | {inner}) if inner else found
        return self._named[one]

    def lost(self, path: str, old: str, new: str, named: NamedCode) -> tuple[str, ...]:
        """Return what is named and has other code in the second of two blobs of a file."""
        before, after = self._read(path, old), self._read(path, new)
        return before.lost(after, named) if before and after else ()

    def _read(self, path: str, blob: str) -> CodeWords | None:
        key = path, blob
        if key not in self._words:
            data = self._code.data(blob) if blob and blob != FOLDER else None
            parsed = self._code.parsed(path, blob) if data is not None else None
            known = data is not None and not (parsed and parsed.refused)
            prose = path.endswith(NOTE_SUFFIXES)
            self._words[key] = CodeWords(data or b"", parsed, prose=prose) if known else None
        return self._words[key]
