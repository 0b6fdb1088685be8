"""The rules of JavaScript, JSX included."""

from __future__ import annotations

from memory_bank.code.languages import _ecmascript
from memory_bank.code.languages.base import Rules

RULES = Rules(
    name="javascript",
    suffixes=(".js", ".jsx", ".mjs", ".cjs"),
    grammar="tree_sitter_javascript",
    programs=("node", "nodejs"),
    kinds=_ecmascript.KINDS,
    define=_ecmascript.DEFINE,
    wrappers=frozenset(["export_statement"]),
    containers={"pair": _ecmascript.inner_object},
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
