"""How many findings a report has for programs that take or show a limited number."""

from __future__ import annotations

from memory_bank.frontends.rendering import count

MOST = 5_000
"""GitHub shows as many of a SARIF file and refuses one with 25,000; new findings come first."""


def left_out(number: int) -> str:
    """Say how many findings a report leaves out, and what has them all."""
    many = count(number, "more finding")
    return f"{many} left out: `memory-bank review --format json` lists all"
