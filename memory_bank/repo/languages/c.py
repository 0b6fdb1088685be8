"""The rules of C; also of headers `.h`, whatever they hold, since their names don't tell."""

from __future__ import annotations

from memory_bank.repo.languages import _c_family as family
from memory_bank.repo.languages.base import Rules

RULES = Rules(
    name="c",
    suffixes=(".c", ".h"),
    grammar="tree_sitter_c",
    kinds={},
    define={
        "function_definition": family.function,
        "struct_specifier": family.whole_type,
        "union_specifier": family.whole_type,
        "enum_specifier": family.whole_type,
        "type_definition": family.typedef,
        "declaration": family.constants,
        "preproc_def": family.macro,
        "preproc_function_def": family.macro,
    },
    calls={"call_expression": "function"},
    imports={"preproc_include": family.include},
)
