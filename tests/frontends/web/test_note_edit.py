"""Notes are changed in the browser: nothing is lost, and nothing is written unasked."""

from __future__ import annotations

import html
import re
from collections.abc import Callable
from pathlib import Path

import httpx2
import pytest

from memory_bank.bank.bank import Bank
from memory_bank.sessions.compress import compress_now
from memory_bank.sessions.listing import list_sessions
from memory_bank.sessions.sessions import store_observation

from .conftest import Look, Serve
from .payloads import PAYLOADS

Git = Callable[..., str]
URL = "/notes/facts/bm25"
SECRET = "AKIA" + "Z7Q4WJ2XK5LM3NPR"


@pytest.fixture
def note(project: Path) -> Path:
    return project / ".memories/facts/bm25.md"


def fields(page: str) -> dict[str, str]:
    """Return the hidden fields of a page, and its text."""
    found = dict(re.findall(r'<input type="hidden" name="(\w+)" value="([^"]*)"', page))
    text = re.search(r'<textarea id="text"[^>]*>\n(.*?)</textarea>', page, re.DOTALL)
    return {**found, **({"text": html.unescape(text[1])} if text else {})}


def test_a_dashboard_that_reads_has_no_forms(dashboard: httpx2.Client, note: Path) -> None:
    page = dashboard.get(URL).text
    assert "/edit" not in page
    assert "<form method" not in page
    assert dashboard.get(f"{URL}/edit").status_code == 404
    before = note.read_bytes()
    for word in ("edit", "archive", "restore", "confirm", "promote"):
        assert dashboard.post(f"{URL}/{word}", data={"text": "x"}).status_code == 405
    assert note.read_bytes() == before


def test_the_text_is_edited(writable: httpx2.Client, note: Path) -> None:
    assert f'href="{URL}/edit"' in writable.get(URL).text
    form = fields(writable.get(f"{URL}/edit?source=1").text)
    assert form["text"] == note.read_text()
    form["text"] = "# BM25\r\n\r\nNew <b> text.\r\n"
    saved = writable.post(f"{URL}/edit", data=form)
    assert (saved.status_code, saved.headers["location"]) == (303, f"{URL}?done=saved")
    assert note.read_bytes() == b"# BM25\n\nNew <b> text.\n"
    shown = writable.get(saved.headers["location"]).text
    assert "Saved." in shown
    assert "New &lt;b&gt; text." in shown


def test_only_a_form_of_the_page_writes(writable: httpx2.Client, note: Path) -> None:
    before = note.read_bytes()
    form = fields(writable.get(f"{URL}/edit?source=1").text)
    without = {key: value for key, value in form.items() if key != "csrf_token"}
    for word in ("edit", "archive", "restore", "confirm", "promote"):
        assert writable.post(f"{URL}/{word}", data=without).status_code == 403, word
    bare = {"csrf_token": form["csrf_token"], "text": "x"}
    for word in ("edit", "archive", "restore", "confirm"):
        assert writable.post(f"{URL}/{word}", data=bare).status_code == 409, word
    assert note.read_bytes() == before


def test_a_conflict_shows_both_texts(writable: httpx2.Client, note: Path) -> None:
    form = fields(writable.get(f"{URL}/edit?source=1").text)
    note.write_text("# BM25\n\nWritten by another.\n")
    form["text"] = "# BM25\n\nWritten by me </textarea><script>alert(1)</script>\n"
    answer = writable.post(f"{URL}/edit", data=form)
    assert answer.status_code == 409
    assert note.read_text() == "# BM25\n\nWritten by another.\n"
    again = fields(answer.text)
    assert again["text"] == form["text"]
    assert "<script>alert" not in answer.text
    assert "Written by another.\n</textarea>" in answer.text
    assert "<del>Written by another.</del>" in answer.text
    assert again["etag"] != form["etag"]
    assert writable.post(f"{URL}/edit", data=again).status_code == 303
    assert note.read_text() == form["text"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (f"# BM25\n\nThe key is {SECRET}\n", "secret"),
        ("<<<<<<< a\nx\n=======\ny\n>>>>>>> b\n", "conflict"),
        ("---\ntype: [\n---\n# BM25\n", "front matter"),
        ("", "must not be empty"),
    ],
)
def test_a_refused_text_is_kept(writable: httpx2.Client, note: Path, text: str, said: str) -> None:
    before = note.read_bytes()
    form = fields(writable.get(f"{URL}/edit?source=1").text)
    answer = writable.post(f"{URL}/edit", data={**form, "text": text})
    assert answer.status_code in {400, 422}
    assert said in answer.text
    assert "Not saved" in answer.text
    assert fields(answer.text) == {**form, "text": text, "csrf_token": fields(answer.text)["csrf_token"]}  # fmt: skip
    assert note.read_bytes() == before


def test_a_note_that_is_gone_can_be_written_anew(writable: httpx2.Client, note: Path) -> None:
    form = fields(writable.get(f"{URL}/edit?source=1").text)
    note.unlink()
    answer = writable.post(f"{URL}/edit", data={**form, "text": "# BM25\n\nMine.\n"})
    assert answer.status_code == 404
    again = fields(answer.text)
    assert again["text"] == "# BM25\n\nMine.\n"
    saved = writable.post(f"{URL}/edit", data=again)
    assert saved.headers["location"] == f"{URL}?done=created"
    assert "Mine." in note.read_text()


def test_any_text_survives_the_form(writable: httpx2.Client, note: Path) -> None:
    text = "\n\n# BM25\n\n" + "\n".join(one.replace("\0", "") for one in PAYLOADS) + "\n\ttab \n\n"
    note.write_text(text)
    form = fields(writable.get(f"{URL}/edit?source=1").text)
    assert form["text"] == text
    assert writable.post(f"{URL}/edit", data=form).status_code == 303
    assert note.read_text() == text


def test_a_note_is_archived_and_restored(writable: httpx2.Client, note: Path) -> None:
    before = note.read_bytes()
    form = fields(writable.get(f"{URL}?full=1").text)
    done = writable.post(f"{URL}/archive", data=form)
    assert done.headers["location"] == f"{URL}?done=archive"
    page = writable.get(done.headers["location"]).text
    assert "Archived. It is kept" in page
    assert "This note is archived:" in page
    stale = writable.post(f"{URL}/restore", data=form)
    assert stale.status_code == 409, "the note is no longer as the page showed it"
    writable.post(f"{URL}/restore", data=fields(page))
    assert note.read_bytes() == before


def test_a_note_is_confirmed(writable: httpx2.Client, project: Path, note: Path, git: Git) -> None:
    assert "/confirm" not in writable.get(f"{URL}?full=1").text, "it cites nothing"
    note.write_text("---\nfile_refs: [src/index.py]\n---\n# BM25\n")
    done = writable.post(f"{URL}/confirm", data=fields(writable.get(f"{URL}?full=1").text))
    assert done.headers["location"] == f"{URL}?done=confirm"
    assert git(project, "rev-parse", "HEAD").strip() in note.read_text()
    assert "Confirmed as right" in writable.get(f"{URL}?full=1").text
    (project / "src/index.py").write_text("changed\n")
    warned = writable.post(f"{URL}/confirm", data=fields(writable.get(f"{URL}?full=1").text))
    assert warned.status_code == 200
    assert "uncommitted changes of src/index.py are not confirmed" in warned.text


def test_an_observation_becomes_a_note(bank: Bank, project: Path, writable: httpx2.Client) -> None:
    store_observation(bank, "s-1", title="Retry <b>three</b> times", obs_type="bugfix")
    compress_now(bank)
    (row,) = list_sessions(bank).sessions
    url = f"/notes/{row.path.removesuffix('.md')}"
    page = writable.get(url).text
    assert "Make a note of it" in page
    done = writable.post(f"{url}/promote", data=fields(page.split("/promote")[1]))
    assert done.status_code == 303
    made = writable.get(done.headers["location"]).text
    assert "This note was made of the observation." in made
    assert "Retry &lt;b&gt;three&lt;/b&gt; times" in made
    again = writable.get(url).text
    assert "is the note <a class=" in again
    assert "Make a note of it" not in again


def test_a_person_edits_with_the_keyboard(serve: Serve, look: Look, note: Path) -> None:
    page = look(serve("--write").url + URL)
    page.get_by_role("link", name="Edit").focus()
    page.keyboard.press("Enter")
    page.wait_for_selector("#text")
    page.locator("#text").focus()
    note.write_text("# BM25\n\nTheirs.\n")
    page.keyboard.press("Control+End")
    page.keyboard.type("Mine.")
    page.keyboard.press("Control+Enter")
    page.wait_for_selector("text=changed while you were editing")
    assert page.locator("#text").input_value().endswith("Mine.")
    assert page.locator("#newest").input_value() == "# BM25\n\nTheirs.\n"
    page.locator("#text").focus()
    page.keyboard.press("Control+Enter")
    page.wait_for_selector("text=Saved.")
    assert note.read_text().endswith("Mine.")


def test_the_fields_are_edited_and_all_else_stays(writable: httpx2.Client, note: Path) -> None:
    note.write_bytes(
        b"---\r\n# ours\r\ntype:   fact\r\ntags: [a,  b]\r\n---\r\n\r\n"
        b"# BM25 ranks\r\n\r\nOne line,\r\nand another one.\r\n\r\n* a\r\n* b\r\n"
    )
    page = writable.get(f"{URL}/edit").text
    form = fields(page)
    assert form["text"] == "One line, and another one.\n\n* a\n* b\n"
    assert re.search(r'<textarea class="title"[^>]*>BM25 ranks</textarea>', page)
    given = {**form, "title": "BM25 ranks", "type": "fact", "tags": "a, b", "files": ""}
    before = note.read_bytes()
    assert writable.post(f"{URL}/edit", data=given).status_code == 303
    assert note.read_bytes() == before
    form = fields(writable.get(f"{URL}/edit").text)
    changed = {"title": "BM25 orders", "tags": "a", "text": form["text"].replace("another", "a")}
    assert writable.post(f"{URL}/edit", data={**given, **form, **changed}).status_code == 303
    assert note.read_bytes() == (
        before.replace(b"BM25 ranks", b"BM25 orders")
        .replace(b"another", b"a")
        .replace(b"[a,  b]", b"[a]")
    )


def test_a_new_note_is_written_and_says_what_is_known(
    writable: httpx2.Client, project: Path
) -> None:
    form = fields(writable.get("/new?title=Flock+is+released").text)
    given = {**form, "title": "Flock is released", "type": "fact", "tags": "locks", "files": ""}
    near = writable.post("/new/known", data={**given, "title": "Tantivy over Whoosh", "text": ""})
    assert "/notes/decisions/tantivy" in near.text
    assert writable.post("/new", data={**given, "title": "", "text": " "}).status_code == 400
    look = writable.post("/new", data={**given, "look": "1", "title": "Tantivy over Whoosh"})
    assert "/notes/decisions/tantivy" in look.text
    made = writable.post("/new", data={**given, "text": "When a process <b>dies</b>.\r\n"})
    assert made.headers["location"] == "/notes/facts/flock-is-released?done=created"
    text = (project / ".memories/facts/flock-is-released.md").read_text()
    assert text.endswith("# Flock is released\n\nWhen a process <b>dies</b>.\n")
    assert "tags: [locks]" in text or "- locks" in text
    again = writable.post("/new", data={**given, "text": "When a process <b>dies</b>.\n"})
    assert again.headers["location"].endswith("?done=known")
