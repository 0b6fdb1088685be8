"""A bank as rules see it."""

from collections.abc import Callable
from pathlib import Path

import pytest

from memory_bank.bank.bank import Bank
from memory_bank.bank.records import Finding
from memory_bank.review.rules.base import RuleContext, findings

Lint = Callable[..., list[Finding]]


@pytest.fixture
def lint(opening: Callable[..., Bank]) -> Lint:
    """Return what one rule finds in a bank."""

    def run(place: Path, rule: str, **settings: object) -> list[Finding]:
        bank = opening(place, **settings)
        bank.sync()
        found = bank.read(lambda view: findings(RuleContext(bank, view)))
        return [one for one in found if one.rule == rule]

    return run
