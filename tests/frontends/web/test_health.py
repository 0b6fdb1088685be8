from pathlib import Path

import httpx2
import pytest

from memory_bank.bank.bank import Bank
from memory_bank.frontends.web.pages import health

BAD = "# Bad\n\nSee [[bm25#no]].\n"


def test_what_the_rules_find_is_as_the_files_are_now(bank: Bank, project: Path) -> None:
    assert health.check_health(bank).findings == ()
    note = project / ".memories/facts/bad.md"
    note.write_text(BAD)
    found = health.check_health(bank)
    assert sum(found.counts.values()) == len(found.findings) == 1
    assert found.titles[found.findings[0].path] == "Bad"
    note.unlink()
    assert health.check_health(bank).findings == ()


def test_a_large_bank_is_not_searched_for_each_note(
    bank: Bank, monkeypatch: pytest.MonkeyPatch
) -> None:
    skipped: list[tuple[str, ...]] = []
    monkeypatch.setattr(health.lint, "lint", lambda bank, without: (skipped.append(without), ())[1])
    health.check_health(bank)
    monkeypatch.setattr(health, "_MOST_SEARCHED", 2)
    health.check_health(bank)
    assert skipped == [(), ("may-amend",)]


def test_the_start_page_asks_for_what_needs_attention(
    dashboard: httpx2.Client, project: Path
) -> None:
    assert 'hx-get="/health/attention"' in dashboard.get("/").text
    assert dashboard.get("/health/attention").text.strip() == ""
    (project / ".memories/facts/bad.md").write_text(BAD)
    page = dashboard.get("/health/attention").text
    assert 'id="attention"' in page
    assert 'href="/notes/facts/bad"' in page
    assert "1 warning" in dashboard.get("/health").text


def test_why_the_rules_could_not_run_is_told(dashboard: httpx2.Client, project: Path) -> None:
    (project / ".memories/config.toml").write_text("[search]\nlimit = 'x'\n")
    page = dashboard.get("/health/attention")
    assert page.status_code == 200
    assert "could not be checked" in page.text
    assert str(project) not in page.text
