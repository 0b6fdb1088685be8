"""A dashboard that runs, a client of it, and a real browser."""

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import httpx2
import pytest
from anyio.from_thread import BlockingPortal, start_blocking_portal
from playwright.async_api import async_playwright

from tests.frontends.cli.conftest import environment
from tests.support import forked
from tests.support.homes import name_homes

WIDTHS = (1280, 390)
THEMES = ("light", "dark")
LOOKS = [(width, theme) for width in WIDTHS for theme in THEMES]
"""How a page is looked at: by a width in pixels, and a theme."""
_PROGRAMS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
_SECONDS = 30


@dataclass(frozen=True)
class Dashboard:
    """A dashboard in a process of its own."""

    url: str
    token: str | None
    token_file: str | None
    process: subprocess.Popen[str]

    def client(self, **settings: Any) -> httpx2.Client:
        """Return a client that has the token, and keeps cookies as a browser does."""
        headers = {"authorization": f"Bearer {self.token}"}
        return self.stranger(headers=headers, **settings)

    def stranger(self, **settings: Any) -> httpx2.Client:
        """Return a client that does not know the token."""
        return httpx2.Client(base_url=self.url, timeout=60, **settings)


Serve = Callable[..., Dashboard]
_TOKENS: dict[str, str] = {}
"""The tokens of the dashboards that were started, by the host and port of their URL."""


def entrance(url: str) -> str:
    """Return the URL of a page with the token of its dashboard, as a person opens it first."""
    token = _TOKENS.get(_host(url))
    if token is None:
        return url
    address, hash_mark, place = url.partition("#")
    return f"{address}{'&' if '?' in address else '?'}token={token}{hash_mark}{place}"


@contextmanager
def serving(
    cwd: Path, *words: str, address: str = "127.0.0.1:0", stderr: int = -3, **variables: str
) -> Iterator[Dashboard]:
    """Serve a dashboard of a folder; `variables` are added to its environment."""
    command = [*(sys.executable, "-m", "memory_bank", "serve", "web", "--json"), "--http", address]
    started = forked.Popen(
        [*command, *words],
        cwd=cwd,
        stdout=subprocess.PIPE,
        stderr=stderr,
        text=True,
        env=environment() | variables,
    )
    with started as process:
        try:
            assert process.stdout is not None
            said = json.loads(process.stdout.readline())
            url = said["url"].replace("0.0.0.0", "127.0.0.1")  # noqa: S104
            if said["token"]:
                _TOKENS[_host(url)] = said["token"]
            yield Dashboard(url.rstrip("/"), said["token"], said["token_file"], process)
        finally:
            process.kill()


@pytest.fixture
def serve(project: Path) -> Iterator[Serve]:
    """Serve dashboards of the project, or of another folder; all end with the test."""
    with ExitStack() as stack:

        def serve(*words: str, cwd: Path = project, **settings: Any) -> Dashboard:
            return stack.enter_context(serving(cwd, *words, **settings))

        yield serve


@pytest.fixture(scope="session")
def unchanged(new_project: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Dashboard]:
    """Serve the project as it is made: one dashboard for all tests of a worker that only read."""
    home = tmp_path_factory.mktemp("unchanged")
    project = Path(shutil.copytree(new_project, home / "project"))
    with serving(project, **name_homes(home)) as served:
        yield served


@pytest.fixture
def dashboard(request: pytest.FixtureRequest) -> Iterator[httpx2.Client]:
    """Ask a dashboard of the project that only reads.

    Tests that don't ask for the project can't change it, and share one dashboard.
    """
    changes = "project" in request.fixturenames
    served = request.getfixturevalue("serve")() if changes else request.getfixturevalue("unchanged")
    with served.client() as client:
        yield client


@pytest.fixture
def writable(serve: Serve) -> Iterator[httpx2.Client]:
    """Ask a dashboard of the project that writes."""
    with serve("--write").client() as client:
        yield client


class Blocking:
    """A thing of Playwright whose methods return when they are done.

    Its loop runs in a thread of its own: in that of the tests, no other loop could run.
    """

    def __init__(self, portal: BlockingPortal, inner: Any) -> None:
        self._portal = portal
        self._inner = inner

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._inner, name)
        return partial(self._call, found) if callable(found) else self._wrapped(found)

    def _call(self, method: Callable[..., Any], *words: Any, **settings: Any) -> Any:
        words = tuple(one._inner if isinstance(one, Blocking) else one for one in words)

        async def run() -> Any:
            found = method(*words, **settings)
            return await found if hasattr(found, "__await__") else found

        return self._wrapped(self._portal.call(run))

    def _wrapped(self, found: Any) -> Any:
        if isinstance(found, list):
            return [self._wrapped(one) for one in found]
        known = type(found).__module__.startswith("playwright.")
        return Blocking(self._portal, found) if known else found


@pytest.fixture(scope="session")
def chromium() -> Iterator[Blocking]:
    """Start a Chromium of this machine, one for all tests of a worker."""
    program = next(filter(None, map(shutil.which, _PROGRAMS)), None)
    if program is None:
        pytest.skip("NO CHROMIUM: the dashboard is not tested in a browser; install chromium")
    arguments = ["--no-sandbox"] if getattr(os, "geteuid", lambda: 1)() == 0 else []
    with start_blocking_portal() as portal:
        driver = portal.wrap_async_context_manager(async_playwright())
        with driver as playwright:
            launch = Blocking(portal, playwright).chromium.launch
            browser = launch(executable_path=program, args=arguments)
            yield browser
            browser.close()


_EXPECTED = re.compile("the server responded with|^htmx:(sendAbort|afterRequest),")

Look = Callable[..., Blocking]


@pytest.fixture
def look(chromium: Blocking) -> Iterator[Look]:
    """Open pages in a browser, by width and theme; they must not complain, nor ask other hosts.

    What the console says of our own answers 4xx is no complaint, nor that a newer key or the end of
    the test aborts a request.
    """
    complaints: list[str] = []
    with ExitStack() as stack:

        def look(
            url: str, *, width: int = WIDTHS[0], theme: str = THEMES[0], **settings: Any
        ) -> Blocking:
            context = chromium.new_context(
                viewport={"width": width, "height": 900}, color_scheme=theme, **settings
            )
            stack.callback(context.close)
            context.set_default_timeout(_SECONDS * 1000)
            page = context.new_page()

            def said(message: Any) -> None:
                if message.type == "error" and not _EXPECTED.search(message.text):
                    complaints.append(message.text)

            def asked(request: Any) -> None:
                if not request.url.startswith((url.split("/", 3)[0] + "//" + _host(url), "data:")):
                    complaints.append(f"asks {request.url}")

            page.on("console", said)
            page.on("pageerror", lambda error: complaints.append(str(error)))
            page.on("dialog", lambda dialog: complaints.append(f"dialog {dialog.message}"))
            page.on("request", asked)
            page.goto(entrance(url))
            return page

        yield look
    assert complaints == []


def _host(url: str) -> str:
    return url.split("/", 3)[2]
