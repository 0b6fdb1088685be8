import json
from typing import Any
from urllib.parse import unquote

import jsonschema
import pytest
from hypothesis import given, settings

from memory_bank.base.rendering import escape_hidden
from memory_bank.review.records import Review
from memory_bank.review.sarif import render_log
from tests.review.reviews import finding, hostile_reviews, review


def _object(properties: dict[str, Any], *required: str) -> dict[str, Any]:
    return {
        "type": "object", "properties": properties, "required": list(required), "additionalProperties": False,
    }  # fmt: skip


def _list(items: dict[str, Any]) -> dict[str, Any]:
    return {"type": "array", "items": items}


_TEXT = {"type": "string", "minLength": 1}
_COUNT = {"type": "integer", "minimum": 1}
_MESSAGE = _object({"text": _TEXT}, "text")
_LEVEL = {"enum": ["none", "note", "warning", "error"]}
_RULE = _object(
    {
        "id": _TEXT, "shortDescription": _MESSAGE, "fullDescription": _MESSAGE, "help": _MESSAGE,
        "defaultConfiguration": _object({"level": _LEVEL}, "level"),
    },
    "id", "shortDescription", "fullDescription", "help", "defaultConfiguration",
)  # fmt: skip
_DRIVER = _object(
    {"name": _TEXT, "version": _TEXT, "rules": {**_list(_RULE), "uniqueItems": True}},
    "name", "version", "rules",
)  # fmt: skip
_REGION = _object(
    {"startLine": _COUNT, "startColumn": _COUNT, "endLine": _COUNT, "endColumn": _COUNT},
    "startLine",
)
# a relative reference: no scheme, no leading slash, only characters that RFC 3986 allows
_URI = {"type": "string", "pattern": r"^(?!/)(?![^/]*:)([A-Za-z0-9\-._~/]|%[0-9A-F]{2})+$"}
_LOCATION = _object(
    {
        "physicalLocation": _object(
            {
                "artifactLocation": _object({"uri": _URI, "uriBaseId": _TEXT}, "uri", "uriBaseId"),
                "region": _REGION,
            },
            "artifactLocation", "region",
        )
    },
    "physicalLocation",
)  # fmt: skip
_RESULT = _object(
    {
        "ruleId": _TEXT, "ruleIndex": {"type": "integer", "minimum": -1}, "level": _LEVEL, "message": _MESSAGE,
        "locations": {**_list(_LOCATION), "minItems": 1},
        "partialFingerprints": {"type": "object", "additionalProperties": {"type": "string"}, "minProperties": 1},
        "baselineState": {"enum": ["new", "unchanged", "updated", "absent"]},
    },
    "ruleId", "ruleIndex", "level", "message", "locations", "partialFingerprints",
)  # fmt: skip
_NOTIFICATION = _object({"level": _LEVEL, "message": _MESSAGE}, "message")
_RUN = _object(
    {
        "tool": _object({"driver": _DRIVER}, "driver"),
        "automationDetails": _object({"id": _TEXT}),
        "columnKind": {"enum": ["utf16CodeUnits", "unicodeCodePoints"]},
        "originalUriBaseIds": {
            "type": "object", "additionalProperties": _object({"uri": _TEXT, "description": _MESSAGE}),
        },
        "invocations": _list(
            _object(
                {"executionSuccessful": {"type": "boolean"}, "toolExecutionNotifications": _list(_NOTIFICATION)},
                "executionSuccessful",
            )
        ),
        "results": _list(_RESULT),
        "properties": {"type": "object"},
    },
    "tool", "results",
)  # fmt: skip
SCHEMA = _object(
    {"$schema": {"type": "string", "format": "uri"}, "version": {"const": "2.1.0"}, "runs": {**_list(_RUN), "minItems": 1}},
    "version", "runs",
)  # fmt: skip
"""The rules of SARIF 2.1.0 for the objects that a log has, after the specification: no other property is allowed."""


def run_of(shown: Review) -> dict[str, Any]:
    log = json.loads(render_log(shown, "0.1.0"))
    jsonschema.validate(log, SCHEMA)
    run: dict[str, Any] = log["runs"][0]
    return run


def region(**places: Any) -> dict[str, int]:
    (result,) = run_of(review(finding(**places)))["results"]
    found: dict[str, int] = result["locations"][0]["physicalLocation"]["region"]
    return found


def test_a_finding_is_a_result_with_its_rule() -> None:
    run = run_of(review(finding("leads nowhere", fix="facts/okapi", severity="info")))
    (result,), (rule,) = run["results"], run["tool"]["driver"]["rules"]
    assert rule["id"] == result["ruleId"] == "broken-link"
    assert rule["shortDescription"] == {"text": "A broken-link."}
    assert rule["defaultConfiguration"] == {"level": "note"}
    assert result["ruleIndex"] == 0
    assert result["level"] == "note"
    assert result["message"] == {"text": "leads nowhere. Fix: facts/okapi"}
    assert result["baselineState"] == "new"


def test_columns_are_utf_16_code_units_and_absent_for_a_whole_line() -> None:
    assert region(line=3) == {"startLine": 3}
    assert region(line=3, column=5, end_column=9) == {
        "startLine": 3,
        "startColumn": 5,
        "endColumn": 9,
    }
    assert region(line=3, column=5, end_line=4, end_column=2)["endLine"] == 4
    assert run_of(review())["columnKind"] == "unicodeCodePoints"


@pytest.mark.parametrize(
    ("path", "uri"),
    [
        (".memories/a b.md", ".memories/a%20b.md"),
        ("notes/50%.md", "notes/50%25.md"),
        ("c:/x.md", "c%3A/x.md"),
        ("é#1?.md", "%C3%A9%231%3F.md"),
        ("a\udcff.md", "a%FF.md"),
    ],
)
def test_paths_are_relative_percent_encoded_uris(path: str, uri: str) -> None:
    (result,) = run_of(review(finding(file=path)))["results"]
    location = result["locations"][0]["physicalLocation"]["artifactLocation"]
    assert location == {"uri": uri, "uriBaseId": "%SRCROOT%"}
    assert unquote(uri, errors="surrogateescape") == path


def fingerprints(*found: Any) -> list[str]:
    return [
        result["partialFingerprints"]["memoryBankFinding/v1"]
        for result in run_of(review(*found))["results"]
    ]


def test_a_fingerprint_survives_edits_elsewhere() -> None:
    before = fingerprints(
        finding("[[a]] is ambiguous", line=3), finding("12,345 bytes", rule="large-note")
    )
    after = fingerprints(
        finding("12,400 bytes", rule="large-note"), finding("[[a]] is ambiguous", line=90)
    )
    assert before == after[::-1]


def test_fingerprints_differ_between_findings() -> None:
    found = [
        finding("[[a1]] is ambiguous"), finding("[[a2]] is ambiguous"), finding("[[a1]] is ambiguous", line=9),
        finding("[[a1]] is ambiguous", rule="moved-link"), finding("[[a1]] is ambiguous", file="b.md"),
        finding("[[a1]] is ambiguous", words="a1"),
    ]  # fmt: skip
    assert len(set(fingerprints(*found))) == len(found)


def test_equal_findings_are_numbered_from_the_top_whatever_their_order() -> None:
    first, second = finding("x", line=3), finding("x", line=9)
    assert fingerprints(first, second) == fingerprints(second, first)[::-1]


def test_a_message_has_no_link_and_no_placeholder_of_a_notes_text() -> None:
    (result,) = run_of(review(finding("see [here](https://evil.example) {0}")))["results"]
    assert result["message"]["text"] == "see [here] (https://evil.example) {{0}}"


def test_what_was_left_out_is_a_notification() -> None:
    (invocation,) = run_of(review(notices=("big.md was not compared",)))["invocations"]
    assert invocation["toolExecutionNotifications"] == [
        {"level": "note", "message": {"text": "big.md was not compared"}}
    ]


def test_more_findings_than_github_shows_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("memory_bank.review.sarif.MOST", 20)
    run = run_of(review(*[finding(line=number + 1) for number in range(22)]))
    assert len(run["results"]) == 20
    (notice,) = run["invocations"][0]["toolExecutionNotifications"]
    assert notice["message"]["text"].startswith("2 more findings left out")


@settings(deadline=None, max_examples=25)
@pytest.mark.slow
@given(hostile_reviews())
def test_the_log_follows_the_rules_whatever_notes_contain(shown: Review) -> None:
    run = run_of(shown)
    assert len(run["results"]) == len(shown.findings)
    for result in run["results"]:
        text = result["message"]["text"]
        assert escape_hidden(text) == text
        assert "](" not in text
