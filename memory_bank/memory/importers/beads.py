"""Import the issues of beads, a file of JSON lines (`.beads/issues.jsonl`, or `bd export -o FILE`).

Its fields are those of `internal/types/types.go` in gastownhall/beads.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from memory_bank.base.dates import to_datetime
from memory_bank.base.errors import BadInput
from memory_bank.memory.importers.base import ImportedNote, note_name
from memory_bank.memory.records import Item, NotImported
from memory_bank.notes.relations import as_type

SUMMARY = "the issues of beads (.beads/issues.jsonl)"

_MOST_BYTES = 100_000_000

_TYPES = {"bug": "bugfix"}

_TEXTS = {
    "description": "", "design": "Design", "acceptance_criteria": "Acceptance criteria",
    "notes": "Notes", "close_reason": "Closed",
}  # fmt: skip
"""Fields of an issue that are text, and their headings."""

_KEPT = ("status", "priority", "assignee", "closed_at")

_LINKS = {"blocks": "depends_on", "parent-child": "part_of"}
"""Relations of beads that have another name here; the issue is the one that depends."""


def detect(path: Path) -> bool:
    """Tell whether a path is a file whose first line is an issue."""
    if not path.is_file():
        return False
    with path.open("rb") as file:
        issue = _object(file.readline(_MOST_BYTES))
    return isinstance(issue, dict) and {"id", "issue_type"} <= issue.keys()


def read(path: Path) -> Iterator[ImportedNote | NotImported]:
    """Yield a note for each issue, with its dates, its status and links to other issues."""
    if path.stat().st_size > _MOST_BYTES:
        raise BadInput(f"{path} is larger than {_MOST_BYTES:,} bytes", "import it in parts")
    for number, line in enumerate(path.read_bytes().split(b"\n"), 1):
        if not line.strip():
            continue
        issue = _object(line)
        if not isinstance(issue, dict):
            yield NotImported(f"line {number}", "no JSON object")
        elif not (_text(issue, "id") and _text(issue, "title")):
            yield NotImported(f"line {number}", "an issue without id or title")
        else:
            yield ImportedNote(_text(issue, "id"), _item(issue))


def _object(line: bytes) -> Any:  # noqa: ANN401  (any JSON value)
    try:
        found = json.loads(line.decode("utf-8-sig"))
        json.dumps(found, ensure_ascii=False).encode()  # no half of a surrogate pair
    except (ValueError, RecursionError):
        return None
    return found


def _text(issue: Mapping[str, Any], field: str) -> str:
    value = issue.get(field)
    return value.strip() if isinstance(value, str) else ""


def _item(issue: Mapping[str, Any]) -> Item:
    title = " ".join(_text(issue, "title").split())
    parts = [f"# {title}"]
    for field, heading in _TEXTS.items():
        if text := _text(issue, field):
            parts.append(f"## {heading}\n\n{text}" if heading else text)
    if links := list(dict.fromkeys(_links(issue))):
        parts.append("\n".join(links))
    kind = _text(issue, "issue_type")
    labels = issue.get("labels")
    return Item(
        "\n\n".join(parts) + "\n",
        type=_TYPES.get(kind, kind) or "task",
        title=title,
        tags=tuple(one for one in labels if isinstance(one, str) and one.strip())
        if isinstance(labels, list)
        else (),
        name=f"issues/{note_name(_text(issue, 'id'))}",
        created_at=to_datetime(issue.get("created_at")),
        updated_at=to_datetime(issue.get("updated_at")),
        extra={key: issue[key] for key in _KEPT if isinstance(issue.get(key), str | int)},
    )


def _links(issue: Mapping[str, Any]) -> Iterator[str]:
    found = issue.get("dependencies")
    for one in found if isinstance(found, list) else ():
        target = _text(one, "depends_on_id") if isinstance(one, dict) else ""
        if target:
            kind = _text(one, "type")
            relation = _LINKS.get(kind) or as_type(kind) or "related_to"
            name = note_name(target)
            yield f"- {relation}:: [[issues/{name}|{name}]]"
