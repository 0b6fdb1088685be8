"""Edit TOML: new tables are appended to the text, keys are changed inside one table.

A change counts only when the standard library reads the wanted value.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from typing import Any

from memory_bank.agents.json_file import Path, nested
from memory_bank.base import toml
from memory_bank.base.errors import BadInput
from memory_bank.base.text import edit_lines

_LINE = re.compile(r"[^\n]*\n|[^\n]+")


class TomlFile:
    """An editor of TOML; its methods raise BadInput. Paths have keys only, no indices."""

    def value_at(self, text: str, path: Path) -> object:
        """Return the value at a path; None if there is none."""
        try:
            found: Any = toml.loads(text.removeprefix("\ufeff"))
        except ValueError as error:
            raise BadInput(str(error)) from error
        for key in path:
            found = found.get(key) if isinstance(found, dict) else None
        return found

    def set_value(self, text: str, path: Path, value: object) -> str:
        """Return the text with a value at a path."""
        if self.value_at(text, path) == value:
            return text
        return self._changed(text, path, value, _add_at_end, toml.changed)

    def remove(self, text: str, path: Path) -> str:
        """Return the text without a value and the blank line before it; comments stay."""
        if self.value_at(text, path) is None:
            return text
        return self._changed(text, path, None, _remove_tables, toml.changed)

    def remove_keys(self, text: str, path: Path, _: Iterable[str]) -> str:
        """Return the text with a whole table turned into comments.

        Codex, the one client with TOML, does not start with a server that lacks its command.
        """
        return self._changed(text, path, None, _comment_tables)

    def _changed(
        self, text: str, path: Path, value: object, *edits: Callable[..., Iterator[str]]
    ) -> str:
        """Return the first edited text that parses with the wanted value."""

        def first(plain: str) -> str:
            for new in (new for edit in edits for new in edit(plain, path, value)):
                with suppress(BadInput):
                    if self.value_at(new, path) == value:
                        return new
            raise BadInput(f"{path[-1]!r} is in a form that can't be changed by a program")

        return edit_lines(text, first)


def _add_at_end(text: str, path: Path, value: object) -> Iterator[str]:
    """Yield the text with a table appended; a final line end stays."""
    import tomlkit

    table = tomlkit.dumps(nested(path, value))
    if text.endswith("\n"):
        yield f"{text}\n{table}"
    else:
        yield (f"{text}\n\n" if text else "") + table.removesuffix("\n")


def _remove_tables(text: str, path: Path, _: object) -> Iterator[str]:
    yield _replace_tables(text, path, lambda _: "")


def _comment_tables(text: str, path: Path, _: object) -> Iterator[str]:
    yield _replace_tables(text, path, lambda line: f"# {line}" if line.strip() else line)


def _replace_tables(text: str, path: Path, replace: Callable[[str], str]) -> str:
    """Return the text with other lines for the table at a path and the tables inside it."""
    done = ""
    for table in toml.tables(text):
        if table.keys[: len(path)] != path:
            done += table.text + table.comments
            continue
        lines = "".join(map(replace, _LINE.findall(table.text)))
        if not lines and done.endswith("\n\n"):
            done = done[:-1]
        if not lines and not (table.text + table.comments).endswith("\n"):
            done = done.removesuffix("\n")
        done += lines + table.comments
    return done
