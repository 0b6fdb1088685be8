"""Notes are changed in the browser: nothing is lost, and nothing is written unasked."""

import re
from pathlib import Path

import httpx2
import pytest

from memory_bank.bank.bank import Bank
from memory_bank.frontends.web.note_fields import read_fields, rewrite_fields
from memory_bank.sessions.compress import compress_now
from memory_bank.sessions.listing import list_sessions
from memory_bank.sessions.sessions import store_observation

from .conftest import Look, Serve
from .payloads import PAYLOADS
from .test_calls import fields

URL = "/notes/facts/bm25"
SECRET = "AKIA" + "Z7Q4WJ2XK5LM3NPR"


@pytest.fixture
def note(project: Path) -> Path:
    return project / ".memories/facts/bm25.md"


def test_a_dashboard_that_reads_has_no_forms(dashboard: httpx2.Client, note: Path) -> None:
    page = dashboard.get(URL).text
    assert "/edit" not in page
    assert "<form method" not in page
    assert dashboard.get(f"{URL}/edit").status_code == 404
    before = note.read_bytes()
    for word in ("edit", "archive", "restore", "confirm", "promote"):
        assert dashboard.post(f"{URL}/{word}", data={"text": "x"}).status_code == 405
    assert note.read_bytes() == before


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


def test_a_secret_is_not_saved_and_stays_in_the_form(writable: httpx2.Client, note: Path) -> None:
    before = note.read_bytes()
    form = {**fields(writable.get(f"{URL}/edit?source=1").text), "text": f"The key is {SECRET}\n"}
    answer = writable.post(f"{URL}/edit", data=form)
    assert answer.status_code == 422
    assert "secret" in answer.text
    assert "Not saved" in answer.text
    assert fields(answer.text)["text"] == form["text"]
    assert note.read_bytes() == before


def test_any_text_survives_the_form(writable: httpx2.Client, note: Path) -> None:
    text = "\n\n# BM25\n\n" + "\n".join(one.replace("\0", "") for one in PAYLOADS) + "\n\ttab \n\n"
    note.write_text(text)
    form = fields(writable.get(f"{URL}/edit?source=1").text)
    assert form["text"] == text
    assert writable.post(f"{URL}/edit", data=form).status_code == 303
    assert note.read_text() == text


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


SENTENCE = "---\ntype: fact\n---\nWe page by `cursor`, since offsets miss rows.\n"


@pytest.mark.parametrize(
    ("title", "text", "content"),
    [
        ("We page by `cursor`, since offsets miss rows", "", SENTENCE),
        ("We page by offset", "", "---\ntype: fact\n---\nWe page by offset.\n"),
        (
            "We page by `cursor`, since offsets miss rows",
            "Offsets are slow, too.\n",
            f"{SENTENCE}\nOffsets are slow, too.\n",
        ),
    ],
)
def test_the_sentence_of_a_note_is_its_title_in_the_form(
    title: str, text: str, content: str
) -> None:
    fields = read_fields(SENTENCE)
    assert fields is not None
    assert (fields.title, fields.text) == ("We page by `cursor`, since offsets miss rows", "")
    assert rewrite_fields(SENTENCE, fields._replace(title=title, text=text)) == content


def test_the_first_sentence_of_a_longer_note_is_its_title_and_stays_in_the_text() -> None:
    fields = read_fields("We page by cursor. Offsets miss rows.\n")
    assert fields is not None
    assert (fields.title, fields.text) == (
        "We page by cursor",
        "We page by cursor. Offsets miss rows.\n",
    )
