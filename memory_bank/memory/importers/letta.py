"""Import the memory blocks of agents that Letta exported as a file (`.af`).

Its fields are those of the files in letta-ai/agent-file: `blocks` and `agents`, or in older ones
the `core_memory` of one agent. Messages, tools and settings of an agent are no memory of it.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from memory_bank.base.dates import to_datetime
from memory_bank.base.errors import BadInput
from memory_bank.memory.importers.base import ImportedNote, note_name
from memory_bank.memory.records import Item, NotImported
from memory_bank.notes.identity import slug

SUMMARY = "the memory blocks of agents of Letta (.af)"

_SUFFIX, _MOST_BYTES = ".af", 100_000_000


def detect(path: Path) -> bool:
    """Tell whether a path is an agent's file with memory blocks."""
    if path.suffix != _SUFFIX or not path.is_file() or path.stat().st_size > _MOST_BYTES:
        return False
    try:
        return bool(_agent_file(path))
    except BadInput:
        return False


def read(path: Path) -> Iterator[ImportedNote | NotImported]:
    """Yield a note for each memory block, below the first agent that has it."""
    document = _agent_file(path)
    seen = Counter[str]()
    for agent, block in _blocks(document):
        label = _text(block, "label").strip("/")
        place = f"{agent}/{label}" if agent else label
        seen[place] += 1
        key = f"{place} {seen[place]}" if seen[place] > 1 else place
        text = _text(block, "value")
        if not (label and text):
            yield NotImported(key, "it has no text" if label else "a block without a label")
        else:
            yield ImportedNote(key, _item(block, text, note_name(_name(agent, label, seen[place]))))


def _agent_file(path: Path) -> Mapping[str, Any]:
    """Return the document of a file, which some versions wrote as JSON in a string of JSON."""
    if path.stat().st_size > _MOST_BYTES:
        raise BadInput(f"{path} is larger than {_MOST_BYTES:,} bytes", "export fewer agents")
    try:
        found = json.loads(path.read_bytes().decode("utf-8-sig"))
        found = json.loads(found) if isinstance(found, str) else found
        json.dumps(found, ensure_ascii=False).encode()  # no half of a surrogate pair
    except (ValueError, RecursionError) as error:
        raise BadInput(f"{path} is no JSON: {error}", "export the agent again") from error
    if isinstance(found, dict) and ("core_memory" in found or {"agents", "blocks"} <= found.keys()):
        return found
    raise BadInput(f"{path} has no agents with blocks", "export an agent of Letta as a file")


def _blocks(document: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield each block with the name of the first agent that has it, or none."""
    owners = dict[str, str]()
    for agent in _objects(document, "agents"):
        listed = agent.get("block_ids")
        for one in listed if isinstance(listed, list) else ():
            owners.setdefault(str(one), _text(agent, "name"))
    for block in (*_objects(document, "blocks"), *_objects(document, "core_memory")):
        yield owners.get(str(block.get("id"))) or _text(document, "name"), block


def _objects(document: Mapping[str, Any], field: str) -> list[Mapping[str, Any]]:
    found = document.get(field)
    return [one for one in found if isinstance(one, dict)] if isinstance(found, list) else []


def _text(values: Mapping[str, Any], field: str) -> str:
    value = values.get(field)
    return value.strip().replace("\0", "") if isinstance(value, str) else ""


def _name(agent: str, label: str, number: int) -> str:
    parts = [slug(part) for part in (agent, *label.split("/")) if part.strip()]
    return "/".join(parts) + (f"-{number}" if number > 1 else "")


def _item(block: Mapping[str, Any], text: str, name: str) -> Item:
    title = " ".join(_text(block, "label").rpartition("/")[2].replace("_", " ").split())
    tags = block.get("tags")
    extra = {key: _text(block, key) for key in ("label", "description")}
    return Item(
        f"{text}\n" if text.startswith("# ") else f"# {title}\n\n{text}\n",
        type="note",
        title="" if text.startswith("# ") else title,
        tags=tuple(one for one in tags if isinstance(one, str) and one.strip())
        if isinstance(tags, list)
        else (),
        name=name,
        created_at=to_datetime(block.get("created_at")),
        updated_at=to_datetime(block.get("updated_at")),
        extra={key: value for key, value in extra.items() if value},
    )
