"""The dashboard's search finds what other repositories published."""

import re
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import httpx2
import pytest

from memory_bank.bank.bank import open_bank
from memory_bank.shared.publish import publish
from tests.conftest import run_git as git
from tests.frontends.web.conftest import Dashboard, Look, chromium, look, serving
from tests.frontends.web.payloads import FORBIDDEN, PAYLOADS
from tests.git.history_builder import commit_all
from tests.shared.conftest import run_sql
from tests.shared.test_recall import APP, SHOP, index, repositories, settings

__all__ = ["chromium", "index", "look", "repositories"]

pytestmark = pytest.mark.slow

HOSTILE = "github.com/evil/notes"


LOGIN = "Login"
"""The title of the note of the bank that is asked."""


@pytest.fixture(scope="module")
def dashboard(index: str, repositories: dict[str, Path]) -> Iterator[Dashboard]:
    """A dashboard of the third repository, whose user has a shared index."""
    variables = {
        "MEMORY_BANK_SHARED_URL": index,
        "MEMORY_BANK_SHARED_SECONDS": "30",
        "MEMORY_BANK_EMBEDDER": "static",
    }
    with serving(repositories[APP], **variables) as served:
        yield served


def searched(dashboard: Dashboard, **fields: str) -> httpx2.Response:
    with dashboard.client() as client:
        return client.get("/search", params={"kind": "notes", **fields})


def hits(page: str) -> list[str]:
    return re.split(r'<article class="best here">|<li><(?:a|span) class="hit-name"', page)[1:]


def scopes(page: str) -> list[tuple[str, bool]]:
    """Return the scopes that a page offers, and whether each is chosen."""
    found = re.findall(r'<a class="count" href="[^"]*scope=(\w+)"( aria-current="true")?>', page)
    return [(name, bool(chosen)) for name, chosen in found]


def test_a_hit_of_another_repository_says_where_it_is(dashboard: Dashboard) -> None:
    page = searched(dashboard, q="locks for the job queue", scope="shared").text
    first = hits(page)[0]
    address = re.search(r'<a class="" dir="auto" href="([^"]*)" rel="noopener noreferrer"', first)
    assert address
    assert re.fullmatch(
        rf"https://{SHOP}/blob/([0-9a-f]{{40}})/\.memories/decisions/queue\.md\?plain=1#L5",
        address[1],
    )
    commit = address[1].split("/")[6][:7]
    assert f"<span>in {SHOP}, <code>{commit}</code>, 0 days old</span>" in first
    assert LOGIN not in page


def test_a_scope_is_chosen_by_a_link_and_stays(dashboard: Dashboard) -> None:
    page = searched(dashboard, q="job queue").text
    assert LOGIN in page
    assert SHOP not in page
    assert scopes(page) == [("bank", True), ("shared", False), ("both", False)]
    assert "q=job+queue&amp;kind=notes&amp;scope=both" in page
    page = searched(dashboard, q="job queue", scope="both").text
    assert LOGIN in page
    assert SHOP in page
    assert ("both", True) in scopes(page)
    assert page.count('<input type="hidden" name="scope" value="both">') == 1
    page = searched(dashboard, q="queue repo:shop", scope="both").text
    assert SHOP in page
    assert "github.com/acme/blog" not in page
    assert LOGIN not in page


def test_only_notes_are_shared(dashboard: Dashboard) -> None:
    page = searched(dashboard, q="queue", kind="docs", scope="shared").text
    assert "Other repositories share their notes only" in page
    answer = searched(dashboard, q="queue", scope="all")
    assert answer.status_code == 400
    assert "choose one of: bank, shared, both" in answer.text


def test_no_scope_is_offered_where_there_is_one_bank(
    repositories: dict[str, Path],
) -> None:
    with serving(repositories[APP], MEMORY_BANK_EMBEDDER="static") as served:
        assert not scopes(searched(served, q="job queue").text)
        page = searched(served, q="job queue", scope="both").text
        assert LOGIN in page
        assert "Only this bank was searched: no shared index is configured" in page


def test_what_others_published_runs_nothing(
    dashboard: Dashboard, index: str, tmp_path: Path
) -> None:
    notes = tmp_path / ".memories"
    notes.mkdir()
    for number, text in enumerate(PAYLOADS):
        line = text.replace("\x00", "")
        fields = f"type: {line!r}\ntags: [{line!r}]\nstatus: {line!r}\n"
        (notes / f"{number}.md").write_text(f"---\n{fields}---\n# Zebra {line}\n\nzebra {line}\n")
    git(tmp_path, "init", "-q", "-b", "main")
    git(tmp_path, "remote", "add", "origin", f"https://{HOSTILE}.git")
    commit_all(tmp_path, "Notes")
    with open_bank(tmp_path, settings=settings(index)) as bank:
        publish(bank)
    page = searched(dashboard, q="zebra", scope="shared", limit="100").text.lower()
    assert len(hits(page)) > len(PAYLOADS) / 2
    for forbidden in {*FORBIDDEN, "${49}"} - {"49"}:  # a bar may be 49 wide
        assert forbidden not in page, forbidden
    for web in ("javascript:evil()", "ftp://evil.example", 'https://evil.example/"onclick="'):
        template = f"{web}/blob/{{commit}}/{{file}}?plain=1#L{{line}}"
        run_sql(index, f"UPDATE memory_bank.heads SET web = '{template}' WHERE web LIKE '%evil%'")
        page = searched(dashboard, q="zebra", scope="shared").text
        assert hits(page)
        assert not re.search('<a class="[^"]*" dir="auto" href="[^"]*" rel=', page)


def test_typing_asks_in_the_scope_that_was_chosen(dashboard: Dashboard, look: Look) -> None:
    page = look(f"{dashboard.url}/search?q={quote('job queue')}&kind=notes")
    page.wait_for_selector(f"#found >> text={LOGIN}")
    page.click("#choices a[href*='scope=shared']")
    page.wait_for_selector(f"#found >> text={SHOP}")
    page.fill("#q", "images")
    page.press("#q", "End")
    page.wait_for_selector("#found >> text=Images")
    assert "scope=shared" in page.evaluate("location.href")
    assert page.locator("#choices a[href*='scope=shared'][aria-current=true]").count() == 1
