"""Fingerprints by which other programs know a finding again after an unrelated edit."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from memory_bank.actions.review_report import ReviewFinding

_NUMBER = re.compile(r"(?<![^\s(])\d[\d,.]*(?![^\s).,:;%])")
"""A number by itself, such as a line or a size: it changes with the text around a finding."""


def fingerprinted(
    findings: Iterable[ReviewFinding],
) -> Iterator[tuple[ReviewFinding, str]]:
    """Yield each finding with its fingerprint, 64 hexadecimal digits.

    It depends on rule, file, and the words that were found, or else the message; not on the line.
    Equal ones of a file are numbered from the top.
    """
    from blake3 import blake3  # start-up

    seen: Counter[tuple[str, ...]] = Counter()
    numbers: dict[int, int] = {}
    found = list(findings)
    for place in sorted(range(len(found)), key=lambda at: (found[at].line, found[at].column or 0)):
        identity = _identity(found[place])
        seen[identity] += 1
        numbers[place] = seen[identity]
    for place, finding in enumerate(found):
        parts = (*_identity(finding), str(numbers[place]))
        data = "\0".join(parts).encode(errors="surrogatepass")
        yield finding, blake3(data).hexdigest()


def _identity(finding: ReviewFinding) -> tuple[str, str, str]:
    text = finding.words or _NUMBER.sub("0", finding.message)
    return finding.rule, finding.file, text
