"""The Markdown graph of Logseq: pages and journals, their properties, and links to blocks."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import unquote

from memory_bank.memory.importers.base import (
    ImportedNote,
    MarkdownFile,
    item_of,
    markdown_files,
    note_name,
)
from memory_bank.memory.records import NotImported

SUMMARY = "a graph of Logseq: pages and journals with their properties"

_PAGES, _JOURNALS = "pages/", "journals/"

_PROPERTY = re.compile(r"(?P<mark>[ \t]*(?:- )?)(?P<key>[A-Za-z][\w-]*)::(?:[ \t]+(?P<value>.*))?")

_UUID = r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"

_ID = re.compile(rf"[ \t]*(?:- )?id::[ \t]+(?P<id>{_UUID})[ \t]*")

_LABELLED = re.compile(rf"\[(?P<text>[^\[\]\n]*)\]\(\(\((?P<id>{_UUID})\)\)\)")

_EMBED = re.compile(
    rf"\{{\{{embed[ \t]+(?:\(\((?P<id>{_UUID})\)\)|\[\[(?P<page>[^\[\]\n]+)\]\])[ \t]*\}}\}}"
)

_REFERENCE = re.compile(rf"\(\((?P<id>{_UUID})\)\)")

_ORDINALS = ("th", "st", "nd", "rd")

_DAY = re.compile(r"(\d{4})[_-](\d\d)[_-](\d\d)")

_WORD = re.compile(r"[A-Za-z][\w-]{0,40}")

_SHOWN_ONLY = frozenset(
    ["collapsed", "order-list-type", "icon", "filters", "logseq.order-list-type"]
)
"""Properties that say how a page is shown."""


def detect(path: Path) -> bool:
    """Tell whether a path is the folder of a graph."""
    return (path / "logseq/config.edn").is_file() or (path / "journals").is_dir()


def read(path: Path) -> Iterator[ImportedNote | NotImported]:
    """Yield a note for each page and journal, with the dates, status and links of its properties.

    A block that others refer to gets its id as the end of its line, and references lead there.
    """
    found = list(markdown_files(path))
    files = [one for one in found if isinstance(one, MarkdownFile)]
    files = [one for one in files if not one.path.startswith(("logseq/", "assets/"))]
    blocks = {id_: _name(one) for one in files for id_ in _ids(one.body)}
    for one in found:
        if isinstance(one, NotImported):
            yield one
        elif one in files:
            yield _entry(one, blocks)


def _name(file: MarkdownFile) -> str:
    """Return the name of a page's note; `___` stands for the slash of a namespace."""
    name = file.name
    if name.startswith(_JOURNALS):
        return note_name(name.replace("_", "-"))
    return note_name(unquote(name.removeprefix(_PAGES)).replace("___", "/").strip("/"))


def _ids(body: str) -> Iterator[str]:
    for line, _ in _plain(body):
        if found := _ID.fullmatch(line):
            yield found["id"]


def _plain(body: str) -> Iterator[tuple[str, bool]]:
    """Yield the lines of a text, and whether each is code."""
    fence = False
    for line in body.replace("\r\n", "\n").split("\n"):
        opens = line.lstrip(" \t-").startswith("```")
        yield line, fence or opens
        fence ^= opens


def _entry(file: MarkdownFile, blocks: Mapping[str, str]) -> ImportedNote:
    head, body = _head(file.body)
    name = _name(file)
    title = head.pop("title", "") or name.rpartition("/")[2]
    item = item_of(file, kind=_kind(head))
    aliases = [one for one in (title, *_listed(head.pop("alias", ""))) if one != name]
    day = _DAY.fullmatch(file.name.removeprefix(_JOURNALS))
    if day and (when := _day(day)):
        item = replace(item, created_at=when)
        aliases.append(f"{when:%b} {when.day}{_ordinal(when.day)}, {when.year}")
    created, updated = (_moment(_taken(head, f"{one}-at")) for one in ("created", "updated"))
    tags = _listed(head.pop("tags", ""))
    linked = {key: value for key, value in head.items() if "[[" in value}
    links = "".join(f"- {key}:: {value}\n" for key, value in linked.items())
    extra = {key: value for key, value in head.items() if key not in linked}
    text = _linked("\n".join(filter(None, (links, body.lstrip("\n")))), blocks)
    return ImportedNote(
        file.path,
        replace(
            item,
            name=name,
            content=f"# {title}\n\n{text.lstrip()}" if text.strip() else f"# {title}\n",
            aliases=tuple(dict.fromkeys(aliases)),
            tags=tags,
            created_at=created or item.created_at,
            updated_at=updated,
            extra={**item.extra, **extra},
        ),
    )


def _head(body: str) -> tuple[dict[str, str], str]:
    """Return the properties of a page, which are its first lines, and the rest."""
    lines = body.replace("\r\n", "\n").split("\n")
    found: dict[str, str] = {}
    while lines and (one := _PROPERTY.fullmatch(lines[0])):
        if one["mark"].strip() and found:
            break  # the first block has properties of its own
        if one["key"].lower() not in _SHOWN_ONLY | {"id"} and one["value"]:
            found[one["key"].lower()] = one["value"].strip()
        lines.pop(0)
    return found, "\n".join(lines)


def _kind(head: dict[str, str]) -> str:
    """Return the type that a page names, if it is a word; it then is no other property."""
    value = head.get("type", "").removeprefix("[[").removesuffix("]]")
    if _WORD.fullmatch(value):
        del head["type"]
        return value.lower()
    if "type" in head:
        head["page-type"] = head.pop("type")
    return "note"


def _listed(value: str) -> tuple[str, ...]:
    """Return the names of a property: `a, [[b]], #c`."""
    parts = (
        one.strip().lstrip("#").removeprefix("[[").removesuffix("]]") for one in value.split(",")
    )
    return tuple(filter(None, parts))


def _taken(head: dict[str, str], key: str) -> str:
    """Take out a property with any of the spellings of its key."""
    return head.pop(key, "") or head.pop(key.replace("-", "_"), "")


def _moment(value: str) -> datetime | None:
    """Return the time of a property: milliseconds since 1970, or a date."""
    try:
        if value.isdigit():
            return datetime.fromtimestamp(int(value) / 1000, UTC)
        return datetime.fromisoformat(value.strip("[]")) if value else None
    except (ValueError, OverflowError, OSError):
        return None


def _day(found: re.Match[str]) -> datetime | None:
    try:
        return datetime(int(found[1]), int(found[2]), int(found[3]), tzinfo=UTC)
    except ValueError:
        return None


def _ordinal(day: int) -> str:
    return "th" if day in {11, 12, 13} or day % 10 not in {1, 2, 3} else _ORDINALS[day % 10]


def _linked(body: str, blocks: Mapping[str, str]) -> str:
    """Return a text with links to blocks as wikilinks, without what says how it is shown."""

    def link(found: re.Match[str]) -> str:
        parts = found.groupdict()
        if page := parts.get("page"):
            return f"![[{page}]]"
        if (place := blocks.get(parts["id"])) is None:
            return found[0]
        embed = "!" if found.re is _EMBED else ""
        label = f"|{parts['text']}" if parts.get("text") else ""
        return f"{embed}[[{place}#^{parts['id']}{label}]]"

    lines: list[str] = []
    for line, code in _plain(body):
        if code:
            lines.append(line)
            continue
        shown = _PROPERTY.fullmatch(line)
        if (block := _ID.fullmatch(line)) and lines and not line.lstrip().startswith("- "):
            lines[-1] = f"{lines[-1].rstrip()} ^{block['id']}"
        elif shown is None or shown["key"].lower() not in _SHOWN_ONLY or "- " in shown["mark"]:
            for pattern in (_LABELLED, _EMBED, _REFERENCE):
                line = pattern.sub(link, line)  # noqa: PLW2901  (of the line)
            lines.append(line)
    return "\n".join(lines)
