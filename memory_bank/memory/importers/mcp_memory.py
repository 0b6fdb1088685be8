"""Import the knowledge graph of the MCP reference memory server, a file of JSON lines.

Its format is that of `src/memory/index.ts` in modelcontextprotocol/servers.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from memory_bank.base.documents import Link
from memory_bank.base.errors import BadInput
from memory_bank.memory.importers.base import ImportedNote
from memory_bank.memory.records import Draft, NotImported
from memory_bank.notes.identity import make_slug
from memory_bank.notes.note import Meta
from memory_bank.notes.relations import normalise_type
from memory_bank.notes.schema import folder_for_type

SUMMARY = "the file of the MCP reference memory server (memory.jsonl)"

# Of the file of a server's memory, which is read whole.
_MOST_BYTES = 100_000_000

_NOT_IN_LINK = str.maketrans("[]|#^\r\n", "       ")


@dataclass
class _Entity:
    kind: str
    observations: dict[str, None] = field(default_factory=dict)
    """In order, without duplicates."""
    relations: list[Link] = field(default_factory=list)


def detect(path: Path) -> bool:
    """Return whether a path is a file whose first line is a JSON object."""
    if not path.is_file():
        return False
    with path.open("rb") as file:
        return file.read(100).lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"{")


def read(path: Path) -> Iterator[ImportedNote | NotImported]:
    """Yield a note for each entity, with its observations as a list and its relations as links."""
    if path.stat().st_size > _MOST_BYTES:
        raise BadInput(f"{path} is larger than {_MOST_BYTES:,} bytes", "import it in parts")
    entities: dict[str, _Entity] = {}
    relations: list[Link] = []
    for number, line in enumerate(path.read_bytes().split(b"\n"), 1):
        if line.strip() and (reason := _add(line, number, entities, relations)):
            yield NotImported(f"line {number}", reason)
    for relation in relations:
        if relation.source_key in entities:
            entities[relation.source_key].relations.append(relation)
        else:
            reason = f"a relation of {relation.source_key!r}, which is no entity"
            yield NotImported(f"line {relation.line}", reason)
    names = _names(entities)
    for name, entity in entities.items():
        yield ImportedNote(name, _make_draft(name, entity, names))


def _add(line: bytes, number: int, entities: dict[str, _Entity], relations: list[Link]) -> str:
    """Read a line; return why it can't be read, empty if it could."""
    try:
        record = json.loads(line.decode("utf-8-sig"))
        json.dumps(record, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return "it has half a surrogate pair"
    except (ValueError, RecursionError) as error:
        return f"no JSON: {error}"
    match record:
        case {
            "type": "entity",
            "name": str(name),
            "entityType": str(kind),
            "observations": list(seen),
        }:
            if not name.strip():
                return "an entity without a name"
            if not all(isinstance(text, str) for text in seen):
                return "an observation that is no text"
            entity = entities.setdefault(name, _Entity(kind))
            entity.observations |= dict.fromkeys(seen)
        case {
            "type": "relation",
            "from": str(source),
            "to": str(target),
            "relationType": str(kind),
        }:
            relations.append(Link(target, "wiki", number, kind, source_key=source))
        case _:
            return "neither an entity nor a relation"
    return ""


def _names(entities: dict[str, _Entity]) -> dict[str, str]:
    """Map entities to the unique names of their notes."""
    entries: dict[str, str] = {}
    texts: set[str] = set()
    for name, entity in entities.items():
        first = text = f"{folder_for_type(entity.kind)}/{make_slug(name)}"
        number = 1
        while text in texts:
            number += 1
            text = f"{first}-{number}"
        texts.add(text)
        entries[name] = text
    return entries


def _make_draft(name: str, entity: _Entity, names: dict[str, str]) -> Draft:
    title = " ".join(name.split())
    parts = [f"# {title}"]
    if entity.observations:
        parts.append("\n".join(f"- {_indent_item(text)}" for text in entity.observations))
    links = dict.fromkeys(_link(relation, names) for relation in entity.relations)
    if links:
        parts.append("\n".join(links))
    text = "\n\n".join(parts) + "\n"
    return Draft(text, Meta(type=entity.kind, title=title), names[name])


def _indent_item(text: str) -> str:
    """Return a text of several lines as one list item."""
    return "\n  ".join(text.strip().splitlines())


def _link(relation: Link, names: dict[str, str]) -> str:
    text = " ".join(relation.target.translate(_NOT_IN_LINK).split())
    target = names.get(relation.target, text)
    link = f"[[{target}]]" if target == text else f"[[{target}|{text}]]"
    return f"- {normalise_type(relation.type) or 'related_to'}:: {link}"
