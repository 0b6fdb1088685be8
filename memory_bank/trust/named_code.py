"""The names and numbers of code in the text of a note: what a change of code may make wrong.

A name is a word in a code span (`retry`), or one that plain English does not have: `max_tries`,
`RetryPolicy`, `retry()`. Blocks of code are examples, and links name files: neither counts.
"""

from __future__ import annotations

from collections.abc import Iterator

from memory_bank.base import lazy_pattern
from memory_bank.code.code_words import NamedCode, split_name, strip_unit, tokens_of_call
from memory_bank.code.languages.base import detect_language
from memory_bank.notes.blocks import parse_blocks
from memory_bank.notes.inline import scan

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
