import re
from collections.abc import Callable
from pathlib import Path

import httpx2
import pytest

from memory_bank.bank.bank import Bank
from memory_bank.frontends.web.pages import health
from tests.git.history_builder import commit_all

from .conftest import Dashboard, Look, Serve

BAD = "# Bad\n\nSee [[bm25#no]].\n"


def test_notes_to_check_are_counted_with_the_commits_of_their_code(
    project: Path, git: Callable[..., str], dashboard: httpx2.Client
) -> None:
    (project / "src/index.py").write_text("def build_index(notes):\n    return 1\n")
    git(project, "commit", "-qam", "Change the index")
    page = re.sub(r"<[^>]+>", "", dashboard.get("/health/attention").text)
    assert "1 note cites code that changed after it" in page
    assert "1 commit since" in page


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


def test_a_link_in_a_snippet_shows_the_title_or_the_words(
    project: Path, dashboard: httpx2.Client
) -> None:
    text = "# Scores\n\nScores are [[facts/bm25]], not [[decisions/whoosh|the old ones]]. Ask [[Nobody]].\n"
    (project / ".memories/facts/scores.md").write_text(text)
    commit_all(project, "Say what scores are")
    said = "Scores are BM25, not the old ones. Ask Nobody."
    for path in ("/", "/search?q=scores", "/graph?note=facts/scores.md"):
        page = re.sub(r"</?mark>", "", dashboard.get(path).text)
        assert said in page, path
    assert "Scores are BM25, not the old ones." in dashboard.get("/notes/facts/bm25").text


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
