import re
from collections.abc import Callable
from pathlib import Path

import httpx2

from tests.git.history_builder import commit_all

from .conftest import Dashboard, Look, Serve


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
