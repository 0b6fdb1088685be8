"""The plug-ins that find passages, and the set of them that one index has."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from typing import cast

from memory_bank.base import plugins
from memory_bank.base.errors import EmbedderUnavailable
from memory_bank.base.settings import Settings
from memory_bank.search.retrievers.base import Retriever, RetrieverModule

KIND = "search.retrievers"


class RetrieverSet:
    """The retrievers of one index, each loaded when it is first needed."""

    def __init__(
        self, folder: Path, owner: str, settings: Settings, without: Collection[str] = ()
    ) -> None:
        """Keep each retriever's files in a folder of its name below `folder`; leave some out."""
        self._folder = folder
        self._owner = owner
        self._settings = settings
        self._without = without
        self._names = [name for name in list_retrievers() if name not in without]
        self._loaded: dict[str, Retriever | None] = {}

    @property
    def fingerprint(self) -> str:
        """Return what determines the stored data of all retrievers; load no model."""
        parts = (
            f"{name}={import_retriever(name).fingerprint(self._settings)}" for name in self._names
        )
        return " ".join(parts)

    def get(self, name: str) -> Retriever | None:
        """Return a retriever; None when it is turned off. Raises EmbedderUnavailable."""
        if name not in self._loaded:
            folder = self._folder / name
            self._loaded[name] = import_retriever(name).load(folder, self._owner, self._settings)
        return self._loaded[name]

    def all(self) -> tuple[list[Retriever], str]:
        """Return the retrievers that can be filled now, and why another can't, if so."""
        retrievers, missing = [], ""
        for name in self._names:
            try:
                retriever = self.get(name)
            except EmbedderUnavailable as error:
                missing = error.message
            else:
                retrievers += [retriever] if retriever is not None else []
                missing = missing or getattr(retriever, "problem", "")
        for folder in filter(Path.is_dir, map(self._folder.joinpath, self._without)):
            import shutil  # start-up: compressors come with it

            shutil.rmtree(folder, ignore_errors=True)  # of an earlier version
        return retrievers, missing

    def in_mode(self, mode: str) -> list[str]:
        """Return the names of the retrievers that a mode of search queries."""
        return [name for name in self._names if mode in import_retriever(name).MODES]

    def close(self) -> None:
        """Close all files."""
        for retriever in self._loaded.values():
            if retriever is not None:
                retriever.close()
        self._loaded.clear()


def list_retrievers() -> list[str]:
    """Return the names of all retrievers."""
    return plugins.list_plugins(KIND)


def import_retriever(name: str) -> RetrieverModule:
    """Import the module of a retriever."""
    return cast("RetrieverModule", plugins.load(KIND, name))
