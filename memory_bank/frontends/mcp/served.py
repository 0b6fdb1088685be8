"""Word texts for agents so that they name only tools that are served.

Texts name tools in backticks. A sentence that names a tool which is not served is left out.
"""

from __future__ import annotations

import re
from collections.abc import Container, Sequence

_TOOL = re.compile(r"`(__IMPORTANT|[a-z]+(?:_[a-z]+)*)`")

_SENTENCE_END = re.compile(r"(?<=[.?!])\s+")


def names_only(text: str, served: Container[str]) -> bool:
    """Tell whether all tools that a text names are served."""
    return all(name in served for name in _TOOL.findall(text))


def worded(text: str, served: Container[str]) -> str:
    """Return a text without the sentences that name a tool which is not served."""
    return " ".join(one for one in _SENTENCE_END.split(text) if names_only(one, served))


def first_of(texts: Sequence[str], served: Container[str]) -> str:
    """Return the first text that names only tools that are served; empty if there is none."""
    return next((text for text in texts if names_only(text, served)), "")
