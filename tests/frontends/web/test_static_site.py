"""The dashboard as files: for people without the tool, below any path and from disk."""

import random
import re
import shutil
import string
import threading
from collections.abc import Callable, Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import unquote

import pytest

from memory_bank.bank.bank import open_bank
from memory_bank.base.errors import BadInput
from memory_bank.frontends.web.exporting import exported
from memory_bank.frontends.web.written_site import Built, build, to_file
from tests.conftest import run_git as git

from .conftest import LOOKS, Look
from .payloads import FORBIDDEN, PAYLOADS

SECRET = "gh" + "p_" + "".join(random.Random(3).choices(string.ascii_letters + string.digits, k=36))
ODD = "odd/what's a % ü #1.md"


@pytest.fixture(scope="module")
def bank_of_all(
    new_project: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[Path, Callable[..., Built]]]:
    """Make a project with hostile and odd notes, and yield what builds its site."""
    root = tmp_path_factory.mktemp("static")
    project = Path(shutil.copytree(new_project, root / "shop"))
    bank = project / ".memories"
    (bank / "odd").mkdir()
    (bank / ODD).write_text("# Odd\n\nIts name is odd. See [[facts/bm25]].\n")
    texts = [text.replace("\0", "") for text in PAYLOADS]
    for number, text in enumerate(texts[::6]):
        value = "'" + text.replace("'", "''") + "'"
        (bank / f"odd/{number}.md").write_text(
            f"---\ntype: {value}\nother: {value}\n---\n# {text}\n\n{text} [[{text}]]\n"
        )
    (bank / "odd/all.md").write_text("# All\n\n" + "\n\n".join(texts))
    git(project, "add", "-A")
    git(project, "commit", "-qm", f"Add {PAYLOADS[0]}")
    (project / "src/index.py").write_text("def build_index(path):\n    return path\n")
    git(project, "commit", "-qam", "Give the index a path")

    def made(folder: Path, rev: str = "HEAD") -> Built:
        with open_bank(project) as opened, exported(opened, rev) as export:
            return build(export, folder)

    with pytest.MonkeyPatch.context() as patched:
        for kind in ("CONFIG", "STATE", "DATA", "CACHE"):
            patched.setenv(f"XDG_{kind}_HOME", str(root / kind.lower()))
        yield project, made


@pytest.fixture(scope="module")
def site(
    bank_of_all: tuple[Path, Callable[..., Built]], tmp_path_factory: pytest.TempPathFactory
) -> Path:
    """Build the site once."""
    folder = tmp_path_factory.mktemp("www") / "below/here"
    built = bank_of_all[1](folder)
    assert built.refused == ()
    return folder


@pytest.fixture(scope="module")
def url(site: Path) -> Iterator[str]:
    """Serve the folder above the site by a plain web server."""

    class Quiet(SimpleHTTPRequestHandler):
        def log_message(self, *_: object) -> None:
            pass

    root = site.parents[1]
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(root))) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}/{site.relative_to(root)}"
        server.shutdown()


def pages(site: Path) -> dict[str, str]:
    return {
        one.relative_to(site).as_posix(): one.read_text(encoding="utf-8")
        for one in sorted(site.rglob("*.html"))
    }


def files(site: Path) -> dict[str, bytes]:
    return {
        one.relative_to(site).as_posix(): one.read_bytes()
        for one in site.rglob("*")
        if one.is_file()
    }


def test_every_link_leads_to_a_file(site: Path) -> None:
    found = pages(site)
    assert {"index.html", "notes.html", "search.html", "notes/decisions/tantivy.html"} <= set(found)
    for name, text in found.items():
        for link in re.findall(r'(?:href|src|action|data-url)="([^"#?]+)', text):
            if not link.startswith(("http:", "https:", "mailto:", "data:")):
                assert not link.startswith("/"), (name, link)
                assert ((site / name).parent / unquote(link)).is_file(), (name, link)


def test_nothing_in_a_page_needs_a_server_and_nothing_runs(site: Path) -> None:
    for name, text in pages(site).items():
        assert not re.search(r"<[^>]*\shx-", text), name
        assert "htmx" not in text, name
        actions = re.findall(r'<form[^>]*action="([^"]*)"', text)
        assert all(one.endswith("search.html") for one in actions), name
        head = text.split("</head>")[0]
        policy = head.index('http-equiv="Content-Security-Policy"')
        assert policy < head.index("<script")
        assert "default-src 'none'; script-src 'self'" in head.replace("&#x27;", "'")
        for bad in FORBIDDEN[:-1]:
            assert bad not in text.lower(), (name, bad)
        assert not re.search(r"\bago\b|just now", text), name


def test_a_note_says_who_why_and_whether_it_holds(site: Path) -> None:
    page = pages(site)["notes/decisions/tantivy.html"]
    words = " ".join(re.sub(r"<[^>]+>", "", page).split())
    assert "Written by Test on " in words
    assert "no longer maintained" in words
    assert "changed after" in words
    assert "Give the index a path" in words
    assert 'href="tantivy/history.html"' in page
    assert 'href="../facts/bm25.html"' in page


def test_a_link_to_what_is_not_there_is_text(site: Path) -> None:
    page = pages(site)["notes/decisions/tantivy.html"]
    assert re.search(r'<a class="cited"(?! href)[^>]*>', page)
    assert "/sessions" not in page


def test_the_same_commit_gives_the_same_files(
    bank_of_all: tuple[Path, Callable[..., Built]], site: Path, tmp_path: Path
) -> None:
    _, made = bank_of_all
    made(tmp_path / "again")
    assert files(tmp_path / "again") == files(site)


def test_only_its_own_files_are_replaced_and_removed(
    bank_of_all: tuple[Path, Callable[..., Built]], site: Path, tmp_path: Path
) -> None:
    _, made = bank_of_all
    mine = tmp_path / "mine"
    mine.mkdir()
    (mine / "thesis.txt").write_text("mine")
    with pytest.raises(BadInput, match="not empty"):
        made(mine)
    assert [one.name for one in mine.iterdir()] == ["thesis.txt"]
    folder = Path(shutil.copytree(site, tmp_path / "copy"))
    (folder / "CNAME").write_text("notes.example.org")
    built = made(folder, "HEAD~2")
    assert any("Odd" not in text for text in pages(folder).values())
    assert "notes/odd/0.html" in built.removed
    assert not (folder / "notes/odd").exists()
    assert (folder / "CNAME").read_text() == "notes.example.org"


def test_secrets_leave_neither_by_a_note_nor_by_its_history(project: Path, tmp_path: Path) -> None:
    old, new = project / ".memories/facts/bm25.md", project / ".memories/token.md"
    text = old.read_text()
    old.write_text(f"{text}\ntoken = {SECRET}\n")
    git(project, "commit", "-qam", "Add")
    old.write_text(text)
    new.write_text(f"# Token\n\ntoken = {SECRET}\n")
    git(project, "add", "-A")
    git(project, "commit", "-qm", "Move")
    with open_bank(project) as opened, exported(opened) as export:
        built = build(export, tmp_path / "site")
    assert {one.what for one in built.refused} == {"token.md", "/notes/facts/bm25/history"}
    found = files(tmp_path / "site")
    assert "notes/facts/bm25.html" in found
    assert not [name for name, data in found.items() if SECRET.encode() in data]
    assert not [name for name in found if "token" in name]


def test_the_id_of_a_commit_about_recovery_codes_is_no_secret(
    project: Path, tmp_path: Path
) -> None:
    note = project / ".memories/facts/bm25.md"
    for number in range(5):
        note.write_text(f"{note.read_text()}\nMore {number}.\n")
        git(project, "commit", "-qam", "Find recovery codes, cookies and passwords of letters")
    with open_bank(project) as opened, exported(opened) as export:
        assert build(export, tmp_path / "site").refused == ()


@pytest.mark.parametrize("by", ["server", "disk"])
def test_a_stranger_finds_by_words_why_who_and_whether_it_holds(
    url: str, site: Path, look: Look, by: str
) -> None:
    page = look(f"{url if by == 'server' else site.as_uri()}/index.html")
    page.get_by_role("searchbox").click()
    page.keyboard.type("why is whoosh not used")
    page.keyboard.press("Enter")
    page.wait_for_url("**/search.html?q=*")
    hits = page.locator("#static-search-hits a").all_inner_texts()
    assert "Tantivy over Whoosh" in hits[:2]
    assert "found, the best first" in page.locator("#static-search-count").inner_text()
    page.get_by_role("link", name="Tantivy over Whoosh").click()
    page.wait_for_url("**/tantivy.html")
    text = page.locator("main").inner_text()
    assert "no longer maintained" in text
    assert "changed since" in text
    page.locator(".standing > summary").click()
    assert "Written by Test" in page.locator("#standing").inner_text()


def test_the_search_answers_as_one_types(url: str, look: Look) -> None:
    page = look(f"{url}/search.html", width=390)
    status = page.locator("#static-search-count")
    assert status.inner_text() == "Type some words."
    page.get_by_role("searchbox").fill("rarit")
    assert page.locator("#static-search-hits a").all_inner_texts() == ["BM25"]
    page.get_by_role("searchbox").fill("kestrel")
    assert "No note has these words" in status.inner_text()
    page.get_by_role("searchbox").fill("alert onerror")
    assert page.locator("#static-search-hits li").count() > 3


def test_the_graph_is_drawn_from_a_file_and_leads_to_notes(url: str, look: Look) -> None:
    page = look(f"{url}/graph.html")
    page.locator("#graph-message").wait_for(state="hidden")
    page.get_by_role("button", name="Larger").click()
    page.locator("#graph-list").get_by_role("link", name="BM25").click()
    page.wait_for_url("**/notes/facts/bm25.html")


@pytest.mark.parametrize(("width", "theme"), LOOKS[::3])
def test_the_pages_fit(url: str, look: Look, width: int, theme: str) -> None:
    for name in ("index.html", "search.html?q=index", "notes/decisions/tantivy.html"):
        page = look(f"{url}/{name}", width=width, theme=theme)
        wide = page.evaluate("document.documentElement.scrollWidth")
        assert wide <= width, name


FILES = {"/": "index.html", "/notes/a b": "notes/a-b.html", "/notes?from=50": "notes/from-50.html"}


def made(page: str, address: str = "/notes/x/y", file: str = "notes/x/y.html") -> str:
    return to_file(page, address, file, lambda one: FILES.get(one.replace("%20", " "), ""))


@pytest.mark.parametrize(
    ("written", "file"),
    [
        ('<a class="b" href="/">', '<a class="b" href="../../index.html">'),
        ('<a href="/notes/a%20b#why">', '<a href="../a-b.html#why">'),
        ('<a href="/nothing" title="&lt;b&gt;">', '<a title="&lt;b&gt;">'),
        ('<a href="/sessions/1?a=1&amp;b=2">', "<a>"),
        ('<a href="#here">', '<a href="#here">'),
        ('<a href="https://example.org/?a=1&amp;b=2">',) * 2,
        ('<a href="//example.org/">',) * 2,
        ('<a href="mailto:a@example.org">',) * 2,
        ('<img src="/" alt="" hidden>', '<img src="../../index.html" alt="" hidden>'),
        ('<p hx-get="/" hx-trigger="load" class="a">', '<p class="a">'),
        ("<p>a &lt;b&gt; &amp;amp; &#39; &nbsp; ü</p><!doctype html>",) * 2,
        ('<svg viewBox="0 0 1 1"><path d="M0"/></svg>',) * 2,
    ],
)
def test_what_becomes_of_a_tag(written: str, file: str) -> None:
    assert made(written) == file


def test_a_link_may_be_relative_to_the_page() -> None:
    page = '<a rel="next" href="?from=50">'
    assert made(page, "/notes?from=0", "notes.html") == '<a rel="next" href="notes/from-50.html">'


def test_forms_that_need_a_server_are_left_out_whole() -> None:
    page = 'a<form action="/edit"><p>b<input name="c"><br></p><form></form></form>d'
    assert made(page) == "ad"
    assert (
        made('<form action="/"><input></form>') == '<form action="../../index.html"><input></form>'
    )


def test_the_policy_stands_in_the_head() -> None:
    page = made('<head><meta charset="utf-8"><script src="/"></script></head>')
    assert page.index("Content-Security-Policy") < page.index("<script")
    assert "frame-ancestors" not in page, "browsers complain of it there"
