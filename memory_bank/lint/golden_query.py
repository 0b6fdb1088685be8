"""Golden queries that can't be read or name missing notes."""

import re
from collections.abc import Iterator

from memory_bank import golden_queries, note_rows, qrels
from memory_bank.errors import BadInput, NoteNotFound
from memory_bank.filenames import QUERIES
from memory_bank.lint.base import Context, Place
from memory_bank.notes.name_forms import of_note

SUMMARY = "the file of golden queries can't be read, or a query names a missing note"
SEVERITY = "error"
_WHERE = re.compile(rf"{re.escape(QUERIES)}:(?:(\d+):)? (.*)", re.DOTALL)
_TOML_LINE = re.compile(r"\(at line (\d+)")
_SECTION = re.compile(r"#.*|:[1-9]\d*\Z", re.DOTALL)
"""A heading or line after the name of a note."""


def check(bank: Context) -> Iterator[Place]:
    """Yield what is wrong with the file, else the names that mean no note, or several."""
    try:
        text = golden_queries.text_in(bank.layout.root)
        found = [] if text is None else qrels.parse(text, QUERIES)
    except BadInput as error:
        yield _fault(error)
        return
    for query in found:
        for name in query.find:
            lost = _lost(bank, name)
            if lost is not None:
                line = int(query.place_of(name).rpartition(":")[2])
                yield Place(
                    QUERIES, line, f"{query.text!r} must find it, but {lost.message}", lost.hint
                )


def _lost(bank: Context, name: str) -> NoteNotFound | None:
    """Return why a name means no note; None if it means one."""
    forms = [name, _SECTION.sub("", name)]
    forms += [of_note(form, bank.layout) for form in forms]
    found = note_rows.path_named(bank.manifest, forms)
    return found if isinstance(found, NoteNotFound) else None


def _fault(error: BadInput) -> Place:
    where = _WHERE.fullmatch(error.message)
    line, what = where.groups() if where else (None, error.message)
    if line is None and (shown := _TOML_LINE.search(error.message)):
        line = shown[1]
    return Place(QUERIES, int(line or 1), f"the golden queries: {what}", error.hint)
