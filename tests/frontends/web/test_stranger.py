"""Someone who has never seen the project asks it, by clicks and typing only."""

from pathlib import Path

import pytest

from tests.git.history_builder import commit_all

from .conftest import Look, Serve

CLAUDE = "Co-authored-by: Claude <noreply@anthropic.com>"
QUESTION = "Why are prices integers?"
PRICES = """---
type: decision
tags: [prices]
---
# Amounts of money are kept in cents

Floats lost a cent in every tenth order, so amounts are integers. See [[src/prices.py#total]].
"""
CURRENCY = """---
type: decision
tags: [prices]
supersedes: "[[decisions/euro]]"
---
# Each amount has a currency

Shops outside the euro joined.
"""


@pytest.fixture
def shop(project: Path) -> Path:
    """Add decisions: one of an agent, reviewed, whose code changed; one that replaces another."""
    notes = project / ".memories/decisions"
    (project / "src/prices.py").write_text("def total(items):\n    return sum(items)\n")
    (notes / "cents.md").write_text(PRICES)
    (notes / "euro.md").write_text("---\ntype: decision\n---\n# All amounts are euros\n\nSimple.\n")
    commit_all(project, f"Keep amounts in cents (#7)\n\n{CLAUDE}")
    (notes / "currency.md").write_text(CURRENCY)
    (project / "src/prices.py").write_text("def total(items):\n    return sum(items) + 1\n")
    commit_all(project, "Add shipping to the total")
    return project


@pytest.mark.parametrize("width", [1280, 390])
def test_a_stranger_asks_and_learns_why_who_and_whether_it_holds(
    shop: Path, serve: Serve, look: Look, width: int
) -> None:
    page = look(serve(cwd=shop).url, width=width)
    page.get_by_role("searchbox").first.click()
    page.keyboard.type(QUESTION)
    page.keyboard.press("Enter")
    page.get_by_role("link", name="Amounts of money are kept in cents").first.click()
    page.wait_for_url("**/notes/decisions/cents*")
    assert "Floats lost a cent in every tenth order" in page.locator("main").inner_text()
    page.locator(".standing > summary").click()
    page.get_by_text("Written by").first.wait_for()
    said = " ".join(page.locator("#standing").inner_text().split())
    assert "Written by Test with Claude on " in said
    assert "reviewed in #7" in said
    assert "src/prices.py#total changed after" in said
    assert "Add shipping to the total" in said, "what changed it"
    page.get_by_role("link", name="1 commit").click()
    page.get_by_text("Keep amounts in cents").first.wait_for()


def test_a_stranger_learns_that_a_decision_was_replaced(
    shop: Path, serve: Serve, look: Look
) -> None:
    page = look(serve(cwd=shop).url)
    page.get_by_text("notes in one commit").first.click()
    page.get_by_role("link", name="All amounts are euros").first.click()
    page.get_by_text("Replaced by").wait_for()
    page.get_by_role("link", name="Each amount has a currency").first.click()
    assert "Shops outside the euro joined" in page.locator("main").inner_text()
