"""The notes that cite a source file or its symbols."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from pathlib import PurePosixPath
from typing import NamedTuple

from memory_bank.bank import Bank, View
from memory_bank.manifest import documents, link_table
from memory_bank.manifest.link_table import LinkRow
from memory_bank.notes.block_positions import BREAK

SYMBOL = "symbol:"
"""Start of the name of a ghost that is a symbol."""
_SENTENCE_END = re.compile(r"(?<=[.!?。])\s+")
_MARKUP = re.compile(r"!?\[\[(?:[^\[\]|]*\|)?([^\[\]|]+)\]\]|!?\[([^\[\]]*)\]\([^()]*\)|[*_`]{1,3}")


class Named(NamedTuple):
    """A symbol by the names that notes give it."""

    id: str
    """Empty if it is not indexed."""
    qualified: str


class Citation(NamedTuple):
    """A link from a note to a file, or to a symbol in it."""

    note: str
    file: str
    """The absolute path of the note's file."""
    line: int
    title: str
    sentence: str
    """The sentence with the link; for a reference in front matter, the note's first one."""
    updated: float
    """Seconds since 1970."""
    symbol: str
    """The qualified name of the symbol; empty for the whole file."""


def citations(bank: Bank, path: str, symbols: Sequence[Named]) -> list[Citation]:
    """Return what cites a file or some of its symbols, the latest notes first.

    `path` is below the project. A note cites a symbol by `symbol_refs` or a link `symbol:NAME`,
    with its id or name, and by `[[file#name]]`.
    """

    def found(view: View) -> list[Citation]:
        rows = link_table.to_code(view.manifest, path, SYMBOL)
        cited = [(row, name) for row in rows for name in _cited(row, path, symbols)]
        numbers = {row.source for row, _ in cited}
        notes = documents.documents(view.manifest, numbers)
        return [
            Citation(
                note=row.source_key,
                file=str(bank.roots.file(row.source_key)),
                line=row.line,
                title=notes[row.source].title,
                sentence=_around(row),
                updated=notes[row.source].updated,
                symbol=name,
            )
            for row, name in cited
            if row.source in notes and not notes[row.source].hidden
        ]

    once = {(one.note, one.line, one.symbol): one for one in bank.read(found)}
    return sorted(once.values(), key=lambda one: (-one.updated, one.note, one.line))


def with_sentence(bank: Bank, citation: Citation) -> Citation:
    """Return a citation with the first sentence of its note if it has none of its own."""
    if citation.sentence:
        return citation
    note = bank.store.read(citation.note)
    for line in BREAK.split(note.text[note.body_start :]):
        if line.strip() and not line.lstrip().startswith(("#", ">", "|", "`", "-", "<", "=")):
            return citation._replace(sentence=_plain(_SENTENCE_END.split(line.strip())[0]))
    return citation._replace(sentence=citation.title)


def _cited(row: LinkRow, path: str, symbols: Sequence[Named]) -> Iterator[str]:
    """Yield the names of the symbols that a link means; an empty one for the file."""
    if not row.ghost.startswith(SYMBOL):
        inner = row.heading.strip().removesuffix("()")
        if not inner:
            yield ""
        for one in symbols:
            if inner and inner in {one.qualified, one.qualified.rpartition(".")[2]}:
                yield one.qualified
        return
    ref = row.ghost.removeprefix(SYMBOL).strip().removesuffix("()")
    for one in symbols:
        if _means(ref, path, one):
            yield one.qualified


def _means(ref: str, path: str, symbol: Named) -> bool:
    """Tell whether a reference is a symbol's id, or its name with or without its file."""
    if ref in {symbol.qualified, symbol.id}:
        return True
    file, sign, inner = ref.partition("#")
    if sign:
        return inner == symbol.qualified and f"/{path}".endswith(f"/{file.lstrip('/')}")
    module = ".".join(PurePosixPath(path).with_suffix("").parts)
    return len(ref) > len(symbol.qualified) and f".{module}.{symbol.qualified}".endswith(f".{ref}")


def _around(row: LinkRow) -> str:
    """Return the sentence around a link; empty for a reference in front matter."""
    if row.kind == "reference":
        return ""
    before = _SENTENCE_END.split(row.before)[-1]
    after = _SENTENCE_END.split(row.after)[0]
    shown = row.text or row.target.rpartition("/")[2]
    return _plain(f"{before} {shown} {after}".replace(" .", "."))


def _plain(text: str) -> str:
    """Return a sentence without the marks of Markdown, on one line."""
    bare = _MARKUP.sub(lambda found: found[1] or found[2] or "", text)
    return " ".join(bare.split()).lstrip("-*+#> ")


def counted(found: Collection[Citation]) -> int:
    """Return the number of notes that citations are in."""
    return len({one.note for one in found})
