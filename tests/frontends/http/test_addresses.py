from __future__ import annotations

import socket

import pytest

from memory_bank.base.errors import BadInput
from memory_bank.frontends.http import endpoint


def test_a_port_that_is_taken_is_said() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(BadInput, match=f"port {port} of 127.0.0.1 is in use") as raised:
            endpoint.listen(f"127.0.0.1:{port}")
    assert "--http" in raised.value.hint


@pytest.mark.parametrize(
    "address",
    [
        "8765",
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
