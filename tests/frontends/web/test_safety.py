import re
import socket
import subprocess
import sys
from pathlib import Path
from urllib.parse import urlsplit

import httpx2
import pytest

from memory_bank.frontends.serving.connections import Limits
from memory_bank.frontends.web.app import POLICY
from tests.frontends.cli.conftest import environment
from tests.support import forked

from .conftest import Dashboard, Look, Serve

SAFE = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "referrer-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
}
TOKEN = "0123456789abcdef0"  # noqa: S105


@pytest.fixture
def locked(serve: Serve, tmp_path: Path) -> Dashboard:
    """Serve a dashboard that needs a token."""
    file = tmp_path / "secret"
    file.write_text(f"{TOKEN}\n")
    file.chmod(0o600)
    return serve("--token-file", str(file))


def statics(page: str) -> list[str]:
    """Return the URLs of the static files that a page names."""
    return re.findall(r'(?:href|src)="(/static/[^"]+)"', page)


def form_token(page: str) -> str:
    """Return the token that a page gives to its forms."""
    found = re.search(r'"X-CSRF-Token": "([^"]+)"', page)
    assert found, "the page has no token"
    return found[1]


def test_the_policy_allows_nothing_inline_and_no_other_host() -> None:
    directives = dict(part.strip().split(" ", 1) for part in POLICY.split(";"))
    assert directives.pop("default-src") == "'none'"
    assert set(directives.values()) == {"'self'", "'none'"}
    assert "unsafe" not in POLICY


def test_every_answer_has_the_headers_of_safety(dashboard: httpx2.Client) -> None:
    page = dashboard.get("/")
    answers = [
        page,
        dashboard.get("/nothing"),
        dashboard.post("/"),
        dashboard.get("/", headers={"host": "evil.example"}),
        dashboard.get("/", headers={"origin": "https://evil.example"}),
        dashboard.head("/"),
        *(dashboard.get(url) for url in statics(page.text)),
    ]
    assert [one.status_code for one in answers[:6]] == [200, 404, 405, 421, 403, 200]
    for answer in answers:
        assert {name: answer.headers.get(name) for name in SAFE} == SAFE, answer.url
    for answer in answers[:6]:
        assert answer.headers["cache-control"] == "no-store", answer.url


def test_a_page_has_no_script_and_no_style_inside(dashboard: httpx2.Client) -> None:
    page = dashboard.get("/").text
    assert not re.findall(r"<script(?![^>]*\ssrc=)", page)
    assert "<style" not in page
    assert not re.findall(r"\s(?:style|on[a-z]+)=", page)


def test_only_names_of_this_machine_are_answered(serve: Serve) -> None:
    served = serve("--allow-host", "bank.example.org")
    port = urlsplit(served.url).port
    with served.client() as client:
        for host in (f"evil.example:{port}", "127.0.0.1.evil.example", "169.254.169.254"):
            assert client.get("/", headers={"host": host}).status_code == 421, host
        for host in (f"localhost:{port}", "bank.example.org", "[::1]"):
            assert client.get("/", headers={"host": host}).status_code == 200, host
        for origin in ("https://evil.example", "null"):
            assert client.get("/", headers={"origin": origin}).status_code == 403, origin


def test_a_dashboard_that_only_reads_refuses_what_would_write(dashboard: httpx2.Client) -> None:
    page = dashboard.get("/")
    assert "X-CSRF-Token" not in page.text
    assert not dashboard.cookies
    for method in ("POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "ANYTHING"):
        for path in ("/", "/notes/facts/bm25", "/nothing"):
            answer = dashboard.request(method, path, data={"csrf_token": "a.b"})
            assert answer.status_code == 405, (method, path)
            assert answer.headers["allow"] == "GET, HEAD"


def test_only_a_page_of_the_dashboard_can_make_a_browser_write(writable: httpx2.Client) -> None:
    token = form_token(writable.get("/").text)
    header = {"x-csrf-token": token}

    def status(**settings: object) -> int:
        return writable.post("/nothing", **settings).status_code

    # 404 is past the guard: there is no such page
    assert status(headers=header) == status(data={"csrf_token": token}) == 404
    assert status() == 403
    for wrong in ("", ".", "a.b", token[:-1], f"{token}0", f"0{token}", token.replace(".", "")):
        assert status(headers={"x-csrf-token": wrong}) == 403, wrong
        assert status(data={"csrf_token": wrong}) == 403, wrong
    assert status(json={"csrf_token": token}) == 403
    for site in ("cross-site", "same-site", "anything"):
        assert status(headers={**header, "sec-fetch-site": site}) == 403, site
    assert status(headers={**header, "sec-fetch-site": "same-origin"}) == 404
    assert status(headers={**header, "origin": "https://evil.example"}) == 403


def test_a_token_is_of_one_browser_and_one_server(serve: Serve) -> None:
    served = serve("--write")
    with served.client() as mine, served.client() as other, serve("--write").client() as third:
        token = form_token(mine.get("/").text)
        cookie = mine.cookies["memory_bank_browser"]
        other.get("/")
        header = {"x-csrf-token": token}
        assert mine.post("/nothing", headers=header).status_code == 404
        assert other.post("/nothing", headers=header).status_code == 403
        other.cookies.clear()
        assert other.post("/nothing", headers=header).status_code == 403
        third.cookies.set("memory_bank_browser", cookie)
        assert third.post("/nothing", headers=header).status_code == 403
        assert form_token(mine.get("/").text) != token, "each page has its own"


def test_the_cookie_of_a_browser_is_kept_from_scripts_and_other_sites(
    writable: httpx2.Client,
) -> None:
    cookie = writable.get("/").headers["set-cookie"].lower()
    assert "httponly" in cookie
    assert "samesite=strict" in cookie
    assert "set-cookie" not in writable.get("/").headers


def test_without_its_token_a_dashboard_of_this_machine_shows_nothing(serve: Serve) -> None:
    served = serve("--write")
    with served.stranger() as client:
        answer = client.get("/")
        assert answer.status_code == 403
        assert "<code>mb serve web</code> printed" in answer.text
        assert "set-cookie" not in answer.headers
        assert all(client.get(url).status_code == 200 for url in statics(answer.text))
        with served.client() as mine:
            project = re.findall(r"<title>(.*)</title>", mine.get("/").text)[0]
        assert project not in answer.text, "nothing of the bank is told"
        for path in ("/health", "/notes/facts/bm25", "/review", "/nothing", "/static", *UNCLEAR):
            assert client.get(path).status_code == 403, path
            assert client.head(path).status_code == 403, path
        for method in ("POST", "PUT", "DELETE", "OPTIONS"):
            assert client.request(method, "/notes/facts/bm25/edit").status_code == 403, method


UNCLEAR = (
    "/static/0/style.css", "/static/../notes/facts/bm25", "//static/x", "/static%2f..%2fnotes",
    "/Static/x",
)  # fmt: skip


def test_what_is_not_the_token_is_refused(locked: Dashboard) -> None:
    port = urlsplit(locked.url).port
    with locked.stranger() as client:
        for wrong in ("", TOKEN[:-1], f"{TOKEN}0", "ü", "%00"):
            assert client.get("/", params={"token": wrong}).status_code == 403, wrong
        for name in ("Bearer", "Basic"):
            answer = client.get("/", headers={"authorization": f"{name} {TOKEN}x"})
            assert answer.status_code == 403
        for cookie in ("memory_bank_access", f"memory_bank_access_{port}"):
            assert client.get("/", headers={"cookie": f"{cookie}={TOKEN}"}).status_code == 403
        assert client.post(f"/?token={TOKEN}").status_code == 403
        assert client.get("/", headers={"authorization": f"Bearer {TOKEN}"}).status_code == 200


def test_the_address_with_the_token_is_opened_once(locked: Dashboard) -> None:
    with locked.stranger() as client:
        answer = client.get("/", params={"token": TOKEN, "a": "1"})
        assert (answer.status_code, answer.headers["location"]) == (303, "/?a=1")
        cookie = answer.headers["set-cookie"]
        assert cookie.startswith(f"memory_bank_access_{urlsplit(locked.url).port}=")
        assert TOKEN not in cookie
        assert {"httponly", "samesite=strict"} <= set(cookie.lower().split("; "))
        assert client.get("/").status_code == 200
        assert client.post("/").status_code == 405
        for path in ("//evil.example/", "/\\evil.example/"):
            found = client.get(f"{locked.url}{path}?token={TOKEN}").headers["location"]
            assert re.match(r"/[^/\\]", found), found


def test_each_start_has_a_new_token_unless_a_file_has_it(serve: Serve, locked: Dashboard) -> None:
    first, second = serve(), serve()
    assert first.token != second.token
    assert first.token_file is second.token_file is None
    assert locked.token == serve("--token-file", str(locked.token_file)).token == TOKEN
    with first.stranger() as browser:
        # browsers send a cookie to every port of a host
        for served in (first, second):
            browser.get(f"{served.url}/?token={served.token}")
        for served in (first, second):
            assert browser.get(f"{served.url}/").status_code == 200
        old = dict(browser.cookies)
    address = urlsplit(first.url).netloc
    first.process.kill()
    first.process.wait()
    with serve(address=address).stranger(cookies=old) as browser:
        assert browser.get("/").status_code == 403


def test_a_dashboard_of_this_machine_can_be_open_to_all_its_users(serve: Serve) -> None:
    served = serve("--no-token", stderr=subprocess.PIPE)
    assert served.token is None
    with served.stranger() as client:
        assert client.get("/").status_code == 200
    served.process.terminate()
    said = served.process.communicate(timeout=60)[1]
    assert "every user and program of this machine can read it" in said


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--http", "0.0.0.0:0"), "there a token is needed"),
        (("--token-file", "secret"), "exclude each other"),
    ],
)
def test_no_token_goes_with_no_other_machine_and_no_file(
    project: Path, words: tuple[str, ...], said: str
) -> None:
    answer = forked.run(
        [sys.executable, "-m", "memory_bank", "serve", "web", "--no-token", *words],
        cwd=project,
        capture_output=True,
        text=True,
        env=environment(),
    )
    assert answer.returncode == 2
    assert said in answer.stderr


def test_other_machines_need_the_token(serve: Serve, private_folders: Path) -> None:
    served = serve(address="0.0.0.0:0")
    file = private_folders / "state" / "memory-bank" / "http-token"
    assert served.token_file == str(file)
    with served.stranger() as client:
        assert client.get("/").status_code == 403
        assert client.get("/", params={"token": file.read_text().strip()}).status_code == 303
        assert client.get("/").status_code == 200


TRAVERSALS = (
    "..%2f..%2f..%2fetc/passwd", "%2e%2e/%2e%2e/%2e%2e/etc/passwd", "..\\..\\etc\\passwd",
    "....//....//etc/passwd", "/etc/passwd", "%00", "style.css%00.png", "../app.py",
    "%2e%2e/templates/home.html",
)  # fmt: skip


def test_no_file_outside_the_static_ones_is_read(dashboard: httpx2.Client) -> None:
    style = next(url for url in statics(dashboard.get("/").text) if url.endswith("style.css"))
    folder = style.removesuffix("style.css")
    for name in TRAVERSALS:
        assert status_of(dashboard, f"{folder}{name}") == 404, name
        assert status_of(dashboard, f"/static/{name}") == 404, name
    assert status_of(dashboard, style) == 200
    assert status_of(dashboard, style.replace(style.split("/")[2], "0" * 16)) == 404


def status_of(client: httpx2.Client, target: str) -> int:
    """Return the status of a request whose target is sent as it is."""
    port = urlsplit(str(client.base_url)).port or 0
    known = f"Authorization: {client.headers['authorization']}"
    with socket.create_connection(("127.0.0.1", port), timeout=60) as line:
        head = "\r\n".join(
            [f"GET {target} HTTP/1.1", "Host: localhost", "Connection: close", known]
        )
        line.sendall(f"{head}\r\n\r\n".encode())
        return int(line.makefile("rb").readline().split()[1])


def test_huge_bodies_are_refused(writable: httpx2.Client) -> None:
    header = {"x-csrf-token": form_token(writable.get("/").text)}
    large = b"x" * (Limits().body_bytes + 1)
    assert writable.post("/nothing", content=large, headers=header).status_code == 413
    pieces = (large[n : n + 2**16] for n in range(0, len(large), 2**16))
    assert writable.post("/nothing", content=pieces, headers=header).status_code == 413
    assert writable.get("/").status_code == 200


def test_other_methods_of_a_page_are_refused_by_name(writable: httpx2.Client) -> None:
    header = {"x-csrf-token": form_token(writable.get("/").text)}
    answer = writable.post("/", headers=header)
    assert answer.status_code == 405
    assert "GET" in answer.headers["allow"]


def test_a_line_of_a_file_is_reached_by_its_address(
    project: Path, serve: Serve, look: Look
) -> None:
    (project / "long.py").write_text("".join(f"a{n} = {n}\n" for n in range(200)))
    page = look(f"{serve().url}/code/long.py#L150", width=390)
    line = page.locator("tr:target")
    assert line.inner_text().split() == ["150", "a149", "=", "149"]
    assert 0 < line.bounding_box()["y"] < 900
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    assert page.title() == "long.py · project"


def test_no_other_file_is_reached(project: Path, dashboard: httpx2.Client) -> None:
    (project / ".gitignore").write_text(".env\n")
    (project / ".env").write_text("a=1\n")
    for name in (*TRAVERSALS, ".env", ".git/config", "%2eenv", ".git%2fconfig", ""):
        assert status_of(dashboard, f"/code/{name}") in {400, 404}, name
    assert status_of(dashboard, "/code/src/index.py") == 200
