"""The dashboard of a bank whose pages become files: what strangers may see, as of one commit."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from memory_bank import actions
from memory_bank.actions.exporting import Export
from memory_bank.errors import NoRepository
from memory_bank.frontends.web.health import Checked, Health
from memory_bank.frontends.web.site import Exported, Site
from memory_bank.serving.shared_bank import SharedBank

if TYPE_CHECKING:
    from memory_bank.bank import Bank
    from memory_bank.codebase import Codebase

SEARCH = "/search"
_SEARCH_TITLE = "Search"
_SEARCH_PLACE = 20


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


class CheckedOnce(Health):
    """The health as of the commit."""

    def __init__(self, site: Site, made_at: str) -> None:
        super().__init__(site.shared, site.background)
        found = actions.lint.lint(site.shared.bank())
        counts = Counter[str](one.severity for one in found)
        self._once = Checked(found, counts, made_at, "")

    def latest(self) -> Checked:
        """Return what the rules found."""
        return self._once


class ExportedSite(Site):
    """The pages that a static site has: those with `static_paths`, and its own search."""

    def __init__(self, export: Export) -> None:
        """Take what may be shown."""
        moment = datetime.fromtimestamp(export.committed, UTC)
        self.exported = Exported(export.commit, export.committed, moment.date().isoformat())
        super().__init__(ExportedBank(export.bank))
        self.health = CheckedOnce(self, moment.isoformat())

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
