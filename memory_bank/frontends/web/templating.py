"""The templates, which escape every text and know each name, and the files that pages load."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from importlib.resources import files
from importlib.resources.abc import Traversable
from types import MappingProxyType
from typing import Any
from urllib.parse import quote

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from memory_bank.base import lazy_pattern
from memory_bank.base.errors import FileNotFound
from memory_bank.base.rendering import count, make_visible
from memory_bank.search.snippets import PLACE_IN_TARGET, strip_markdown
from memory_bank.sessions.answers import SessionEntry

_FIELD = lazy_pattern(r"(?<!\S)(?:[-*]\s*+)?[A-Za-z][\w-]*+::\s*+\[\[?[^\[\]]*\]")
"""A relation in the words around a link, such as `extends:: [target]`."""

_TARGET = lazy_pattern(r"\[\[?[^\[\]]*\]")

_ENDS = frozenset('.!?…:)]”"')

_SENTENCES = lazy_pattern(r".{40,}[.!?](?= [A-Z])")

_SHORTEST = 12
"""Characters of a text around a link that says something."""

_PAGES = frozenset({"history", "standing", "edit"})
"""Pages of a note: another note in a folder of its name may have such a name, too."""

_MINUTE, _HOUR, _DAY = 60, 3600, 86400


def build_environment(static: Callable[[str], str]) -> Environment:
    """Return the environment of all templates; `static` gives the URL of a static file."""
    jinja = Environment(
        loader=PackageLoader("memory_bank.frontends.web"),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_show_value,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )
    jinja.globals["static"] = static
    jinja.filters |= {
        "short": short,
        "day_name": day_name,
        "lasted": lasted,
        "day": day,
        "number": number,
        "counted": count,
        "path": quote_path,
        "note_url": note_url,
        "plain": strip_markdown,
        "around": around,
        "sentence": sentence,
    }
    return jinja


def short(when: str, now: datetime | None = None) -> str:
    """Return an ISO time as a day, `22 Nov`, with its year unless that is this year."""
    moment = _parse_moment(when)
    if moment is None:
        return when
    is_first = (now or datetime.now(UTC)).year == moment.year
    return f"{moment.day} {moment:%b}" if is_first else f"{moment.day} {moment:%b %Y}"


def day_name(when: str, now: datetime | None = None) -> str:
    """Return the day of an ISO time in UTC: `Today`, `Yesterday`, `22 Nov`."""
    moment = _parse_moment(when)
    if moment is None:
        return when
    ago = ((now or datetime.now(UTC)).date() - moment.date()).days
    return {0: "Today", 1: "Yesterday"}.get(ago, "") or short(when, now)


def lasted(entry: SessionEntry) -> str:
    """Return how long a session lasted: `49 min`, `2 h 30 min`; empty if that is not known."""
    start, end = _parse_moment(entry.started_at), _parse_moment(entry.ended_at or "")
    if start is None or end is None or end < start:
        return ""
    seconds = int((end - start).total_seconds())
    days, hours, minutes = seconds // _DAY, seconds % _DAY // _HOUR, seconds % _HOUR // _MINUTE
    if days:
        return count(days, "day")
    if hours:
        return f"{hours} h {minutes} min" if minutes else f"{hours} h"
    return f"{max(minutes, 1)} min"


def day(when: str) -> str:
    """Return an ISO time for people: `2026-11-23 13:20 UTC`."""
    moment = _parse_moment(when)
    return moment.astimezone(UTC).strftime("%Y-%m-%d %H:%M UTC") if moment else when


def number(value: int) -> str:
    """Return a number with separators: `12,345`."""
    return f"{value:,}"


def note_url(path: str) -> str:
    """Return the address of a note's page."""
    return f"/notes/{quote_path(url_of(path))}"


def url_of(path: str) -> str:
    """Return the part of an address that names a note: its path, as a rule without `.md`."""
    short_name = path.removesuffix(".md")
    return path if short_name.rpartition("/")[2] in _PAGES else short_name


def around(context: str, titles: Mapping[str, str] = MappingProxyType({})) -> str:
    """Return the sentences around a link, in which notes have their titles; empty if it is alone.

    `context` may begin and end within a sentence; its links are in brackets.
    """
    plain_text = _FIELD.sub(" ", context)
    if len(strip_markdown(_TARGET.sub("", plain_text))) <= _SHORTEST:
        return ""

    def words(match: re.Match[str]) -> str:
        target = match[0][1:-1]
        return titles.get(PLACE_IN_TARGET.sub("", target), target)

    text = strip_markdown(_TARGET.sub(words, plain_text))
    whole = _SENTENCES.match(text) if text[-1] not in _ENDS else None
    text = whole[0] if whole else text if text[-1] in _ENDS else f"{text} …"
    return f"… {text}" if text[0].islower() else text


def sentence(text: str) -> str:
    """Return what an error says as a sentence; a name at its start stays as it is."""
    start = text[:1].upper() if text.partition(" ")[0].isalpha() else text[:1]
    return start + text[1:] + ("." if text and text[-1] not in ".?!" else "")


def quote_path(name: str) -> str:
    """Return the name of a note, a file or an id as a part of a URL; slashes stay."""
    return quote(name.encode("utf-8", "surrogateescape"), safe="/")


def _parse_moment(when: str) -> datetime | None:
    try:
        moment = datetime.fromisoformat(when)
    except ValueError:
        return None
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).astimezone(UTC)


def _show_value(value: Any) -> Any:  # noqa: ANN401  (whatever a template shows)
    r"""Show harmful characters as `\x1b`; what is markup already stays as it is."""
    return (
        make_visible(value) if isinstance(value, str) and not isinstance(value, Markup) else value
    )


PREFIX = "/static"

_KINDS = {
    "css": "text/css; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
    "svg": "image/svg+xml",
    "png": "image/png",
    "txt": "text/plain; charset=utf-8",
}

_FOREVER = "public, max-age=31536000, immutable"


class StaticFiles:
    """The files in `static/`, read once; nothing else can be asked for.

    One hash of all files stands in every URL, so that browsers may keep a file for ever, and files
    may name each other.
    """

    def __init__(self) -> None:
        """Read the files."""
        self._files = dict(_read_files(files("memory_bank.frontends.web") / "static"))
        text = b"".join(name.encode() + b"\0" + data for name, data in sorted(self._files.items()))
        self._hash = hashlib.sha256(text).hexdigest()[:16]

    def url(self, name: str) -> str:
        """Return the URL of a file; raise FileNotFound."""
        if name not in self._files:
            raise FileNotFound(f"static/{name} is not in the package")
        return f"{PREFIX}/{self._hash}/{name}"

    def has(self, path: str) -> bool:
        """Return whether a URL's path is that of a file."""
        return path in {self.url(name) for name in self._files}

    def route(self) -> Route:
        """Return the route of the files."""
        return Route(f"{PREFIX}/{{version}}/{{name:path}}", self._answer)

    async def _answer(self, request: Request) -> Response:
        name = request.path_params["name"]
        if name not in self._files or request.path_params["version"] != self._hash:
            raise FileNotFound("there is no such file", "load the page again")
        kind = _KINDS[name.rpartition(".")[2]]
        headers = {"Cache-Control": _FOREVER, "Content-Type": kind}
        return Response(self._files[name], headers=headers)


def _read_files(folder: Traversable, prefix: str = "") -> list[tuple[str, bytes]]:
    files_read = []
    for entry in folder.iterdir():
        if entry.is_dir():
            files_read += _read_files(entry, f"{prefix}{entry.name}/")
        elif entry.name.rpartition(".")[2] in _KINDS:
            files_read.append((prefix + entry.name, entry.read_bytes()))
    return files_read
