"""Find secrets in a text, such as keys, tokens and passwords, at a write or a look over a bank.

A value is found by the format that its issuer documents (`placeholders`), or by what stands beside
it: a name (`named_values`, `labels`), words about access, a second factor or a session (`logins`),
a URL or a header (`secret_places`). Placeholders and the examples of documentation are no secrets.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Collection, Iterator, Sequence
from itertools import islice

from memory_bank.base import NamedTuple, lazy_pattern
from memory_bank.base.errors import Hint, SecretFound
from memory_bank.notes.secrets.logins import find_codes, find_logins
from memory_bank.notes.secrets.named_values import (
    find_before_names,
    find_in_columns,
    find_in_prose,
    find_named,
)
from memory_bank.notes.secrets.placeholders import (
    find_formats,
    is_masked,
    is_placeholder,
    is_random,
)
from memory_bank.notes.secrets.secret_places import (
    SecretPlace,
    find_in_headers,
    find_in_urls,
    find_labelled,
    find_placed,
    is_cited,
)

DIGITS = 16
"""Hexadecimal digits of a hash: 64 bits, so that collisions are negligible."""

_CONTEXT = "memory_bank 2026-11 allowed secret"

_BLOCK = lazy_pattern(r"-----BEGIN ([A-Z0-9 ]{0,40}?)PRIVATE KEY(?: BLOCK)?-----")

_PUTTY = lazy_pattern(r"Private-Lines:[ \t]{0,3}\d{1,4}")

_KEY_TEXT = lazy_pattern(r"[A-Za-z0-9+/]{24,}")

_NEAR, _LONGEST, _MOST = 800, 20_000, 20_000
"""Characters in which a private key's text must begin, its most, and the most keys of a text."""

_SECOND_PART = (".eyJ", ".ewo", ".eyA")

_JWT = lazy_pattern(r"(?<![\w-])([\w-]{10,})\.((?:ey[JA]|ewo)[\w-]{8,})\.([\w-]{10,})")

_NEAR_KEY = lazy_pattern(r"(?<![A-Za-z0-9/+=])[A-Za-z0-9/+]{40}(?![A-Za-z0-9/+=])")

_AWS_REACH = 160

_EXAMPLES = frozenset(
    [
        "bfad3646774f8b7b", "0686e54423a35e06",  # AWS
        "dd63cb5fe9c03c22", "713fe220847de449", "9b22fe78f4bd698e",  # jwt.io
        "76549a3cc6ae37a7", "217869a6cc49ac3b",  # Stripe
        "256d961706081dfe", "56baab1fcad58b3e", "ae9c5c5b634a5bc4", "871adfa43bfea2a4",  # GitHub
        "a4f7fe33bd4db7cc", "264a5e64be2ad39a", "9e448554af406535",  # Telegram, Google
        "f21679abbec7ab2e", "9ceada838347510d", "20bb7f826a18b583",
        "59c3b7fac393e307",  # seeds of one-time codes
    ]
)  # fmt: skip
"""Fingerprints of the values that their issuers' documentation shows."""


class Secret(NamedTuple):
    """A secret in a text. Its repr omits the value, because it may be logged."""

    kind: str
    start: int
    value: str
    end: int
    """Its end in the text, where the value may have escaped characters."""

    def __repr__(self) -> str:
        return f"Secret({self.kind!r}, {self.start})"


def fingerprint(value: str) -> str:
    """Return the hash of a value for `secrets.allow`: 16 hex digits; white space does not count."""
    from blake3 import blake3  # start-up: most texts have no secret

    digest = blake3("".join(value.split()).encode(), derive_key_context=_CONTEXT)
    return digest.hexdigest()[:DIGITS]


def line_at(text: str, start: int) -> int:
    """Return the 1-based line of a character of a text."""
    ends = [text.count(mark, 0, start) for mark in ("\n", "\r", "\r\n")]
    return 1 + ends[0] + ends[1] - ends[2]


def find(text: str, allowed: Collection[str] = ()) -> list[Secret]:
    """Return the secrets of a text in order, without overlaps.

    `allowed` has the fingerprints of values that are none.
    """
    escapes = [at.start() for at in re.finditer(r"\\_", text)]  # as Markdown's editors write `_`
    if escapes:
        text = text.replace("\\_", "_")
        escapes = [at - number for number, at in enumerate(escapes)]
    secrets: list[Secret] = []
    end = 0
    for place in sorted(_yield_places(text), key=lambda place: (place.start, -place.end)):
        if place.start < end:
            continue
        value = text[place.start : place.end]
        mark = fingerprint(value)
        if mark not in _EXAMPLES and mark not in allowed:
            start = place.start + bisect_left(escapes, place.start)
            last = place.end + bisect_left(escapes, place.end)
            secrets.append(Secret(place.kind, start, value, last))
        end = place.end
    return secrets


def why_private(name: str, text: str, allowed: Collection[str]) -> str:
    """Return which secret a note has in its text or name, for its owner; empty if it has none."""
    for secret in find(text, allowed):
        mark = fingerprint(secret.value)
        return f"has a secret: {secret.kind}, line {line_at(text, secret.start)} ({mark})"
    return "has a secret in its name" if find(name, allowed) else ""


_FULL_WIDTH = {0xFF01 + at: 0x21 + at for at in range(94)}
"""Maps the wide forms of ASCII in East Asian text to it."""


def _yield_places(text: str) -> Iterator[SecretPlace]:
    text = text.translate(_FULL_WIDTH)
    lower = text.replace("İ", "I").lower()  # the one letter that becomes longer
    yield from _find_formats(text)
    yield from _find_private_keys(text)
    yield from _find_web_tokens(text)
    yield from find_in_urls(text)
    yield from find_in_headers(text, lower)
    for look in (
        find_named,
        find_before_names,
        find_in_prose,
        find_in_columns,
        find_logins,
        find_codes,
        find_labelled,
        find_placed,
    ):
        yield from (place for place in look(text, lower) if not is_cited(text, place))


def _find_formats(text: str) -> Iterator[SecretPlace]:
    for kind, start, end, body in find_formats(text):
        if not is_masked(body):
            yield SecretPlace(kind, start, end)
            if kind == "AWS access key":
                yield from _find_aws_secret(text, end)


def _find_aws_secret(text: str, start: int) -> Iterator[SecretPlace]:
    """Find the secret key of an access key: 40 characters soon after it."""
    match = _NEAR_KEY.search(text, start, start + _AWS_REACH)
    if match and is_random(match[0]) and not is_placeholder(match[0]):
        yield SecretPlace("AWS secret key", *match.span())


def _find_private_keys(text: str) -> Iterator[SecretPlace]:
    if "PRIVATE KEY" in text:
        for match in islice(_BLOCK.finditer(text), _MOST):
            body = _KEY_TEXT.search(text, match.end(), match.end() + _NEAR)
            end = text.find("-----END", match.end(), match.end() + _LONGEST)
            if body and not (0 <= end < body.start()) and not is_masked(body[0]):
                yield SecretPlace("private key", match.start(), end if end > 0 else body.end())
    if "Private-Lines:" in text:
        for match in islice(_PUTTY.finditer(text), _MOST):
            body = _KEY_TEXT.search(text, match.end(), match.end() + _NEAR)
            if body and not is_masked(body[0]):
                yield SecretPlace("PuTTY private key", match.start(), body.end())


def _find_web_tokens(text: str) -> Iterator[SecretPlace]:
    if any(part in text for part in _SECOND_PART):
        for match in _JWT.finditer(text):
            start = max(match[1].rfind("eyJ"), match[1].rfind("ewo"))
            if start >= 0 and not is_masked(match[3]):
                yield SecretPlace("JSON web token", match.start() + start, match.end())


_MOST_LISTED = 5
"""Maximum secrets that an error names."""


def check(
    text: str,
    before: Sequence[str],
    *,
    caller_text: str = "",
    path: str = "",
    allowed: Collection[str] = (),
) -> None:
    """Raise SecretFound if a note's new text has a secret that no text of `before` has.

    The error counts lines in `caller_text`, the caller's text, if the secret is in it, else in the note.
    `path` is searched, too, for a new name. Neither error nor traceback has a value.
    """
    secrets = _find_added(text, before, allowed)
    places = [_describe_place(text, caller_text, secret) for secret in secrets[:_MOST_LISTED]]
    added = _find_added(path, before, allowed)
    secrets += added
    places += ["the note's name"] * len(added)
    if secrets:
        raise _make_refusal(secrets, places)


def _find_added(text: str, before: Sequence[str], allowed: Collection[str]) -> list[Secret]:
    """Return the new secrets; a value that was already in the note is not new."""
    secrets = find(text, allowed)
    if not secrets:
        return []
    old_values = {_strip_spaces(secret.value) for old in before for secret in find(old, allowed)}
    new: dict[str, Secret] = {}
    for secret in secrets:
        value = _strip_spaces(secret.value)
        if value not in old_values and value not in new and len(new) <= _MOST_LISTED:
            if any(secret.value in old for old in before):
                old_values.add(value)
            else:
                new[value] = secret
    return list(new.values())


def _strip_spaces(value: str) -> str:
    """Return a value without white space, which editors and quotes change."""
    return "".join(value.split())


def _describe_place(text: str, caller_text: str, secret: Secret) -> str:
    at = caller_text.find(secret.value)
    if at >= 0:
        return f"line {line_at(caller_text, at)}"
    return f"line {line_at(text, secret.start)} of the note"


def _make_refusal(secrets: Sequence[Secret], places: Sequence[str]) -> SecretFound:
    descriptions = [
        f"{secret.kind} ({place})" for secret, place in zip(secrets, places, strict=False)
    ]
    more = " and more" if len(secrets) > _MOST_LISTED else ""
    text = "a secret" if len(secrets) == 1 else "secrets"
    hashes = ", ".join(f'"{fingerprint(secret.value)}"' for secret in secrets[:_MOST_LISTED])
    return SecretFound(
        f"nothing was written: it would add {text}: {', '.join(descriptions[:_MOST_LISTED])}{more}",
        Hint.WRITE_ELSEWHERE,
        hashes=hashes,
    )
