"""What the libraries themselves cost for the same work: what ratios are taken against."""

import os
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import tantivy
from blake3 import blake3
from markdown_it import MarkdownIt
from tantivy import Filter, Occur, Query, TextAnalyzerBuilder, Tokenizer
from usearch.index import Index as Graph

from tests.benchmarks.bare_static import BareStatic, np

COLD = Path(__file__).with_name("bare_cold.py")
_GRAPH = "graph.usearch"
_DONE = "built"
_TOP = 50
_SHOWN = 10


class Bare:
    """Read, hash, parse, index and embed a folder with nothing around the libraries."""

    def __init__(self, folder: Path, index: Path) -> None:
        self.folder = folder
        self.index = index
        self.embedder = BareStatic()
        self.schema = (
            tantivy.SchemaBuilder()
            .add_text_field("note", tokenizer_name="raw", index_option="basic")
            .add_text_field("key", stored=True, tokenizer_name="raw", index_option="basic")
            .add_text_field("body", stored=True, tokenizer_name="en_stem")
            .build()
        )
        self.stems = (
            TextAnalyzerBuilder(Tokenizer.simple())
            .filter(Filter.remove_long(40))
            .filter(Filter.lowercase())
            .filter(Filter.stemmer("english"))
            .build()
        )

    @property
    def built(self) -> bool:
        """Tell whether an index of an earlier run can be used again."""
        return (self.index / _DONE).exists()

    def open(self) -> None:
        """Open what an earlier run built."""
        self.bank = tantivy.Index(self.schema, path=str(self.index), reuse=True)
        self.graph = Graph.restore(str(self.index / _GRAPH), view=True)

    def build(self) -> dict[str, float]:
        """Do what a full build can't do without, one after the other; return seconds of each.

        The graph over the vectors is made afterwards and is not part of the sum.
        """
        self.index.mkdir(parents=True, exist_ok=True)
        clock = time.perf_counter
        spent: dict[str, float] = {}
        started = clock()
        files = sorted(self.folder.rglob("*.md"))
        read = [(file.name, file.read_bytes()) for file in files]
        hashes = {blake3(data).hexdigest() for _, data in read}
        spent["read and hash"] = clock() - started
        texts = [(name, data.decode(errors="replace")) for name, data in read]
        started = clock()
        parser = MarkdownIt("commonmark").disable("inline", ignoreInvalid=True)
        parser.core.ruler.disable(["inline"])
        blocks = sum(len(parser.parse(text)) for _, text in texts)
        spent["parse blocks"] = clock() - started
        assert blocks >= len(hashes)
        sections = [(name, body) for name, text in texts for body in _sections(text)]
        spent["tantivy add, commit"] = self._add(sections)
        started = clock()
        bodies = [body for _, body in sections]
        rows = [self.embedder.embed(bodies[i : i + 256]) for i in range(0, len(bodies), 256)]
        spent["embed"] = clock() - started
        vectors = np.vstack(rows)
        graph = Graph(ndim=vectors.shape[1], metric="cos", dtype="f16", connectivity=16)
        graph.add(np.arange(len(vectors), dtype=np.uint64), vectors, threads=0)
        graph.save(str(self.index / _GRAPH))
        (self.index / _DONE).touch()
        return spent

    def _add(self, sections: list[tuple[str, str]]) -> float:
        started = time.perf_counter()
        bank = tantivy.Index(self.schema, path=str(self.index), reuse=False)
        writer = bank.writer(50_000_000, 1)
        for number, (name, body) in enumerate(sections):
            writer.add_document(self._document(name, f"{name}#{number}", body))
        writer.commit()
        writer.wait_merging_threads()
        return time.perf_counter() - started

    def walk(self) -> int:
        """Look at the names and stamps of all files."""
        return sum(1 for _ in _stamps(str(self.folder)))

    def query(self, question: str, *, meaning: bool = True) -> int:
        """Embed, search both indices for 50, and make ten stored sections and snippets ready."""
        query = self._query(question)
        searcher = self.bank.searcher()
        hits = searcher.search(query, _TOP).hits
        if meaning:
            self.graph.search(self.embedder.embed([question])[0], _TOP)
        self._cut(searcher, query, hits)
        return len(hits)

    def _cut(self, searcher: tantivy.Searcher, query: Query, hits: Sequence[Any]) -> None:
        maker = tantivy.SnippetGenerator.create(searcher, query, self.schema, "body")
        for _, place in hits[:_SHOWN]:
            maker.snippet_from_doc(searcher.doc(place)).to_html()

    def names(self, question: str, limit: int) -> list[str]:
        """Return the keys of the best sections by words."""
        searcher = self.bank.searcher()
        hits = searcher.search(self._query(question), limit).hits
        return [str(searcher.doc(place)["key"][0]) for _, place in hits]

    def edit(self, name: str, text: str) -> None:
        """Replace one note's documents and make them visible; see `settle`."""
        self._writer = writer = self.bank.writer(50_000_000, 1)
        writer.delete_documents_by_term("note", name)
        for number, body in enumerate(_sections(text)):
            writer.add_document(self._document(name, f"{name}#edited-{number}", body))
        writer.commit()
        self.bank.reload()

    def settle(self) -> None:
        """Wait for the merging that an edit left to threads: it would disturb what is timed next."""
        self._writer.wait_merging_threads()

    def _query(self, question: str) -> Query:
        words = [Query.term_query(self.schema, "body", w) for w in self.stems.analyze(question)]
        return Query.boolean_query([(Occur.Should, word) for word in words])

    def _document(self, name: str, key: str, body: str) -> tantivy.Document:
        fields = {"note": name, "key": key, "body": body}
        return tantivy.Document.from_dict(fields, self.schema)


def _sections(text: str) -> list[str]:
    return text.split("\n## ")


def _stamps(folder: str) -> Iterator[int]:
    """Yield the modification time of every note below a folder, hidden folders left out."""
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.name.startswith("."):
                continue
            if entry.is_dir(follow_symlinks=False):
                yield from _stamps(entry.path)
            else:
                yield entry.stat(follow_symlinks=False).st_mtime_ns
