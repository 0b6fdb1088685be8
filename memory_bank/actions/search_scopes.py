"""Where notes can be searched: in the bank alone, or in others, too."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memory_bank import named_banks
from memory_bank.errors import BadInput
from memory_bank.setting_sections import BANK, BOTH, SCOPES, SHARED, USER

if TYPE_CHECKING:
    from pathlib import Path

    from memory_bank.bank import Bank


def check_scope(scope: str) -> None:
    """Raise BadInput for an unknown scope."""
    if scope not in SCOPES:
        raise BadInput(f"there is no scope {scope!r}", f"choose one of: {', '.join(SCOPES)}")


def scope_of(bank: Bank | None, scope: str = "") -> str:
    """Return a scope that was given, else that of the settings; raise BadInput."""
    if scope:
        check_scope(scope)
    return scope or (BANK if bank is None else bank.settings.search.scope)


def scopes_of(bank: Bank) -> tuple[str, ...]:
    """Return the scopes that find more than the bank, and the bank's; empty if there are none."""
    wider = ((SHARED, BOTH) if bank.settings.shared.url else ()) + (
        (USER,) if other_own_banks(bank) else ()
    )
    return (BANK, *wider) if wider else ()


def other_own_banks(bank: Bank) -> dict[str, Path]:
    """Return the user's own banks by name, without the bank itself."""
    root = bank.layout.root.resolve()
    return {name: path for name, path in named_banks.own().items() if path.resolve() != root}
