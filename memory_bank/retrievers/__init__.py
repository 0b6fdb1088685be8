"""The indexes that find passages: one plug-in each, and the set of those of one bank."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, cast

from memory_bank import plugins
from memory_bank.errors import EmbedderUnavailable

if TYPE_CHECKING:
    from memory_bank.config import Settings
    from memory_bank.retrievers.base import Retriever, RetrieverModule

KIND = "retrievers"


class RetrieverSet:
    """The retrievers of one index, each loaded when it is first needed."""

    def __init__(self, folder: Path, owner: str, settings: Settings) -> None:
        """Keep each retriever's files in a folder of its name below `folder`."""
        self._folder = folder
        self._owner = owner
        self._settings = settings
        self._loaded: dict[str, Retriever | None] = {}

    @property
    def fingerprint(self) -> str:
        """Name what fills the retrievers: no model is loaded for it, and no secret is in it."""
        parts = (f"{name}={module(name).fingerprint(self._settings)}" for name in names())
        return " ".join(parts)

    def get(self, name: str) -> Retriever | None:
        """Return a retriever; None when it is turned off. Raises EmbedderUnavailable."""
        if name not in self._loaded:
            folder = self._folder / name
            self._loaded[name] = module(name).load(folder, self._owner, self._settings)
        return self._loaded[name]

    def all(self) -> tuple[list[Retriever], str]:
        """Return the retrievers that can be filled now, and why another one can't."""
        found, missing = [], ""
        for name in names():
            try:
                retriever = self.get(name)
            except EmbedderUnavailable as error:
                missing = error.message
            else:
                found += [retriever] if retriever is not None else []
        return found, missing

    def close(self) -> None:
        """Let go of all files."""
        for retriever in self._loaded.values():
            if retriever is not None:
                retriever.close()
        self._loaded.clear()


def names() -> list[str]:
    """Name all retrievers."""
    return plugins.names(KIND)


def in_mode(mode: str) -> list[str]:
    """Name the retrievers that a mode of search asks."""
    return [name for name in names() if mode in module(name).MODES]


def module(name: str) -> RetrieverModule:
    """Import what offers a retriever."""
    return cast("RetrieverModule", plugins.load(KIND, name))
