"""Numbers in addresses are whatever somebody typed."""

import httpx2
import pytest

from memory_bank.frontends.web.site import read_number


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
