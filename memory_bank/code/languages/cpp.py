"""The rules of C++."""

from __future__ import annotations

import re

from memory_bank.base import lazy_pattern
from memory_bank.code.languages import c
from memory_bank.code.languages.base import Rules, read_call

_MACRO = rb"[A-Z_][A-Z0-9_]{2,60}(?:\([^()\n]{0,200}\))?"

_UNKNOWN = lazy_pattern(
    rb"\b((?:class|struct)[ \t]+)" + _MACRO + rb"(?=[ \t]+[A-Za-z_][\w:]*\s*(?:final\s*)?[:{])"
    rb"|\b(namespace[ \t]+[\w:]+[ \t]+)" + _MACRO + rb"(?=\s*\{)"
    rb"|^[ \t]*(?:\w{0,60}(?:NAMESPACE_?(?:BEGIN|END)|(?:BEGIN|END)_NAMESPACE)\w{0,60}|Q_OBJECT)"
    rb"(?=[ \t\r]*$)",
    re.MULTILINE,
)
"""Macros that the grammar does not know, after `class` and `namespace` and around namespaces."""


def _blank_macros(data: bytes) -> bytes:
    """Blank macros that would hide the definition after them."""
    return _UNKNOWN.sub(lambda match: (match[1] or match[2] or b"").ljust(len(match[0])), data)


RULES = Rules(
    name="cpp",
    suffixes=(".cc", ".cpp", ".cxx", ".c++", ".hh", ".hpp", ".hxx", ".h++", ".ipp", ".tpp"),
    grammar="tree_sitter_cpp",
    readable=_blank_macros,
    symbols=(__file__, c.__file__),
    name_of=c.name_of,
    wrappers=frozenset(["template_declaration"]),
    bases=frozenset(["base_class_clause"]),
    calls={"call_expression": "function", "new_expression": read_call},
    imports={"preproc_include": c.include},
    tests={"function_definition": c.test_function, "call_expression": c.test_call},
)
