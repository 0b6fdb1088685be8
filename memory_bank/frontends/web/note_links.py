"""The links in a note's text as HTML: what leads to nothing says so, and few schemes are links."""

from __future__ import annotations

import re
from typing import Final
from urllib.parse import quote, unquote

from markupsafe import Markup

from memory_bank.actions.note_view import Goal, Goals
from memory_bank.frontends.web.templating import quoted

_PAGES = frozenset({"history", "standing", "edit"})
"""Pages of a note: another note in a folder of its name may have such a name, too."""
_SCHEMES = frozenset({"http", "https", "mailto"})
_SCHEME = re.compile(r"\s*([a-zA-Z][a-zA-Z0-9+.-]*):")
_LINE = re.compile(r"L[1-9]\d*")
_NOT_IN_SLUG = re.compile(r"[^\w\- ]")
_NOTE: Final = "note"
_GHOST: Final = "ghost"
_SIGN = Markup('<span class="hidden-text"> ({})</span></a>')
_NOTHING = "there is no note or file of this name"


def slug(heading: str) -> str:
    """Return the anchor of a heading, as code hosts make it."""
    return _NOT_IN_SLUG.sub("", heading.strip().lower()).replace(" ", "-")


def place_of(goal: Goal) -> str:
    """Return the address of a goal: of a note, of a file, else of the notes that name it."""
    if goal.file:
        line = _LINE.match(goal.heading)
        return f"/code/{quoted(goal.file)}" + (f"#{line[0]}" if line else "")
    if goal.kind != _NOTE:
        return namers_of(goal)
    path = url_of(goal.name)
    inside = f"^{goal.block}" if goal.block else slug(goal.heading.rpartition("#")[2])
    return f"/notes/{quoted(path)}" + (f"#{quote(inside)}" if inside else "")


def namers_of(goal: Goal) -> str:
    """Return the address of the list of notes that name a file, a symbol or a ghost."""
    return f"/notes?cites={quote(goal.name.encode('utf-8', 'surrogateescape'), safe='')}"


def url_of(path: str) -> str:
    """Return the part of an address that names a note: its path, as a rule without `.md`."""
    short = path.removesuffix(".md")
    return path if short.rpartition("/")[2] in _PAGES else short


def is_allowed(url: str) -> bool:
    """Tell whether a link may lead to an address: one of few schemes, or a relative one."""
    if url.lstrip().startswith(("//", "/\\", "\\")):
        return False
    found = _SCHEME.match(url)
    return found is None or found[1].lower() in _SCHEMES


def wikilink(inside: str, goals: Goals) -> Markup:
    """Return the link `[[inside]]`."""
    goal, words = goals.wiki(inside)
    if goal is None:
        return Markup('<span class="soft">[[{}]]</span>').format(inside)
    if goal.title and "|" not in inside and not goal.heading:
        words = goal.title
    after = Markup("</a>")
    if goal.kind == _GHOST:
        why = goal.problem or _NOTHING
        after = _SIGN.format(why)
    elif goal.problem:
        after = Markup('</a> <span class="soft small">({})</span>').format(goal.problem)
    return _to(goal) + Markup("{}").format(words) + after


def opened(href: str, goals: Goals) -> Markup:
    """Return the start of the link to an address that is allowed."""
    if _SCHEME.match(href):
        return Markup('<a class="external" href="{}" rel="noreferrer noopener">').format(href)
    path, _, fragment = href.partition("#")
    goal = goals.markdown(unquote(path), unquote(fragment))
    if goal is None:
        return Markup('<a href="#{}">').format(quote(slug(unquote(fragment))))
    return _to(goal)


def _to(goal: Goal) -> Markup:
    kinds = {_NOTE: "inside", _GHOST: _GHOST}
    if goal.kind == _NOTE:
        title = goal.problem or goal.name
    elif goal.kind == _GHOST:
        title = goal.problem or f"{goal.name}: {_NOTHING}"
    else:
        title = f"{goal.kind} {goal.name}"
    kind = kinds.get(goal.kind, "cited")
    return Markup('<a class="{}" href="{}" title="{}">').format(kind, place_of(goal), title)
