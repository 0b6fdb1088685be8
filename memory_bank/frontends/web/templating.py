"""The templates: every text is escaped, and a name that a page doesn't give is an error."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any
from urllib.parse import quote

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from memory_bank.base.rendering import count, visible

_UNITS = (("minute", 60), ("hour", 3600), ("day", 86400))

_DATED = 30 * 86400
"""Age in seconds from which a date is shown instead."""


def environment(static: Callable[[str], str], *, dated: bool = False) -> Environment:
    """Return the environment of all templates; `static` gives the URL of a static file.

    With `dated`, ages are dates, for pages that are read at another time.
    """
    made = Environment(
        loader=PackageLoader("memory_bank.frontends.web"),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_shown,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )
    made.globals["static"] = static
    made.filters |= {
        "age": date if dated else age,
        "day": day,
        "number": number,
        "counted": count,
        "path": quoted,
    }
    return made


def age(when: str, now: datetime | None = None) -> str:
    """Return how long ago an ISO time was: `5 minutes ago`; a date if it was a month or more."""
    moment = _moment(when)
    if moment is None:
        return when
    seconds = ((now or datetime.now(UTC)) - moment).total_seconds()
    if not 0 <= seconds < _DATED:
        return moment.date().isoformat()
    units = [(name, int(seconds // size)) for name, size in _UNITS if seconds >= size]
    return f"{count(units[-1][1], units[-1][0])} ago" if units else "just now"


def date(when: str) -> str:
    """Return the date of an ISO time."""
    moment = _moment(when)
    return moment.astimezone(UTC).date().isoformat() if moment else when


def day(when: str) -> str:
    """Return an ISO time for people: `2026-11-23 13:20 UTC`."""
    moment = _moment(when)
    return moment.astimezone(UTC).strftime("%Y-%m-%d %H:%M UTC") if moment else when


def number(value: int) -> str:
    """Return a number with separators: `12,345`."""
    return f"{value:,}"


def quoted(name: str) -> str:
    """Return the name of a note, a file or an id as a part of a URL; slashes stay."""
    return quote(name.encode("utf-8", "surrogateescape"), safe="/")


def _moment(when: str) -> datetime | None:
    try:
        found = datetime.fromisoformat(when)
    except ValueError:
        return None
    return found if found.tzinfo else found.replace(tzinfo=UTC)


def _shown(value: Any) -> Any:  # noqa: ANN401  (whatever a template shows)
    r"""Show harmful characters as `\x1b`; what is markup already stays as it is."""
    return visible(value) if isinstance(value, str) and not isinstance(value, Markup) else value
