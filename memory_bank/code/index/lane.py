"""A lane of the code side: the index of its source, and how it is searched."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import Path

from memory_bank.base.documents import Source
from memory_bank.base.paths import Layout
from memory_bank.base.setting_sections import Memory
from memory_bank.base.settings import Settings
from memory_bank.code.index import work_tree
from memory_bank.search.candidates import Accesses
from memory_bank.search.engine import Hit, SearchResult
from memory_bank.search.index import Index, ReopenedIndex, View, discard_manifest
from memory_bank.search.manifest import entries, filters
from memory_bank.search.manifest.filters import Condition
from memory_bank.search.query import parse
from memory_bank.search.ranking import FILES, NOTES, Weights
from memory_bank.search.retrievers.base import Scope

TESTS_ONLY = ("kind", "test")
"""The condition by which tests alone are found."""

_TESTS = Weights(1.0, 0.25, 0.4)
"""A test is found by its own words: beside the code that it guards, all of the file says little."""

_KEYS = ("in", "kind", "language")
"""Keys of conditions in a query."""


class CodeLane(ReopenedIndex):
    """A source with its index in the user's cache."""

    def __init__(
        self, root: Path, folder: Path, source: Source, settings: Settings, accesses: Accesses
    ) -> None:
        super().__init__()
        self.source = source
        self._place = Layout(root, folder)
        self._settings = _use_quick_embedder(settings)
        self._accesses = accesses

    def empty(self) -> bool:
        """Tell whether there is no index, and nothing to make one of."""
        return not self._place.manifest.exists() and not self.source.scan().signatures

    def close(self) -> None:
        """Close all files; they are opened again when needed."""
        self._drop()
        self.source.close()

    def opened(self) -> View:
        """Return the index, opened again when its files were deleted or replaced."""
        if self._view is not None and not self._view.index.current():
            self._drop()
            self.source.close()  # the new index must be compared with all documents
        if self._view is None:
            self._place.make_index()
            # a commit mostly has one passage, which then stands for the whole message
            without = {"notes"} if self.source.name == "commits" else ()
            index = Index(self._place, self.source, self._settings, without=without)
            self._view = View(index, self.source, self._settings, self._accesses)
        return self._view

    def rebuild(self) -> None:
        """Remove the manifest, and build the index again from the files."""
        self._drop()
        self._place.make_index()
        discard_manifest(self._place)
        self.source.close()
        self.opened().index.indexer.sync()

    def search(
        self,
        text: str,
        conditions: Sequence[tuple[str, str]],
        *,
        mode: str,
        limit: int,
        now: float,
        parts: bool = False,
    ) -> SearchResult[Hit]:
        """Return the best hits that meet the conditions given and those in the text."""
        parsed = parse(text, _KEYS, times=False)
        query_conditions = [
            (condition.key, str(condition.value))
            for condition in parsed.conditions
            if condition.key in _KEYS
        ]
        by_file = self.source.name == "files" and not parts
        tests_only = TESTS_ONLY in conditions

        def factors(paths: Collection[str]) -> dict[str, float]:
            factors = {path: work_tree.likelihood_factor(path, text) for path in paths}
            return {path: factor for path, factor in factors.items() if factor != 1}

        return self.read(
            lambda view: view.engine.search(
                parsed.question,
                _find_scope(view, [*conditions, *query_conditions]),
                mode=mode,
                limit=limit,
                now=now,
                unit="documents" if by_file else "sections",
                factors=factors if self.source.name == "files" and not tests_only else None,
                weights=_TESTS if tests_only else FILES if by_file else NOTES,
            )
        )


def _use_quick_embedder(settings: Settings) -> Settings:
    """Use word vectors in place of the default embedder: they serve code as well, and at once."""
    if settings.memory.embedder != Memory().embedder:
        return settings
    return settings._replace(memory=settings.memory._replace(embedder="static"))


def _find_scope(view: View, conditions: Sequence[tuple[str, str]]) -> Scope:
    """Return the passages that meet conditions on folder, kind and language."""
    file_conditions = [Condition(key, value) for key, value in conditions if key != "kind"]
    scope = filters.find_scope(view.manifest, file_conditions, hidden=True)
    for key, value in conditions:
        if key == "kind":
            parts = [part.strip().casefold() for part in value.split(",") if part.strip()]
            rows = entries.passages_with(view.manifest, key, parts)
            rows_in_scope = {
                row: document for row, document in rows.items() if scope.holds(row, document)
            }
            scope = Scope(only=frozenset(rows_in_scope.values()), rows=frozenset(rows_in_scope))
    return scope
