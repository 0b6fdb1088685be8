"""The search: one question of everything."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any
from urllib.parse import urlencode

from anyio import to_thread
from starlette.datastructures import QueryParams
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from memory_bank.base import NamedTuple
from memory_bank.base.errors import BadInput, NoBank, NoRepository
from memory_bank.base.setting_sections import BANK, BOTH, SHARED
from memory_bank.frontends.hints import PAGE_HINTS
from memory_bank.frontends.web.note_html import heading_anchor
from memory_bank.frontends.web.site import Site, read_number
from memory_bank.frontends.web.templating import quote_path
from memory_bank.memory import overview
from memory_bank.memory.retrieval import ask, ask_hits
from memory_bank.memory.retrieval.ask_hits import AskHit, AskHits
from memory_bank.notes.names import note_path

TITLE = "Search"

PLACE = None

PATH = "/search"

LIMIT = 20
"""Hits on a page, if its address says nothing else."""

MOST = 100
"""Hits that a page's address can ask for."""

_WAIT = 2.0
"""Seconds that a search waits until the code is indexed; then it has notes only, and asks again."""

KINDS = {
    "notes": "Notes",
    "docs": "Documents",
    "symbols": "Code",
    "tests": "Tests",
    "coupling": "Coupled files",
    "commits": "Commits",
}

SCOPES = {BANK: "This bank", SHARED: "Other repositories", BOTH: "Both"}
"""What the page calls the scopes of `recall`."""


class SearchState(NamedTuple):
    """The state of the page, which its address has."""

    query: str = ""
    kinds: tuple[str, ...] = ()
    limit: int = LIMIT
    scope: str = ""
    """Where notes are looked for; empty for what the settings say."""

    @property
    def url(self) -> str:
        """The address of this state."""
        fields = [("q", self.query), *(("kind", kind) for kind in self.kinds)]
        if self.scope:
            fields.append(("scope", self.scope))
        if self.limit != LIMIT:
            fields.append(("limit", str(self.limit)))
        return f"{PATH}?{urlencode(fields, errors='replace')}"

    def with_topic(self, tag: str) -> str:
        """Return the address of the same query about a topic."""
        return self._replace(query=f"{self.query} tag:{tag}".strip(), limit=LIMIT).url

    def with_scope(self, scope: str) -> str:
        """Return the address of the same search elsewhere."""
        return self._replace(scope=scope, limit=LIMIT).url


def routes(site: Site) -> Sequence[Route]:
    """Return the route of the search."""

    async def search(request: Request) -> Response:
        query_params = request.query_params
        state = _read_state(query_params)
        values, status = await to_thread.run_sync(_page_values, site, state)
        return await site.page(
            request,
            "search.html",
            values,
            title=f"{state.query} · Search" if state.query else TITLE,
            status=status,
        )

    return [Route(PATH, search)]


def _read_state(query_params: QueryParams) -> SearchState:
    return SearchState(
        query_params.get("q", "").strip(),
        tuple(dict.fromkeys(query_params.getlist("kind"))),
        read_number(query_params.get("limit", ""), 0, MOST) or LIMIT,
        query_params.get("scope", ""),
    )


def _page_values(site: Site, state: SearchState) -> tuple[dict[str, Any], int]:
    hits, reading, tree, error = AskHits(state.query), False, True, ""
    try:
        hits, reading, tree = _search_everything(site, state)
    except BadInput as problem:  # what is typed stays in the field
        error = f"{problem.message}: {problem.hint_in(PAGE_HINTS)}"
    values = {
        "asked": state,
        "found": hits,
        "titles": _name_successors(site, hits),
        "error": site.hide(error),
        "reading": reading,
        "in_git": tree,
        "remarks": [site.hide(remark) for remark in hits.remarks],
        "counts": Counter(hit.kind for hit in (*hits.hits, *hits.weaker)),
        "kinds": KINDS,
        "scopes": SCOPES,
        "most": MOST,
        "link": link,
    }
    return values, 400 if error else 200


def _name_successors(site: Site, hits: AskHits) -> dict[str, str]:
    """Return the titles of the notes that replace hits, by path."""
    notes = (hit.note for hit in (*hits.hits, *hits.weaker) if hit.note)
    names = {note.superseded_by for note in notes if note.superseded_by}
    if not names:
        return {}
    paths = {note_path(name): name for name in names}
    return {paths[row.path]: row.title for row in overview.read_rows(site.shared.bank(), paths)}


def _search_everything(site: Site, state: SearchState) -> tuple[AskHits, bool, bool]:
    """Search the bank and the code, as far as they are there.

    Also return whether the code is still being read, and whether there is a repository. Raises
    NoBank if there is neither a bank nor a repository.
    """
    bank, code, missing, reading, tree = None, None, None, False, True
    try:
        bank = site.shared.bank()
    except NoBank as error:
        missing = error
    try:
        if site.shared.code.enabled:
            needed = bank is None or (state.query and state.kinds != ("notes",))
            reading = not site.shared.code.wait_until_indexed(_WAIT if needed else 0) and bool(
                needed
            )
            code = None if bank and (reading or not needed) else site.shared.codebase()
    except NoRepository as error:
        if missing is not None:
            raise ask.nothing_here(missing, error) from None
        tree = False
    hits = ask_hits.ask_hits(
        bank,
        code,
        state.query,
        state.limit,
        state.kinds,
        scope=state.scope,
        refresh_code=reading,
    )
    return hits, reading and code is None, tree


def link(hit: AskHit) -> str:
    """Return the address of a hit: of a note its section, of a file its line.

    It is empty for a note of another bank without a web address, and for a commit.
    """
    if hit.origin is not None:
        return hit.origin.url if _is_web(hit.origin.url) else ""
    if hit.kind == "commits":
        return ""
    if hit.kind != "notes":
        return f"/code/{quote_path(hit.path)}" + (f"#L{hit.line}" if hit.line else "")
    anchor = heading_anchor(hit.heading.rpartition(" > ")[2])
    address = f"/notes/{quote_path(hit.path.removesuffix('.md'))}"
    if hit.note and hit.note.observation_id:
        return f"{address}#{quote_path(f'^{hit.note.observation_id}')}"
    return address + (f"#{quote_path(anchor)}" if " > " in hit.heading else "")


def _is_web(url: str) -> bool:
    """Return whether an address that somebody else published may become a link."""
    return url.startswith(("https://", "http://"))
