import socket

import pytest

from memory_bank.base.errors import BadInput
from memory_bank.frontends.serving import endpoint
from tests.frontends.mcp.over_http import Served

HEAD = b"GET /elsewhere HTTP/1.1\r\n%sConnection: close\r\n\r\n"
FOREIGN = [
    "127.0.0.1:1.evil.com",
    "localhost:evil",
    "localhost:1@evil.com",
    "localhost:1#evil.com",
    "evil.com:8765",
    "[::1]evil",
    "[::1]:evil",
    "[::1].evil.com",
    "localhost.",
    "localhost.evil.com",
    "LOCALHOST",
    "",
    ":8765",
    "localhost:",
    "localhost:0",
    "localhost:08765",
    "localhost:65536",
    "localhost:8765:8765",
    "localhost, evil.com",
    "localhost evil.com",
    "user@localhost",
    "127.0.0.1.evil.com",
    "127.1",
    "0x7f000001",
    "2130706433",
    "::1",
    "[::ffff:127.0.0.1]",
    "[0:0:0:0:0:0:0:1]",
    "127.0.0.1\u0661",
    "*",
    "null",
]
OURS = ["127.0.0.1:8765", "localhost", "[::1]:8765", "127.0.0.1", "localhost:1", "[::1]:65535"]


def test_hosts_that_are_not_ours_are_foreign(plain: Served) -> None:
    for host in FOREIGN:
        assert plain.raw(HEAD % f"Host: {host}\r\n".encode()) in {400, 421}, host
    for host in OURS:
        assert plain.raw(HEAD % f"Host: {host}\r\n".encode()) == 404, host


def test_origins_that_are_not_ours_are_foreign(plain: Served) -> None:
    def status(*origins: str) -> int:
        lines = "".join(f"Origin: {origin}\r\n" for origin in origins)
        return plain.raw(HEAD % f"Host: localhost\r\n{lines}".encode())

    for host in FOREIGN:
        assert status(f"http://{host}") in {400, 403}, host
    for origin in (
        *("", "null", "http://", "file://", "localhost", "//localhost", "ftp://localhost"),
        *("http://localhost/", "http://localhost/path", "http://localhost?x", "HTTP://localhost"),
        *("http://localhost http://evil.com", "http:localhost", "http://a:b@localhost"),
    ):
        assert status(origin) == 403, origin
    assert status("http://localhost", "http://evil.com") == 403
    assert status("http://localhost", "http://localhost") == 403
    for host in OURS:
        assert status(f"http://{host}") == status(f"https://{host}") == 404, host
    assert status() == 404


def test_several_hosts_none_and_targets_of_a_proxy_are_refused(plain: Served) -> None:
    ours = b"Host: localhost\r\n"
    assert plain.raw(HEAD % (ours + ours)) == 400
    assert plain.raw(HEAD % (ours + b"Host: evil.com\r\n")) == 400
    assert plain.raw(HEAD % b"") == 400
    assert plain.raw(b"GET /mcp HTTP/1.0\r\n\r\n") == 421
    for target in (b"http://evil.com/mcp", b"http://localhost/mcp", b"*", b"evil.com:80"):
        sent = (HEAD % ours).replace(b"/elsewhere", target)
        assert plain.raw(sent) == 400, target
    assert plain.raw((HEAD % b"Host: evil.com\r\n").replace(b"/elsewhere", b"/mcp")) == 421


def test_a_port_that_is_taken_is_said() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(BadInput, match=f"port {port} of 127.0.0.1 is in use") as raised:
            endpoint.listen(f"127.0.0.1:{port}")
    assert "--http" in raised.value.hint


@pytest.mark.parametrize(
    "address",
    [
        "",
        ":8765",
        "localhost",
        "localhost:",
        "a:b",
        "::1:80",
        "1.2.3.4:65536",
        "[::1]",
        "h:٣",
    ],
)
def test_what_is_no_address_is_refused(address: str) -> None:
    with pytest.raises(BadInput):
        endpoint.listen(address)


def test_an_address_of_another_machine_is_refused() -> None:
    with pytest.raises(BadInput, match="not an address of this machine"):
        endpoint.listen("203.0.113.7:0")


@pytest.mark.parametrize("address", ["127.0.0.1:0", "localhost:0", "[::1]:0"])
def test_loopback_is_listened_on(address: str) -> None:
    try:
        with endpoint.listen(address) as listener:
            assert listener.getsockname()[1] > 0
    except BadInput:
        assert "::1" in address, "this machine has no IPv6"
