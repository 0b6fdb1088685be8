"""Parse files in a process of their own, which may end at any file: the one home of tree-sitter.

A grammar may take gigabytes or minutes for a small file, or crash, and while its C code runs,
nothing in Python can stop it. `parse_process` starts this process, and ends it.
"""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from itertools import chain
from typing import TYPE_CHECKING, BinaryIO

from memory_bank.base import lazy_pattern
from memory_bank.code.code_words import join_spans
from memory_bank.code.languages.base import (
    MOST_TEXT,
    Case,
    Rules,
    find_rules,
    flatten,
    read_callee,
    text_of,
    yield_children,
)
from memory_bank.code.parse.parsed_file import (
    ANSWER,
    EXAMPLE,
    MAX_ANSWER,
    OUT_OF_MEMORY,
    READY,
    REQUEST,
    Import,
    Intent,
    ParsedFile,
    Symbol,
    dump_file,
)
from memory_bank.code.parse.syntax_tree import (
    CLOSE,
    OPEN,
    SCOPE,
    Comments,
    Definition,
    FileTokens,
    QueryMatch,
    compile_query,
    find_definition,
    find_matches,
)

if TYPE_CHECKING:
    from tree_sitter import Node, Parser, Query


_SHARE = 0.8
"""Share of its time after which only the first part of a file is read."""

_SLOWER = 2
"""Limit of wall-clock time where processor time has none, as a multiple of that."""

_BOM = b"\xef\xbb\xbf"


def parse(data: bytes, language: str, seconds: float) -> ParsedFile:
    """Return what is in a file, of its first part if all takes more than the processor time."""
    last = time.process_time() + _SHARE * seconds
    data = data.removeprefix(_BOM)
    rules = find_rules(find_rules(language).really(data) or language)
    parser, query = _load_parser(rules.name)
    tree = parser.parse(rules.readable(data) if rules.readable else data)
    matches = find_matches(query, tree.root_node)
    return TreeWalk(rules, data, last, matches).run(tree.root_node)


def serve(requests: BinaryIO, answers: BinaryIO) -> None:
    """Answer with what is in each file, until there are no more."""
    answers.write(READY)
    answers.flush()
    while len(head := requests.read(REQUEST.size)) == REQUEST.size:
        seconds, name, size = REQUEST.unpack(head)
        language, data = requests.read(name).decode(), requests.read(size)
        _end_after(seconds)
        answer = dump_file(parse(data, language, seconds)).encode()
        if len(answer) > MAX_ANSWER:
            refused = f"what it defines takes more than {MAX_ANSWER // 1_000_000} MB"
            answer = dump_file(ParsedFile(language, refused=refused)).encode()
        _end_after(0)
        answers.write(ANSWER.pack(len(answer)))
        answers.write(answer)
        answers.flush()


def main() -> None:
    """Serve the parent process; its argument is the limit of memory in bytes."""
    _limit_process(int(sys.argv[1]))
    try:
        serve(sys.stdin.buffer, sys.stdout.buffer)
    except MemoryError:
        os._exit(OUT_OF_MEMORY)
    except BrokenPipeError:
        pass
    os._exit(0)  # at once: nothing is to be saved


def _limit_process(memory: int) -> None:
    """Let the system limit this process, where it can: that holds without the parent, too."""
    for name in ("SIGINT", "SIGTERM", "SIGHUP"):  # sent to a group: it ends with its parent
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), signal.SIG_IGN)
    if sys.platform == "win32":
        return
    import resource

    signal.signal(signal.SIGPROF, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGPROF])
    for kind, most in (resource.RLIMIT_CORE, 0), (resource.RLIMIT_DATA, memory):
        with suppress(ValueError, OSError):  # the system has no such limit, or a lower one
            resource.setrlimit(kind, (most, resource.getrlimit(kind)[1]))


def _end_after(seconds: float) -> None:
    """End this process after so much processor time, also in C code; 0 ends the limit."""
    if sys.platform == "win32":
        import faulthandler

        faulthandler.cancel_dump_traceback_later()
        if seconds:
            faulthandler.dump_traceback_later(_SLOWER * seconds, exit=True)
    else:
        signal.setitimer(signal.ITIMER_PROF, seconds)


@cache
def _load_parser(language: str) -> tuple[Parser, Query]:
    from tree_sitter import Language, Parser

    rules = find_rules(language)
    grammar = Language(getattr(import_module(rules.grammar), rules.entry)())
    return Parser(grammar), compile_query(rules, grammar)


_MOST_NODES = 3_000_000

_MOST_FOUND = 20_000
"""Maximum numbers of nodes, and of symbols, that are read of one file."""

_MOST_DEPTH = 50
"""Maximum number of definitions around one that is read; their names qualify it."""

_MOST_AT_ONCE = 200
"""Maximum number of symbols that one node defines, such as `const A = 1, B = 2`."""

_MOST_CALLS = 200
"""Maximum number of names that one symbol calls."""

_MOST_DOC = 4_000
"""Characters of a doc text that are kept."""

_NODES_BETWEEN = 200
"""Nodes between two looks at the clock."""

_BRACKET = lazy_pattern(r"(?<=[(\[]) |,? (?=[)\]])")
"""What line breaks leave inside brackets on one line."""

_BRACKETED = frozenset(["with_clause", "import_from_statement"])

_NAMES = lazy_pattern(r"[^\W\d][\w$]*(?:(?:\.|::|\\)[\w$]+)*")

_TUPLES = ("tuple", "tuple_pattern")

_LISTS = frozenset([*_TUPLES, "expression_list", "pattern_list"])

_CLOSE = frozenset(
    ["attribute", "call", "concatenated_string", "identifier", "string", "subscript"]
)

_BINDING = {
    "attribute": _CLOSE,
    "comparison_operator": _CLOSE,
    **dict.fromkeys(("boolean_operator", "not_operator"), _CLOSE | {"comparison_operator"}),
}
"""Types of nodes of Python with those that need no brackets inside."""

_HOLDERS = frozenset(
    [
        "assignment",
        "augmented_assignment",
        "variable_declarator",
        "arrow_function",
        "lambda",
        "yield",
        "keyword_argument",
        "pair",
        "elif_clause",
        "if_clause",
        "for_in_clause",
        "type",
    ]
)
"""Types of nodes in which brackets around all of it, or of a value, say nothing."""

_TEST_MODULES = frozenset(["test", "tests"])

_TYPES = frozenset(["class", "interface", "enum", "type"])
"""Kinds whose functions are methods."""


@dataclass(slots=True)
class _Scope:
    """A definition, container or test around the nodes that are being read."""

    end: int
    """The byte after its last."""
    prefix: tuple[str, ...]
    """The names that qualify those inside."""
    kind: str = ""
    titles: tuple[str, ...] = ()
    """The words of the tests around it."""
    bases: str = ""
    """The names of what the type around extends or implements."""
    calls: dict[str, None] = field(default_factory=dict)
    symbol: int = -1
    """Its place among the symbols; -1 if it is none."""
    test: int = -1


class TreeWalk:
    """One walk through the tree of a file."""

    def __init__(
        self, rules: Rules, data: bytes, last: float, matches: Mapping[int, list[QueryMatch]]
    ) -> None:
        """Read a file by the rules of its language, until so much processor time is spent.

        `matches` are those of its query, by the ids of nodes.
        """
        self._matches = matches
        self._rules = rules
        defining = (same_matches[0].node.type for same_matches in matches.values())
        self._watched = frozenset(chain(defining, rules.imports, rules.tests))
        self._special = self._watched.union(
            rules.comments, rules.marks, rules.blocks, rules.calls, rules.literals
        )
        self._varied = rules.optional.union(rules.quotes, "(),")
        self._data = data
        self._last = last
        self._scopes = [_Scope(len(data) + 1, ())]
        self._blocks: list[int] = []
        self._tokens = FileTokens()
        self._literal_end = 0
        """Before this byte, all tokens are known."""
        self._comments = Comments(data)
        self._apart: list[tuple[int, int]] = []
        """The first byte, and the one after the last, of what is apart from the code proper."""
        self._symbols: list[Symbol] = []
        self._spans: list[tuple[int, int]] = []
        self._imports: list[Import] = []
        self._tests: list[Intent] = []
        self._problem = ""
        self._around: list[Node] = []
        """The nodes around the one that is being read."""

    def run(self, root: Node) -> ParsedFile:
        """Read all nodes."""
        doc = self._rules.inner_doc(root)
        self._walk_nodes(root)
        self._close_scopes(len(self._data) + 2)
        whole = "" if self._problem else self._tokens.fingerprint(0, len(self._data) + 3)
        if not self._problem and root.has_error:
            self._problem = "the parser does not understand all of it"
        symbols = tuple(
            symbol._replace(fingerprint=self._tokens.fingerprint(*span))
            for symbol, span in zip(self._symbols, self._spans, strict=True)
        )
        if doc is None:
            doc = self._comments.at_top()
        self._add_example(root, doc)
        return ParsedFile(
            self._rules.name, symbols, tuple(self._imports), tuple(self._tests),
            doc[:_MOST_DOC], self._problem, whole, tuple(join_spans(self._apart)),
        )  # fmt: skip

    def _walk_nodes(self, root: Node) -> None:
        """Read the nodes of a tree from its root, without those inside comments and docs."""
        special, comments, no_code = self._special, self._rules.comments, self._rules.no_code
        cursor, around, number = root.walk(), self._around, 0
        while node := cursor.node:
            number += 1
            if number % _NODES_BETWEEN == 0 and self._must_stop(number):
                return
            kind, start = node.type, node.start_byte
            if self._scopes[-1].end <= start:
                self._close_scopes(start)
            while self._blocks and self._blocks[-1] <= start:
                self._tokens.add(self._blocks.pop(), CLOSE)
            if kind in special:
                self._read_node(node, kind)
            if kind not in comments and (kind not in no_code or not no_code[kind](node)):
                if kind not in self._rules.leaves and cursor.goto_first_child():
                    around.append(node)
                    continue
                self._add_token(node, kind, start)
            else:
                self._apart.append((start, node.end_byte))
            while not cursor.goto_next_sibling():
                if not cursor.goto_parent():
                    return
                around.pop()

    def _must_stop(self, number: int) -> bool:
        """Tell whether a bound is reached after a number of nodes, and note which one."""
        if number >= _MOST_NODES or len(self._symbols) >= _MOST_FOUND:
            self._problem = "only its first part is read: it is too large"
        elif time.process_time() > self._last:
            self._problem = "only its first part is read: it takes too long"
        return bool(self._problem)

    def _read_node(self, node: Node, kind: str) -> None:
        """Read a node of a type that the rules name."""
        rules = self._rules
        if kind in rules.comments or kind in rules.marks:
            self._comments.add(node, is_mark=kind in rules.marks)
        if not node.is_named or kind in rules.comments:
            return
        if kind in rules.blocks:
            self._tokens.add(node.start_byte, OPEN)
            self._blocks.append(node.end_byte)
        if kind in rules.literals and node.start_byte >= self._literal_end:
            for text in rules.literals[kind](node):
                self._tokens.add(node.start_byte, text)
                self._literal_end = node.end_byte
        is_known = kind in self._watched and len(self._scopes) <= _MOST_DEPTH
        is_test = is_known and self._take_definitions(node, kind)
        if kind in rules.calls and not is_test:
            self._add_call(node, rules.calls[kind])

    def _take_definitions(self, node: Node, kind: str) -> bool:
        """Take what a node defines, imports or tests; tell whether it is a test."""
        rules = self._rules
        if kind in rules.imports:
            imported = list(rules.imports[kind](node))
            self._imports += imported
            if imported:
                self._apart.append((node.start_byte, node.end_byte))
        test = rules.tests[kind](node) if kind in rules.tests else None
        if test and test.inner and not self._scopes[-1].titles:
            test = None
        depth = len(self._scopes)
        for match in self._matches.get(node.id, ())[:_MOST_AT_ONCE]:
            definition = find_definition(match, node, rules)
            if definition is None:
                continue
            del self._scopes[depth:]  # the one before, as in `const A = 1, B = 2`
            if definition.kind == SCOPE:
                self._open_scope(node.end_byte, definition.name, "type").bases = self._list_bases(
                    node
                )
            else:
                self._add_symbol(definition)
        if test:
            end = (test.last or node).end_byte
            self._apart.append((node.start_byte, end))
            defined_one = len(self._scopes) > depth
            self._add_test(test, node, self._scopes[-1] if defined_one else self._open_scope(end))
        return test is not None

    def _add_symbol(self, definition: Definition) -> None:
        around = self._scopes[-1]
        whole = definition.node
        while whole.parent is not None and whole.parent.type in self._rules.wrappers:
            whole = whole.parent
        row = whole.start_point[0]
        doc = self._rules.inner_doc(definition.node)
        above, start, text = self._comments.above(row, whole.start_byte)
        is_method = around.kind in _TYPES or "." in definition.name
        kind = "method" if definition.kind == "function" and is_method else definition.kind
        scope = self._open_scope(definition.end, definition.name, kind)
        scope.symbol = len(self._symbols)
        if kind in _TYPES:
            scope.bases = self._list_bases(definition.node)
        if definition.kind == "module" and definition.name in _TEST_MODULES:
            self._apart.append((definition.node.start_byte, definition.node.end_byte))
        name, doc = ".".join(scope.prefix), (text if doc is None else doc)[:_MOST_DOC]
        signature = self._cut_signature(definition)
        self._symbols.append(
            Symbol(name, kind, signature, doc, above + 1, _end_line(whole), "", around.bases)
        )
        self._spans.append((start, whole.end_byte))
        self._add_example(definition.node, doc, name)

    def _list_bases(self, node: Node) -> str:
        """Return the names in what says which types a type extends or implements."""
        rules = self._rules.bases
        fields = (node.child_by_field_name(rule) for rule in rules) if rules else ()
        children = [child for child in fields if child] or list(yield_children(node, *rules))
        texts = " ".join(flatten(text_of(child)) for child in children)
        return " ".join(dict.fromkeys(_NAMES.findall(texts)))

    def _add_example(self, node: Node, doc: str, name: str = "") -> None:
        """Take the examples in a doc text as one test, which calls what has the name."""
        sign = self._rules.example
        at = self._data.find(sign.encode(), node.start_byte, node.end_byte)
        if not sign or sign not in doc or at < 0:
            return
        line = node.start_point[0] + self._data.count(b"\n", node.start_byte, at) + 1
        title = f"{name}: examples" if name else "examples of the module"
        calls = (name,) if name else ()
        self._tests.append(Intent(title, self._line_at(at), line, line + 1, EXAMPLE, "", calls))

    def _cut_signature(self, definition: Definition) -> str:
        end = definition.body.start_byte if definition.body else definition.node.end_byte
        start = self._skip_attributes(definition.node)
        text = self._data[start : min(end, start + 16 * MOST_TEXT)].decode("utf-8", "replace")
        if definition.body is None and definition.kind == "constant":
            text = text.partition("\n")[0]
        if (
            definition.body and definition.name_start > definition.body.start_byte
        ):  # a `typedef` of C
            return f"{flatten(text)} {{…}} {definition.name}"
        return _BRACKET.sub("", flatten(text)).removesuffix("=>").rstrip(" {:=;")

    def _skip_attributes(self, node: Node) -> int:
        """Return the byte where a definition starts, after its attributes."""
        start, attributes = node.start_byte, self._rules.attributes
        first = node.child(0) if attributes and node.child_count else None
        if first is None:
            return start
        among = first if any(child.type in attributes for child in first.children) else node
        for child in among.children:
            if child.type not in attributes:
                break
            start = child.end_byte
        return start

    def _add_test(self, test: Case, node: Node, scope: _Scope) -> None:
        """Take a test, or a group, whose scope was opened last."""
        around = self._scopes[-2]
        scope.titles = (*around.titles, test.title)
        if test.group:
            return
        scope.test = len(self._tests)
        line = node.start_point[0] + 1
        title = flatten(" > ".join(filter(None, (*around.titles, test.title))))
        symbol = self._symbols[scope.symbol].qualified if scope.symbol >= 0 else ""
        end = _end_line(test.last or node)
        self._tests.append(
            Intent(
                title,
                self._line_at((node.child_by_field_name("name") or node).start_byte),
                line,
                end,
                test.framework,
                symbol,
            )
        )

    def _line_at(self, at: int) -> str:
        """Return the line with a byte."""
        start = self._data.rfind(b"\n", 0, at) + 1
        end = self._data.find(b"\n", at)
        return flatten(self._data[start : end if end >= 0 else None].decode("utf-8", "replace"))

    def _open_scope(self, end: int, name: str = "", kind: str = "") -> _Scope:
        around = self._scopes[-1]
        prefix = (*around.prefix, *name.split(".")) if name else around.prefix
        scope = _Scope(end, prefix, kind or around.kind, around.titles, around.bases)
        self._scopes.append(scope)
        return scope

    def _close_scopes(self, start: int) -> None:
        """Close the scopes that end before a byte."""
        while len(self._scopes) > 1 and self._scopes[-1].end <= start:
            scope = self._scopes.pop()
            calls = tuple(scope.calls)
            if scope.symbol >= 0:
                self._symbols[scope.symbol] = self._symbols[scope.symbol]._replace(calls=calls)
            if scope.test >= 0:
                self._tests[scope.test] = self._tests[scope.test]._replace(calls=calls)

    def _add_call(self, node: Node, how: str | Callable[[Node], str]) -> None:
        """Add a call to the innermost symbol, and to the innermost test."""
        name = read_callee(node.child_by_field_name(how)) if isinstance(how, str) else how(node)
        if not name:
            return
        missing = {"symbol", "test"}
        for scope in reversed(self._scopes):
            kinds = {"symbol"} if scope.symbol >= 0 else set[str]()
            kinds |= {"test"} if scope.test >= 0 else set()
            if kinds & missing and len(scope.calls) < _MOST_CALLS:
                scope.calls[name] = None
            missing -= kinds
            if not missing:
                return

    def _add_token(self, node: Node, kind: str, start: int) -> None:
        """Add a leaf to the tokens, unless only formatters care for it."""
        if start < self._literal_end:
            return
        # The bytes themselves: asking the node for its text takes ten times as long.
        text = self._data[start : node.end_byte].decode("utf-8", "replace")
        if kind in self._varied:
            around = self._around
            if text in self._rules.optional:
                return
            if text in ("(", ")") and _is_layout(around):
                if text == ")":
                    self._tokens.drop_comma()
                return
            if text == "," and around and around[-1].type in _LISTS:
                text = ",)" if around[-1].named_child_count == 1 else text
            if kind in self._rules.quotes:
                text = text.lower().replace("'", '"').replace('"""', '"')
        self._tokens.add(start, text)


def _is_layout(around: list[Node]) -> bool:
    """Tell whether brackets hold a whole expression or list, as formatters put them."""
    inner = around[-1].type if around else ""
    holder = around[-2].type if len(around) > 1 else ""
    if inner == "argument_list":
        return holder == "class_definition" and around[-1].named_child_count == 0
    if inner in _BRACKETED or inner not in ("parenthesized_expression", *_TUPLES):
        return inner in _BRACKETED
    if holder in _BINDING:  # as in `(a.b()).c()` and `(a == 1) and b`
        return any(node.type in _BINDING[holder] for node in around[-1].named_children)
    return holder.endswith("_statement") or holder in _HOLDERS


def _end_line(node: Node) -> int:
    """Return the line after the last of a node."""
    row, column = node.end_point
    return row + 1 if column == 0 and row > node.start_point[0] else row + 2
