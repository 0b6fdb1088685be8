"""The rules of JavaScript, JSX included."""

from __future__ import annotations

from memory_bank.repo.languages import _ecmascript as family
from memory_bank.repo.languages.base import Rules

RULES = Rules(
    name="javascript",
    suffixes=(".js", ".jsx", ".mjs", ".cjs"),
    grammar="tree_sitter_javascript",
    programs=("node", "nodejs"),
    kinds=family.KINDS,
    define=family.DEFINE,
    wrappers=frozenset(["export_statement"]),
    containers={"pair": family.inner_object},
    calls=family.CALLS,
    marks=frozenset(["decorator"]),
    bases=frozenset(["class_heritage"]),
    quotes=frozenset(['"', "'"]),
    optional=frozenset([";"]),
    imports=family.IMPORTS,
    tests=family.TESTS,
    test_files=family.TEST_FILES,
    test_modules=family.TEST_MODULES,
)
