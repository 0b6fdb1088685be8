"""The embedder behind HTTP, against a real server on the loopback interface."""

from __future__ import annotations

import gzip
import logging
import socket
import threading
import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from memory_bank.base.errors import BadSetting, EmbedderUnavailable
from memory_bank.base.settings import Settings
from memory_bank.search.embedders import http
from memory_bank.search.models.vectors import np
from tests.search.embedders import fakes
from tests.search.embedders.fakes import serving

if TYPE_CHECKING:
    from pathlib import Path

    from memory_bank.search.embedders.base import Kind
    from tests.search.embedders.fakes import Handler, Served

KEY = "sk-very-secret"


@pytest.fixture(autouse=True)
def _short_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http, "_FIRST_PAUSE", 0.01)


def _load(served: Served | str, path: str = "/v1/embeddings", **options: Any) -> http.HttpEmbedder:
    url = served if isinstance(served, str) else served.url + path
    made = http.HttpOptions(url=url, model="tiny", key=KEY, timeout=20.0)
    return http.load(Settings(embedders=(made._replace(**options),)))


def _fails(embedder: http.HttpEmbedder, reason: str, kind: Kind = "passage") -> str:
    """Return the message, after making sure that it gives nothing away."""
    with pytest.raises(EmbedderUnavailable) as caught:
        embedder.embed(["one", "two"], kind)
    assert caught.value.reason == reason
    assert KEY not in f"{caught.value.message}{caught.value.hint}{caught.value!r}"
    assert caught.value.__cause__ is None
    return caught.value.message


def test_openai_vectors_come_back_in_order() -> None:
    """The answer is sorted by index, and its vectors are scaled to length 1."""
    with serving(fakes.openai) as served:
        rows = _load(served).embed(["one", "two", "three"])
    expected = np.array(fakes.vectors(["one", "two", "three"])) / 3
    assert np.abs(rows - expected).max() < 1e-6
    (request,) = served.requests
    assert request.path == "/v1/embeddings"
    assert request.body == {"model": "tiny", "input": ["one", "two", "three"]}
    assert request.headers["Authorization"] == f"Bearer {KEY}"


def test_ollama_is_known_by_its_path() -> None:
    """Its answers have another shape."""
    with serving(fakes.ollama) as served:
        rows = _load(served, "/api/embed", key="").embed(["one", "two"])
    assert np.abs(rows - np.array(fakes.vectors(["one", "two"])) / 3).max() < 1e-6
    assert "Authorization" not in served.requests[0].headers


def test_texts_are_sent_in_batches_without_the_blank_ones() -> None:
    """A blank text is refused by some servers, so it isn't sent."""
    texts = ["a", "", "b", "c", "  ", "d", "e"]
    with serving(fakes.openai) as served:
        rows = _load(served, batch=2).embed(texts)
    assert [request.body["input"] for request in served.requests] == [["a", "b"], ["c", "d"], ["e"]]
    assert np.linalg.norm(rows, axis=1).round(5).tolist() == [1, 0, 1, 1, 0, 1, 1]


def test_a_long_text_is_cut_between_characters() -> None:
    """One text too long would have the whole batch refused."""
    with serving(fakes.openai) as served:
        _load(served).embed(["x" + "é" * 30_000, "half \udc80 pair"])
    first, second = served.requests[0].body["input"]
    assert 19_990 < len(first.encode()) <= 20_000
    assert first == "x" + "é" * (len(first) - 1)
    assert second == "half ? pair"


def test_too_many_requests_is_tried_again() -> None:
    """After what the server asks for."""
    answers = iter([429, 503])

    def answer(handler: Handler) -> None:
        status = next(answers, 200)
        if status == 200:
            fakes.openai(handler)
        else:
            handler.reply({"error": "slow down"}, status, Retry_After="0")

    with serving(answer) as served:
        assert _load(served).embed(["one"]).any()
    assert len(served.requests) == 3


def test_a_long_retry_after_is_not_waited_for() -> None:
    """Nobody waits an hour for a search."""
    with serving(lambda handler: handler.reply({}, 429, Retry_After="3600")) as served:
        assert "HTTP 429" in _fails(_load(served), "embedder_unreachable")
    assert len(served.requests) == 1


def test_a_broken_server_is_given_up() -> None:
    """After the set number of further tries."""
    with serving(lambda handler: handler.reply({"error": "out of memory"}, 500)) as served:
        message = _fails(_load(served, retries=3), "embedder_unreachable")
    assert "HTTP 500" in message
    assert "out of memory" in message
    assert len(served.requests) == 4


def test_a_slow_server_is_given_up_in_time() -> None:
    """A query has one time limit, passages one for each try."""
    asked, given_up = threading.Semaphore(0), threading.Event()

    def answer(handler: Handler) -> None:
        asked.release()
        given_up.wait(60)
        handler.close_connection = True

    with serving(answer) as served:
        embedder = _load(served, timeout=0.2, retries=1)
        assert "no answer within 0.2 seconds" in _fails(embedder, "embedder_unreachable", "query")
        _fails(embedder, "embedder_unreachable")
        assert all(asked.acquire(timeout=20) for _ in range(3))
        assert len(served.requests) == 3
        given_up.set()


def test_an_answer_that_drips_is_given_up() -> None:
    """Each byte comes in time, the whole does not."""
    dropped = threading.Event()

    def answer(handler: Handler) -> None:
        handler.send_response(200)
        handler.send_header("Content-Length", "1000")
        handler.end_headers()
        try:
            for _ in range(1000):
                handler.wfile.write(b" ")
                handler.wfile.flush()
                time.sleep(0.05)
        except OSError:
            dropped.set()
            handler.close_connection = True

    with serving(answer) as served:
        _fails(_load(served, timeout=0.3, retries=0), "embedder_unreachable")
        assert dropped.wait(20), "before the whole answer was there"


def test_a_dropped_connection_is_tried_again() -> None:
    """A server that restarts drops what it holds."""
    dropped = iter([True])

    def answer(handler: Handler) -> None:
        if next(dropped, False):
            handler.connection.shutdown(socket.SHUT_RDWR)
            handler.close_connection = True
        else:
            fakes.openai(handler)

    with serving(answer) as served:
        assert _load(served).embed(["one"]).any()
    assert len(served.requests) == 2


def test_no_server_is_said_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody listens there: no second try."""
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        port = unused.getsockname()[1]
        monkeypatch.setattr("time.sleep", lambda _: pytest.fail("tried again"))
        embedder = _load(f"http://127.0.0.1:{port}/api/embed")
        assert f"127.0.0.1:{port}/api/embed: " in _fails(embedder, "embedder_unreachable")


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_redirection_never_carries_the_key(status: int) -> None:
    """Neither the key nor the texts reach another host; the message says where it points."""
    with serving(fakes.openai) as other:
        target = f"{other.url.replace('127.0.0.1', 'localhost')}/v1/embeddings"
        with serving(lambda handler: handler.reply({}, status, Location=target)) as served:
            assert target in _fails(_load(served), "embedder_refused")
        assert len(served.requests) == 1
    assert other.requests == []


def test_a_refusal_does_not_show_the_key() -> None:
    """Some servers send it back."""
    body = {"error": {"message": f"Incorrect API key provided:\n {KEY}\x1b[31m"}}
    with serving(lambda handler: handler.reply(body, 401)) as served:
        embedder = _load(served)
        message = _fails(embedder, "embedder_refused")
    assert "HTTP 401" in message
    assert "***" in message
    assert "\x1b" not in message
    assert len(served.requests) == 1
    assert KEY not in repr(embedder)
    assert KEY not in repr(embedder._endpoint)


def test_a_refusal_that_breaks_off_is_a_refusal() -> None:
    """Its status says enough: it is not tried again."""

    def answer(handler: Handler) -> None:
        handler.send_response(401)
        handler.send_header("Content-Length", "1000")
        handler.end_headers()
        handler.close_connection = True

    with serving(answer) as served:
        assert "HTTP 401: nothing" in _fails(_load(served), "embedder_refused")
    assert len(served.requests) == 1


BAD: dict[str, object] = {
    "garbage": b"<html>login</html>",
    "not utf-8": b'{"data": "\xff"}',
    "list": [1, 2],
    "null": None,
    "error": {"error": "model is loading"},
    "short": {"embeddings": [[1.0, 2.0]]},
    "long": {"embeddings": [[1.0], [2.0], [3.0]]},
    "ragged": {"embeddings": [[1.0, 2.0], [1.0]]},
    "flat": {"embeddings": [1.0, 2.0]},
    "empty": {"embeddings": [[], []]},
    "deep": {"embeddings": [[[1.0]], [[2.0]]]},
    "words": {"embeddings": [["a"], ["b"]]},
    "missing": {"embeddings": [[1.0, None], [1.0, 2.0]]},
    "nan": b'{"embeddings": [[NaN, 1.0], [1.0, 2.0]]}',
    "infinite": b'{"embeddings": [[1e999, 1.0], [1.0, 2.0]]}',
    "too large": b'{"embeddings": [[1e99, 1.0], [1.0, 2.0]]}',
    "twice": {"data": [{"index": 0, "embedding": [1.0]}, {"index": 0, "embedding": [2.0]}]},
    "nested": b"[" * 100_000,
    "endless index": b'{"data": [{"index": Infinity, "embedding": [1.0]}]}',
    "large whole number": b'{"embeddings": [[1' + b"0" * 400 + b"], [1]]}",
    "no index": {"data": [{"embedding": [1.0]}, {"embedding": [2.0]}]},
    "data null": {"data": None},
    "data words": {"data": ["a", "b"]},
}


@pytest.mark.parametrize("body", BAD.values(), ids=BAD.keys())
def test_a_wrong_answer_is_refused(body: object) -> None:
    """What isn't as many finite vectors of one length as texts is an error, never a vector."""
    with serving(lambda handler: handler.reply(body)) as served:
        _fails(_load(served), "embedder_bad_answer")
    assert len(served.requests) == 1


def test_the_dimension_is_asked_once() -> None:
    """It is remembered for the next run; the texts of an answer tell it, too."""
    with serving(fakes.openai) as served:
        assert _load(served).dimension == 128
        assert _load(served).dimension == 128
        assert len(served.requests) == 1
        assert _load(served, model="other").embed(["one"]).shape == (1, 128)
        assert _load(served, model="other").dimension == 128
    assert len(served.requests) == 2


def test_a_set_dimension_is_not_asked_for() -> None:
    """And vectors of another length are refused."""
    with serving(fakes.openai) as served:
        assert _load(served, dimension=128).dimension == 128
        assert _load(served, dimension=128).embed([]).shape == (0, 128)
        assert served.requests == []
        message = _fails(_load(served, dimension=64), "embedder_bad_answer")
    assert "128 components, not 64" in message


def test_a_model_that_changed_is_noticed() -> None:
    """Vectors of two lengths never mix; the next run asks anew."""
    with serving(fakes.openai) as served:
        embedder = _load(served)
        assert embedder.dimension == 128

        def change(handler: Handler) -> None:
            handler.reply({"embeddings": [[1.0, 2.0]] * len(handler.body["input"])})

        with serving(change) as other:
            embedder._endpoint = replace(embedder._endpoint, url=f"{other.url}/v1/embeddings")
            assert "2 components, not 128" in _fails(embedder, "embedder_bad_answer")
        assert _load(served).dimension == 128
    assert len(served.requests) == 2


def test_the_hash_names_model_and_place_but_not_the_key() -> None:
    """Another key is the same model; another host, path or model isn't."""
    base = "http://localhost:1/v1/embeddings"
    same = {_load(base).model_hash, _load(base, key="other").model_hash}
    assert len(same) == 1
    others = [
        _load("http://localhost:2/v1/embeddings").model_hash,
        _load("http://localhost:1/v2/embeddings").model_hash,
        _load(base, model="larger").model_hash,
    ]
    assert len(same.union(others)) == 4


def test_a_proxy_is_not_asked_for_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    """Company-wide proxy variables would hide a server on localhost."""
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:1")
    monkeypatch.delenv("no_proxy", raising=False)
    with serving(fakes.openai) as served:
        assert _load(served).embed(["one"]).any()


def test_a_proxy_of_the_environment_reaches_other_hosts(monkeypatch: pytest.MonkeyPatch) -> None:
    """In a company, often the only way out; `no_proxy` names what is reached without."""
    with serving(fakes.openai) as proxy:
        monkeypatch.setenv("http_proxy", proxy.url)
        monkeypatch.delenv("no_proxy", raising=False)
        monkeypatch.delenv("NO_PROXY", raising=False)
        assert _load("http://model.invalid/v1/embeddings").embed(["one"]).any()
        assert proxy.requests[0].path == "http://model.invalid/v1/embeddings"
        monkeypatch.setenv("no_proxy", "model.invalid")
        _fails(_load("http://model.invalid/v1/embeddings"), "embedder_unreachable")
    assert len(proxy.requests) == 1


@pytest.mark.parametrize("proxy", ["socks5://u:hunter2@127.0.0.1:1", "what://u:hunter2@x"])
def test_a_proxy_that_cannot_be_used_is_named(proxy: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the password that its URL may hold."""
    monkeypatch.setenv("http_proxy", proxy)
    monkeypatch.delenv("no_proxy", raising=False)
    message = _fails(_load("http://model.invalid/v1/embeddings"), "embedder_unreachable")
    assert "the proxy set for http can't be used" in message
    assert "hunter2" not in message


def test_no_other_variable_names_a_proxy_or_a_key(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Neither ALL_PROXY nor ~/.netrc decides where texts go, or with which password."""
    (tmp_path / ".netrc").write_text("default login me password hunter2\n")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("NETRC", str(tmp_path / ".netrc"))
    for name in ("http_proxy", "HTTP_PROXY"):
        monkeypatch.delenv(name, raising=False)
    with serving(fakes.openai) as served:
        monkeypatch.setenv("all_proxy", served.url)
        _fails(_load("http://model.invalid/v1/embeddings"), "embedder_unreachable")
        assert served.requests == []
        assert _load(served, key="").embed(["one"]).any()
    assert "Authorization" not in served.requests[0].headers


def test_an_answer_that_never_ends_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """No more of it is kept than the largest batch of vectors takes."""
    monkeypatch.setattr(http, "_LARGEST", 100_000)
    with serving(lambda handler: handler.reply(b"[" + b" " * 200_000)) as served:
        assert "larger than 100000 bytes" in _fails(_load(served), "embedder_bad_answer")
    assert len(served.requests) == 1


def test_a_packed_answer_is_not_unpacked() -> None:
    """A megabyte may hold a gigabyte of zeros; we ask for none."""
    packed = gzip.compress(b'{"embeddings": [[1.0], [1.0]]}')
    with serving(lambda handler: handler.reply(packed, Content_Encoding="gzip")) as served:
        _fails(_load(served), "embedder_bad_answer")
    assert served.requests[0].headers["Accept-Encoding"] == "identity"


@pytest.mark.parametrize(
    "url",
    [
        "file:///etc/v1/embeddings",
        "ftp://host/v1/embeddings",
        "host/v1/embeddings",
        "http:///v1/embeddings",
        "http://host:port/v1/embeddings",
        "http://user:hunter2@host/v1/embeddings",
        "http://host/v1/embeddings?a=hunter2 b",
        "http://[::1/v1/embeddings?a=hunter2",
        "http://host/v1",
        "http://host/api/embeddings",
    ],
)
def test_a_wrong_url_is_refused(url: str) -> None:
    """Before anything is sent, and without showing what may be secret."""
    with pytest.raises(BadSetting) as caught:
        _load(url)
    assert "hunter2" not in f"{caught.value.message}{caught.value.hint}"
    assert caught.value.__cause__ is None


def test_a_key_that_no_header_may_hold_is_not_shown() -> None:
    """The library's own error would show it."""
    with pytest.raises(BadSetting) as caught:
        _load("http://localhost/v1/embeddings", key="hunter2\nX-Evil: 1")
    assert "hunter2" not in str(caught.value)


@pytest.mark.parametrize("missing", ["url", "model"])
def test_a_missing_setting_is_named(missing: str) -> None:
    """It isn't an outage: the reason differs."""
    with pytest.raises(EmbedderUnavailable, match=f"http.{missing}") as caught:
        _load("http://localhost/v1/embeddings", **{missing: ""})
    assert caught.value.reason == "embedder_unavailable"


def test_a_query_string_is_sent_but_never_shown(caplog: pytest.LogCaptureFixture) -> None:
    """It may hold a version, or a secret: no message has it, and no log of a library."""
    caplog.set_level(logging.DEBUG)
    with serving(lambda handler: handler.reply({}, 400)) as served:
        embedder = _load(f"{served.url}/v1/embeddings?api-version=2")
        assert "api-version" not in _fails(embedder, "embedder_refused")
    assert served.requests[0].path == "/v1/embeddings?api-version=2"
    assert "api-version" not in caplog.text
    assert KEY not in caplog.text


def test_an_endless_time_limit_is_no_error() -> None:
    """A socket can't be told to wait for ever."""
    with serving(fakes.openai) as served:
        assert _load(served, timeout=float("inf")).embed(["one"]).any()


def test_settings_do_not_show_the_key() -> None:
    """They are printed when something goes wrong."""
    assert KEY not in repr(Settings(embedders=(http.HttpOptions(key=KEY),)))
