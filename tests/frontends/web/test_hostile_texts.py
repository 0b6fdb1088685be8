"""No text leaves its place, nor any width: one project full of them, and every page of it."""

import json
import re
import shutil
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import quote

import pytest

from memory_bank.sessions.records import Prompt, Summary
from tests.conftest import run_git
from tests.support.homes import live_at
from tests.support.session_builder import observation, session, write

from .conftest import LOOKS, Dashboard, Look, serving
from .payloads import FORBIDDEN, PAYLOADS

pytestmark = pytest.mark.slow

EVERY = range(len(PAYLOADS))
LONG = "averyveryveryverylongwordwithoutanyspace" * 5
TEXTS = "\n".join(PAYLOADS)
PAGES = [
    "/",
    "/health",
    "/sessions",
    "/sessions/hostile",
    "/review?range=HEAD~1..HEAD&full=1",
    "/notes",
    *(f"/notes?{key}={quote(PAYLOADS[0])}" for key in ("folder", "type", "tag", "cites")),
    *(f"/notes/hostile/n{number}" for number in EVERY),
    *(f"/notes/hostile/n{number}?full=1" for number in EVERY[1::5]),
    *(f"/notes/hostile/n{number}/history" for number in EVERY[::5]),
    *(f"/notes/{quote(one, safe='')}" for one in PAYLOADS[:3]),
    "/search?limit=60&q=whoosh",
    *(f"/search?limit=60&q={quote(' '.join(PAYLOADS[start::2]))}" for start in range(2)),
    "/code/src/m0.py",
    "/graph?note=hostile/n1&depth=2",
    "/graph?whole=1",
    *(f"/graph/node?id=hostile/n{number}.md" for number in EVERY),
]


def note(number: int, payload: str) -> str:
    """Write a note that has a payload in every field."""
    one = payload.replace("\0", "")  # a file with it is no text
    value = json.dumps(payload) if number % 2 else "'" + one.replace("'", "''") + "'"
    value = value.replace("\u202e", "\\u202e" if number % 2 else "")
    return (
        f"---\ntitle: {value}\ntype: {value}\ntags: [{value}]\nfile_refs: [{value}]\n"
        f"other: {value}\n{'k' + str(number)}: {value}\nsource_agent: {value}\n"
        f"created_at: 2026-01-{1 + number % 28:02d}\n---\n{one} whoosh\n\n# {one}\n\n- [ ] {one}\n\n"
        f"[[{one}]] [[n1|{one}]] [x]({one}) ![x]({one}) `{one}` <{one}>\n\n"
        f"| {one} | b |\n|---|---|\n| {one} | {one} |\n\n```{one}\n{one}\n```\n\n"
        f"[x]: {one}\n\n    {one}\n\n[[n{(number + 1) % len(PAYLOADS)}]] {one} ^id\n"
    )


@pytest.fixture(scope="module")
def hostile(new_project: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Dashboard]:
    """Serve a project with payloads in notes, sessions, code, commits and names of authors."""
    root = tmp_path_factory.mktemp("hostile")
    project = Path(shutil.copytree(new_project, root / "project"))
    bank = project / ".memories"
    (bank / "hostile").mkdir()
    for number, payload in enumerate(PAYLOADS):
        (bank / f"hostile/n{number}.md").write_text(note(number, payload))
    (bank / f"decisions/{'long' * 30}.md").write_text(
        f"---\ntype: {'t' * 90}\ntags: [{LONG}]\n---\n# whoosh {LONG}\n\nwhoosh {LONG}\n"
    )
    code = "".join(f"def whoosh{n}():\n    {text!r}\n" for n, text in enumerate(PAYLOADS))
    (project / "src/m0.py").write_text(code)
    now = datetime.now(UTC)
    work = [
        observation(
            n, text, created_at=now, subtitle=text, narrative=TEXTS, facts=(text,),
            concepts=(text,), files_read=(text,), files_modified=(text,), prompt_number=1,
        )
        for n, text in enumerate(PAYLOADS, 1)
    ]  # fmt: skip
    texts = dict.fromkeys(("request", "investigated", "learned", "completed", "next_steps"), TEXTS)
    summary = Summary("", "hostile", "shop", now, notes=TEXTS, files_read=PAYLOADS, **texts)
    prompts = (Prompt("hostile", 1, TEXTS, now),)
    said = {"project": PAYLOADS[0] * 5, "agent": PAYLOADS[2] * 5}
    write(bank, session("hostile", *work, summary=summary, prompts=prompts, **said))
    run_git(project, "add", "-A")
    author = f"user.name={PAYLOADS[2]}"
    run_git(project, "-c", author, "commit", "-qm", PAYLOADS[0], "-m", TEXTS.replace("\0", ""))
    with pytest.MonkeyPatch.context() as patch:
        live_at(root, patch)
        with serving(project, "--write") as dashboard:
            yield dashboard


def ready(dashboard: Dashboard, path: str) -> tuple[int, str]:
    """Return a page once the notes and the code have been read."""
    end = time.monotonic() + 60
    with dashboard.client() as client:
        while True:
            answer = client.get(path)
            if "being read for the first time" not in answer.text:
                return answer.status_code, answer.text
            assert time.monotonic() < end
            time.sleep(0.1)


def test_no_text_leaves_its_place_on_any_page(hostile: Dashboard) -> None:
    for path in PAGES:
        status, page = ready(hostile, path)
        assert status in {200, 404}, path
        text = page.lower()
        assert [one for one in FORBIDDEN[:-1] if one in text] == [], path
        assert "{{ 7*7 }}" in text or ">49<" not in text, path
        links = "".join(re.findall(r'(?:href|src)="[^"]*"', text))
        assert "javascript:" not in links, path


@pytest.mark.parametrize("path", [one for one in PAGES if "/node?" not in one][::6])
def test_a_browser_runs_none_and_no_width_is_left(
    hostile: Dashboard, look: Look, path: str
) -> None:
    ready(hostile, path)
    for width, theme in LOOKS:
        page = look(f"{hostile.url}{path}", width=width, theme=theme)
        assert page.locator("h1").count() == 1
        assert page.locator("main script, main style, main iframe, main object").count() == 0
        assert page.locator("main base, main meta, main link").count() == 0
        assert page.locator("main a:not([href^='/']):not([href^='#'])").count() == 0
        assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_a_node_of_the_picture_has_no_text_that_runs(hostile: Dashboard, look: Look) -> None:
    page = look(f"{hostile.url}/graph?whole=1")
    page.wait_for_selector("#graph-message", state="hidden")
    page.locator("details > summary", has_text="as a list").click()
    page.locator("#graph-list a", has_text="alert").first.click()
    page.locator("#graph-node h2", has_text="alert").wait_for()
