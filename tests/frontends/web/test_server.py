import signal
import subprocess
import sys
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

from tests.frontends.cli.conftest import environment
from tests.support import forked
from tests.support.waiting import until

from .conftest import Blocking, Serve


def test_people_get_the_address_with_the_token(project: Path, tmp_path: Path) -> None:
    file = tmp_path / "secret"
    file.write_text("0123456789abcdef/+0\n")
    file.chmod(0o600)
    words = ["serve", "web", "--http", "127.0.0.1:0", "--token-file", str(file)]
    with subprocess.Popen(
        [sys.executable, "-m", "memory_bank", *words],
        cwd=project,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment(),
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        line = process.stdout.readline()
        assert line.startswith("serving http://127.0.0.1:")
        assert line.endswith("/?token=0123456789abcdef%2F%2B0\n")
        assert "the token is in" in process.stderr.readline()
        process.terminate()


def test_a_browser_is_led_in_by_a_file_that_others_cannot_read(
    project: Path, tmp_path: Path, chromium: Blocking
) -> None:
    """The arguments of a browser can be read by all users of the machine, the file by one."""
    browser, called = tmp_path / "browser", tmp_path / "called"
    browser.write_text(f'#!/bin/sh\nprintf %s "$*" > {called}.new && mv {called}.new {called}\n')
    browser.chmod(0o700)
    with subprocess.Popen(
        [sys.executable, "-m", "memory_bank", "serve", "web", "--http", "127.0.0.1:0", "--open"],
        cwd=project,
        stdout=subprocess.PIPE,
        text=True,
        env=environment() | {"BROWSER": f"{browser} %s"},
    ) as process:
        try:
            assert process.stdout is not None
            url, token = process.stdout.readline().split()[-1].split("?token=")
            given = until(lambda: called.read_text() if called.exists() else "")
            assert token not in given
            file = Path(unquote(urlsplit(given).path))
            assert file.stat().st_mode & 0o777 == 0o600
            assert file.parent.stat().st_mode & 0o777 == 0o700
            context = chromium.new_context()
            page = context.new_page()
            page.goto(given)
            page.get_by_role("searchbox").wait_for(timeout=60_000)
            assert page.url == url
            page.goto("about:blank")
            page.goto(f"{url}notes")
            assert page.get_by_role("heading", name="Notes").first.is_visible()
            context.close()
        finally:
            process.terminate()
    assert not file.parent.exists()


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 0)])
def test_it_stops_when_it_is_told_to(serve: Serve, number: int, code: int) -> None:
    served = serve(stderr=subprocess.PIPE)
    with served.client() as client:
        client.get("/")
        served.process.send_signal(number)
        assert served.process.wait(60) == code
    assert served.process.stderr is not None
    assert "Traceback" not in served.process.stderr.read()


def test_a_port_that_is_taken_is_said_with_the_option_that_helps(
    serve: Serve, project: Path
) -> None:
    address = urlsplit(serve().url).netloc
    answer = forked.run(
        [sys.executable, "-m", "memory_bank", "serve", "web", "--http", address],
        cwd=project,
        capture_output=True,
        text=True,
        env=environment(),
    )
    assert answer.returncode == 2
    assert f"port {address.partition(':')[2]} of 127.0.0.1 is in use" in answer.stderr
    assert "--http" in answer.stderr


def test_a_folder_without_a_bank_gets_a_page_that_says_so(serve: Serve, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    with serve(cwd=tmp_path / "empty").client() as client:
        answer = client.get("/")
    assert answer.status_code == 404
    assert "No .memories folder" in answer.text
    assert str(tmp_path) not in answer.text
