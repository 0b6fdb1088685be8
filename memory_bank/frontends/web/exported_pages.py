"""The pages of a static site: what strangers may see, as of one commit."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from hashlib import sha256
from types import SimpleNamespace
from typing import Any, NamedTuple
from urllib.parse import parse_qsl, unquote, urljoin, urlsplit

import httpx2
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp

from memory_bank.bank.bank import Bank
from memory_bank.base.errors import NoRepository
from memory_bank.base.rendering import document, visible
from memory_bank.code.index.codebase import Codebase
from memory_bank.frontends.serving.shared_bank import SharedBank
from memory_bank.frontends.web.exporting import Export, Words
from memory_bank.frontends.web.health import Checked, RuleRuns, check
from memory_bank.frontends.web.site import Site
from memory_bank.frontends.web.templating import quoted

SEARCH = "/search"

_SEARCH_TITLE = "Search"

_SEARCH_PLACE = None


class ExportedBank(SharedBank):
    """The bank of an export; somebody else closes it."""

    def __init__(self, bank: Bank) -> None:
        super().__init__()
        self._one = bank

    def _open(self, embeds: Callable[[], bool]) -> Bank:
        del embeds
        return self._one

    def _open_code(self, embeds: Callable[[], bool]) -> Codebase:
        del embeds
        raise NoRepository("a static site has no pages of code")

    def close(self) -> None:
        """Leave the bank open."""


class CheckedOnce(RuleRuns):
    """The health as of the commit."""

    def __init__(self, site: Site, made_at: str) -> None:
        super().__init__(site.shared, site.background)
        self._once = check(site.shared.bank(), made_at)

    def latest(self) -> Checked:
        """Return what the rules found."""
        return self._once


class ExportedSite(Site):
    """The pages that a static site has: those with `static_paths`, and its own search."""

    def __init__(self, export: Export) -> None:
        """Take what may be shown."""
        self.exported = export.revision
        super().__init__(ExportedBank(export.bank))
        self.health = CheckedOnce(
            self, datetime.fromtimestamp(export.revision.when, UTC).isoformat()
        )

    def paths(self) -> Iterator[str]:
        """Yield the addresses of all pages."""
        for page in self._pages:
            yield from page.static_paths(self)

    def _load_pages(self) -> list[Any]:
        search = SimpleNamespace(
            TITLE=_SEARCH_TITLE,
            PLACE=_SEARCH_PLACE,
            PATH=SEARCH,
            routes=_search_routes,
            static_paths=lambda _: [SEARCH],
        )
        shown = [page for page in super()._load_pages() if hasattr(page, "static_paths")]
        return [*shown, search]


def _search_routes(site: Site) -> list[Route]:
    async def search(request: Request) -> Response:
        return await site.page(request, "static_search.html", {}, title=_SEARCH_TITLE)

    return [Route(SEARCH, search)]


_NEXT = re.compile(r'<a\b[^>]*\brel="next"[^>]*\bhref="([^"]*)"')

_KINDS = {"text/html": "html", "application/json": "json"}

_UNUSUAL = re.compile(r"[^\w./-]")

_LONGEST = 100
"""Characters of one part of a file's name."""


class PageAnswer(NamedTuple):
    """What the dashboard answers to an address."""

    status: int
    kind: str
    """The media type, without parameters."""
    text: str


def client_of(app: ASGIApp) -> httpx2.AsyncClient:
    """Return a client that asks an application within this process."""
    transport = httpx2.ASGITransport(app)
    plain = {"accept-encoding": "identity"}  # nobody compresses what becomes a file
    return httpx2.AsyncClient(transport=transport, base_url="http://localhost", headers=plain)


async def get(client: httpx2.AsyncClient, address: str) -> PageAnswer:
    """Ask an application for an address."""
    answer = await client.get(address)
    kind = answer.headers.get("content-type", "").partition(";")[0]
    return PageAnswer(answer.status_code, kind, answer.text)


class Addresses:
    """The files of addresses; addresses that differ in quoting only have the same file."""

    def __init__(self) -> None:
        self._files: dict[object, str] = {}
        self._taken: set[str] = set()

    def add(self, address: str, kind: str) -> str:
        """Give an address a file for its media type, and return it."""
        made = _file(address, _KINDS[kind])
        if made.casefold() in self._taken:
            stem, _, suffix = made.rpartition(".")
            made = f"{stem}-{_mark(address)}.{suffix}"
        self._taken.add(made.casefold())
        self._files[_key(address)] = made
        return made

    def of(self, address: str) -> str:
        """Return the file of an address; empty if it has none."""
        key = _key(address)
        if key in self._files:
            return self._files[key]
        path, query = key
        # a note is known by the name of its file, too
        return self._files.get((path.removesuffix(".md"), query), "")


def next_page(address: str, text: str) -> str:
    """Return the address of the page after this one; empty if there is none."""
    found = _NEXT.search(text)
    return urljoin(address, found[1].replace("&amp;", "&")) if found else ""


def _key(address: str) -> tuple[str, tuple[tuple[str, str], ...]]:
    parts = urlsplit(address)
    return unquote(parts.path), tuple(parse_qsl(parts.query))


def _file(address: str, suffix: str) -> str:
    path, query = _key(address)
    name = path.strip("/") or "index"
    if query:
        name += "/" + "-".join(f"{key}-{value}" for key, value in query)
    plain = "/".join(_part(part) for part in name.split("/"))
    return f"{plain}.{suffix}"


def _part(name: str) -> str:
    """Return a part of a path that every file system takes, and that tells names apart."""
    plain = _UNUSUAL.sub("-", name)[:_LONGEST].strip(".") or "-"
    return plain if plain == name else f"{plain}-{_mark(name)}"


def _mark(name: str) -> str:
    return sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:8]


FILE = "search-index.js"

_WORD = re.compile(r"[^\W_]+")

_LINK = re.compile(r"!?\[\[([^\]|]*\|)?([^\]]*)\]\]|\[([^\]]*)\]\([^)]*\)")

_MARKS = re.compile(r"^[#>*+\s-]+|[`*_]{1,3}", re.MULTILINE)

_START = 200
"""Characters of the start of a text that is shown with a hit."""


def script(notes: Sequence[Words], files: Callable[[str], str]) -> str:
    """Return the script with the index of some notes; `files` returns the file of an address."""
    rows = [row for one in notes if (row := _row(one, files))]
    lines = ",\n".join(document(row, indent=None, ascii_only=True) for row in rows)
    return f'"use strict";\nglobalThis.memoryBankIndex = [\n{lines}\n];\n'


def _row(given: Words, files: Callable[[str], str]) -> dict[str, object] | None:
    note = given.note
    file = files(f"/notes/{quoted(note.path.removesuffix('.md'))}") or files(
        f"/notes/{quoted(note.path)}"
    )
    if not file:
        return None
    plain = _MARKS.sub("", _LINK.sub(lambda found: found[2] or found[3] or "", given.text))
    words = sorted({word.lower() for word in _WORD.findall(plain)})
    start = " ".join(plain.removeprefix(note.title).split())
    start = start.removeprefix(note.title).strip()
    found = {
        "file": file,
        "title": visible(note.title),
        "type": visible(note.type),
        "status": given.status,
        "date": note.created_at[:10],
        "tags": [visible(one) for one in note.tags],
        "headings": [visible(one) for one in given.headings],
        "start": visible(start[:_START] + ("…" if len(start) > _START else "")),
        "words": " ".join(words),
    }
    return {key: value for key, value in found.items() if value}
