"""What a search can be narrowed by: types, tags, dates, trust, with how many hits have each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple, Protocol

from memory_bank.search import boosts
from memory_bank.search.manifest import document_rows
from memory_bank.search.query import (
    WrittenCondition,
    can_be_written,
    with_condition,
    without,
    without_condition,
)

if TYPE_CHECKING:
    from memory_bank.bank.bank import Bank
    from memory_bank.search.manifest.manifest import Manifest


_MOST = {"type": 12, "tag": 12}
"""Most choices of a key; those that are on come in addition."""

PERIODS = ("7d", "30d", "1y")
"""Values of `since:` to choose from."""


class HasFields(Protocol):
    """What is counted of a hit."""

    @property
    def kind(self) -> str:
        """Its kind."""

    @property
    def type(self) -> str:
        """Its type; empty for none."""

    @property
    def tags(self) -> tuple[str, ...]:
        """Its tags."""

    @property
    def trust(self) -> str:
        """Its tier of trust; empty for none."""


class Narrowing(NamedTuple):
    """A condition that a query can have."""

    key: str
    value: str
    number: int | None
    """Of the hits, or of the bank's notes if nothing is asked; None if it is not known."""
    on: bool
    query: str
    """The query with it, or without it if it is on."""


class Narrowings(NamedTuple):
    """What a search can be narrowed by."""

    types: tuple[Narrowing, ...] = ()
    tags: tuple[Narrowing, ...] = ()
    periods: tuple[Narrowing, ...] = ()
    trust: tuple[Narrowing, ...] = ()
    others: tuple[Narrowing, ...] = ()
    """Other conditions that the query has."""
    kinds: Mapping[str, int] = MappingProxyType({})
    """The number of hits of each kind."""
    notes: int = 0
    """The number of the bank's notes."""


def choices(
    bank: Bank | None,
    query: str,
    conditions: Sequence[WrittenCondition],
    hits: Sequence[HasFields],
    fields: Sequence[str],
) -> Narrowings:
    """Return the choices for a query that has some conditions and some hits."""
    if bank is None:
        return Narrowings(kinds=Counter(one.kind for one in hits))
    known = bank.read(lambda view: view.manifest.cached(_counted) or _counted(view.manifest))
    made = _Maker(query, conditions, fields, whole=not hits)
    shown = {"type", "tag", "since", boosts.KEY}
    return Narrowings(
        made.of_values("type", known.types, Counter(one.type for one in hits if one.type)),
        made.of_values("tag", known.tags, Counter(tag for one in hits for tag in one.tags)),
        made.all_of("since", PERIODS, {}),
        made.all_of(
            boosts.KEY, boosts.TIERS, Counter(one.trust for one in hits if one.trust), counted=True
        ),
        tuple(
            Narrowing(one.key, one.value, None, on=True, query=without(query, one))
            for one in conditions
            if one.key not in shown or one.negated
        ),
        Counter(one.kind for one in hits),
        known.notes,
    )


class _Counts(NamedTuple):
    """How many notes the bank has, and of each type and tag, the most frequent first."""

    notes: int
    types: Mapping[str, int]
    tags: Mapping[str, int]


def _counted(manifest: Manifest) -> _Counts:
    return _Counts(
        document_rows.totals(manifest).documents,
        document_rows.counts(manifest, "type"),
        document_rows.counts(manifest, "tag"),
    )


class _Maker:
    """Makes the choices of a query."""

    def __init__(
        self,
        query: str,
        conditions: Sequence[WrittenCondition],
        fields: Sequence[str],
        *,
        whole: bool,
    ) -> None:
        self._query, self._fields, self._whole = query, fields, whole
        self._on: dict[str, list[str]] = {}
        for one in conditions:
            if not one.negated:
                self._on.setdefault(one.key, []).extend(one.values)

    def of_values(
        self, key: str, bank: Mapping[str, int], hits: Counter[str]
    ) -> tuple[Narrowing, ...]:
        """Return those that are on, those of the hits, then the bank's; most frequent first."""
        frequent = [value for value, _ in hits.most_common()]
        values = list(dict.fromkeys([*frequent, *bank]))
        counts: Mapping[str, int] = bank if self._whole and not self._on else hits
        return self._made(key, values, counts, most=_MOST[key])

    def all_of(
        self, key: str, values: Iterable[str], hits: Mapping[str, int], *, counted: bool = False
    ) -> tuple[Narrowing, ...]:
        """Return all values in their own order."""
        known = hits if counted and not self._whole else {}
        return self._made(key, list(values), known, most=len(PERIODS) + len(boosts.TIERS))

    def _made(
        self, key: str, values: Sequence[str], counts: Mapping[str, int], *, most: int
    ) -> tuple[Narrowing, ...]:
        on = {value.casefold(): value for value in self._on.get(key, ())}
        known = {value.casefold() for value in values}
        chosen = [*(value for folded, value in on.items() if folded not in known), *values]
        room = most
        found = []
        for value in chosen:
            is_on = value.casefold() in on
            if not is_on and (room <= 0 or not can_be_written(value)):
                continue
            room -= 1
            change = without_condition if is_on else with_condition
            query = change(self._query, key, value, self._fields)
            found.append(Narrowing(key, value, counts.get(value), is_on, query))
        return tuple(found)
