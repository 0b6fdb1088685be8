"""The names that lines of a file define, and the paths by which observations name files."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from pathlib import Path
from posixpath import normpath
from typing import Literal, NamedTuple

FileKind = Literal["code", "test", "docs", "config", "data"]

_TESTS = re.compile(
    r"(?:^|/)(?:tests?|specs?|__tests__|testing)/|(?:^|/)(?:test_[^/]*|conftest)\.py$"
    r"|(?:_test|_spec|\.test|\.spec|Tests?|Spec)\.\w{1,5}$"
)

_DOCS = re.compile(
    r"\.(?:md|mdx|rst|txt|adoc|markdown)$|(?:^|/)(?:docs?|LICENSE|CHANGELOG|README|AUTHORS)(?:/|$)",
    re.IGNORECASE,
)

_CONFIG = re.compile(
    r"\.(?:toml|ya?ml|json[c5]?|ini|cfg|conf|env|properties|lock|tf|editorconfig|gitignore|dockerignore)$"
    r"|(?:^|/)(?:Dockerfile|Makefile|Procfile|Gemfile|go\.(?:mod|sum)|requirements[^/]*\.txt|\.[^/]+|CMakeLists\.txt)$"
)

_SCRATCH = re.compile(r"(?:^|/)(?:tmp|temp|scratch|sandbox|playground)(?:/|$)", re.IGNORECASE)
"""Folders of files that are tried and thrown away."""

_DATA = re.compile(r"\.(?:csv|tsv|svg|png|jpe?g|gif|pdf|xml|snap|parquet|db|log|ipynb)$")

_LINE = 300
"""Characters of a line that are looked at."""

_BEFORE = r"^\s*(?:export\s+)?(?:default\s+)?(?:declare\s+)?(?:pub(?:\([a-z]{1,8}\))?\s+)?"

_MODIFIERS = (
    r"(?:(?:public|private|protected|internal|static|final|abstract|override|async|virtual|sealed|open|suspend|inline"
    r"|unsafe|const|extern|partial|readonly|synchronized)\s+)*"
)

_CODE = tuple(
    (kind, re.compile(text))
    for kind, text in (
        ("test", r"^\s*(?:it|test|describe|specify|context)(?:\.\w+)?\s*\(?\s*['\"`](.{2,80}?)['\"`]"),
        ("function", rf"{_BEFORE}{_MODIFIERS}(?:def|fn|func|fun|function\*?|sub|defp|proc)\s+(?:\([^)]{{0,80}}\)\s*)?(?:self\.)?([A-Za-z_$][\w$]*[?!]?)"),
        ("class", rf"{_BEFORE}{_MODIFIERS}(?:class|interface|struct|enum|trait|record|protocol|module|namespace|defmodule|object|union)\s+([A-Za-z_]\w*)"),
        ("type", r"^\s*(?:export\s+)?type\s+([A-Za-z_]\w*)(?:\s*[=<]|\s+(?:struct|interface|func)\b)"),
        ("function", r"^\s*(?:export\s+)?(?:const|let|var)\s+([A-Za-z_$][\w$]*)\s*(?::[^=]{0,80})?=\s*(?:async\s*)?(?:\([^=]{0,120}\)\s*(?::[^=]{0,60})?=>|function\b|\w+\s*=>)"),
        ("function", r"^\s*(?:(?:public|private|protected|internal|static|final|abstract|override|virtual|async|synchronized)\s+)+[\w<>\[\],.?]{1,60}\s+([A-Za-z_]\w*)\s*\("),
        ("function", r"^\s+(?:(?:public|private|protected|static|async|override|get|set)\s+)*(?!if|for|while|switch|catch|return|function|else)([A-Za-z_$][\w$]*)\s*\([^();]{0,120}\)\s*(?::\s*[^{]{1,60})?\{\s*$"),
        ("function", r"^(?!if|for|while|switch|return|else|typedef|using)[A-Za-z_][\w:<>*&]*(?:\s+[\w:<>*&]+){0,4}[\s*&]+(?:\w+::)?([A-Za-z_]\w*)\([^;]{0,160}\)\s*(?:const\s*)?\{?\s*$"),
        ("function", r"^(?:function\s+)?([A-Za-z_][\w-]*)\s*\(\)\s*\{?\s*$"),
        ("table", r"(?i)^\s*(?:create|alter|drop)\s+(?:or\s+replace\s+)?(?:table|view|function|index|trigger|procedure|type)\s+(?:if\s+(?:not\s+)?exists\s+)?([\w.\"`]{1,60})"),
        ("constant", r"^\s*(?:export\s+)?(?:pub\s+)?(?:const\s+|static\s+|final\s+)?([A-Z][A-Z0-9_]{2,})\s*(?::[^=]{0,80})?=(?!=)"),
    )
)  # fmt: skip

_C_FILE = re.compile(r"\.(?:c|h|cc|hh|cpp|hpp|cxx|m|mm)$")

_DECLARED = (
    ("function", re.compile(r"^(?!return|else|typedef|using|delete|throw|new|goto|case)(?:extern\s+)?[A-Za-z_][\w:<>*&]*(?:\s+[\w:<>*&]+){0,4}[\s*&]+([A-Za-z_]\w*)\([^;{]{0,160}\);\s*$")),
    ("constant", re.compile(r"^\s*#\s*define\s+([A-Za-z_]\w*)")),
)  # fmt: skip

_HEADING = (("section", re.compile(r"^\s{0,3}#{1,6}\s+(.{1,80}?)\s*#*\s*$")),)

_KEYS = tuple(
    (kind, re.compile(text))
    for kind, text in (
        ("table", r"^\s*\[{1,2}([^\]\[]{1,60})\]{1,2}\s*$"),
        ("key", r"^\s*\"([^\"\\]{1,60})\"\s*:"),
        ("key", r"^\s*(?:- )?([A-Za-z_][\w./-]{0,60}):(?:\s|$)"),
        ("key", r"^\s*(?:export\s+)?([A-Za-z_][\w.-]{0,60})\s*\??="),
        ("instruction", r"^((?:FROM|RUN|COPY|ENV|EXPOSE|CMD|ENTRYPOINT|ADD|WORKDIR)\s.{1,40})"),
    )
)  # fmt: skip


class DefinedName(NamedTuple):
    """A name that a line defines."""

    kind: str
    name: str

    @property
    def shown(self) -> str:
        """The name in a sentence: `retry()`, `class Job`, `section Install`."""
        if self.kind == "function":
            return f"{self.name}()"
        if self.kind in ("constant", "instruction"):
            return self.name
        if self.kind == "test":
            return f"test “{self.name}”"
        return f"{self.kind} {self.name}"


def kind_of(path: str) -> FileKind:
    """Return what a file is for, by its path."""
    if _SCRATCH.search(path):
        return "data"
    if _TESTS.search(path):
        return "test"
    if re.search(r"requirements[^/]*\.txt$", path) or _CONFIG.search(path):
        return "config"
    if _DOCS.search(path):
        return "docs"
    return "data" if _DATA.search(path) else "code"


def names(path: str, lines: Iterable[str]) -> Iterator[DefinedName]:
    """Yield the names that lines of a file define."""
    kind = kind_of(path)
    patterns: tuple[tuple[str, re.Pattern[str]], ...] = _CODE
    if kind == "docs" or path.endswith((".md", ".mdx")):
        patterns = _HEADING
    elif kind == "config":
        patterns = _KEYS
    elif kind == "data":
        return
    elif _C_FILE.search(path):
        patterns = (*_CODE, *_DECLARED)
    for line in lines:
        if not line or line.isspace():
            continue
        for what, found in patterns:
            if match := found.match(line[:_LINE]):
                yield DefinedName(what, match[1].strip())
                break


_WINDOWS = re.compile(r"[A-Za-z]:[\\/]|\\\\")


class Paths:
    """Names files by their paths below a project, or below the work tree an event is in."""

    def __init__(self, root: Path | None) -> None:
        self._roots = _forms(root) if root else ()

    def shown(self, path: str, cwd: str) -> str:
        """Return a path below the project; any other one is absolute, in the home folder with `~`.

        A relative path is below the event's folder.
        """
        if _relative(path) and not cwd:
            return normpath(_slashes(path))
        whole = normpath(f"{_slashes(cwd)}/{_slashes(path)}" if _relative(path) else _slashes(path))
        home = os.path.expanduser("~").rstrip("/")  # noqa: PTH111 - pathlib fails without a home
        if whole.startswith("~/"):
            whole = home + whole[1:]
        for root in (*self._roots, *_work_tree(_slashes(cwd))):
            if whole == root or whole.startswith(f"{root}/"):
                return whole[len(root) + 1 :] or "."
        if home and whole.startswith(f"{home}/"):
            return "~" + whole[len(home) :]
        return whole

    def short(self, text: str) -> str:
        """Return a text in which paths of the project begin below it."""
        for root in self._roots:
            if root and root in text:
                text = text.replace(f"{root}/", "")
        return text

    def outside(self, shown: str) -> bool:
        """Tell whether a shown path is none of the project."""
        return shown.startswith(("/", "~/", "../")) or bool(_WINDOWS.match(shown))


def _relative(path: str) -> bool:
    return not path.startswith(("/", "~/")) and not _WINDOWS.match(path)


def _slashes(path: str) -> str:
    return path.replace("\\", "/") if _WINDOWS.match(path) or "/" not in path else path


def _forms(root: Path) -> tuple[str, ...]:
    given = str(root).replace("\\", "/").rstrip("/")
    real = os.path.realpath(root).replace("\\", "/").rstrip("/")
    return tuple(dict.fromkeys((given, real)))


@lru_cache(256)
def _work_tree(cwd: str) -> tuple[str, ...]:
    """Return the work tree around a folder, as far as it still exists."""
    if not cwd.startswith("/"):
        return (cwd.rstrip("/"),) if _WINDOWS.match(cwd) else ()
    folder = Path(cwd)
    for parent in (folder, *folder.parents):
        if (parent / ".git").exists():
            return (str(parent).rstrip("/"),)
    return ()
