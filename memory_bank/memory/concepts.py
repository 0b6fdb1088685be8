"""Write notes as the concepts of a bundle: with the keys of the format, and with Markdown links."""

from __future__ import annotations

import posixpath
from collections.abc import Callable
from datetime import datetime
from getpass import getuser
from urllib.parse import quote

from memory_bank.bank.backlinks import resolve_links
from memory_bank.bank.bank import Bank
from memory_bank.base.dates import format_iso
from memory_bank.base.documents import Link
from memory_bank.git import process, repository
from memory_bank.memory.change import set_keys
from memory_bank.notes import okf, parsing
from memory_bank.notes.front_matter import split
from memory_bank.notes.links import locate_links
from memory_bank.notes.names import name_of
from memory_bank.notes.note import RELATIVE_KINDS, Note
from memory_bank.notes.sections import describe_note
from memory_bank.search.manifest.link_rows import heading_slug
from memory_bank.trust.authors import name_writer

_UNKNOWN = "unknown"


PLAIN = "\0"
"""The address of what is not to be linked: its words stay."""

Address = Callable[[Link, str, str], str | None]
"""Returns the URL of a link by the path of its note, else the name of a ghost; None to keep it."""


def name_actor(bank: Bank, source_type: str, source_agent: str) -> str:
    """Return who writes, as the format names it: `human:Ada`, or an agent and its version."""
    if agent := name_writer(source_type, source_agent):
        return f"{agent.replace(' ', '-')}/{_UNKNOWN}"
    tree = repository.find_worktree(bank.layout.root)
    name = process.run(tree, "config", "user.name") if tree is not None else None
    return f"human:{(name or '').strip() or getuser()}"


def list_missing_keys(note: Note, by: str, at: datetime) -> dict[str, object]:
    """Return the keys that a concept has, and this note lacks."""
    text = note.body_text
    keys: dict[str, object] = {
        "type": note.meta.type or "note",
        "title": note.title,
        "description": okf.read_description(note.meta.extra) or describe_note(text) or note.title,
        "generated": {"by": by, "at": format_iso(at)},
    }
    present = {"type": note.meta.type, "title": note.meta.title, **note.meta.extra}
    return {key: value for key, value in keys.items() if not present.get(key)}


def conform_text(bank: Bank, path: str, content: str) -> str:
    """Return a text for the note at a path: in a bundle, its wikilinks become Markdown links."""
    bundle = bank.roots.bundle(path)
    if bundle is None or "[[" not in content:
        return content

    def address(link: Link, goal: str, ghost: str) -> str | None:
        if goal and bank.roots.is_private(goal):
            return None
        if not link.target:
            return ""
        home = posixpath.dirname(bank.roots.place(path))
        if goal and bank.roots.bundle(goal) != bundle:
            return posixpath.relpath(bank.roots.place(goal), home or ".")
        if not goal and ":" in ghost:
            return None
        if not goal and bank.layout.project_has(ghost):
            return posixpath.relpath(ghost, home or ".")
        return f"/{posixpath.relpath(goal or f'{name_of(ghost)}.md', bundle or '.')}"

    return convert_wikilinks(bank, path, content, address)


def convert_wikilinks(bank: Bank, path: str, text: str, address: Address) -> str:
    """Return the text of a note whose wikilinks are Markdown links."""
    body = len(text) - len(split(text).body)
    links = [
        located for located in locate_links(text[body:]) if located.link.kind not in RELATIVE_KINDS
    ]
    goals = resolve_links(bank, path, [located.link for located in links])
    for located, (target, paths) in reversed(list(zip(links, goals, strict=True))):
        link, goal = located.link, next(iter(paths), "")
        url = None if paths[1:] else address(link, goal, target.ghost)
        if url is None:
            continue
        start, end = body + located.first, body + located.last
        words = (link.text or link.target).replace("[", "(").replace("]", ")")
        fragment = f"#^{link.block}" if link.block else f"#{heading_slug(link.heading.lower())}"
        destination = quote(url, safe="/!$*+,;=:@~") + fragment * bool(link.block or link.heading)
        if url == PLAIN:
            text = f"{text[:start]}{words}{text[end:]}"
            continue
        mark = "!" if text.startswith("![[", start) and not goal else ""
        text = f"{text[:start]}{mark}[{words}]({destination}){text[end:]}"
    return text


def conform_note(
    bank: Bank, path: str, text: str, source_type: str, source_agent: str, at: datetime
) -> str:
    """Return the text of a new note with the keys and links of a concept, if it is in a bundle."""
    if bank.roots.bundle(path) is None:
        return text
    text = conform_text(bank, path, text)
    note = parsing.parse(path, text.encode())
    return set_keys(text, list_missing_keys(note, name_actor(bank, source_type, source_agent), at))
