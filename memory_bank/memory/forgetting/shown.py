"""Show what is forgotten on a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memory_bank.base.errors import BadInput
from memory_bank.base.rendering import count
from memory_bank.base.screen import FOUND, NOTHING, Call

if TYPE_CHECKING:  # the verb names the view of its answer
    from memory_bank.memory.forgetting.forgotten import Forgotten


def forgotten(call: Call, found: Forgotten) -> int:
    """Show what was forgotten, or would be."""
    call.answer(found, lambda found: _show(call, found))
    return FOUND if found.count else NOTHING


def agreed(call: Call, found: Forgotten) -> bool:
    """Show where something is, and ask whether to remove it."""
    if call.json or not call.interactive:
        raise BadInput(
            f"{_described(found)} would be removed for good, but confirmation needs a terminal",
            "add --yes to forget without a question, or --dry-run to see where it is",
        )
    _show_places(call, found)
    return call.agreed(f"Remove {_described(found)} for good?")


def _described(found: Forgotten) -> str:
    """Return what is forgotten, without quoting it."""
    places = sum(one.kind != "index" for one in found.places)
    return f"the {found.kind} ({count(found.count, 'occurrence')} in {count(places, 'place')})"


def _show(call: Call, found: Forgotten) -> None:
    if found.done:
        call.console.line(f"forgot {_described(found)}")
    else:
        call.console.line(f"found {_described(found)}; nothing was changed")
    _show_places(call, found)
    call.console.line("beyond reach:")
    for one in found.beyond:
        call.console.line("  ", (one.place, "place"), f": {one.reason}")


def _show_places(call: Call, found: Forgotten) -> None:
    for one in found.places:
        is_path = one.kind in ("note", "trash") and not one.place.startswith("/")
        shown = call.place(one.place) if is_path else one.place
        number = "" if one.kind == "index" else f" {one.count}"
        call.console.line(f"  {one.action}{number}: ", (shown, "place"), f" ({one.kind})")
