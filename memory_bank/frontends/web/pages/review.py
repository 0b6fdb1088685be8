"""What a change does to the notes: the report of a review as a page."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Sequence
from typing import Any
from urllib.parse import urlencode

from anyio import CapacityLimiter, to_thread
from starlette.datastructures import QueryParams
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from memory_bank.bank.bank import Bank
from memory_bank.base import NamedTuple
from memory_bank.base.errors import BadInput
from memory_bank.frontends.hints import PAGE_HINTS
from memory_bank.frontends.serving.serving_background import Background
from memory_bank.frontends.serving.shared_bank import SharedBank
from memory_bank.frontends.web.pages.home import group_by_rule
from memory_bank.frontends.web.site import Site
from memory_bank.notes.note_change import claim_spans
from memory_bank.review import review, revision_range
from memory_bank.review.records import HEADINGS, Review, Side
from memory_bank.review.review_markdown import find_headline
from memory_bank.search.manifest.document_rows import all_documents

_AT_ONCE = 2
"""Reviews that run at the same time; others wait."""

_KEPT = 4
"""Reviews of two commits that are kept."""


class Range(NamedTuple):
    """What to compare, as `review_range.sides` takes it."""

    revisions: str = ""
    staged: bool = False
    worktree: bool = False


_ReviewInput = tuple[Side, Side, int]
"""What a review depends on: both sides, and how many changes of notes the server has seen."""


class Reviews:
    """Makes reviews: one for all requests for the same range in the same state."""

    def __init__(self, shared: SharedBank, background: Background) -> None:
        """Make none yet."""
        self._shared = shared
        self._limiter: CapacityLimiter | None = None
        self._reviews: dict[_ReviewInput, asyncio.Future[Review]] = {}
        self._changes = 0
        self.begun = 0
        """Number of reviews that were begun."""
        background.listen(self._note_change)

    async def sides(self, revisions: Range) -> tuple[Side, Side]:
        """Return what would be compared; raise NoRepository and BadInput."""
        return await to_thread.run_sync(self._sides, revisions)

    async def of(self, revisions: Range) -> Review:
        """Return the review of a range; raise NoRepository and BadInput."""
        state = (*await self.sides(revisions), self._changes)
        future = self._reviews.get(state)
        if future is None:
            future = self._reviews[state] = asyncio.ensure_future(self._run(revisions))
            future.add_done_callback(lambda task: self._end(state, task))
        # a request that is cancelled does not end the review for the others
        return await asyncio.shield(future)

    def _sides(self, revisions: Range) -> tuple[Side, Side]:
        bank = self._shared.bank()
        return revision_range.resolve_sides(
            bank.layout.root,
            revisions.revisions or None,
            staged=revisions.staged,
            worktree=revisions.worktree,
        )

    async def _run(self, revisions: Range) -> Review:
        self.begun += 1
        if self._limiter is None:
            self._limiter = CapacityLimiter(_AT_ONCE)
        return await to_thread.run_sync(self._review, revisions, limiter=self._limiter)

    def _review(self, revisions: Range) -> Review:
        # a bank of its own: requests for other pages don't wait for its lock
        with self._shared.another(embeds=False) as bank:
            return review.review(
                bank,
                revisions.revisions or None,
                staged=revisions.staged,
                worktree=revisions.worktree,
            )

    def _end(self, state: _ReviewInput, future: asyncio.Future[Review]) -> None:
        failed = future.cancelled() or future.exception() is not None
        if failed or not all(side.commit for side in state[:2]):
            self._reviews.pop(state, None)
        finished = [review_input for review_input, future in self._reviews.items() if future.done()]
        for review_input in finished[:-_KEPT]:
            del self._reviews[review_input]

    def _note_change(self, _: object) -> None:
        self._changes += 1


TITLE = "Review"

PLACE = 50

PATH = "/review"

_STAGED, _WORKTREE = "staged", "worktree"

_MOST = {"rows": 100, "notes": 150, "claims": 80, "items": 30, "open": 20, "shown": 20}
"""What a page shows of each list; it says what was left out."""


def routes(site: Site) -> Sequence[Route]:
    """Return the routes of the form, and of the report alone."""
    reviews = Reviews(site.shared, site.background)

    async def read_form(query_params: QueryParams) -> dict[str, Any]:
        return {
            "range": query_params.get("range", "").strip(),
            "of": query_params.get("of", ""),
            "branches": await site.ask(revision_range.list_branches),
            **dict.fromkeys(("report", "sides", "refused")),
        }

    async def review(request: Request) -> Response:
        query_params = request.query_params
        values = await read_form(query_params)
        values["query"] = urlencode({name: query_params.get(name, "") for name in ("range", "of")})
        status = 200
        try:
            values["sides"] = await reviews.sides(_read_range(query_params))
            if "full" in query_params:
                values["report"] = await site.ask(
                    _report_values, await reviews.of(_read_range(query_params))
                )
        except BadInput as error:
            hide, hint = site.hide(error.message), site.hide(error.hint_in(PAGE_HINTS))
            values["refused"], status = {"what": hide, "next": hint}, 400
        return await site.page(request, "review.html", values, title=TITLE, status=status)

    async def report(request: Request) -> Response:
        query_params = request.query_params
        review_report = await reviews.of(_read_range(query_params))
        values = await read_form(query_params)
        values |= {
            "report": await site.ask(_report_values, review_report),
            "sides": (review_report.base, review_report.head),
        }
        return await site.page(request, "review_part.html", values, title=TITLE)

    return [Route(PATH, review), Route(f"{PATH}/report", report)]


def _read_range(query_params: QueryParams) -> Range:
    of = query_params.get("of", "")
    return Range(query_params.get("range", "").strip(), of == _STAGED, of == _WORKTREE)


def _report_values(bank: Bank, report: Review) -> dict[str, Any]:
    """Return what the template shows of a review."""
    findings = [finding for finding in report.findings if finding.rule not in HEADINGS]
    kinds = {kind: [change for change in report.changes if change.kind == kind] for kind in _KINDS}
    rules = Counter(finding.rule for finding in report.findings)
    titles_now = {
        row.key: row.title for row in bank.read(lambda view: all_documents(view.manifest))
    }
    titles = titles_now | {change.path: change.title for change in report.changes if change.title}
    return {
        "review": report,
        "checks": {name: rules[rule] for rule, name in _LINKS.items()}
        | {heading: len(group) for heading, group in report.to_check.items()},
        "rules": group_by_rule(
            (finding for finding in findings if finding.new),
            {rule.name: rule.summary for rule in report.rules},
        ),
        "old": [finding for finding in findings if not finding.new],
        "edited": [*kinds["changed"], *kinds["renamed"]],
        "added": kinds["added"],
        "removed": kinds["removed"],
        "gone": {change.path for change in kinds["removed"]},
        "titles": titles,
        "first": find_headline,
        "words": claim_spans,
        "most": _MOST,
    }


_LINKS = {
    "broken-backlink": "Broken links",
    "ghost-made": "Links to nothing",
    "orphan-made": "Orphans made",
}

_KINDS = ("added", "changed", "renamed", "removed")
