"""The findings of a review for GitHub: as SARIF, and as annotations of a step.

GitHub's runner reads each line of a step's output, so no text of a note may start a line or end a
command's part.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import cast
from urllib.parse import quote

from memory_bank.bank.records import Finding
from memory_bank.base import lazy_pattern, shorten
from memory_bank.base.rendering import count, escape_hidden, quote_path, render_document
from memory_bank.review.records import Review, RuleWithFindings

_SCHEMA = (
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
)

_LEVELS = {"error": "error", "warning": "warning", "info": "note"}

_ROOT = "%SRCROOT%"

_HALVES = "[\ud800-\udc7f\udd00-\udfff]"
"""Halves of surrogate pairs that stand for no byte of a path."""

MOST = 5_000
"""GitHub shows as many of a SARIF file and refuses one with 25,000; new findings come first."""

_FINGERPRINT = "memoryBankFinding/v1"

Object = Mapping[str, object]


def render_log(review: Review, version: str) -> str:
    """Return the log as JSON: the first findings, the new ones marked by `baselineState`.

    A notification counts those that are left out. `version` is that of this program. Columns are in
    UTF-16 code units, URIs are relative to the root of the repository.
    """
    numbers = {rule.name: number for number, rule in enumerate(review.rules)}
    run: Object = {
        "tool": {
            "driver": {
                "name": "memory-bank",
                "version": version,
                "rules": [_describe_rule(rule) for rule in review.rules],
            }
        },
        "automationDetails": {"id": "memory-bank/review/"},
        "columnKind": "unicodeCodePoints",
        "originalUriBaseIds": {_ROOT: {"description": {"text": "The root of the repository."}}},
        "invocations": [_describe_run(review)],
        "results": [
            _describe_result(finding, fingerprint, numbers.get(finding.rule, -1))
            for finding, fingerprint in islice(fingerprint_findings(review.findings), MOST)
        ],
        "properties": {
            "base": review.base.commit or review.base.name,
            "head": review.head.commit or review.head.name,
        },
    }
    log: Object = {"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}
    return render_document(log)


def _describe_rule(rule: RuleWithFindings) -> Object:
    summary = _write_message(f"{rule.summary[:1].upper()}{rule.summary[1:]}.")
    return {
        "id": rule.name,
        "shortDescription": summary,
        "fullDescription": summary,
        "help": summary,
        "defaultConfiguration": {"level": _LEVELS[rule.severity]},
    }


def _describe_run(review: Review) -> Object:
    """Return that the run succeeded, with notices on what was left out."""
    messages = list(review.notices)
    if (more := len(review.findings) - MOST) > 0:
        text = count(more, "more finding")
        messages.append(f"{text} left out: `memory-bank review --format json` lists all")
    notices = [{"level": "note", "message": _write_message(notice)} for notice in messages]
    return {"executionSuccessful": True, "toolExecutionNotifications": notices}


def _describe_result(finding: Finding, fingerprint: str, rule: int) -> Object:
    fix = f". Fix: {finding.fix}" if finding.fix else ""
    return {
        "ruleId": finding.rule,
        "ruleIndex": rule,
        "level": _LEVELS[finding.severity],
        "message": _write_message(finding.message + fix),
        "locations": [
            {
                "physicalLocation": {
                    "artifactLocation": {"uri": _write_uri(finding.file or ""), "uriBaseId": _ROOT},
                    "region": _describe_region(finding),
                }
            }
        ],
        "partialFingerprints": {_FINGERPRINT: fingerprint},
        "baselineState": "new" if finding.new else "unchanged",
    }


def _describe_region(finding: Finding) -> Object:
    region = {"startLine": finding.line}
    if finding.column:
        region["startColumn"] = finding.column
    if finding.end_line and finding.end_line != finding.line:
        region["endLine"] = finding.end_line
    if finding.column and finding.end_column:
        region["endColumn"] = finding.end_column
    return region


def _write_uri(path: str) -> str:
    """Return the percent-encoded URI of a path; its bytes are kept if they are no UTF-8."""
    return quote(re.sub(_HALVES, "\ufffd", path), safe="/", errors="surrogateescape")


def _write_message(text: str) -> Object:
    """Return a text as a message without placeholders and links (SARIF 2.1.0, 3.11.5, 3.11.6)."""
    plain = cast("str", escape_hidden(text)).replace("](", "] (")
    return {"text": plain.replace("{", "{{").replace("}", "}}")}


_NUMBER = lazy_pattern(r"(?<![^\s(])\d[\d,.]*(?![^\s).,:;%])")
"""A number by itself, such as a line or a size: it changes with the text around a finding."""


def fingerprint_findings(findings: Iterable[Finding]) -> Iterator[tuple[Finding, str]]:
    """Yield each finding with its fingerprint, 64 hexadecimal digits.

    It depends on rule, file, and the words that were found, or else the message; not on the line.
    Equal ones of a file are numbered from the top.
    """
    from blake3 import blake3  # start-up

    counts: Counter[tuple[str, ...]] = Counter()
    numbers: dict[int, int] = {}
    finding_list = list(findings)
    for place in sorted(
        range(len(finding_list)),
        key=lambda at: (finding_list[at].line, finding_list[at].column or 0),
    ):
        identity = _identify(finding_list[place])
        counts[identity] += 1
        numbers[place] = counts[identity]
    for place, finding in enumerate(finding_list):
        parts = (*_identify(finding), str(numbers[place]))
        data = "\0".join(parts).encode(errors="surrogatepass")
        yield finding, blake3(data).hexdigest()


def _identify(finding: Finding) -> tuple[str, str, str]:
    text = finding.words or _NUMBER.sub("0", finding.message)
    return finding.rule, finding.file or "", text


_KINDS = {"error": "error", "warning": "warning", "info": "notice"}

_MOST = 10
"""Annotations of a level that GitHub shows of one step."""

_LONGEST = 2000
"""Characters of a message; GitHub shows no more of it without scrolling."""

_DATA = str.maketrans({"%": "%25", "\r": "%0D", "\n": "%0A"})

_PROPERTY = _DATA | str.maketrans({":": "%3A", ",": "%2C"})


def workflow_commands(findings: Iterable[Finding]) -> str:
    """Return a line for each new finding, at most ten of a level, and a line on those left out.

    Those of each level come in the given order. The text ends with a newline unless it is empty.
    """
    return "".join(f"{line}\n" for line in _yield_commands(findings))


def _yield_commands(findings: Iterable[Finding]) -> Iterator[str]:
    counts: Counter[str] = Counter()
    left_out = 0
    for finding in (candidate for candidate in findings if candidate.new):
        level = _KINDS[finding.severity]
        # one notice is kept for the line on those left out
        if counts[level] < _MOST - (level == "notice"):
            counts[level] += 1
            yield _write_command(level, finding)
        else:
            left_out += 1
    if left_out:
        text = f"{count(left_out, 'more finding')}: GitHub shows ten of a level"
        yield f"::notice title=memory-bank::{text}"


def _write_command(level: str, finding: Finding) -> str:
    """Return the workflow command for a finding."""
    end_line = finding.end_line or finding.line
    properties: dict[str, object] = {
        "file": quote_path(finding.file or finding.path),
        "line": finding.line,
        "endLine": end_line,
    }
    if finding.column and finding.end_column and end_line == finding.line:
        # GitHub takes columns only of one line
        properties |= {"col": finding.column, "endColumn": finding.end_column}
    properties["title"] = finding.rule
    text = ",".join(f"{key}={_escape_part(value, _PROPERTY)}" for key, value in properties.items())
    fix = f"\nFix: {finding.fix}" if finding.fix else ""
    message = shorten(finding.message + fix, _LONGEST)
    return f"::{level} {text}::{_escape_part(message, _DATA)}"


def _escape_part(value: object, escaped: dict[int, str]) -> str:
    """Return a value without invisible characters, escaped for a part of a command."""
    return cast("str", escape_hidden(str(value))).translate(escaped)
