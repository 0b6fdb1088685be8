"""Findings as a GitLab code quality report, with stable fingerprints."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from memory_bank.base.rendering import document, named, unhidden
from memory_bank.review.formats.annotations import MOST, left_out

if TYPE_CHECKING:
    from memory_bank.review.report import ReviewFinding


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


_SEVERITIES = {"error": "critical", "warning": "major", "info": "info"}


def code_quality(findings: Iterable[ReviewFinding]) -> str:
    """Return the report as JSON: a list with an object for each of the first findings.

    A last one, at the first of those left out, counts them.
    """
    found = list(fingerprinted(findings))
    shown = found[:MOST]
    if len(found) > MOST:
        finding, fingerprint = found[MOST]
        text = left_out(len(found) - MOST)
        rest = finding._replace(rule="left-out", severity="info", message=text, fix=None)
        shown.append((rest, fingerprint))
    return document([_issue(*one) for one in shown])


def _issue(finding: ReviewFinding, fingerprint: str) -> dict[str, object]:
    fix = f". Fix: {finding.fix}" if finding.fix else ""
    lines = {"begin": finding.line, "end": finding.end_line or finding.line}
    return {
        "description": unhidden(finding.message + fix),
        "check_name": finding.rule,
        "fingerprint": fingerprint,
        "severity": _SEVERITIES[finding.severity],
        "location": {"path": named(finding.file), "lines": lines},
    }
