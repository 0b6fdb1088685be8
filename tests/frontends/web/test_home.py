import re
from pathlib import Path

import pytest

from memory_bank.bank.bank import Bank
from memory_bank.frontends.web.pages import home

from .conftest import Dashboard, Look, Serve

BAD = "# Bad\n\nSee [[bm25#no]].\n"


def test_the_start_page_shows_what_needs_attention_when_it_is_known(
    serve: Serve, look: Look, project: Path
) -> None:
    (project / ".memories/facts/bad.md").write_text(
        "# Bad\n\nSee [[nowhere#at all]] and [[bm25#no]].\n"
    )
    served = serve()
    page = look(served.url)
    page.locator("#attention a", has_text="Bad").first.wait_for()
    page.get_by_role("link", name="all findings").click()
    page.wait_for_url("**/health")
    assert "line 3" in page.locator("main").inner_text()


def test_the_first_visit_takes_few_bytes(unchanged: Dashboard) -> None:
    with unchanged.client() as client:
        page = client.get("/")
        urls = re.findall(r'(?:href|src)="(/static/[^"]+)"', page.text)
        total = 0
        for url in ["/", *dict.fromkeys(urls)]:
            with client.stream("GET", url) as answer:
                total += sum(len(part) for part in answer.iter_raw())
        assert total < 60_000


def test_what_the_rules_find_is_as_the_files_are_now(bank: Bank, project: Path) -> None:
    assert home.check_health(bank).findings == ()
    note = project / ".memories/facts/bad.md"
    note.write_text(BAD)
    found = home.check_health(bank)
    assert sum(found.counts.values()) == len(found.findings) == 1
    assert found.titles[found.findings[0].path] == "Bad"
    note.unlink()
    assert home.check_health(bank).findings == ()


def test_a_large_bank_is_not_searched_for_each_note(
    bank: Bank, monkeypatch: pytest.MonkeyPatch
) -> None:
    skipped: list[tuple[str, ...]] = []
    monkeypatch.setattr(home.lint, "lint", lambda bank, without: (skipped.append(without), ())[1])
    home.check_health(bank)
    monkeypatch.setattr(home, "_MOST_SEARCHED", 2)
    home.check_health(bank)
    assert skipped == [(), ("may-amend",)]
