"""Keys, tokens and passwords that stand in notes."""

from collections.abc import Iterator
from typing import NamedTuple

from memory_bank import notes
from memory_bank.lint.base import Context, Place

SUMMARY = "a key, token or password stands in a note"
SEVERITY = "error"


class SecretPlace(NamedTuple):
    """A place where a secret stands; its value is told nowhere."""

    path: str
    line: int
    kind: str
    hash: str
    """What `secrets.allow` names it by."""


def check(bank: Context) -> Iterator[Place]:
    """Yield the places of secrets, with kind and hash."""
    for one in bank.once(places):
        yield Place(one.path, one.line, f"{one.kind} (hash {one.hash})")


def places(bank: Context) -> Iterator[SecretPlace]:
    """Look for secrets in all files of the bank, those that are not indexed too."""
    for path in bank.files:
        text = bank.text(path) or ""
        for secret in notes.secrets.find(text, bank.settings.secrets.allow):
            line = notes.secrets.line(text, secret.start)
            yield SecretPlace(path, line, secret.kind, notes.secrets.fingerprint(secret.value))
