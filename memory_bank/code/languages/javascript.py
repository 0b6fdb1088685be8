"""The rules of JavaScript, JSX included."""

from __future__ import annotations

from memory_bank.code.languages import _ecmascript
from memory_bank.code.languages.base import Rules

RULES = Rules(
    name="javascript",
    suffixes=(".js", ".jsx", ".mjs", ".cjs"),
    grammar="tree_sitter_javascript",
    programs=("node", "nodejs"),
    symbols=(_ecmascript.__file__, __file__),
    name_of=_ecmascript.name_of,
    alone=_ecmascript.ALONE,
    wrappers=frozenset(["export_statement"]),
    calls=_ecmascript.CALLS,
    marks=frozenset(["decorator"]),
    bases=frozenset(["class_heritage"]),
    quotes=frozenset(['"', "'"]),
    optional=frozenset([";"]),
    imports=_ecmascript.IMPORTS,
    tests=_ecmascript.TESTS,
    test_files=_ecmascript.TEST_FILES,
    test_modules=_ecmascript.TEST_MODULES,
)
