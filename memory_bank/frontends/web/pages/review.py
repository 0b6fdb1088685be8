"""What a change does to the notes: the report of a review as a page."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Sequence
from typing import Any, NamedTuple
from urllib.parse import urlencode

from anyio import CapacityLimiter, to_thread
from starlette.datastructures import QueryParams
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from memory_bank.bank.bank import Bank
from memory_bank.base.errors import BadInput
from memory_bank.frontends.serving.serving_background import Background
from memory_bank.frontends.serving.shared_bank import SharedBank
from memory_bank.frontends.web.health import by_rule
from memory_bank.frontends.web.site import HINTS, Site
from memory_bank.notes.compare.text_diff import spans_of
from memory_bank.review import review, revision_range
from memory_bank.review.records import HEADINGS, Review, Side
from memory_bank.review.review_markdown import headline
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


class _ReviewInput(NamedTuple):
    """What a review depends on; while it stays, no second one is made."""

    base: Side
    head: Side
    changes: int
    """Of notes, as far as they are known."""


class Reviews:
    """Makes reviews, one for all who ask for the same range in the same state."""

    def __init__(self, shared: SharedBank, background: Background) -> None:
        """Make none yet."""
        self._shared = shared
        self._limiter: CapacityLimiter | None = None
        self._reviews: dict[_ReviewInput, asyncio.Future[Review]] = {}
        self._changes = 0
        self.made = 0
        """Number of reviews that were begun."""
        background.listen(self._note_change)

    async def sides(self, wanted: Range) -> tuple[Side, Side]:
        """Return what would be compared; raise NoRepository and BadInput."""
        return await to_thread.run_sync(self._sides, wanted)

    async def of(self, wanted: Range) -> Review:
        """Return the review of a range; raise NoRepository and BadInput."""
        state = _ReviewInput(*await self.sides(wanted), self._changes)
        found = self._reviews.get(state)
        if found is None:
            found = self._reviews[state] = asyncio.ensure_future(self._run(wanted))
            found.add_done_callback(lambda done: self._end(state, done))
        # one who leaves does not end the review for the others
        return await asyncio.shield(found)

    def _sides(self, wanted: Range) -> tuple[Side, Side]:
        bank = self._shared.bank()
        return revision_range.sides(
            bank.layout.root,
            wanted.revisions or None,
            staged=wanted.staged,
            worktree=wanted.worktree,
        )

    async def _run(self, wanted: Range) -> Review:
        self.made += 1
        if self._limiter is None:
            self._limiter = CapacityLimiter(_AT_ONCE)
        return await to_thread.run_sync(self._review, wanted, limiter=self._limiter)

    def _review(self, wanted: Range) -> Review:
        # a bank of its own: requests for other pages don't wait for its lock
        with self._shared.another(embeds=False) as bank:
            return review.review(
                bank, wanted.revisions or None, staged=wanted.staged, worktree=wanted.worktree
            )

    def _end(self, state: _ReviewInput, done: asyncio.Future[Review]) -> None:
        failed = done.cancelled() or done.exception() is not None
        if failed or not (state.head.commit and state.base.commit):
            self._reviews.pop(state, None)
        ended = [one for one, found in self._reviews.items() if found.done()]
        for one in ended[:-_KEPT]:
            del self._reviews[one]

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

    async def asked(given: QueryParams) -> dict[str, Any]:
        return {
            "range": given.get("range", "").strip(),
            "of": given.get("of", ""),
            "branches": await site.ask(revision_range.branches),
            **dict.fromkeys(("report", "sides", "refused")),
        }

    async def review(request: Request) -> Response:
        given = request.query_params
        values = await asked(given)
        values["query"] = urlencode({name: given.get(name, "") for name in ("range", "of")})
        status = 200
        try:
            values["sides"] = await reviews.sides(_range(given))
            if "full" in given:
                values["report"] = await site.ask(_report, await reviews.of(_range(given)))
        except BadInput as error:
            what, hint = site.hide(error.message), site.hide(error.hint_in(HINTS))
            values["refused"], status = {"what": what, "next": hint}, 400
        return await site.page(request, "review.html", values, title=TITLE, status=status)

    async def report(request: Request) -> Response:
        given = request.query_params
        found = await reviews.of(_range(given))
        values = await asked(given)
        values |= {"report": await site.ask(_report, found), "sides": (found.base, found.head)}
        return await site.page(request, "review_part.html", values, title=TITLE)

    return [Route(PATH, review), Route(f"{PATH}/report", report)]


def _range(given: QueryParams) -> Range:
    of = given.get("of", "")
    return Range(given.get("range", "").strip(), of == _STAGED, of == _WORKTREE)


def _report(bank: Bank, found: Review) -> dict[str, Any]:
    """Return what the template shows of a review."""
    others = [one for one in found.findings if one.rule not in HEADINGS]
    kinds = {kind: [one for one in found.changes if one.kind == kind] for kind in _KINDS}
    rules = Counter(one.rule for one in found.findings)
    known = {one.key: one.title for one in bank.read(lambda view: all_documents(view.manifest))}
    titles = known | {one.path: one.title for one in found.changes if one.title}
    return {
        "review": found,
        "checks": {name: rules[rule] for rule, name in _LINKS.items()}
        | {heading: len(some) for heading, some in found.to_check.items()},
        "rules": by_rule(
            (one for one in others if one.new), {one.name: one.summary for one in found.rules}
        ),
        "old": [one for one in others if not one.new],
        "edited": [*kinds["changed"], *kinds["renamed"]],
        "added": kinds["added"],
        "removed": kinds["removed"],
        "gone": {one.path for one in kinds["removed"]},
        "titles": titles,
        "first": headline,
        "words": spans_of,
        "most": _MOST,
    }


_LINKS = {
    "broken-backlink": "Broken links",
    "ghost-made": "Links to nothing",
    "orphan-made": "Orphans made",
}

_KINDS = ("added", "changed", "renamed", "removed")
