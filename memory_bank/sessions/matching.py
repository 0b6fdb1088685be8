"""Choose and order observations by the conditions of a query."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Sequence

from memory_bank.sessions.records import Observation, ObservationQuery

_WORD = re.compile(r"\w+")


def matching(one: Observation, query: ObservationQuery) -> bool:
    """Tell whether an observation meets all conditions of a query, and has one of its words."""
    concepts = {concept.casefold() for concept in one.concepts}
    files = {_plain(file) for file in (*one.files_read, *one.files_modified)}
    return (
        (not query.project or one.project.casefold() == query.project.casefold())
        and (not query.session_id or one.session_id == query.session_id)
        and (not query.obs_types or one.obs_type in query.obs_types)
        and all(concept.casefold() in concepts for concept in query.concepts)
        and (not query.files or not files.isdisjoint(map(_plain, query.files)))
        and (query.since is None or one.created_at >= query.since)
        and (query.before is None or one.created_at < query.before)
        and (not query.query.strip() or _score(one, query.query) > 0)
    )


def ordered(found: Sequence[Observation], query: ObservationQuery) -> list[Observation]:
    """Return observations in the order of a query; ties by id."""
    by_date = sorted(
        sorted(found, key=lambda one: one.id),
        key=lambda one: one.created_at,
        reverse=query.order_by != "date_asc",
    )
    if query.order_by == "relevance" and query.query.strip():
        return sorted(by_date, key=lambda one: -_score(one, query.query))
    return by_date


def _score(one: Observation, words: str) -> int:
    """Count the words of a query that an observation has."""
    text = " ".join((one.title, one.subtitle, one.narrative, *one.facts, *one.concepts))
    return len({*_WORD.findall(words.casefold())} & {*_WORD.findall(text.casefold())})


def _plain(file: str) -> str:
    return posixpath.normpath(file.replace("\\", "/"))
