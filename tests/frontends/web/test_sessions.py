import html
import re
from datetime import UTC, datetime, timedelta
from pathlib import Path

import httpx2
import pytest

from memory_bank.sessions.records import Prompt
from tests.support.session_builder import observation, session, write

from .conftest import Look, Serve

NOW = datetime.now(UTC)
OBSERVED = "obs-000000000001"


@pytest.fixture
def worked(project: Path) -> Path:
    """Add two sessions of two agents to the project."""
    start = NOW - timedelta(hours=2)
    work = observation(
        1,
        "Retry three times",
        created_at=start,
        prompt_number=1,
        discovery_tokens=4000,
        files_read=(".memories/decisions/tantivy.md",),
        files_modified=("src/index.py",),
        facts=("The gateway answers 504",),
        concepts=("retries",),
    )
    prompts = (Prompt("s1", 1, "Mend the job", start), Prompt("s1", 2, "Now rest", start))
    write(project / ".memories", session("s1", work, prompts=prompts, redactions=2))
    old = observation(2, "Old work", created_at=NOW - timedelta(days=3))
    write(project / ".memories", session("s2", old, agent="codex", ended_at=NOW, summary=None))
    return project


def test_what_there_is_in_all_stands_below_the_list(worked: Path, serve: Serve, look: Look) -> None:
    page = look(f"{serve(cwd=worked).url}/sessions")
    figures = dict(
        zip(
            page.locator(".figures dt").all_inner_texts(),
            page.locator(".figures dd").all_inner_texts(),
            strict=True,
        )
    )
    assert list(figures) == ["Total Observations", "Sessions", "Tokens Saved"]
    assert (figures["Total Observations"], figures["Sessions"]) == ("2", "2")
    assert 3000 < int(figures["Tokens Saved"].replace(",", "")) < 5000
    assert page.locator("th").all_inner_texts() == ["ID", "Type", "Title", "Project", "Time"]
    link = page.get_by_role("cell").get_by_role("link", name="Retry three times").first
    assert link.get_attribute("href") == f"/sessions/s1#{OBSERVED}"


def test_a_long_list_has_pages(project: Path, dashboard: httpx2.Client) -> None:
    names = [f"n{number:02}" for number in range(53)]
    write(project / ".memories", *(session(name) for name in names))
    first = dashboard.get("/sessions?agent=claude-code").text
    assert first.count('class="name"') == 50
    older = re.search(r'href="(/sessions\?agent=claude-code&amp;page=2)"', first)
    assert older
    second = dashboard.get(html.unescape(older[1])).text
    assert second.count('class="name"') == 3
    assert 'rel="next"' not in second


def test_a_session_shows_what_was_asked_done_and_learned(
    worked: Path, serve: Serve, look: Look
) -> None:
    page = look(f"{serve(cwd=worked).url}/sessions/s1#{OBSERVED}")
    assert page.locator("h1").inner_text() == "Retry three times"
    page.locator(".standing > summary").click()
    facts = " ".join(page.locator(".standing").inner_text().split())
    assert "2 prompts, 1 observation, 2 secrets removed, shop." in facts
    assert "4,000 tokens of work" in facts
    assert "Mend the job" in page.locator(".prompt").first.inner_text()
    first = page.locator(f"#{OBSERVED}")
    assert "bugfix" in first.inner_text()
    assert first.get_by_role("link", name="tantivy").get_attribute("href") == (
        "/notes/decisions/tantivy"
    )
    assert first.get_by_role("link", name="index.py").count() == 1
    assert "Nothing was recorded" in page.locator(".events").nth(1).inner_text()
    assert page.get_by_role("button", name="Make a note").count() == 0


def test_an_address_leads_to_an_observation_on_a_later_page(
    project: Path, serve: Serve, look: Look
) -> None:
    work = [observation(n, f"Step {n}", created_at=NOW + timedelta(seconds=n)) for n in range(205)]
    write(project / ".memories", session("long", *work))
    page = look(f"{serve().url}/sessions/long#{work[-1].id}")
    page.get_by_text("Step 204").wait_for()
    assert page.get_by_text("page 2 of 2").count() == 1


def test_an_observation_is_made_a_note_there(worked: Path, serve: Serve, look: Look) -> None:
    served = serve("--write", cwd=worked)
    page = look(f"{served.url}/sessions/s1")
    first = page.locator(f"#{OBSERVED}")
    first.get_by_text("Make a note of it").click()
    first.get_by_label("Path").fill("decisions/tantivy")
    first.get_by_role("button", name="Make a note").click()
    first.get_by_role("alert").wait_for()
    assert "decisions/tantivy" in first.get_by_role("alert").inner_text()
    assert first.get_by_label("Path").input_value() == "decisions/tantivy"
    first.get_by_label("Path").fill("decisions/retry")
    first.get_by_label("Type").fill("decision")
    first.get_by_role("button", name="Make a note").click()
    made = first.get_by_role("link", name="decisions/retry")
    made.wait_for()
    assert made.get_attribute("href") == "/notes/decisions/retry"
    assert "type: decision" in (worked / ".memories/decisions/retry.md").read_text()
    summary = page.locator("#session > section").first
    summary.get_by_text("Make a note of it").click()
    summary.get_by_role("button", name="Make a note").click()
    summary.get_by_role("link", name="retry-three-times").wait_for()
