from __future__ import annotations

import re
import shutil
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest

from tests.conftest import run_git

from .conftest import Blocking, Dashboard, Look, Serve, serving

QUESTION = "why tantivy and not whoosh"


@pytest.fixture(scope="module")
def shop(new_project: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Dashboard]:
    """Serve the project with a document, a test and code; no test changes it."""
    root = tmp_path_factory.mktemp("search")
    project = Path(shutil.copytree(new_project, root / "project"))
    texts = {
        "docs/guide.md": "# Guide\n\n## Building\n\nThe index is built by tantivy.\n",
        "src/index.py": 'def build_index():\n    """Build the tantivy index."""\n    return 1\n',
        "tests/test_index.py": "def test_the_tantivy_index_is_built():\n    assert 1\n",
    }
    for name, text in texts.items():
        (project / name).parent.mkdir(exist_ok=True)
        (project / name).write_text(text, encoding="utf-8")
    run_git(project, "add", "-A")
    why = (
        "Tokens of users expire after an hour, since a stolen laptop kept a session open for weeks."
    )
    run_git(project, "commit", "-qm", "Add a guide", "-m", why)
    with pytest.MonkeyPatch.context() as patch:
        for kind in ("CONFIG", "STATE", "DATA", "CACHE"):
            patch.setenv(f"XDG_{kind}_HOME", str(root / kind.lower()))
        with serving(project) as dashboard:
            yield dashboard


@pytest.fixture
def client(shop: Dashboard) -> Iterator[httpx2.Client]:
    with shop.client() as client:
        yield client


def searched(client: httpx2.Client, **fields: Any) -> str:
    """Return the page of a search once the code has been read."""
    end = time.monotonic() + 30
    while "being read for the first time" in (text := client.get("/search", params=fields).text):
        assert time.monotonic() < end
    return text


def titles(page: str) -> list[str]:
    found = re.findall(r"<[^>]*data-hit>(.*?)</(?:a|span)>", page, re.DOTALL)
    return [re.sub(r"<[^>]*>", "", one).strip() for one in found]


def links(page: str) -> list[str]:
    return re.findall(r'href="([^"]*)" data-hit', page)


def choice(page: str, condition: str) -> str:
    """Return the link of a condition as it is written."""
    found = re.search(rf'<a class="count" [^>]*title="{condition}">.*?</a>', page, re.DOTALL)
    assert found, condition
    return found[0]


def test_each_kind_is_found_with_its_place(client: httpx2.Client) -> None:
    page = searched(client, q="tantivy index")
    places = links(page)
    assert "/notes/decisions/tantivy" in places
    assert "/code/src/index.py#L1" in places
    assert "/code/docs/guide.md#L3" in places
    assert "/code/tests/test_index.py#L1" in places
    assert "<title>tantivy index · Search · project</title>" in page


def test_a_hit_tells_why_it_was_found(client: httpx2.Client) -> None:
    page = searched(client, q=QUESTION, kind="notes")
    assert titles(page)[0] in {"Tantivy over Whoosh", "Whoosh as the keyword index"}
    assert "<mark>Tantivy</mark>" in page
    assert "<mark>Whoosh</mark>" in page
    best = page.split('<article class="best here">')[1].split("</article>")[0]
    assert re.search(r"likelihood that it answers</span><span class=\"n\">\d+ %", best)
    assert re.search(r"<span>words</span><span class=\"n\">\d+ %", best)
    assert "keyword: its words" in best
    assert "10 Jan" in page
    assert re.search(r'replaced by <a [^>]*href="/notes/decisions/tantivy"', page)
    assert "badge" not in page


def test_weaker_matches_stand_apart(client: httpx2.Client) -> None:
    page = searched(client, q="damps long whoosh gateways entirely unrelated", kind="notes")
    before, _, weaker = page.partition('<p class="rest">weaker matches</p>')

    def likelihoods(part: str) -> list[int]:
        found = re.findall(r'that it answers</span><span class="n">(\d+) %', part)
        return [int(one) for one in found]

    assert weaker
    assert all(one <= 20 for one in likelihoods(weaker))
    assert all(one >= 20 for one in likelihoods(before))
    assert len(likelihoods(page)) == len(titles(page)) > 0


def test_a_choice_is_the_condition_that_one_can_type(client: httpx2.Client) -> None:
    on = choice(searched(client, q="whoosh"), "type:decision")
    assert 'href="/search?q=whoosh+type%3Adecision"' in on
    assert "aria-current" not in on
    page = searched(client, q="whoosh type:decision")
    assert set(titles(page)) == {"Tantivy over Whoosh", "Whoosh as the keyword index"}
    on = choice(page, "type:decision")
    assert 'href="/search?q=whoosh"' in on
    assert 'aria-current="true"' in on
    assert "remove it" in on
    page = searched(client, q="whoosh tag:architecture -type:fact in:decisions")
    assert titles(page) == ["Tantivy over Whoosh"]
    assert 'href="/search?q=whoosh+tag%3Aarchitecture+-type%3Afact"' in page


def test_counts_are_of_the_hits_or_of_the_bank(client: httpx2.Client) -> None:
    assert '<span class="n">2</span>' in choice(searched(client, q=""), "tag:search")
    page = searched(client, q="maintained")
    assert "Topics in these answers" in page
    assert '<span class="n">1</span>' in choice(page, "tag:search")


def test_kinds_and_dates_are_chosen_without_javascript(client: httpx2.Client) -> None:
    page = searched(client, q="tantivy", kind=["docs", "tests"])
    assert {one.split("/")[2] for one in links(page)} == {"docs", "tests"}
    assert page.count('<input type="hidden" name="kind" value="docs">') == 2
    answer = client.get("/search", params={"q": "whoosh since:7d", "dates": "1", "before": "2025"})
    assert (answer.status_code, answer.headers["location"]) == (
        303,
        "/search?q=whoosh+before%3A2025",
    )
    page = searched(client, q="whoosh before:2025-07-01")
    assert titles(page) == ["Whoosh as the keyword index"]
    assert 'value="2025-07-01"' in page


def test_a_commit_that_says_why_is_found_without_a_link(client: httpx2.Client) -> None:
    page = searched(client, q="why do tokens expire after a stolen laptop")
    assert "Add a guide" in titles(page)
    assert re.search(r"<span>commit [0-9a-f]{8} ", page)
    assert "/code/commit" not in page


def test_a_date_that_is_none_is_told_at_its_field(client: httpx2.Client) -> None:
    answer = client.get("/search", params={"q": "whoosh", "dates": "1", "since": "soonish"})
    assert answer.status_code == 400
    assert "&#39;soonish&#39; is no time" in answer.text
    assert 'value="soonish"' in answer.text
    assert answer.text.count('aria-describedby="date-error"') == 1
    assert 'value="whoosh"' in answer.text


def test_mistakes_in_a_query_are_told_and_it_stays(client: httpx2.Client) -> None:
    page = searched(client, q="whoosh type:decison")
    assert "did you mean" in page.lower()
    assert 'value="whoosh type:decison"' in page
    page = searched(client, q="whoosh type:decision", kind="symbols")
    assert "Only notes can meet type:" in page
    answer = client.get("/search", params={"q": "whoosh", "kind": "nothing"})
    assert answer.status_code == 400
    assert "There is no kind &#39;nothing&#39;" in answer.text
    assert 'aria-invalid="true"' in answer.text
    assert 'value="whoosh"' in answer.text


def test_nothing_asked_and_nothing_found_say_what_to_do(client: httpx2.Client) -> None:
    assert "Ask in your own words" in searched(client)
    assert "Nothing here answers this" in searched(client, q="zebra type:decision")
    assert titles(searched(client, q="since:2026-01-01 type:decision")) == ["Tantivy over Whoosh"]


def test_a_heading_of_choices_has_choices_below_it(client: httpx2.Client) -> None:
    assert "<h2>Kinds of notes</h2>" in searched(client, q="whoosh")
    page = searched(client, q="why do tokens expire after a stolen laptop", kind="commits")
    assert "Add a guide" in titles(page)
    assert not re.search(r"</h2><ul>\s*</ul>", page)


def test_a_search_counts_no_access(client: httpx2.Client) -> None:
    for _ in range(2):
        page = searched(client, q="tantivy maintained")
        assert "access:" not in page


def test_without_a_repository_notes_alone_are_searched(serve: Serve, tmp_path: Path) -> None:
    notes = tmp_path / "alone" / ".memories"
    notes.mkdir(parents=True)
    (notes / "a.md").write_text("# Whoosh\n\nWhoosh is slow.\n")
    with serve(cwd=tmp_path / "alone").client() as client:
        page = searched(client, q="whoosh")
        assert titles(page) == ["Whoosh"]
        assert "kind=" not in page
        assert "trust:" not in page
        assert "remark" not in page.split('id="found"')[1]
        (notes / "a.md").unlink()
        assert "There are no notes yet" in searched(client, q="whoosh")


def focused(page: Blocking) -> str:
    found: str = page.evaluate("document.activeElement.id || document.activeElement.textContent")
    return found.strip()


def test_hits_come_as_one_types(shop: Dashboard, client: httpx2.Client, look: Look) -> None:
    searched(client, q="tantivy")
    page = look(f"{shop.url}/search")
    assert focused(page) == "q"
    page.keyboard.type("whoosh maint", delay=10)
    page.locator("#found [data-hit]").first.wait_for()
    page.wait_for_url(re.compile(r"/search\?q=whoosh(\+|%20)maint$"))
    assert "Tantivy over Whoosh" in page.locator("#found").inner_text()
    assert re.search(r"\d answer", page.locator("#said").inner_text())
    assert page.title() == "whoosh maint · Search · project"
    assert page.evaluate("document.activeElement.value") == "whoosh maint"


def test_the_keyboard_leads_from_the_query_to_the_note(shop: Dashboard, look: Look) -> None:
    page = look(f"{shop.url}/search?q=whoosh&kind=notes")
    page.keyboard.press("ArrowDown")
    assert focused(page) != "q", "a search from another page leaves the focus on the page"
    page.locator("#q").focus()
    page.keyboard.press("ArrowDown")
    first = focused(page)
    page.keyboard.press("j")
    second = focused(page)
    assert {first, second} == {"Tantivy over Whoosh", "Whoosh as the keyword index"}
    page.keyboard.press("j")
    assert focused(page) == second, "the last one stays"
    page.keyboard.press("k")
    assert focused(page) == first
    page.keyboard.press("Escape")
    assert focused(page) == "q"
    page.keyboard.type("j")
    assert page.evaluate("document.activeElement.value").endswith("j")
    page.locator("#q").fill("whoosh index")
    page.wait_for_url("**/search?q=whoosh%20index*")
    page.locator("#found [data-hit]").first.wait_for()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowUp")
    assert focused(page) == "q"
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    page.wait_for_url("**/notes/decisions/*")


def test_a_choice_changes_the_query_and_going_back_undoes_it(shop: Dashboard, look: Look) -> None:
    page = look(f"{shop.url}/search?q=bm25+whoosh&kind=notes")
    page.locator("[title='type:decision']").click()
    page.locator("[title='type:decision'][aria-current]").wait_for()
    assert page.locator("#q").input_value() == "bm25 whoosh type:decision"
    assert page.url.endswith("/search?q=bm25+whoosh+type%3Adecision&kind=notes")
    page.get_by_role("link", name="Documents").click()
    page.wait_for_url("**kind=docs")
    page.go_back()
    page.go_back()
    page.locator("[title='type:decision']:not([aria-current])").wait_for()
    assert page.locator("#q").input_value() == "bm25 whoosh"
