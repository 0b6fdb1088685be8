"""Find notes with the same or nearly the same text as a new one."""

from __future__ import annotations

from memory_bank.bank import open_index
from memory_bank.bank.bank import Bank
from memory_bank.bank.note_files import SESSION
from memory_bank.bank.open_index import NoteRow
from memory_bank.base import NamedTuple, lazy_pattern
from memory_bank.base.documents import Document, Span
from memory_bank.base.errors import MemoryBankError
from memory_bank.git import repository
from memory_bank.memory.records import WrittenNote
from memory_bank.notes import front_matter
from memory_bank.notes.names import name_of
from memory_bank.notes.note_change import MAX_CHARACTERS, Words, share_of_words, split_words
from memory_bank.notes.schema import folder_for_type
from memory_bank.search.index import IndexView
from memory_bank.search.manifest import document_rows
from memory_bank.search.retrievers.base import Question, Scope
from memory_bank.trust.authors import join_warnings

SAME_AS = "same_as"
"""The key of a private note with the link to the tracked note that has the same content."""

_NO_LINK = frozenset("[]#^|")
"""Characters that a wikilink's target can't have."""


class Duplicates(NamedTuple):
    """The oldest notes with a content that are not archived."""

    near: NoteRow | None = None
    """The oldest that is tracked or private as the new note; it is updated."""
    far: NoteRow | None = None
    """The oldest of the other kind; only a private one is changed, by `link_duplicate`."""
    private: bool = False
    """Whether `near` and the new note are private."""


def find_by_content(bank: Bank, content_hash: str) -> list[NoteRow]:
    """Return the bank's own notes with a content, the oldest first: no included files."""
    rows = bank.read(lambda view: open_index.find_by_content(view.manifest, content_hash))
    return [note for note in rows if not bank.roots.is_included(note.path)]


def find_duplicates(bank: Bank, content_hash: str, path: str) -> Duplicates:
    """Return the notes with a content; `path` tells whether a new note would be private."""
    rows = find_by_content(bank, content_hash)
    if not rows:
        return Duplicates()
    private = is_local(bank, path)
    oldest: dict[bool, NoteRow] = {}
    for note in rows:
        oldest.setdefault(is_local(bank, note.path), note)
    return Duplicates(oldest.get(private), oldest.get(not private), private)


def link_duplicate(bank: Bank, duplicates: Duplicates, remembered: WrittenNote) -> WrittenNote:
    """Name the duplicate of the other kind, and link the private note to the tracked one.

    The tracked note gets no link, which would lead nowhere on other machines. Call it after the
    note was written, while its bank is locked.
    """
    if duplicates.far is None:
        return remembered
    private, tracked = remembered.path, duplicates.far.path
    if not duplicates.private:
        private, tracked = tracked, private
    remembered = remembered._replace(same_as=duplicates.far.path)
    try:
        etag = bank.store.change(private, lambda text: _append_link(text, name_of(tracked)))
    except MemoryBankError as error:
        failed = f"{private} got no link to the same content: {error.message}"
        return remembered._replace(warning=join_warnings(remembered.warning, failed))
    return remembered._replace(etag=etag) if private == remembered.path else remembered


def _append_link(text: str, name: str) -> str:
    """Return a note's text with a link to the note that has the same content."""
    raw, _ = front_matter.read_metadata(front_matter.split(text))
    link, old = f"[[{name}]]", raw.get(SAME_AS, "[[")
    replaceable = isinstance(old, str) and old.startswith("[[") and old != link
    if _NO_LINK.intersection(name) or not replaceable:
        return text
    return front_matter.set_keys(text, {SAME_AS: link})


def is_local(bank: Bank, path: str) -> bool:
    """Return whether a note stays on this machine: it is a session's, or git ignores it."""
    if path.startswith(f"{folder_for_type(SESSION)}/"):
        return True
    tree = repository.find_worktree(bank.layout.root)
    return tree is not None and repository.is_ignored(tree, bank.layout.root / path)


ALIKE = 0.8
"""Share of words that two texts must have in common."""

_FEWEST_WORDS = 4

_ASKED = 24
"""Number of words for which the index is queried: the longest, which tend to be rare."""

_COMPARED = 5
"""Number of notes that are read."""

_HEADER = 4000
"""Bytes of front matter that a note of the same text may have more."""

_EVERY_LINE = Span(1, 1 << 60)

_RUN = lazy_pattern(r"\w+")


def find_similar(bank: Bank, content: str, *, besides: str | None = None) -> str | None:
    """Return the path of the note whose text is the most similar to a content, if nearly the same.

    The caller's index is up to date. It reads at most five notes, and never raises. The note at
    `besides` and included files of the project are left out.
    """
    try:
        return bank.read(lambda view: _find_nearest(bank, view, content, besides))
    except (MemoryBankError, UnicodeError):
        return None  # a remark must not fail a write


def similar_notes(
    view: IndexView,
    content: str,
    words_by_path: dict[str, Words] | None = None,
    *,
    compared: int = _COMPARED,
) -> dict[str, float]:
    """Map the paths of notes that are similar to a content to their share of common words.

    At most `compared` notes are read, those that the index finds first. `words_by_path` caches
    their words for further calls on the same notes.
    """
    words = split_words(content)
    index = view.index.retrievers.get("notes")
    if index is None or words.total() < _FEWEST_WORDS:
        return {}
    size = len(content.encode(errors="replace"))
    runs = dict.fromkeys(_RUN.findall(content[:MAX_CHARACTERS]))
    longest = sorted(runs, key=len, reverse=True)[:_ASKED]
    matches = index.find(Question(" ".join(longest)), compared, Scope())
    rows = document_rows.read_documents(view.manifest, matches.documents)
    shares: dict[str, float] = {}
    cache = {} if words_by_path is None else words_by_path
    for row in rows.values():
        if _is_comparable(row, size):
            if row.key not in cache:
                cache[row.key] = split_words(_read_body(view, row))
            shares[row.key] = share_of_words(words, cache[row.key])
    return {path: share for path, share in shares.items() if share >= ALIKE}


def _find_nearest(bank: Bank, view: IndexView, content: str, besides: str | None) -> str | None:
    shares = {
        path: share
        for path, share in similar_notes(view, content).items()
        if path != besides and not bank.roots.is_included(path)
    }
    return max(shares, key=shares.__getitem__, default=None)


def _is_comparable(row: Document, size: int) -> bool:
    return row.size <= 2 * size + _HEADER and row.data.get("status") != "archived"


def _read_body(view: IndexView, row: Document) -> str:
    text = view.source.text(row.key, row.hash, _EVERY_LINE) or ""
    return front_matter.split(text).body
