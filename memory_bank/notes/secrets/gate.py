"""Refuse a write that adds a secret to a note; secrets already in it may stay."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from memory_bank.base.errors import Hint, SecretFound
from memory_bank.notes.secrets import secrets
from memory_bank.notes.secrets.secrets import Secret

_MOST_LISTED = 5
"""Maximum secrets that an error names."""


def check(
    text: str,
    before: Sequence[str],
    *,
    given: str = "",
    path: str = "",
    allowed: Collection[str] = (),
) -> None:
    """Raise SecretFound if a note's new text has a secret that no text of `before` has.

    The error counts lines in `given`, what the caller wrote, where the secret is from there, else
    in the note. `path` is looked at too, for a new name. Neither error nor traceback has a value.
    """
    found = _added(text, before, allowed)
    places = [_place(text, given, secret) for secret in found[:_MOST_LISTED]]
    named = _added(path, before, allowed)
    found += named
    places += ["the note's name"] * len(named)
    if found:
        raise _refusal(found, places)


def _added(text: str, before: Sequence[str], allowed: Collection[str]) -> list[Secret]:
    """Return the new secrets; a value that was already in the note is not new."""
    found = secrets.find(text, allowed)
    if not found:
        return []
    known = {_bare(secret.value) for old in before for secret in secrets.find(old, allowed)}
    new: dict[str, Secret] = {}
    for secret in found:
        value = _bare(secret.value)
        if value not in known and value not in new and len(new) <= _MOST_LISTED:
            if any(secret.value in old for old in before):
                known.add(value)
            else:
                new[value] = secret
    return list(new.values())


def _bare(value: str) -> str:
    """Return a value without white space, which editors and quotes change."""
    return "".join(value.split())


def _place(text: str, given: str, secret: Secret) -> str:
    at = given.find(secret.value)
    if at >= 0:
        return f"line {secrets.line(given, at)}"
    return f"line {secrets.line(text, secret.start)} of the note"


def _refusal(found: Sequence[Secret], places: Sequence[str]) -> SecretFound:
    listed = [f"{secret.kind} ({place})" for secret, place in zip(found, places, strict=False)]
    more = " and more" if len(found) > _MOST_LISTED else ""
    what = "a secret" if len(found) == 1 else "secrets"
    hashes = ", ".join(f'"{secrets.fingerprint(secret.value)}"' for secret in found[:_MOST_LISTED])
    return SecretFound(
        f"nothing was written: it would add {what}: {', '.join(listed[:_MOST_LISTED])}{more}",
        Hint.WRITE_ELSEWHERE,
        hashes=hashes,
    )
