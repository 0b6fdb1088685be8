import re
import shutil
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest

from tests.conftest import run_git
from tests.support.files import write_files
from tests.support.homes import live_at
from tests.support.session_builder import observation, session, write

from .conftest import Blocking, Dashboard, Look, Serve, serving


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
    write_files(project, texts)
    run_git(project, "add", "-A")
    why = (
        "Tokens of users expire after an hour, since a stolen laptop kept a session open for weeks."
    )
    run_git(project, "commit", "-qm", "Add a guide", "-m", why)
    with pytest.MonkeyPatch.context() as patch:
        live_at(root, patch)
        with serving(project) as dashboard:
            yield dashboard


@pytest.fixture
def client(shop: Dashboard) -> Iterator[httpx2.Client]:
    with shop.client() as client:
        yield client


def searched(client: httpx2.Client, **fields: Any) -> str:
    """Return the page of a search once the code has been read."""
    end = time.monotonic() + 60
    while "being read for the first time" in (text := client.get("/search", params=fields).text):
        assert time.monotonic() < end
    return text


def titles(page: str) -> list[str]:
    found = re.findall(r"<[^>]*data-hit>(.*?)</(?:a|span)>", page, re.DOTALL)
    return [re.sub(r"<[^>]*>", "", one).strip() for one in found]


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
        assert "remark" not in page.split('id="found"')[1]
        (notes / "a.md").unlink()
        assert "Nothing found" in searched(client, q="whoosh")


def test_a_hit_of_an_observation_has_its_id_and_leads_to_it(serve: Serve, tmp_path: Path) -> None:
    notes = tmp_path / "alone" / ".memories"
    notes.mkdir(parents=True)
    found = observation(7, "The heron parser drops commas", narrative="Herons drop each comma.")
    write(notes, session("s-7", observation(6, "Look for the store"), found))
    with serve(cwd=tmp_path / "alone").client() as client:
        page = searched(client, q="why are commas dropped by the heron parser")
        (address,) = re.findall(rf'href="(/notes/[^"]*#\S*{found.id})"', page)
        assert f">{found.id}</span>" in page
        assert f'id="^{found.id}"' in client.get(address, follow_redirects=True).text


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
    assert re.search(r"\d match", page.locator("#said").inner_text())
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
    page.locator("#choices").get_by_role("link", name="search").click()
    page.wait_for_url("**tag%3Asearch&kind=notes")
    assert page.locator("#q").input_value() == "bm25 whoosh tag:search"
    page.get_by_role("link", name="Documents").click()
    page.wait_for_url("**kind=docs")
    page.go_back()
    page.go_back()
    page.wait_for_url("**q=bm25+whoosh&kind=notes")
    assert page.locator("#q").input_value() == "bm25 whoosh"
