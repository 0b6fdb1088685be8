import inspect
from collections.abc import Iterator, Sequence
from pathlib import Path

import httpx2
import pytest
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.testclient import TestClient

from memory_bank.base import errors
from memory_bank.base.errors import Hint, MemoryBankError, NoteNotFound
from memory_bank.frontends.serving.shared_bank import SharedBank
from memory_bank.frontends.web.app import STATUS, build_application, http_status
from memory_bank.frontends.web.site import Site, read_number

KINDS = [
    kind
    for _, kind in inspect.getmembers(errors, inspect.isclass)
    if issubclass(kind, MemoryBankError) and kind is not MemoryBankError
]


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_every_error_has_a_status(kind: type[MemoryBankError]) -> None:
    assert any(base in STATUS for base in kind.__mro__), kind
    assert 400 <= http_status(kind("wrong")) < 600


class Broken(Site):
    """A dashboard with pages that fail."""

    def routes(self) -> Iterator[Route]:
        async def known(request: Request) -> Response:
            raise NoteNotFound("there is no note <b> in /home/somebody/bank", Hint.LIST_NOTES)

        async def unknown(request: Request) -> Response:
            raise ZeroDivisionError("a secret of the server")

        yield from super().routes()
        yield from routes(known, unknown)


def routes(*pages: object) -> Sequence[Route]:
    return [Route(f"/{page.__name__}", page) for page in pages]  # type: ignore[attr-defined]


@pytest.fixture
def client(project: Path) -> TestClient:
    """Ask a dashboard with pages that fail, in this process."""
    site = Broken(SharedBank(str(project)))
    app = build_application(site, ["testserver"], None)
    return TestClient(app, raise_server_exceptions=False)


def test_an_error_says_what_where_and_what_next(client: TestClient) -> None:
    answer = client.get("/known")
    assert answer.status_code == 404
    assert "<h1>There is no note &lt;b&gt; in …/bank</h1>" in answer.text
    assert '<span class="path">/known</span>' in answer.text
    assert "<p>Search for it, or follow a link from the start page.</p>" in answer.text


def test_a_fault_of_ours_shows_nothing_of_the_inside(client: TestClient) -> None:
    answer = client.get("/unknown")
    assert answer.status_code == 500
    assert "The server made a mistake" in answer.text
    assert "secret" not in answer.text
    assert "Traceback" not in answer.text
    assert "content-security-policy" in answer.headers


def test_memory_or_threads_that_run_out_are_a_plain_text(
    project: Path, caplog: pytest.LogCaptureFixture
) -> None:
    class Exhausted(Broken):
        def routes(self) -> list[Route]:
            async def memory(_: Request) -> Response:
                raise MemoryError

            async def thread(_: Request) -> Response:
                raise RuntimeError("can't start new thread")

            return [Route("/memory", memory), Route("/thread", thread)]

    site = Exhausted(SharedBank(str(project)))
    client = TestClient(build_application(site, ["testserver"], None))
    for page in ("memory", "thread"):
        answer = client.get(f"/{page}")
        assert answer.status_code == 503
        assert "this machine" in answer.text
        assert "content-security-policy" in answer.headers
    assert "Traceback" not in caplog.text


@pytest.mark.parametrize(
    ("given", "number"),
    [("", 7), ("5", 5), ("0", 0), ("-1", 7), ("1.5", 7), ("x", 7), ("²", 7), ("٣", 7), ("900", 50)],
)
def test_a_field_has_a_number_or_the_default(given: str, number: int) -> None:
    assert read_number(given, 7, 50) == number


def test_a_number_of_any_length_is_read_at_once() -> None:
    assert read_number("9" * 1_000_000, 7, 50) == 50


@pytest.mark.parametrize(
    "path", ["search?q=a&limit=", "notes?from=", "sessions?page=", "graph/data?depth="]
)
def test_no_number_in_an_address_makes_the_server_fail(dashboard: httpx2.Client, path: str) -> None:
    for number in ("9" * 5_000, "0", "-1", "x"):
        assert dashboard.get(f"/{path}{number}").status_code < 500
