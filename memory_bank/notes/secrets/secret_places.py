"""Positions of secrets in a text; detection in URLs and HTTP headers."""

from __future__ import annotations

from binascii import Error as NotBase64
from collections.abc import Iterator
from typing import NamedTuple

from memory_bank.base.plugins import pattern
from memory_bank.notes.secrets.words import drawn, placeholder


class SecretPlace(NamedTuple):
    """A value in a text: its kind, start and end."""

    kind: str
    start: int
    end: int


MOST = 20_000
"""Maximum occurrences of one word that are examined in one text."""

PASSWORD, TOKEN, URL, HEADER = "password", "token or key", "URL with a password", "auth header"

_SCHEME = pattern(r"[ \t:]{1,3}[`\"']?([A-Za-z0-9._~+/=-]{8,4000})")

_USERINFO = pattern(r"""://([^\s:/@"'`<>()|]{0,80}):([^\s@"'`<>|]{1,200})@(?=[\w.\[$*{-])""")

_BARE_USERINFO = pattern(r"://([A-Za-z0-9_.~+-]{20,300})(?::x-oauth-basic)?@(?=[\w.\[-])")

_LEAST_TOKEN, _LEAST_PASSWORD = 16, 6


def each(text: str, word: str) -> Iterator[int]:
    """Yield the positions of a word in a text; much faster than a pattern of many words."""
    at = text.find(word)
    for _ in range(MOST):
        if at < 0:
            return
        yield at
        at = text.find(word, at + len(word))


def in_urls(text: str) -> Iterator[SecretPlace]:
    """Find passwords and tokens before the host of a URL."""
    for at in each(text, "://"):
        found = _USERINFO.match(text, at)
        bare = None if found else _BARE_USERINFO.match(text, at)
        if bare and not placeholder(bare[1]) and drawn(bare[1]):
            yield SecretPlace(URL, *bare.span(1))
        if found is None:
            continue
        user, value = found[1], found[2]
        if (
            len(value) >= _LEAST_PASSWORD
            and value != user
            and not placeholder(value)
            and "/" not in value[:1]
        ):
            yield SecretPlace(URL, *found.span(2))


def in_headers(text: str, lower: str) -> Iterator[SecretPlace]:
    """Find credentials after `Bearer` and `Basic`; `lower` is the text in lower case."""
    for word in ("bearer", "basic"):
        for at in each(lower, word):
            value = _SCHEME.match(text, at + len(word))
            if value is None or placeholder(value[1]):
                continue
            if word == "basic":
                sure = _pair(value[1])
            else:
                sure = len(value[1]) >= _LEAST_TOKEN and drawn(value[1])
            if sure:
                yield SecretPlace(HEADER, *value.span(1))


def _pair(value: str) -> bool:
    """Tell whether base64 encodes a user and a password that is not a placeholder."""
    try:
        from base64 import b64decode  # start-up: few texts have such a header

        decoded = b64decode(value + "=" * (-len(value) % 4), validate=True).decode()
    except (NotBase64, UnicodeDecodeError, ValueError):
        return False
    user, colon, password = decoded.partition(":")
    return bool(colon and user and decoded.isprintable()) and not placeholder(password)
