"""Keys, tokens and passwords in notes."""

from collections.abc import Iterator
from typing import NamedTuple

from memory_bank import notes
from memory_bank.lint.base import Context, Place

SUMMARY = "a note contains a key, token or password"
SEVERITY = "error"


class SecretPlace(NamedTuple):
    """The place of a secret, without its value."""

    path: str
    line: int
    kind: str
    hash: str
    """The hash to put into `secrets.allow`."""


def check(bank: Context) -> Iterator[Place]:
    """Yield the places of secrets, with kind and hash."""
    for one in bank.once(places):
        yield Place(one.path, one.line, f"{one.kind} (hash {one.hash})")


def places(bank: Context) -> Iterator[SecretPlace]:
    """Yield the secrets in all files of the bank, including those not indexed."""
    for path in bank.files:
        text = bank.text(path) or ""
        for secret in notes.secrets.find(text, bank.settings.secrets.allow):
            line = notes.secrets.line(text, secret.start)
            yield SecretPlace(path, line, secret.kind, notes.secrets.fingerprint(secret.value))
