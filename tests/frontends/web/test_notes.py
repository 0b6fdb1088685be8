"""The pages of notes: the list, one note, its history; for people, and with hostile text."""

import html
import re
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import httpx2
import pytest

from tests.git.history_builder import commit_all

from .conftest import LOOKS, Look, Serve

Git = Callable[..., str]
CLAUDE = "Co-authored-by: Claude <noreply@anthropic.com>"
NOTE = """---
type: decision
tags: [cache, speed]
file_refs: [src/cache.py]
---
# Use a cache

With `SIZE` it answers [[facts/bm25]] fast, see [the index](../../src/index.py), [[#Why]], [[Not written]].

## Why

- [x] measured
- [ ] written down

| a | b |
|---|---|
| 1 | 2 |

## Costs

Memory. [Elsewhere](https://example.org/)
"""


@pytest.fixture
def cache(project: Path, git: Git) -> Path:
    """Add a note of two commits, whose cited code a third one changes."""
    note = project / ".memories/decisions/cache.md"
    note.write_text(NOTE)
    code = project / "src/cache.py"
    code.write_text("SIZE = 1\n")
    commit_all(project, "Add a cache (#12)")
    note.write_text(NOTE.replace("Memory.", "Memory, and care."))
    git(project, "commit", "-qam", f"Say what it costs\n\n{CLAUDE}")
    code.write_text("SIZE = 2\n")
    git(project, "commit", "-qam", "Double the cache")
    return note


@pytest.mark.parametrize(("width", "theme"), LOOKS[::3])
def test_a_note_in_a_browser(cache: Path, serve: Serve, look: Look, width: int, theme: str) -> None:
    wide = "| " + " | ".join(f"column{n}" for n in range(30)) + " |\n|" + "---|" * 30 + "\n"
    cache.write_text(cache.read_text() + f"\n{wide}\n\n    {'code' * 100}\n\n{'word' * 100}\n")
    page = look(f"{serve().url}/notes/decisions/cache", width=width, theme=theme)
    page.wait_for_selector("text=Written by", state="attached")
    assert page.evaluate("document.querySelector('.prose').getBoundingClientRect().top") < 230
    assert page.title().startswith("Use a cache · "), "a part that is loaded does not rename it"
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.locator("#sections li").count() == 3, "who wrote which section, below the text"
    levels = page.evaluate("[...document.querySelectorAll('h1,h2,h3,h4')].map(h => +h.tagName[1])")
    assert levels[0] == 1
    assert all(after <= before + 1 for before, after in pairwise(levels))
    page.locator(".standing > summary").click()
    page.get_by_role("link", name="2 commits").click()
    page.wait_for_selector("h1:has-text('History')")
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_a_text_from_right_to_left_stands_so(project: Path, serve: Serve, look: Look) -> None:
    text = "# שלום\n\nעולם.\n\n- אחד\n\nFrom left to right.\n"
    (project / ".memories/facts/rtl.md").write_text(text, encoding="utf-8")
    page = look(f"{serve().url}/notes/facts/rtl")
    assert page.evaluate("getComputedStyle(document.querySelector('.prose')).direction") == "rtl"
    starts = """() => [...document.querySelectorAll('h1, .prose > p')].map((one) => {
      const range = document.createRange();
      range.selectNodeContents(one);
      const { left, right } = range.getBoundingClientRect();
      const box = one.getBoundingClientRect();
      return box.right - right < left - box.left;
    })"""
    assert page.evaluate(starts) == [True, True, False]


def test_without_javascript_a_link_shows_it_all(cache: Path, serve: Serve, look: Look) -> None:
    page = look(f"{serve().url}/notes/decisions/cache", java_script_enabled=False)
    page.locator(".standing > summary").click()
    page.get_by_role("link", name="Who wrote it").click()
    assert page.locator("text=Double the cache").count() == 1
    assert page.locator("text=Who wrote which section").count() == 1


def test_an_empty_bank_outside_git_has_all_pages(serve: Serve, tmp_path: Path) -> None:
    folder = tmp_path / "plain/.memories"
    folder.mkdir(parents=True)
    with serve(cwd=folder.parent).client() as client:
        assert "knows nothing yet" in client.get("/").text
        assert "There are no notes yet" in client.get("/graph").text
        assert client.get("/graph/data").json()["nodes"] == []
        review = client.get("/review")
        assert (review.status_code, "not in a git repository" in review.text) == (400, True)
        assert str(tmp_path) not in review.text
        assert "There are no notes yet." in client.get("/notes").text
        (folder / "empty.md").write_text("")
        assert "This note has no text." in client.get("/notes/empty?full=1").text
        assert "There is no git history" in client.get("/notes/empty?full=1").text
        assert "Git has no commit of this note yet" in client.get("/notes/empty/history").text


def test_every_note_is_reached_from_the_list_newest_first(
    project: Path, dashboard: httpx2.Client
) -> None:
    for number in range(70):
        name = project / f".memories/records/r{number:02}.md"
        name.parent.mkdir(exist_ok=True)
        name.write_text(
            f"---\ncreated_at: 2026-03-01T10:{number % 60:02}:{number // 60:02}Z\n---\n# R\n"
        )
    seen, times, address = list[str](), list[str](), "/notes"
    while address:
        page = dashboard.get(address).text
        rows = re.findall(r'<li class="row">(.*?)</li>', page, re.DOTALL)
        seen += [found[1] for row in rows if (found := re.search(r'href="/notes/([^"]+)"', row))]
        times += [found[1] for row in rows if (found := re.search(r'datetime="([^"]+)"', row))]
        following = re.search(r'rel="next" href="([^"]+)"', page)
        address = html.unescape(following[1]) if following else ""
    files = {
        str(path.relative_to(project / ".memories").with_suffix(""))
        for path in (project / ".memories").rglob("*.md")
    }
    assert sorted(seen) == sorted(files)
    assert times == sorted(times, reverse=True)
