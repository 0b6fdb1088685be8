"""What the libraries themselves cost for the same work: what ratios are taken against."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

import tantivy
from blake3 import blake3
from markdown_it import MarkdownIt
from usearch.index import Index as Graph

from memory_bank.config import Settings
from memory_bank.embedders import static
from memory_bank.embedders._numpy import np


class Bare:
    """Read, hash, parse, index and embed a folder with nothing around the libraries."""

    def __init__(self, folder: Path, index: Path) -> None:
        self.folder = folder
        self.index = index
        embedder = static.load(Settings())
        assert embedder is not None
        self.embedder = embedder
        self.schema = (
            tantivy.SchemaBuilder()
            .add_text_field("key", stored=True, tokenizer_name="raw")
            .add_text_field("body", stored=True, tokenizer_name="en_stem")
            .build()
        )

    def walk(self) -> int:
        """Look at the names and stamps of all files."""
        seen = 0
        for folder, _, names in os.walk(self.folder):
            with os.scandir(folder) as entries:
                seen += sum(1 for entry in entries if entry.is_file() and entry.stat().st_size >= 0)
            del names
        return seen

    def build(self) -> None:
        """Do what a full build can't do without, one after the other."""
        self.index.mkdir(parents=True, exist_ok=True)
        parser = MarkdownIt("commonmark").disable("inline", ignoreInvalid=True)
        parser.core.ruler.disable(["inline"])
        bank = tantivy.Index(self.schema, path=str(self.index))
        writer = bank.writer(50_000_000, 1)
        texts: list[str] = []
        for file in sorted(self.folder.rglob("*.md")):
            data = file.read_bytes()
            blake3(data).hexdigest()
            text = data.decode()
            parser.parse(text)
            for number, section in enumerate(text.split("\n## ")):
                key = f"{file.name}#{number}"
                writer.add_document(
                    tantivy.Document.from_dict({"key": key, "body": section}, self.schema)
                )
                texts.append(section)
        writer.commit()
        writer.wait_merging_threads()
        vectors = np.vstack(
            [self.embedder.embed(texts[i : i + 256]) for i in range(0, len(texts), 256)]
        )
        self.graph = Graph(ndim=vectors.shape[1], metric="cos", dtype="f16", connectivity=16)
        self.graph.add(np.arange(len(vectors), dtype=np.uint64), vectors, threads=0)
        self.graph.save(str(self.index / "graph.usearch"))
        self.bank = bank
        bank.reload()

    def query(self, question: str, *, meaning: bool = True) -> int:
        """Embed, search both indices for 50, and make ten sections and snippets ready."""
        words = [tantivy.Query.term_query(self.schema, "body", word) for word in question.split()]
        query = tantivy.Query.boolean_query([(tantivy.Occur.Should, word) for word in words])
        searcher = self.bank.searcher()
        hits = searcher.search(query, 50).hits
        if meaning:
            self.graph.search(self.embedder.embed([question], "query")[0], 50)
        maker = tantivy.SnippetGenerator.create(searcher, query, self.schema, "body")
        for _, place in hits[:10]:
            maker.snippet_from_doc(searcher.doc(place)).to_html()
        return len(hits)

    def edit(self, key: str, text: str) -> None:
        """Replace one document and make it visible."""
        writer = self.bank.writer(50_000_000, 1)
        writer.delete_documents_by_term("key", key)
        writer.add_document(tantivy.Document.from_dict({"key": key, "body": text}, self.schema))
        writer.commit()
        self.bank.reload()


def cold_script(index: Path, question: str, *, meaning: bool) -> Sequence[str]:
    """Return the words of a script that opens the bare indices, searches once and prints."""
    lines = [
        "import sys, tantivy",
        f"b = tantivy.Index.open({str(index)!r}); s = b.searcher()",
        "from tantivy import Occur, Query",
        f"words = [Query.term_query(b.schema, 'body', w) for w in {question!r}.split()]",
        "q = Query.boolean_query([(Occur.Should, w) for w in words])",
        "[print(s.doc(a)['key'][0]) for _, a in s.search(q, 10).hits]",
    ]
    if meaning:
        lines += [
            "from memory_bank.embedders import static",
            "from memory_bank.config import Settings",
            "from usearch.index import Index",
            f"g = Index.restore({str(index / 'graph.usearch')!r}, view=True)",
            f"print(g.search(static.load(Settings()).embed([{question!r}])[0], 50).keys[0])",
        ]
    return ["-c", "\n".join(lines)]
