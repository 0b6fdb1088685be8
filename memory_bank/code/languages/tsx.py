"""The rules of TSX, which are those of TypeScript with another grammar."""

from __future__ import annotations

from memory_bank.code.languages import typescript

RULES = typescript.RULES._replace(name="tsx", suffixes=(".tsx",), entry="language_tsx", programs=())
