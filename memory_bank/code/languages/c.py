"""The rules of C, and of headers `.h`, which are read by those of C++ if they have its words."""

from __future__ import annotations

import re

from memory_bank.base import lazy_pattern
from memory_bank.code.languages import _c_family
from memory_bank.code.languages.base import Rules

_CPP = lazy_pattern(
    rb"^[ \t]*(?:namespace[ \t]+[\w:]{1,200}(?:[ \t]+[A-Z_]\S{0,200})?\s{0,20}\{|template\s*<"
    rb"|(?:public|protected|private)\s*:|class\s+\w[^;{}()\n]{0,200}[{:]"
    rb"|using\s+(?:namespace\b|\w+\s*=)|enum\s+class\b|constexpr\b)",
    re.MULTILINE,
)


def _really(data: bytes) -> str:
    return "cpp" if _CPP.search(data) else ""


RULES = Rules(
    name="c",
    suffixes=(".c", ".h"),
    grammar="tree_sitter_c",
    really=_really,
    symbols=(_c_family.__file__,),
    name_of=_c_family.name_of,
    calls={"call_expression": "function"},
    imports={"preproc_include": _c_family.include},
)
