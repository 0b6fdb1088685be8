"""What pages say: tables of (request, text of the page), asked in this process."""

import html
import json
import re
import time
from calendar import month_abbr, month_name
from collections.abc import Callable, Iterator
from html.parser import HTMLParser
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from memory_bank.frontends.serving.shared_bank import SharedBank
from memory_bank.frontends.web.app import build_application
from memory_bank.frontends.web.site import Site
from tests.support.command_lines import SHELL, replay, typed, work_beside_shop
from tests.support.session_builder import observation, session

HERE = Path(__file__).parent / "calls"
AROUND = {"a": "[", "mark": "==", "del": "[-", "ins": "{+", "button": "("}
BEHIND = {"mark": "==", "del": "-]", "ins": "+}", "button": ")"}
INLINE = {*AROUND, "span", "b", "strong", "em", "code", "small", "time", "abbr", "label", "option"}
UNSEEN = {"script", "style", "svg", "dialog", "kbd"}
MONTHS = "|".join([*month_name[1:], *month_abbr[1:]])
VARYING = (
    (rf"(?<!\d)\d{{1,2}} (?:{MONTHS})(?: 20\d\d)?", "<day>"),
    (r"<day>,? \d\d:\d\d", "<day>"),
    (r"\b\d+ (?:second|minute|hour|day|week|month|year)s?(?: ago)?\b|\bjust now\b", "<age>"),
    (r"\d+ %", "<share>"),
    (r"(?<=[a-z])-?\d\.\d\d|(?<=× )\d\.\d\d", "<score>"),
    (r"(?<!\d)\d\d:\d\d", "<time>"),
    (r"(?<!\w)(?:(?=[0-9a-f]*\d)[0-9a-f]{7,40}(?![0-9a-f])|(?!abcdef)[a-f]{7,40}\b)", "<id>"),
    (r"(?<=\d, )\d+(?= tokens)|\b[\d,]+(?= tokens)", "<tokens>"),
)


class Seen(HTMLParser):
    """The text of a page as lines; links, fields and what is marked have their signs."""

    def __init__(self) -> None:
        super().__init__()
        self.text, self._links, self._unseen = "", [""], 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        self._unseen += tag in UNSEEN
        if tag == "a":
            self._links.append(given.get("href") or "")
        if tag in {"input", "textarea"} and given.get("name") not in {"csrf_token", "etag"}:
            kept = given.get("value") or ""
            self._add(f" <{given.get('name')}={kept}{' checked' if 'checked' in given else ''}> ")
        elif tag not in INLINE:
            self._add("\n" + "#" * int(tag[1]) + " " if re.fullmatch("h[1-6]", tag) else "\n")
        if "aria-current" in given or given.get("aria-invalid") == "true":
            self._add("*")
        self._add(AROUND.get(tag, ""))

    def handle_endtag(self, tag: str) -> None:
        if tag == "a":
            self._add(f"]({self._links.pop()})")
        self._add(BEHIND.get(tag, "" if tag in INLINE else "\n"))
        self._unseen -= tag in UNSEEN

    def handle_data(self, data: str) -> None:
        self._add(data if "\n" in data.strip() else re.sub(r"\s+", " ", data))

    def _add(self, text: str) -> None:
        self.text += "" if self._unseen else text


def seen(page: str) -> str:
    parser = Seen()
    parser.feed(page.partition("<main")[2].partition(">")[2].partition("</main>")[0] or page)
    lines = (" ".join(line.split()) for line in parser.text.split("\n"))
    text = "\n".join(line for line in lines if line)
    for pattern, word in VARYING:
        text = re.sub(pattern, word, text)
    return text


def fields(page: str) -> dict[str, str]:
    """Return the hidden fields of a page, and its text."""
    found = dict(re.findall(r'<input type="hidden" name="(\w+)" value="([^"]*)"', page))
    text = re.search(r'<textarea id="text"[^>]*>\n(.*?)</textarea>', page, re.DOTALL)
    return {**found, **({"text": html.unescape(text[1])} if text else {})}


@pytest.fixture
def ask(project: Path) -> Iterator[Callable[[str], tuple[str, int]]]:
    """Ask a dashboard that writes: GET, or POST with fields over those of the page before."""
    shared = SharedBank(str(project))
    app = build_application(Site(shared, write=True), ["testserver"], None)
    with TestClient(app, follow_redirects=False) as client:
        page = ""

        def ask(line: str) -> tuple[str, int]:
            nonlocal page
            method, _, rest = line.partition(" ")
            if method not in {"GET", "POST"}:
                return typed(line)
            path, _, given = rest.partition(" ")
            end = time.monotonic() + 60
            while True:
                data = {**fields(page), **json.loads(given or "{}")} if method == "POST" else None
                answer = client.request(method, path, data=data)
                if "being read for the first time" not in answer.text:
                    break
                assert time.monotonic() < end
            page = answer.text
            place = answer.headers.get("location", "")
            status = "" if answer.status_code == 200 else f"{answer.status_code} {place}\n"
            shown = page if answer.headers.get("content-type", "").endswith("json") else seen(page)
            return status + shown, 0

        yield ask
    shared.close()


@pytest.mark.skipif(SHELL is None, reason="commands between the requests are typed into bash")
@pytest.mark.parametrize("file", sorted(HERE.glob("*.txt")), ids=lambda file: file.stem)
def test_calls(
    file: Path,
    project: Path,
    tmp_path: Path,
    ask: Callable[[str], tuple[str, int]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    worked = session("retry", observation(1, "Retry", files_read=("a.py",)))
    work_beside_shop(project, tmp_path, monkeypatch, worked)
    replay(file, {str(project): "<project>", str(tmp_path): "<tmp>"}, ask)
