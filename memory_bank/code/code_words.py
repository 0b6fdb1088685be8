"""Tell which names and numbers in the code of a file differ between two versions of it.

Imports, comments, docs and tests are left out. The order of lines, their breaks and the form of
quotes don't count.
"""

from __future__ import annotations

import ast
import operator
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress

from memory_bank.base import NamedTuple, lazy_pattern
from memory_bank.code.parse.parsed_file import ParsedFile, Symbol

_BOM = b"\xef\xbb\xbf"

_NAME = r"[^\W\d][\w$]*"

_TOKEN = lazy_pattern(rf"{_NAME}|\d[\w.]*|[^\s\w,;(){{}}\[\]\"'`]")
"""Without what formatters add and drop: brackets, commas, semicolons, quotes."""

_HYPHENED = lazy_pattern(r"(?<!\w)[\d_]*([^\W\d_]\w*+(?:-[^\W_]\w*+)+)")

_PRIVATE = lazy_pattern(rf"(?<![\w#])#(?={_NAME})")
"""The sign of JavaScript's private names: `#x` is what `_x` was by agreement."""

_COMMENT = lazy_pattern(r"\s*(?:#|//|;|--|/\*|\*|<!--)")
"""How a line begins that is only a comment, in a file that no parser reads."""

_NUMBER = lazy_pattern(r"\d[\d_]*(?:\.\d+)?")

_PART = lazy_pattern(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")

_SETTING = lazy_pattern(r"""[^=:]*[\w"']\s*(?:=>|:?=|:)\s*(["'])([^"'\d]+)\1\s*+(?:[,;]\s*)?""")
"""A line that sets a name to a text without digits, such as a version would have."""

_BARE_SETTING = lazy_pattern(r"""[^=:]*[\w"']\s*[=:]\s*(["']?)([A-Za-z_][A-Za-z_-]*)\1,?\s*""")
"""The same in a file that no parser reads, where quotes may be left out."""

_CONSTANT = lazy_pattern(
    r"([^=:]*[\w\"'])(?:\s*:\s*[A-Za-z_][^=]*(?==))?\s*(?:=>?|:=|:)\s*"
    r"([-+~(]*\d[\w.\s*/%+<>()|&^~-]*|[A-Za-z_][\w.]*\s*\*\s*\d[\w.]*)"
)
"""A line that sets a name to numbers or units of time and size: `limit: int = 16 << 20`."""

_UNITS = lazy_pattern(r"(\d[\w.]*)\s*\*\s*([\w.]*\b[A-Z]\w*)|([\w.]*\b[A-Z]\w*)\s*\*\s*(\d[\w.]*)")
"""A number of units, such as `5 * time.Second`."""

_SIGN_OF_UNITS = lazy_pattern(r"\*")
"""It is part of what is set: how many bytes a `MB` has is not known."""

# Characters of a value that a note may name: a longer one is data.
_LONGEST_VALUE = 100

_OPERATORS: Mapping[type[ast.AST], Callable[..., float]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul,
    ast.Div: operator.truediv, ast.FloorDiv: operator.floordiv, ast.Mod: operator.mod,
    ast.LShift: operator.lshift, ast.RShift: operator.rshift, ast.BitOr: operator.or_,
    ast.BitAnd: operator.and_, ast.BitXor: operator.xor, ast.Pow: operator.pow,
    ast.USub: operator.neg, ast.UAdd: operator.pos, ast.Invert: operator.inv,
}  # fmt: skip

_MOST_SHIFTED = 128
"""Bits of a shift and largest power that are worked out."""

_SUFFIXED = lazy_pattern(
    r"\b(0[xX][\da-fA-F_]+|\d[\d_]*(?:\.\d+)?)(?:[iu](?:8|16|32|64|128|size)|[uUlLnN]{1,3})\b"
)
"""A number with its type, as C, JavaScript and Rust write it."""

_CALL = lazy_pattern(rf"{_NAME}\([^()`\n]{{1,200}}\)")
"""A call of a plain name with arguments."""

_WORD = lazy_pattern(_NAME)

_TEXT = '"'

_TRUTH = "true"

_TRUTHS = frozenset(["true", "false", "True", "False"])

_SIGNS = frozenset("+-/%")
"""Of sums: they come and go with a number."""

_OPENING, _CLOSING = frozenset("([{<"), frozenset(")]}>")

_ARROW = lazy_pattern(r"[-=]>")

_FUNCTIONS = frozenset(["function", "method"])

_VARIADIC = lazy_pattern(r"\.\.\.\s*[\w\[{*]")
"""A parameter that takes any number of arguments, in Go, Java and JavaScript."""

_QUOTED = r"(?:\"[^\"\n]{1,100}\"|'[^'\n]{1,100}')"

_TEXTS = lazy_pattern(rf"[\[({{]\s*({_QUOTED}(?:\s*,\s*{_QUOTED})+)\s*(?:,\s*)?[\])}}]")
"""A list of texts, and nothing else."""

_ITS_NAME = lazy_pattern(
    r"(?<![\w$])([\w$]+)(?:\s{0,9}:\s{0,9}\w[^=\n]{0,80})?\s{0,9}(?::?=|=>|:)"
    r"\s{0,9}[\w.\[\]]{0,80}\(?\s{0,80}\Z"
)
"""What stands before a list that a name is set to: `RETRIED: set[str] = frozenset(`."""

# Characters of a name: a longer one is hostile.
_LONGEST_NAME = 200

_ENUMERATED = 2
"""How many texts of a list a note names that lists them."""

Values = tuple[str, ...]
"""The numbers and truth values of a line, or the text to which it sets a name."""


class NamedCode(NamedTuple):
    """What a text names of code."""

    names: frozenset[str]
    numbers: Mapping[str, frozenset[str]]
    """The numbers that it states, each with the words of the sentences that do, in lower case."""
    calls: frozenset[tuple[str, ...]] = frozenset()
    """The tokens of the calls that it quotes with their arguments, see `tokens_of_call`."""


class Line(NamedTuple):
    """A line of code."""

    words: frozenset[str]
    """Its names."""
    rest: tuple[str, ...]
    """Its tokens without its values."""
    values: Values
    numbers: Values
    """The numbers and truth values as they are written."""
    is_constant: bool = False
    """Whether its one value is what a name is set to, worked out."""

    @property
    def setting(self) -> tuple[Values, Values]:
        """What is set, and its value."""
        return self.rest, self.values


class CodeWords:
    """The names and numbers of one version of a file."""

    def __init__(
        self,
        data: bytes,
        parsed: ParsedFile | None,
        *,
        prose: bool = False,
        symbols: Sequence[Symbol] | None = None,
    ) -> None:
        """Read a file, or the lines of some of its symbols only.

        Without what a parser found in it, only lines of comments are left out. Text in `prose`,
        such as Markdown, has no comments.
        """
        data = data.removeprefix(_BOM)
        code = _blank_spans(data, parsed.apart) if parsed else data
        rows = rows_of_file = code.decode("utf-8", "replace").split("\n")
        if parsed is None and not prose:
            rows = [row for row in rows if not _COMMENT.match(row)]
        if symbols is not None:
            spans = [range(symbol.line - 1, symbol.end_line - 1) for symbol in symbols]
            rows = [row for at, row in enumerate(rows) if any(at in span for span in spans)]
        read_setting = _SETTING.fullmatch if parsed else _BARE_SETTING.fullmatch
        self.lines = [_read_line(row, read_setting) for row in rows if row and not row.isspace()]
        self.words = frozenset(word for line in self.lines for word in line.words)
        self._counts = Counter(value for line in self.lines for value in line.values)
        self.parameters = _map_parameters(parsed, rows_of_file, symbols) if parsed else {}
        self.lists = _map_lists("\n".join(rows))
        self._split_tokens = f" {' '.join(_split_tokens(chr(10).join(rows)))} "

    def list_lost(self, new: CodeWords, code: NamedCode) -> tuple[str, ...]:
        """Return the names and numbers that a text names and whose code is another in `new`.

        A name, if it is in no line any more, if it is that of a function with another number of
        parameters, if a line with it has other values and is else as it was, or if it is set to a
        list of texts, of which the text names some, and that list has others now. A number, if no
        line has it together with a word of its sentence, or if that line sets a name to something
        else now.
        """
        gone = {name for name in code.names & self.words if name not in new.words}
        parameters = self.parameters.keys() & new.parameters.keys() & code.names
        gone |= {
            name
            for name in parameters
            if not any(
                old.fit(now, code) for old in self.parameters[name] for now in new.parameters[name]
            )
        }
        gone |= {
            call[0]
            for call in code.calls
            if call[0] not in self.parameters and self._has_call(call) and not new._has_call(call)
        }
        gone |= {
            name
            for name in self.lists.keys() & new.lists.keys() & code.names
            if self.lists[name] != new.lists[name]
            and len(self.lists[name] & code.names) >= _ENUMERATED
        }
        new_lines = new._map_values(code)
        for rest, (other_name, values) in self._map_values(code).items():
            others_now = new_lines[rest][1] if rest in new_lines else values
            if (
                values - others_now
                and others_now - values
                and self._has_other_values(new, values ^ others_now)
            ):
                gone |= other_name
        stated = self._list_stated(code) - new._list_stated(code)
        if stated:  # `16 << 20` may be 16777216 now
            settings = {line.setting for line in self.lines} & {line.setting for line in new.lines}
            stated -= {
                number
                for line in self.lines
                if line.is_constant and line.setting in settings
                for number in _list_stated_in_line(line, code)
            }
        return tuple(sorted(gone | stated))

    def _map_values(self, code: NamedCode) -> dict[Values, tuple[set[str], set[Values]]]:
        """Map lines that have a name, by all but their values, to what is named there and these.

        A line that sets a name has what is stated of its numbers, too.
        """
        lines: dict[Values, tuple[set[str], set[Values]]] = {}
        for line in self.lines:
            there = set(line.words & code.names)
            if line.is_constant:
                there |= _list_stated_in_line(line, code)
            if there or line.is_constant:
                names, values = lines.setdefault(line.rest, (set(), set()))
                names |= there
                values.add(line.values)
        return lines

    def _has_call(self, call: tuple[str, ...]) -> bool:
        """Return whether the code has a call, however it is laid out."""
        return f" {' '.join(call)} " in self._split_tokens

    def _has_other_values(self, new: CodeWords, lines: Collection[Values]) -> bool:
        """Tell whether a value comes or goes, and is not only on another line now."""
        return any(self._counts[word] != new._counts[word] for values in lines for word in values)

    def _list_stated(self, code: NamedCode) -> set[str]:
        """Return the stated numbers that stand on a line with a word of their sentence."""
        return {number for line in self.lines for number in _list_stated_in_line(line, code)}


def _list_stated_in_line(line: Line, code: NamedCode) -> set[str]:
    """Return the stated numbers that a line has together with a word of their sentence."""
    return {
        number
        for number in {strip_unit(value) for value in line.numbers} & code.numbers.keys()
        if any(part in code.numbers[number] for name in line.words for part in split_name(name))
    }


def tokens_of_call(code: str) -> tuple[str, ...]:
    """Return the tokens of a call with arguments, such as `save(order, force=True)`, else none."""
    match = _CALL.fullmatch(code)
    return tuple(_split_tokens(code)) if match else ()


def _split_tokens(code: str) -> list[str]:
    return _TOKEN.findall(_PRIVATE.sub("_", code))


def strip_unit(token: str) -> str:
    """Return a number without its unit, and without the signs that group its digits."""
    match = _NUMBER.match(token)
    return match[0].replace("_", "") if match else token


def split_name(name: str) -> list[str]:
    """Return the words of which a name is made, in lower case."""
    return [part.lower() for part in _PART.findall(name)]


def join_spans(spans: Iterable[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Yield spans in order, with those that overlap or touch as one."""
    last: tuple[int, int] | None = None
    for start, end in sorted(spans):
        if last is not None and start <= last[1]:
            last = last[0], max(last[1], end)
            continue
        if last is not None:
            yield last
        last = start, end
    if last is not None:
        yield last


def _read_line(row: str, read_setting: Callable[[str], re.Match[str] | None]) -> Line:
    words = _HYPHENED.findall(row)
    row, is_private = _PRIVATE.subn("_", row)
    tokens = _TOKEN.findall(row)
    words += [token for token in tokens if token[0].isalpha() or token[0] == "_"]
    if is_private:
        words += [word.removeprefix("_") for word in words]
    setting = read_setting(row)
    if setting and setting[2] not in _TRUTHS:
        name = _TOKEN.findall(row[: setting.start(2)])
        return Line(frozenset(words), (*name, _TEXT), (setting[2],), ())
    numbers = tuple(filter(_is_value, tokens))
    constant = _CONSTANT.fullmatch(row.strip().rstrip(",;"))
    if constant and (value := _work_out(constant[2])):
        rest = (*_TOKEN.findall(constant[1]), "=", *_SIGN_OF_UNITS.findall(value))
        return Line(frozenset(words), rest, (value,), numbers, is_constant=True)
    plain = (_TRUTH if token in _TRUTHS else token for token in tokens if token not in _SIGNS)
    rest = tuple(words for words in plain if words == _TRUTH or not _is_value(words))
    return Line(frozenset(words), rest, numbers, numbers)


def _work_out(value: str) -> str:
    """Return the number or the number of units that an expression makes; empty if it is none."""
    if len(value) > _LONGEST_VALUE:
        return ""
    text = _SUFFIXED.sub(r"\1", value).strip()
    if units := _UNITS.fullmatch(text):
        return f"{units[1] or units[4]} * {units[2] or units[3]}"
    with suppress(ArithmeticError, SyntaxError, TypeError, ValueError):
        return repr(_evaluate(ast.parse(text, mode="eval").body))
    return ""


def _evaluate(node: ast.AST) -> float:
    """Work out an expression of numbers; raises ValueError if there is anything else in it."""
    if isinstance(node, ast.Constant) and type(node.value) in {int, float}:
        return node.value  # type: ignore[return-value]
    if isinstance(node, ast.UnaryOp) and (work_out := _OPERATORS.get(type(node.op))):
        return work_out(_evaluate(node.operand))
    if isinstance(node, ast.BinOp) and (work_out := _OPERATORS.get(type(node.op))):
        number, right = _evaluate(node.left), _evaluate(node.right)
        if isinstance(node.op, ast.LShift | ast.Pow) and abs(right) > _MOST_SHIFTED:
            raise ValueError(right)
        return work_out(number, right)
    raise ValueError(node)


def _map_lists(code: str) -> dict[str, frozenset[str]]:
    """Map the names that are set to lists of texts to these texts."""
    lists: dict[str, frozenset[str]] = {}
    for match in _TEXTS.finditer(code):
        name = _ITS_NAME.search(code, max(0, match.start() - _LONGEST_NAME), match.start())
        if name:
            texts = (text[1:-1] for text in re.findall(_QUOTED, match[1]))
            lists[name[1]] = lists.get(name[1], frozenset()).union(texts)
    return lists


class Parameters(NamedTuple):
    """The parameters of a function."""

    total: int
    required: int
    """How many have no default."""
    is_variadic: bool
    """Whether one takes any number of arguments."""
    words: frozenset[str]
    """Their names, and those of their types and defaults."""

    def fit(self, other: Parameters, code: NamedCode) -> bool:
        """Return whether others are as many; a text that names none does not depend on defaults."""
        if self.words & code.names:
            return self[:3] == other[:3]
        return self.required == other.required


def _map_parameters(
    parsed: ParsedFile, rows: Sequence[str], symbols: Sequence[Symbol] | None
) -> dict[str, set[Parameters]]:
    """Map the names of functions in a file to the parameters of all that have the name.

    Only of some symbols, unless they are None.
    """
    tests = {intent.symbol for intent in parsed.tests}
    entries: dict[str, set[Parameters | None]] = {}
    for symbol in parsed.symbols if symbols is None else symbols:
        if symbol.kind in _FUNCTIONS and symbol.qualified not in tests:
            signature = symbol.signature
            if signature.endswith("…"):  # it was cut
                signature = "\n".join(rows[symbol.line - 1 : symbol.end_line - 1])
            entries.setdefault(symbol.name, set()).add(_count_parameters(signature, symbol.name))
    return {
        name: {shape for shape in shapes if shape}
        for name, shapes in entries.items()
        if None not in shapes
    }


def _count_parameters(signature: str, name: str) -> Parameters | None:
    """Return the parameters in a signature; None if it has none to see."""
    match = re.search(rf"(?<!\w){re.escape(name)}(?!\w)", signature)
    if match is None:
        return None
    depth, parts = 0, list[str]()
    for char in _ARROW.sub("", signature[match.end() :]):
        depth += (char in _OPENING) - (char in _CLOSING)
        if parts and depth == 0:
            parts = [part for part in parts if part.strip("(,*/ \n")]
            optional = [part for part in parts if "=" in part or "?" in part or "..." in part]
            words = (word for part in parts for word in _WORD.findall(part))
            is_variadic = any(map(_VARIADIC.search, parts))
            required = len(parts) - len(optional)
            return Parameters(len(parts), required, is_variadic, frozenset(words))
        if (char == "(" or parts) and depth == 1 and char in "(,":
            parts.append("")
        if parts:
            parts[-1] += char
    return None


def _is_value(token: str) -> bool:
    """Tell whether a token is a value; a version such as 1.2.3 is none."""
    return token in _TRUTHS or (token[0].isdigit() and token.count(".") <= 1)


def _blank_spans(data: bytes, spans: Iterable[tuple[int, int]]) -> bytes:
    """Return a file without some spans; their line breaks stay."""
    parts, at = list[bytes](), 0
    for start, end in spans:
        parts += [data[at:start], b" ", b"\n" * data.count(b"\n", start, end)]
        at = end
    return b"".join([*parts, data[at:]])
