"""Findings as a GitLab code quality report."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from memory_bank.frontends.rendering import document, named, unhidden
from memory_bank.frontends.report_formats.fingerprints import fingerprinted
from memory_bank.frontends.report_formats.limits import MOST, left_out

if TYPE_CHECKING:
    from memory_bank.actions.review_report import ReviewFinding

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
