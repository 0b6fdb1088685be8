"""What a change does to the notes: the report of a review as a page."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from starlette.datastructures import QueryParams
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from memory_bank import actions
from memory_bank.errors import BadInput
from memory_bank.frontends.report_formats.markdown import OWN_LISTS
from memory_bank.frontends.report_formats.word_diff import spans_of
from memory_bank.frontends.web.hints import HINTS
from memory_bank.frontends.web.reviews import Range, Reviews
from memory_bank.frontends.web.site import Site

if TYPE_CHECKING:
    from memory_bank.actions.review_report import Review

TITLE = "Review"
PLACE = 50
PATH = "/review"
_STAGED, _WORKTREE = "staged", "worktree"
_MOST = {"rows": 100, "notes": 150, "claims": 80, "items": 30}
"""What a page shows of each list; it says what was left out."""


def routes(site: Site) -> Sequence[Route]:
    """Return the routes of the form, and of the report alone."""
    reviews = Reviews(site.shared, site.background)

    async def review(request: Request) -> Response:
        given = request.query_params
        values: dict[str, Any] = {
            "range": given.get("range", "").strip(),
            "of": given.get("of", ""),
            "query": urlencode({name: given.get(name, "") for name in ("range", "of")}),
            "branches": await site.ask(actions.review_range.branches),
            "report": None,
            "sides": None,
            "refused": None,
        }
        status = 200
        try:
            values["sides"] = await reviews.sides(_range(given))
            if "full" in given:
                values["report"] = _report(await reviews.of(_range(given)))
        except BadInput as error:
            what, hint = site.hide(error.message), site.hide(error.hint_in(HINTS))
            values["refused"], status = {"what": what, "next": hint}, 400
        return await site.page(request, "review.html", values, title=TITLE, status=status)

    async def report(request: Request) -> Response:
        found = await reviews.of(_range(request.query_params))
        values = {"report": _report(found)}
        return await site.page(request, "review_part.html", values, title=TITLE)

    return [Route(PATH, review), Route(f"{PATH}/report", report)]


def _range(given: QueryParams) -> Range:
    of = given.get("of", "")
    return Range(given.get("range", "").strip(), of == _STAGED, of == _WORKTREE)


def _report(found: Review) -> dict[str, Any]:
    """Return what the template shows of a review."""
    others = [one for one in found.findings if one.rule not in OWN_LISTS]
    return {
        "review": found,
        "kinds": Counter(change.kind for change in found.changes),
        "severities": Counter(one.severity for one in found.findings if one.new),
        "new": [one for one in others if one.new],
        "old": [one for one in others if not one.new],
        "present": {one.path for one in found.changes if one.kind != "removed"},
        "gone": {one.path for one in found.changes if one.kind == "removed"},
        "words": spans_of,
        "most": _MOST,
    }
