"""The definitions in Python and JavaScript files, read without the project's parser.

They say what is truly the same in two versions: for Python, `ast.dump` without positions and
docstrings; for JavaScript, the text of a function by its braces, without comments and white space.
"""

import ast
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

_DEFINING = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
_DEFINED = re.compile(
    r"^(?:function\s+(?P<plain>[\w$]+)\s*\("
    r"|(?:(?:var|let|const)\s+)?(?P<target>[\w$.]+)\s*=\s*(?P<rest>(?:[\w$.]+\s*=\s*)*)function\b)",
    re.MULTILINE,
)
_SKIPPED = re.compile(
    r"//[^\n]*|/\*.*?\*/|'(?:\\.|[^'\\\n])*'|\"(?:\\.|[^\"\\\n])*\"|`(?:\\.|[^`\\])*`"
    r"|(?<=[(,=:&|!?{};\n])\s*/(?![*/])(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\n\[])+/[a-z]*",
    re.DOTALL,
)


class Definition(NamedTuple):
    """A function, method or class."""

    code: str
    """The same for two definitions that mean the same."""
    nameless: str
    """The same for two that mean the same but for their own names."""
    written: str


def definitions_in(text: str, suffix: str) -> dict[str, Definition] | None:
    """Return the definitions of a file by name, without names that it defines twice.

    None for a file that can't be read, such as one in Python 2.
    """
    try:
        rows = list(_READERS[suffix](text.replace("\r\n", "\n")))
    except (SyntaxError, ValueError):
        return None
    times = Counter(name for name, _ in rows)
    return {name: found for name, found in rows if times[name] == 1}


def _python(text: str) -> Iterator[tuple[str, Definition]]:
    lines = text.split("\n")
    tree = ast.parse(text)
    for node in ast.walk(tree):
        if isinstance(node, _DEFINING | ast.Module):
            if ast.get_docstring(node, clean=False) is not None:
                del node.body[0]
        elif isinstance(node, ast.Constant):
            node.kind = None  # u'' is ''

    def inside(body: list[ast.stmt], prefix: str) -> Iterator[tuple[str, Definition]]:
        for one in body:
            for name in ("body", "orelse", "finalbody", "handlers"):  # of `if`, `try` and the like
                if not isinstance(one, _DEFINING):
                    yield from inside(getattr(one, name, []), prefix)
            if isinstance(one, _DEFINING):
                code, name = ast.dump(one), one.name
                one.name = "_"
                nameless = ast.dump(one).replace(f"'{name}'", "'_'")
                one.name = name
                written = "\n".join(lines[one.lineno - 1 : one.end_lineno])
                yield f"{prefix}{name}", Definition(code, nameless, written)
                yield from inside(one.body, f"{prefix}{name}.")

    yield from inside(tree.body, "")


def _javascript(text: str) -> Iterator[tuple[str, Definition]]:
    blank = _SKIPPED.sub(lambda found: re.sub(r"[^\n]", " ", found[0]), text)
    for found in _DEFINED.finditer(blank):
        if found["rest"]:
            continue  # several names
        target = found["plain"] or found["target"]
        end = _closing(blank, blank.find("{", found.end()))
        name = re.sub(r"^(module\.)?exports\.", "", target).replace(".prototype.", ".")
        if end and name != "module.exports":
            code = _bare(text[found.start() : end])
            own = re.escape(target.rpartition(".")[2])
            nameless = re.sub(rf"(?<![\w$]){own}(?![\w$])", "_", code)
            yield name, Definition(code, nameless, text[found.start() : end])


def _closing(text: str, start: int) -> int:
    depth = 0
    for place in range(max(start, 0), len(text)):
        depth += {"{": 1, "}": -1}.get(text[place], 0)
        if depth == 0:
            return place + 1
    return 0


def _bare(code: str) -> str:
    """Return code as formatters leave it: without comments, semicolons at ends of lines, and white
    space at signs, with one kind of quotes.
    """
    kept = _SKIPPED.sub(lambda one: "" if one[0].startswith(("//", "/*")) else one[0], code)
    folded = re.sub(
        r"\s*([^\w$\s])\s*", r"\1", " ".join(re.sub(r";[ \t]*(?=\n)", "", kept).split())
    )
    return re.sub(r",(?=[)\]}])", "", folded.replace('"', "'"))


_READERS: Mapping[str, Callable[[str], Iterator[tuple[str, Definition]]]] = {
    ".py": _python,
    ".js": _javascript,
}
SUFFIXES = tuple(_READERS)
