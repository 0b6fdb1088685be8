"""Build a static site: the pages of the dashboard as files, for readers without the tool."""

from __future__ import annotations

import posixpath
import re
from collections import deque
from collections.abc import Callable, Iterator
from html import escape, unescape
from html.parser import HTMLParser
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote, urldefrag, urljoin, urlsplit

import anyio
import httpx2

from memory_bank.base.errors import StorageFailed
from memory_bank.frontends.serving.endpoint import RequestGuard
from memory_bank.frontends.web import exported_pages, exporting, site_folder
from memory_bank.frontends.web.app import POLICY, application
from memory_bank.frontends.web.exported_pages import (
    Addresses,
    ExportedSite,
    PageAnswer,
    client_of,
    get,
    next_page,
)
from memory_bank.frontends.web.exporting import Export, NotExported
from memory_bank.frontends.web.site_folder import SiteFolder

_TAG = re.compile(r"<[^>]*>")

_COMMIT = re.compile(r"<code>[0-9a-f]{10,12}</code>")
"""The id of a commit: behind a subject about recovery codes it would look like one."""

_OK = 200

_HTML = "text/html"

Progress = Callable[[str, int, int], None]


class Built(NamedTuple):
    """What a static site has."""

    folder: str
    commit: str
    notes: int
    pages: int
    files: int
    bytes: int
    removed: tuple[str, ...]
    """Files of the site before that it no longer has."""
    refused: tuple[NotExported, ...]
    """Notes and pages that have a secret: they are not in the site."""
    left_out_sessions: int


def build(export: Export, folder: Path, progress: Progress | None = None) -> Built:
    """Write the pages of an export into a folder; raise BadInput unless the folder is the site's.

    The same commit gives the same files.
    """
    target = SiteFolder(folder)
    site = ExportedSite(export)
    asked = _SitePages(site, progress)
    anyio.run(asked.all)
    size = 0

    def write(name: str, data: bytes) -> None:
        nonlocal size
        size += len(data)
        target.write(name, data)

    for address, file in asked.files.items():
        answer = asked.answers.pop(address)
        text = answer.text
        if answer.kind == _HTML:
            text = to_file(text, address, file, asked.file_of)
        write(file, text.encode())
    words = exporting.words(export.bank)
    write(exported_pages.FILE, exported_pages.script(words, asked.file_of).encode())
    write(".nojekyll", b"")  # else a Pages site would leave files out
    for name, data in site.static.all():
        write(name, data)
    removed = target.finish({"commit": export.revision.commit})
    return Built(
        folder=str(folder),
        commit=export.revision.commit,
        notes=export.notes,
        pages=len(asked.files),
        files=target.count,
        bytes=size,
        removed=removed,
        refused=(*export.left_out, *asked.refused),
        left_out_sessions=export.sessions,
    )


class _SitePages:
    """The pages of a site, asked one after the other."""

    def __init__(self, site: ExportedSite, progress: Progress | None) -> None:
        self.answers: dict[str, PageAnswer] = {}
        self.files: dict[str, str] = {}
        """The files of pages by their addresses."""
        self.refused: list[NotExported] = []
        self._addresses = Addresses()
        self._site = site
        self._progress = progress

    async def all(self) -> None:
        """Ask for all pages, and for those that they name as their next one."""
        client = client_of(application(self._site, RequestGuard(["localhost"], None)))
        waiting = deque(self._site.paths())
        seen = set(waiting)
        while waiting:
            if self._progress is not None:
                self._progress("making pages", len(self.files), len(seen))
            address = waiting.popleft()
            answer = await self._page(client, address)
            following = next_page(address, answer.text) if answer.kind == _HTML else ""
            if following and following not in seen:
                seen.add(following)
                waiting.append(following)

    def file_of(self, address: str) -> str:
        """Return the file of an address; empty if the site does not have it."""
        if address.startswith(f"{site_folder.PREFIX}/") or address == f"/{exported_pages.FILE}":
            return address.removeprefix("/")
        return self._addresses.of(address)

    async def _page(self, client: httpx2.AsyncClient, address: str) -> PageAnswer:
        answer = await get(client, address)
        if answer.status != _OK:
            raise StorageFailed(
                f"the page {address} could not be made: status {answer.status}",
                "open it with `serve web`, which says why",
            )
        secret = exporting.secret_in(self._site.shared.bank(), _plain(answer))
        if secret:
            self.refused.append(NotExported(address, f"has a secret: {secret}"))
        else:
            self.files[address] = self._addresses.add(address, answer.kind)
            self.answers[address] = answer
        return answer


def _plain(answer: PageAnswer) -> str:
    """Return the words of a page."""
    if answer.kind != _HTML:
        return answer.text
    return unescape(_TAG.sub("", _COMMIT.sub("", answer.text)))


_LINKS = frozenset({"href", "src", "action", "data-url"})

_IN_META = "; ".join(one for one in POLICY.split("; ") if not one.startswith("frame-ancestors"))
"""Browsers ignore the other directive in a page, and complain."""

_HEAD = (
    f'\n<meta http-equiv="Content-Security-Policy" content="{_IN_META}">'
    '\n<meta name="referrer" content="no-referrer">'
)

_VOID = frozenset(
    ("area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "wbr")
)

Files = Callable[[str], str]
"""Returns the file of an address; empty if the site does not have it."""


def to_file(page: str, address: str, file: str, files: Files) -> str:
    """Return the text of a page as a file of a static site.

    `address` is that of the page, `file` its path in the site. Links to what the site does not have
    become text, forms that need a server are left out. The page has its policy in its head.
    """
    made = _Page(address, file, files)
    made.feed(page)
    made.close()
    return "".join(made.parts)


class _Page(HTMLParser):
    """Writes a page as it is read: all that is not changed stays as it was written."""

    def __init__(self, address: str, file: str, files: Files) -> None:
        super().__init__(convert_charrefs=False)
        self.parts: list[str] = []
        self._address, self._file, self._files = address, file, files
        self._left_out = 0
        """Depth inside a form that is left out."""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if self._left_out:
            self._left_out += tag not in _VOID
            return
        written = self.get_starttag_text() or ""
        found = dict(attrs)
        if tag == "form" and not (found.get("action") and self._to(found["action"] or "")):
            self._left_out = 1
            return
        if any(name in _LINKS or name.startswith("hx-") for name in found):
            written = f"<{' '.join([tag, *self._attributes(attrs)])}>"
        self.parts.append(written)
        if tag == "meta" and "charset" in found:
            self.parts.append(_HEAD)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if not self._left_out:
            del tag, attrs  # of pictures, which link to nothing
            self.parts.append(self.get_starttag_text() or "")

    def handle_endtag(self, tag: str) -> None:
        if self._left_out:
            self._left_out -= 1
        else:
            self.parts.append(f"</{tag}>")

    def handle_data(self, data: str) -> None:
        self._add(data)

    def handle_entityref(self, name: str) -> None:
        self._add(f"&{name};")

    def handle_charref(self, name: str) -> None:
        self._add(f"&#{name};")

    def handle_decl(self, decl: str) -> None:
        self._add(f"<!{decl}>")

    def _add(self, text: str) -> None:
        if not self._left_out:
            self.parts.append(text)

    def _attributes(self, attrs: list[tuple[str, str | None]]) -> Iterator[str]:
        """Yield the attributes that stay, with their links."""
        for name, value in attrs:
            if value is None:
                yield name
            elif name in _LINKS:
                if link := self._to(value):
                    yield f'{name}="{escape(link)}"'
            elif not name.startswith("hx-"):
                yield f'{name}="{escape(value)}"'

    def _to(self, link: str) -> str:
        """Return the link to a file; empty if the site does not have it."""
        if link.startswith(("#", "//")) or urlsplit(link).scheme:
            return link
        target, fragment = urldefrag(urljoin(self._address, link))
        file = self._files(target)
        if not file:
            return ""
        path = posixpath.relpath(file, posixpath.dirname(self._file) or ".")
        return quote(path) + (f"#{fragment}" if fragment else "")
