"""Tiers of trust, and the condition `trust:` of a query; `actions/trust.py` assigns them."""

from __future__ import annotations

REVIEWED, HUMAN, AGENT, UNCOMMITTED = "reviewed", "human", "agent", "uncommitted"
TIERS = (REVIEWED, HUMAN, AGENT, UNCOMMITTED)
"""The most trusted first."""
UNKNOWN = "unknown"
"""The tier where git can't say, as at the end of a shallow clone; it meets no comparison."""
KEY = "trust"


def tiers_of(value: str) -> frozenset[str] | None:
    """Return the tiers that a value names: `reviewed`, `human,agent`, `>=human`; None if none."""
    found: set[str] = set()
    for part in filter(None, (one.strip().lower() for one in value.split(","))):
        name = part.lstrip("<>=")
        sign = part[: len(part) - len(name)]
        if not sign and name in {*TIERS, UNKNOWN}:
            found.add(name)
        elif name in TIERS and sign in {">=", "<=", ">", "<"}:
            place = TIERS.index(name)
            found.update(TIERS[:place] if sign[0] == ">" else TIERS[place + 1 :])
            found.update([name] if sign[-1] == "=" else [])
        else:
            return None
    return frozenset(found) or None
