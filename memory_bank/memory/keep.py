"""Offer what a session decided as notes: nothing becomes one unless somebody says so."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated

from memory_bank.bank.bank import Bank
from memory_bank.base.errors import BadInput
from memory_bank.base.operation import Param, operation
from memory_bank.base.screen import Call
from memory_bank.sessions import session_edit
from memory_bank.sessions.compress import compress_now
from memory_bank.sessions.compression.sentences import DECIDED
from memory_bank.sessions.records import PROMOTED_TO, Observation, Session
from memory_bank.sessions.state import opened

_FIELD, _REFUSED = "keep", "no"
"""The field of an observation that is not to be offered again."""

_SESSIONS = 20
"""Sessions whose decisions are offered, the last ones."""


@dataclass(frozen=True, slots=True)
class Offer:
    """A decision, rule or lesson of a session that could be a note."""

    key: str
    """What `session keep` takes for it: 1, 2 …"""
    observation_id: str
    said: str
    """The sentences that decide, else the title."""
    session_id: str


@dataclass(frozen=True, slots=True)
class Kept:
    """What is offered, and what was done."""

    schema_version: str
    offers: tuple[Offer, ...]
    """What is left to choose from."""
    kept: tuple[str, ...] = ()
    """The paths of the notes that were made."""
    refused: tuple[str, ...] = ()
    """The ids of the observations that are not offered again."""


def _shown(call: Call, done: Kept) -> int:
    call.answer(done, lambda done: _lines(call, done))
    return 0


def _lines(call: Call, done: Kept) -> None:
    for path in done.kept:
        call.console.line(f"created {call.place(path)}")
    for name in done.refused:
        call.console.line(f"not offered again: {name}")
    for one in done.offers:
        call.console.line(f"{one.key}  {one.said}  ({one.observation_id})")
    if done.offers:
        call.remark("make notes of some: memory-bank session keep KEY..., or --refuse KEY")
    elif not (done.kept or done.refused):
        call.remark("nothing is left to keep")


@operation(
    "session keep",
    why="""
    Lists what users and agents decided in the last sessions, with a key for each. With keys, these
    become notes of type decision; with --refuse they are not offered again. Nothing becomes a note
    by itself.
    """,
    examples=(
        ("memory-bank session keep", "what is worth keeping, with its keys"),
        ("memory-bank session keep 1 3", "make notes of the first and the third"),
        ("memory-bank session keep --refuse 2", "do not offer the second again"),
    ),
    show=_shown,
)
def keep(
    bank: Bank,
    keys: Annotated[
        Sequence[str], Param("Make notes of these", argument=True, metavar="[KEY...]")
    ] = (),
    *,
    refuse: Annotated[
        Sequence[str], Param("Do not offer these again", flags="--refuse", metavar="KEY")
    ] = (),
) -> Kept:
    """Offer the decisions of the last sessions as notes.

    Keys are those of the list, or ids of observations. What was kept or refused is not offered
    again. Raises BadInput for an unknown key.
    """
    from memory_bank.memory.confirm import promote

    compress_now(bank)
    found = list(_offers(bank))
    by_key = {name: one for one, _ in found for name in (one.key, one.observation_id)}
    unknown = [one for one in (*keys, *refuse) if one not in by_key]
    if unknown:
        raise BadInput(f"nothing is offered as {unknown[0][:60]}", "`session keep` lists the keys")
    paths = {one.observation_id: path for one, path in found}
    made = [promote(bank, by_key[one].observation_id, type="decision").path for one in keys]
    refused = [by_key[one].observation_id for one in refuse]
    for one in refused:
        bank.store.change(
            paths[one],
            lambda text, one=one: session_edit.set_field(paths[one], text, one, _FIELD, _REFUSED),  # type: ignore[misc]
        )
    if refused:
        bank.catch_up()
    left = tuple(one for one, _ in _offers(bank)) if made or refused else tuple(o for o, _ in found)
    return Kept("1.0", left, tuple(made), tuple(refused))


def _offers(bank: Bank) -> Iterator[tuple[Offer, str]]:
    """Yield what is offered with the path of its note, the last session first."""
    with opened(bank) as store:
        sessions = [one for one in store.sessions() if one.path][:_SESSIONS]
    number = 0
    for session in sessions:
        for one in session.observations:
            if one.obs_type == "decision" and not _settled(bank, session, one):
                number += 1
                said = [fact for fact in one.facts if fact.startswith(DECIDED)]
                text = " · ".join(fact.removeprefix(DECIDED) for fact in said) or one.title
                yield Offer(str(number), one.id, text, session.session_id), session.path


def _settled(bank: Bank, session: Session, one: Observation) -> bool:
    """Tell whether an observation was kept or refused."""
    text = bank.store.read(session.path).text
    return any(
        session_edit.field(session.path, text, one.id, name) for name in (PROMOTED_TO, _FIELD)
    )
