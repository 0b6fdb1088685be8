"""The citations of code in notes, and the names and numbers of code in their sentences.

A citation is a file or symbol that a link or reference names. A name is a word in a code span
(`retry`), or one that plain English does not have: `max_tries`, `RetryPolicy`, `retry()`. Blocks of
code are examples, and links name files: neither counts.
"""

from __future__ import annotations

import os
import posixpath
import re
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Literal

from memory_bank.bank.bank import Bank
from memory_bank.base import NamedTuple, lazy_pattern
from memory_bank.base.documents import Link
from memory_bank.base.filenames import NOTE_SUFFIXES
from memory_bank.code.code_at import CodePlace
from memory_bank.code.code_words import NamedCode, split_name, strip_unit, tokens_of_call
from memory_bank.code.languages.base import detect_language
from memory_bank.code.lookup import SCHEME, dotted_name, linked_symbol
from memory_bank.notes.blocks import parse_blocks
from memory_bank.notes.inline import scan
from memory_bank.search.manifest import document_rows, link_rows
from memory_bank.search.manifest.manifest import Manifest
from memory_bank.trust.records import verified_commit

_REFERENCE = "reference"

_KIND = lazy_pattern(r"[A-Za-z_]\w+:(?!\d).*", re.DOTALL)
"""A target of another kind, such as a person, ticket or URL; a drive's letter is too short."""

_LINES = lazy_pattern(r":\d+(?:[-:]\d+)?\Z")

_LINE_HEADING = lazy_pattern(r"L\d+(?:C\d+)?(?:-L?\d+(?:C\d+)?)?\Z")
"""A part of a file by its lines, as in links to code on the web."""

# Characters of a target that may be code.
_LONGEST = 1000


class CodeCitation(NamedTuple):
    """A citation of a file or symbol, in a note."""

    note: str
    """The key of the note."""
    etag: str
    line: int
    """1-based; 1 for one in the front matter."""
    written: str
    """The target as written."""
    kind: Literal["file", "symbol"]
    place: CodePlace
    """What it names, below the work tree; without a path for a symbol by its name alone."""
    in_front_matter: bool
    verified: str
    """The commit at which the note was confirmed; empty if it never was."""

    @property
    def by_name(self) -> bool:
        """Tell whether it names a symbol without its file."""
        return not self.place.path


def list_citations(
    manifest: Manifest, bank: Bank, tree: Path, notes: Collection[int] | None = None
) -> list[CodeCitation]:
    """Return the citations in notes, given by number; by default in all that are not archived."""
    links = link_rows.find_to_ghosts(manifest, None if notes is None else sorted(notes))
    rows = [(link, place) for link in links if (place := find_cited_place(bank, tree, link))]
    sources = document_rows.read_documents(manifest, {link.source for link, _ in rows})
    citations = (
        CodeCitation(
            note=link.source_key,
            etag=sources[link.source].hash,
            line=link.line,
            written=_written_target(link),
            kind="symbol" if place.name else "file",
            place=place,
            in_front_matter=link.kind == _REFERENCE,
            verified=verified_commit(sources[link.source].data),
        )
        for link, place in rows
        if link.source in sources
    )
    return list(dict.fromkeys(citations))  # one for a link twice on a line


def find_cited_place(bank: Bank, tree: Path, link: Link) -> CodePlace | None:
    """Return the file or symbol that a link to a ghost may name; None if it can't name any."""
    name = linked_symbol(link)
    written = name or (f"{link.ghost}#{link.heading}" if link.heading else link.ghost)
    if len(written) > _LONGEST or "\0" in written:
        return None
    path, hash_sign, fragment = written.partition("#")
    if name and not (hash_sign and ("/" in path or "." in path)):
        return CodePlace("", name.strip().removesuffix("()"))
    if not name and _KIND.fullmatch(path):
        return None
    path = _LINES.sub("", path)
    # a link out of the project is kept as written, from the folder of its note
    from_note = link.kind != _REFERENCE and posixpath.normpath(path).startswith("../")
    folder = _note_folder(bank, link.source_key) if from_note else bank.layout.project
    path_ = _path_below(tree, folder, path)
    if not path_ or (path_.endswith(NOTE_SUFFIXES) and _is_in_bank(bank, tree, path_)):
        return None
    is_symbol = detect_language(path_) and not _LINE_HEADING.fullmatch(fragment)
    return CodePlace(path_, dotted_name(fragment) if is_symbol else "")


def write_target(bank: Bank, tree: Path, cited: CodeCitation, place: CodePlace) -> str:
    """Return the target to write for a place, in the form of the citation that it replaces."""
    scheme = SCHEME if cited.written.lower().startswith(SCHEME) else ""
    if cited.by_name:
        return f"{scheme}{place.name}"
    old, hash_sign, fragment = cited.written[len(scheme) :].partition("#")
    written = _LINES.sub("", old)
    folder = bank.layout.project
    if not cited.in_front_matter and _path_below(tree, folder, written) != cited.place.path:
        note_folder = _note_folder(bank, cited.note)
        folder = (
            note_folder if _path_below(tree, note_folder, written) == cited.place.path else folder
        )
    path = os.path.relpath(tree / place.path, folder).replace(os.sep, "/")
    return f"{scheme}{path}{hash_sign}{place.name or fragment}"


def find_target_spans(text: str, body_start: int, line: int, written: str) -> list[tuple[int, int]]:
    """Return the spans of a citation's target as written, on its line or in the front matter."""
    if line > text.count("\n", 0, body_start):
        lines = text.splitlines(keepends=True)
        start, end = sum(map(len, lines[: line - 1])), sum(map(len, lines[:line]))
        pattern = rf"(?<=[\[(<]){re.escape(written)}(?=[\]|)>])"
        matches = re.compile(pattern).finditer(text, start, end)
    else:
        pattern = rf"(?<![\w./#-]){re.escape(written)}(?![\w./#-])"
        matches = re.compile(pattern).finditer(text, 0, body_start)
    return [match.span() for match in matches]


def _written_target(link: Link) -> str:
    """Return a link's target as it is written; `symbol_refs` name symbols without a scheme."""
    if link.kind == _REFERENCE and linked_symbol(link) and link.target.lower().startswith(SCHEME):
        return linked_symbol(link)
    return f"{link.target}#{link.heading}" if link.heading else link.target


def _note_folder(bank: Bank, note: str) -> Path:
    """Return the folder of a note; the project's for one that is private to this machine."""
    project = bank.layout.project
    if bank.roots.is_private(note):
        return project
    return Path(os.path.normpath(project / bank.roots.place(note))).parent


def _is_in_bank(bank: Bank, tree: Path, path: str) -> bool:
    """Tell whether a path below the work tree leads into the bank, where documents are notes."""
    return Path(os.path.normpath(tree / path)).is_relative_to(bank.layout.root)


def _path_below(tree: Path, folder: Path, name: str) -> str:
    """Return the path below the work tree that a folder's name means; empty if it leads out."""
    path = posixpath.normpath(name.strip()) if name.strip() else ""
    if not path or path.startswith("/"):
        return ""
    path = os.path.relpath(os.path.normpath(folder / path), tree).replace(os.sep, "/")
    return "" if path in {".", ".."} or path.startswith("../") else path


_WORD = r"[^\W\d][\w$]*"

_NAME = lazy_pattern(rf"{_WORD}(?:-[^\W_]\w*)*")

_PLAIN = lazy_pattern(r"[a-z]+(?:-[a-z]+)*")

_CODE = lazy_pattern(r"[=:()\[\]{}<>,;]")
"""A sign that several words are code, no command."""

_UNLIKE_ENGLISH = lazy_pattern(
    rf"(?<![\w@-])(?<!\w\$){_WORD}(?=\(\))|\b(?!\d)(?=\w*[^\W_]_|_|\w*[a-z][A-Z])\w+"
)
"""A word that is called, or has an underscore or a capital inside."""

_PATH = lazy_pattern(r"(?:\.{0,2}/)?[\w.-]+(?:/[\w.*-]+)*/?")

_SUFFIX = lazy_pattern(r"/|\.(?:cfg|conf|csv|html?|ini|json|lock|md|rst|toml|txt|xml|ya?ml)$")

_ADDRESS = lazy_pattern(r"(?<!\S)\S*/\S*")
"""A web address or a path."""

_NUMBER = lazy_pattern(
    r"(?<![\w.,#/:-])\d[\d_]*(?:,\d{3})*(?:\.\d+)?(?=[a-zA-Z%]{0,5}(?![\w/:-]|\.\d))"
)

_SENTENCE = lazy_pattern(r"(?<=[.!?;])\s+")

_SHORTEST = 4
"""Letters of a word that ties a number to a line of code."""

_TOO_COMMON = frozenset("01")

_COMMON = frozenset(
    [
        "also", "because", "been", "both", "cannot", "does", "each", "else", "even", "ever",
        "first", "from", "have", "into", "just", "last", "like", "made", "make", "many", "more",
        "most",
        "must", "never", "next", "none", "once", "only", "other", "over", "same", "should", "since",
        "some", "such", "than", "that", "them", "then", "there", "these", "they", "this", "those",
        "time", "under", "until", "upon", "used", "uses", "using", "value", "were", "what", "when",
        "where", "which", "while", "will", "with", "without", "would", "your",
    ]
)  # fmt: skip

_NO_NAMES = frozenset(
    [
        "abstract", "and", "any", "array", "async", "await", "bool", "boolean", "break", "bytes",
        "case", "char", "class", "const", "continue", "def", "default", "del", "dict", "do",
        "double", "elif", "else", "enum", "err", "error", "except", "extends", "extern", "false",
        "final", "finally", "float", "fn", "for", "from", "func", "function", "go", "goto", "if",
        "impl", "implements", "import", "in", "int", "interface", "into", "is", "lambda", "let",
        "list", "long", "loop", "map", "match", "mod", "module", "move", "mut", "namespace", "new",
        "nil", "none", "not", "null", "number", "object", "or", "package", "pass", "pub", "private",
        "protected", "public", "raise", "range", "ref", "return", "self", "set", "short", "static",
        "str", "string", "struct", "super", "switch", "then", "this", "throw", "trait", "true",
        "try", "tuple", "type", "typeof", "undefined", "union", "unsafe", "unsigned", "use",
        "usize", "using", "var", "void", "where", "while", "with", "yield",
    ]
)  # fmt: skip
"""Words that every file of some language has."""


def list_named_code(text: str) -> NamedCode:
    """Return the names, numbers and calls of code in a Markdown text."""
    names, numbers, calls = set[str](), dict[str, set[str]](), set[tuple[str, ...]]()
    for block in parse_blocks(text).inline_blocks:
        for cell in block.cells:
            spans, prose = _split_code(cell)
            names.update(name for code in spans for name in _names_in_code(code))
            calls.update(filter(None, map(tokens_of_call, spans)))
            names.update(_UNLIKE_ENGLISH.findall(prose))
            for number, words in _yield_numbers(cell):
                numbers.setdefault(number, set()).update(words)
    code_names = (name for name in names if len(name) > 1 and name.lower() not in _NO_NAMES)
    return NamedCode(
        frozenset(code_names),
        {number: frozenset(words) for number, words in numbers.items()},
        frozenset(calls),
    )


def _split_code(cell: str) -> tuple[list[str], str]:
    """Return the code in an inline text, and its prose without links and addresses."""
    codes, prose, at = list[str](), list[str](), 0
    for span in scan(cell):
        prose.append(cell[at : span.start])
        at = max(at, span.end)
        if span.kind == "code":
            codes.append(cell[span.start : span.end].strip("`").strip())
        elif span.kind == "markdown" and span.end > span.start:
            inner_codes, inner_prose = _split_code(cell[span.shown[0] : span.shown[1]])
            codes += inner_codes
            prose.append(inner_prose)
    prose.append(cell[at:])
    return codes, _ADDRESS.sub(" ", " ".join(prose))


def _names_in_code(code: str) -> Iterator[str]:
    """Yield the names in a code span, without paths and the words of commands."""
    words = code.split()
    is_command = len(words) > 1 and not _CODE.search(code)
    for word in words:
        is_file = _SUFFIX.search(word) or detect_language(word)
        if (_PATH.fullmatch(word) and is_file) or (is_command and _PLAIN.fullmatch(word)):
            continue
        yield from _NAME.findall(word)


def _yield_numbers(cell: str) -> Iterator[tuple[str, set[str]]]:
    """Yield the numbers of an inline text, each with the words of its sentence."""
    for sentence in _SENTENCE.split(_ADDRESS.sub(" ", cell)):
        numbers = [match.replace(",", "") for match in _NUMBER.findall(sentence)]
        if numbers:
            words = {word for word in split_name(sentence) if len(word) >= _SHORTEST} - _COMMON
            words |= {word.removesuffix("s") for word in words}
            for number in numbers:
                if number not in _TOO_COMMON:
                    yield strip_unit(number), words
