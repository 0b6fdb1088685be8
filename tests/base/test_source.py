"""An index takes any source: rows of a CSV file, say."""

import csv
import hashlib
import time
from pathlib import Path

from memory_bank.base.documents import Document, Passage, Read, Scan, Span, read_lines
from memory_bank.base.paths import Layout
from memory_bank.base.setting_sections import Memory
from memory_bank.base.settings import Settings
from memory_bank.search.engine import Engine
from memory_bank.search.index import Index, compare_indices
from memory_bank.search.retrievers.base import Question, Scope


class Rows:
    """The rows of a CSV file: name and text."""

    name = "rows"
    fingerprint = "1"

    def __init__(self, file: Path) -> None:
        self._file = file

    def _rows(self) -> dict[str, str]:
        with self._file.open(newline="", encoding="utf-8") as stream:
            return dict(csv.reader(stream))

    def scan(self) -> Scan:
        return Scan({key: _hash(text) for key, text in self._rows().items()})

    def refresh(self, *, again: bool = False) -> bool:
        return False

    def read(self, key: str, known: str = "") -> Read:
        text = self._rows().get(key)
        if text is None:
            return None
        return Document(key, _hash(text), key, (Passage(1, 2, text),), fields=(("kind", "row"),))

    def text(self, key: str, hash: str, span: Span) -> str | None:  # noqa: A002
        return read_lines(self._rows()[key], span)

    def close(self) -> None:
        """Hold nothing."""


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def test_rows_of_a_csv_file_are_indexed_and_searched(tmp_path: Path) -> None:
    file = tmp_path / "birds.csv"
    file.write_text("kestrel,hovers above the field\nosprey,dives for fish\nowl,hunts voles\n")
    settings = Settings(memory=Memory(embedder="static"))
    source = Rows(file)
    index = Index(Layout(tmp_path, tmp_path / ".index"), source, settings)
    engine = Engine(index.manifest, index.retrievers, settings, lambda _: {})

    def ask(text: str, mode: str = "hybrid") -> list[str]:
        index.catch_up()
        found = engine.search(Question(text), Scope(), mode=mode, limit=5, now=time.time())
        return [hit.document.key for hit in found.hits]

    assert index.indexer.sync().indexed == 3
    assert ask("who dives for fish?")[0] == "osprey"
    assert ask("hovers above the field", "semantic")[0] == "kestrel"
    file.write_text("kestrel,hovers above the field\nowl,dives for mice\nheron,wades in a lake\n")
    assert ask("who dives?")[0] == "owl"
    assert "osprey" not in ask("osprey dives fish")
    assert ask("wades", "lexical") == ["heron"]
    fresh = Index(Layout(tmp_path, tmp_path / "fresh"), source, settings)
    fresh.indexer.sync()
    assert list(compare_indices(index, fresh)) == []
    fresh.close()
    index.close()


def test_lines_are_those_of_markdown() -> None:
    assert read_lines("a\r\nb\x0bc\rd\u2028e\n", Span(2, 4)) == "b\x0bc\nd\u2028e"
    assert read_lines("\none\ntwo\n\nx", Span(1, 5)) == "one\ntwo"
