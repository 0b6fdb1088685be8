"""A URL with a password leads to a verified server only, and is never shown."""

import pytest

from memory_bank.base.errors import BadSetting, SharedUnavailable
from memory_bank.shared.addresses import is_local, require_tls, show_server
from memory_bank.shared.engines.base import open_engine

PASSWORD = "hunter2-geheim"  # noqa: S105


@pytest.mark.parametrize(
    "given",
    [{}, {"host": "/run/postgresql"}, {"host": "@abstract"}, {"host": "localhost"}, {"host": "127.0.0.1"},
     {"host": "::1"}, {"host": "/run,localhost"}, {"hostaddr": "127.0.0.1", "host": "localhost"}],
)  # fmt: skip
def test_a_server_of_this_machine_needs_no_tls(given: dict[str, str]) -> None:
    assert is_local(given, {})
    assert require_tls(given, {}) == given


@pytest.mark.parametrize(
    ("given", "environ"),
    [
        ({"host": "db.example.org"}, {}),
        ({"host": "localhost,db.example.org"}, {}),
        ({"host": "localhost", "hostaddr": "192.0.2.1"}, {}),
        ({"host": "127.0.0.1.example.org"}, {}),
        ({"service": "shared"}, {}),
        ({}, {"PGHOST": "db.example.org"}),
        ({}, {"PGSERVICE": "shared"}),
    ],
)
def test_another_machine_must_show_a_certificate_that_names_it(
    given: dict[str, str], environ: dict[str, str]
) -> None:
    found = require_tls(given, environ)
    assert found["sslmode"] == "verify-full"
    assert found["gssencmode"] == "disable"
    assert found["sslrootcert"] == "system"


@pytest.mark.parametrize("mode", ["disable", "allow", "prefer", "require", "verify-ca"])
def test_weaker_tls_is_refused(mode: str) -> None:
    with pytest.raises(BadSetting, match=f"sslmode={mode}"):
        require_tls({"host": "db.example.org", "sslmode": mode}, {})
    with pytest.raises(BadSetting, match=f"sslmode={mode}"):
        require_tls({"host": "db.example.org"}, {"PGSSLMODE": mode})


def test_a_certificate_authority_of_the_users_stays() -> None:
    assert require_tls({"host": "db", "sslrootcert": "/ca.pem"}, {})["sslrootcert"] == "/ca.pem"
    assert "sslrootcert" not in require_tls({"host": "db"}, {"PGSSLROOTCERT": "/ca.pem"})


def test_where_a_server_is_has_neither_user_nor_password() -> None:
    text = show_server(
        {"host": "db", "port": "6432", "dbname": "notes", "user": "me", "password": PASSWORD}
    )
    assert text == "db:6432/notes"


@pytest.mark.parametrize(
    "url",
    [
        f"postgresql://me:{PASSWORD}@127.0.0.1:1/notes",
        f"postgresql://me@127.0.0.1:1/notes?password={PASSWORD}",
        f"postgresql://me:{PASSWORD}@127.0.0.1:1/notes?unknown={PASSWORD}",
        f"postgresql://me:{PASSWORD}%zz@127.0.0.1:1/notes",
        f"postgresql://me:{PASSWORD}@db.example.org/notes?sslmode=require",
        f"postgresql://me:{PASSWORD}@127.0.0.1:{PASSWORD}/notes",
        f"postgresql://me:1/{PASSWORD}@127.0.0.1/notes",
        f"postgresql://me:1@{PASSWORD}@127.0.0.1/notes",
        f"mysql://me:{PASSWORD}@host/notes",
        PASSWORD,
    ],
)
def test_no_error_shows_a_password(url: str, capfd: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("psycopg")
    import traceback

    with pytest.raises((BadSetting, SharedUnavailable)) as caught:
        open_engine(url)
    error = caught.value
    said = f"{error.message} {error.hint} {''.join(traceback.format_exception(error, chain=True))}"
    assert PASSWORD not in "\n".join(
        line for line in said.splitlines() if "open_engine" not in line
    )
    assert PASSWORD not in "".join(capfd.readouterr())


def test_without_a_url_the_setting_is_named() -> None:
    with pytest.raises(SharedUnavailable) as caught:
        open_engine("")
    assert caught.value.reason == "shared_not_configured"
    assert "MEMORY_BANK_SHARED_URL" in caught.value.hint


def test_without_the_extra_it_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    from memory_bank.shared.engines import postgres

    monkeypatch.setattr(postgres, "find_spec", lambda name: None)
    with pytest.raises(SharedUnavailable) as caught:
        open_engine("postgresql:///notes")
    assert caught.value.hint.endswith("install 'markdown-memory-bank[shared]'")
    assert caught.value.reason == "shared_not_installed"
