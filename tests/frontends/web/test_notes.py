"""The pages of notes: the list, one note, its history; for people, and with hostile text."""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import httpx2
import pytest

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
    git(project, "add", "-A")
    git(project, "commit", "-q", "-m", "Add a cache (#12)")
    note.write_text(NOTE.replace("Memory.", "Memory, and care."))
    git(project, "commit", "-qam", f"Say what it costs\n\n{CLAUDE}")
    code.write_text("SIZE = 2\n")
    git(project, "commit", "-qam", "Double the cache")
    return note


def test_a_note_has_its_text_with_links(cache: Path, dashboard: httpx2.Client) -> None:
    page = dashboard.get("/notes/decisions/cache").text
    assert page.count("Use a cache</h1>") == 1
    assert page.count(">Use a cache<") == 1, "the title stands there once"
    assert re.search(r'href="/notes/facts/bm25"[^>]*>BM25</a>', page)
    assert re.search(r'class="cited" href="/code/src/index.py"', page)
    assert dashboard.get("/code/src/index.py").status_code == 200
    assert dashboard.get("/graph?note=decisions/cache.md").status_code == 200
    assert 'href="/graph?note=decisions%2Fcache.md"' in page
    assert re.search(
        r'class="ghost"[^>]*>Not written<span class="hidden-text"> \(there is no', page
    )
    assert 'href="#why"' in page or "/notes/decisions/cache#why" in page
    assert '<h2 id="why">' in page
    assert "done:" in page
    assert '<div class="scroll"' in page
    assert 'rel="noreferrer noopener"' in page
    assert "cache, speed" in page
    assert "src/cache.py" in page


def test_the_page_says_who_wrote_it_and_what_changed(cache: Path, dashboard: httpx2.Client) -> None:
    for page in (
        dashboard.get("/notes/decisions/cache?full=1").text,
        dashboard.get("/notes/decisions/cache/standing", headers={"hx-request": "true"}).text,
    ):
        words = " ".join(re.sub(r"<[^>]+>", "", page).split())
        assert "Written by Test on " in words
        assert ", reviewed in #12." in words
        assert "Changed by Test with Claude on " in words
        assert "src/cache.py changed after " in words
        assert "Double the cache" in words
    plain = dashboard.get("/notes/decisions/cache").text
    assert 'hx-get="/notes/decisions/cache/standing"' in plain
    assert 'href="/notes/decisions/cache?full=1"' in plain


def test_backlinks_are_shown_with_their_words(dashboard: httpx2.Client) -> None:
    page = dashboard.get("/notes/facts/bm25").text
    part = page.split("Linked from 1</h2>")[1].split("</section>")[0]
    assert "/notes/decisions/tantivy" in part
    assert "comes for free" in part, "the words around the link"


def test_the_history_shows_words(cache: Path, dashboard: httpx2.Client) -> None:
    cache.write_text(cache.read_text().replace("care", "patience"))
    page = dashboard.get("/notes/decisions/cache/history").text
    assert page.index("Not committed") < page.index("Say what it costs")
    assert page.index("Say what it costs") < page.index("Add a cache")
    assert "<del>care.</del>" in page
    assert "<ins>patience.</ins>" in page
    assert re.search(r"<del>Memory.</del><ins>Memory, and care.</ins>", page)


def test_what_a_note_supersedes_and_its_state_are_said(
    project: Path, dashboard: httpx2.Client
) -> None:
    (project / ".memories/old.md").write_text("---\nstatus: archived\n---\n# Old\n\nOld.\n")
    (project / ".memories/new.md").write_text(
        "---\nsupersedes: '[[old]]'\nverified_commit: abcdefabcdef\n---\n# New\n\nNew.\n"
    )
    old = dashboard.get("/notes/old?full=1").text
    assert "This note is archived:" in old
    assert re.search(r'Replaced by <a [^>]*href="/notes/new">New</a>', old)
    new = dashboard.get("/notes/new?full=1").text
    assert "which this repository does not have" in new
    assert "Not committed yet" in new
    assert "<h2>Replaces</h2>" in new


def test_notes_are_browsed(cache: Path, dashboard: httpx2.Client) -> None:
    every = dashboard.get("/notes").text
    assert "4 notes," in dashboard.get("/notes?order=new").text
    assert 'href="/notes?folder=decisions"' in every
    some = dashboard.get("/notes?folder=decisions&tag=speed").text
    assert "1 note," in some
    assert "/notes/decisions/cache" in some
    assert "No note is like that." in dashboard.get("/notes?type=nothing").text
    named = dashboard.get("/notes?cites=src/cache.py").text
    assert ">src/cache.py</code>" in named
    assert "1 note," in named


def test_a_note_that_does_not_exist_says_what_next(dashboard: httpx2.Client) -> None:
    for url in ("/notes/nothing", "/notes/nothing/history", "/notes/nothing/standing"):
        answer = dashboard.get(url)
        assert answer.status_code == 404, url
        assert "There is no note" in answer.text
        assert "<p>Search for it, or follow a link" in answer.text


def test_a_note_may_have_the_name_of_a_page(project: Path, dashboard: httpx2.Client) -> None:
    folder = project / ".memories/a"
    folder.mkdir()
    (folder / "history.md").write_text("# Events\n\nMany.\n")
    assert dashboard.get("/notes/a/history").headers["location"] == "/notes/a/history.md"
    page = dashboard.get("/notes/a/history.md").text
    assert "Events</h1>" in page
    assert 'href="/notes/a/history.md/history"' in page
    assert 'hx-get="/notes/a/history.md/standing"' in page


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


def test_notes_that_are_close_are_shown(project: Path, dashboard: httpx2.Client) -> None:
    words = "A worker tries a failed job five times, with jitter, then parks it."
    (project / ".memories/facts/one.md").write_text(f"# Retries of a job\n\n{words}\n")
    (project / ".memories/facts/two.md").write_text(f"# Tries of a job & pauses\n\n{words}\n")
    assert 'hx-get="/new/known?note=facts%2Fone.md"' in dashboard.get("/notes/facts/one").text
    page = dashboard.get("/new/known", params={"note": "facts/one.md"}).text
    assert 'href="/notes/facts/two">Tries of a job &amp; pauses</a>' in page
    assert "facts/one" not in page


def test_without_javascript_a_link_shows_it_all(cache: Path, serve: Serve, look: Look) -> None:
    page = look(f"{serve().url}/notes/decisions/cache", java_script_enabled=False)
    page.locator(".standing > summary").click()
    page.get_by_role("link", name="Who wrote it").click()
    assert page.locator("text=Double the cache").count() == 1
    assert page.locator("text=Who wrote which section").count() == 1


def test_a_bank_outside_git_has_notes(serve: Serve, tmp_path: Path) -> None:
    folder = tmp_path / "plain/.memories"
    folder.mkdir(parents=True)
    with serve(cwd=folder.parent).client() as client:
        assert "There are no notes yet." in client.get("/notes").text
        (folder / "empty.md").write_text("")
        assert "This note has no text." in client.get("/notes/empty?full=1").text
        assert "There is no git history" in client.get("/notes/empty?full=1").text
        assert "Git has no commit of this note yet" in client.get("/notes/empty/history").text
