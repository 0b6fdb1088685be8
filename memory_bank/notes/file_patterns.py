"""Patterns of files in front matter, as of `applies_to`, and the files that they mean."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase
from functools import cache

from memory_bank.base import lazy_pattern
from memory_bank.base.filenames import why_outside

APPLIES_TO = "applies_to"
"""Key of front matter with the files that a rule is for."""

_FILES = lazy_pattern(r"(?<![\w@:/.-])(?:\./)?[\w.-]*(?:/[\w.-]+)*(?:/|\.[A-Za-z]\w{0,9})(?![\w:])")

_MOST_NAMED = 20
"""Files that a text names which are looked for."""

_BRACES = lazy_pattern(r"\{([^{},]*,[^{}]*)\}")

_MOST_SCOPES, _LONGEST_SCOPE, _MOST_FORMS = 20, 200, 64
"""The most patterns of a rule, the characters of one, and the forms that its braces give."""


def named_files(text: str) -> tuple[str, ...]:
    """Return the words of a text that look like files: `src/a.py`, `a.py`, `src/db/`."""
    words = (word.strip("./") for word in _FILES.findall(text))
    return tuple(dict.fromkeys(word for word in words if word))[:_MOST_NAMED]


def matches_file(pattern: str, file: str) -> bool:
    """Return whether a pattern means a file: as in .gitignore, with `{a,b}` for alternatives.

    `*` is any part of a name, `**` any folders; a pattern without a slash means a name at any
    depth. A pattern that means a folder means all files below it. Other patterns mean nothing.
    """
    parts = tuple(file.split("/"))
    return any(_is_below(tuple(form), parts) for form in split_forms(pattern))


@cache
def split_forms(pattern: str) -> tuple[tuple[str, ...], ...]:
    """Return the parts of each form of a pattern."""
    pending, forms = [pattern.strip().removeprefix("./")], list[tuple[str, ...]]()
    while pending and len(forms) + len(pending) <= _MOST_FORMS:
        form = pending.pop()
        if braces := _BRACES.search(form):
            pending += [
                form[: braces.start()] + part.strip() + form[braces.end() :]
                for part in braces[1].split(",")
            ]
            continue
        anywhere = "/" not in form.rstrip("/")
        parts = [part for part in form.strip("/").split("/") if part]
        if parts and len(form) <= _LONGEST_SCOPE:
            forms.append(("**", *parts) if anywhere and parts != ["**"] else tuple(parts))
    return tuple(forms)


def _is_below(pattern: Sequence[str], parts: Sequence[str]) -> bool:
    """Return whether a path, or a folder above it, is what the parts of a pattern mean."""
    reached = {0}
    for part in (*parts, None):
        for first in sorted(reached):  # `**` may be no folder at all
            after = first
            while after < len(pattern) and pattern[after] == "**":
                after += 1
                reached.add(after)
        if len(pattern) in reached:
            return True
        if part is None:
            break
        reached = {
            at if pattern[at] == "**" else at + 1
            for at in reached
            if at < len(pattern) and (pattern[at] == "**" or fnmatchcase(part, pattern[at]))
        }
    return False


def yield_patterns(value: object) -> Iterator[str]:
    """Yield the patterns of files in a value of front matter that stay in the project."""
    parts = value.split(",") if isinstance(value, str) and "{" not in value else value
    for part in (parts if isinstance(parts, list) else [parts])[:_MOST_SCOPES]:
        text = part.strip() if isinstance(part, str) else ""
        if text and len(text) <= _LONGEST_SCOPE and not why_outside(text.lstrip("/")):
            yield text
