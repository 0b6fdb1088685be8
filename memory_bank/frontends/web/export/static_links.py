"""Make a page of the dashboard a file: links lead to files, and nothing in it needs a server."""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Iterator
from html import escape
from html.parser import HTMLParser
from urllib.parse import quote, urldefrag, urljoin, urlsplit

from memory_bank.frontends.web.safety import POLICY

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
