"""Markdown of hovers; text of files is shown as code, so that nothing in it is followed."""

from __future__ import annotations

import re

from memory_bank.actions.editor.preview import Preview
from memory_bank.frontends.fencing import clean, one_line

_SIGNS = re.compile(r"([\\`*_{}\[\]()<>#+!|~&$-])")
_TICKS = re.compile(r"`+")
_LANGUAGE = re.compile(r"\w*")


def of_preview(shown: Preview) -> str:
    """Return a preview: the title, what the note is, and its first lines as code."""
    about = [shown.type, shown.status, *(f"#{tag}" for tag in shown.tags)]
    words = " · ".join(escaped(word) for word in about if word)
    head = [f"**{escaped(shown.title)}**" + (f" — {words}" if words else "")]
    if shown.path != shown.title:
        head.append(code(shown.path))
    if shown.heading:
        head.append(f"§ {escaped(shown.heading)}")
    head += [escaped(line) for line in _of_code(shown)]
    more = "\n…" if shown.more else ""
    body = fenced(shown.text + more, shown.language) if shown.text else ""
    return "\n\n".join(filter(None, ("  \n".join(head), body)))


def _of_code(shown: Preview) -> list[str]:
    """Return a line for each thing that is said of the code that a note cites."""
    stale = [f"stale: {shown.stale}"] if shown.stale else []
    return [*stale, *(f"cited file changed: {one}" for one in shown.touched)]


def plain(shown: Preview) -> str:
    """Return a preview for an editor that shows no Markdown."""
    about = " · ".join(word for word in (shown.type, shown.status, *shown.tags) if word)
    head = (shown.title, shown.path if shown.path != shown.title else "", about, shown.heading)
    return "\n".join(clean(part) for part in (*head, *_of_code(shown), shown.text) if part)


def escaped(text: str) -> str:
    """Return a text of a file on one line, without any sign of Markdown."""
    return _SIGNS.sub(r"\\\1", one_line(text))


def code(text: str) -> str:
    """Return a text of a file as inline code."""
    line = one_line(text)
    ticks = "`" * (1 + max((len(run) for run in _TICKS.findall(line)), default=0))
    pad = " " if line.startswith("`") or line.endswith("`") else ""
    return f"{ticks}{pad}{line}{pad}{ticks}"


def fenced(text: str, language: str = "") -> str:
    """Return a text of a file as a block of code, whose fence the text can't end."""
    shown = clean(text)
    longest = max((len(run) for run in _TICKS.findall(shown)), default=0)
    fence = "`" * max(3, longest + 1)
    name = language if _LANGUAGE.fullmatch(language) else ""
    return f"{fence}{name}\n{shown}\n{fence}"
