"""The rules of SARIF 2.1.0 for the objects that a review's log has, as a JSON schema.

Written after the specification: names, required properties, types and bounds. No other property is
allowed, so a new one has to be added here with its rule.
"""

from __future__ import annotations

from typing import Any


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
