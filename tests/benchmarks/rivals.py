"""What else documents can be searched with: bare libraries, SQLite, ripgrep.

Each takes whole documents and returns their names, the best first.
"""

import re
import shutil
import sqlite3
import subprocess
from collections import Counter
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Protocol
from urllib.parse import unquote

import tantivy
from tantivy import Filter, Occur, Query, TextAnalyzerBuilder, Tokenizer

from memory_bank.base import plugins
from memory_bank.base.settings import Settings
from memory_bank.search.models.vectors import np
from memory_bank.search.retrievers.keyword.analyzer import STOP_WORDS
from tests.benchmarks.collections import Collection

_WORD = re.compile(r"\w+")


class Rival(Protocol):
    """A way to find documents."""

    def ask(self, question: str, limit: int) -> list[str]:
        """Return the names of the best documents."""
        ...


class BareWords:
    """tantivy with English stems over whole documents; any word of the question may match."""

    def __init__(self, one: Collection, _: Path) -> None:
        self.schema = (
            tantivy.SchemaBuilder()
            .add_text_field("name", stored=True, tokenizer_name="raw", index_option="basic")
            .add_text_field("text", tokenizer_name="en_stem")
            .build()
        )
        self.stems = (
            TextAnalyzerBuilder(Tokenizer.simple())
            .filter(Filter.remove_long(40))
            .filter(Filter.lowercase())
            .filter(Filter.stemmer("english"))
            .build()
        )
        index = tantivy.Index(self.schema)
        writer = index.writer(50_000_000, 1)
        for name, title, body in one.documents():
            fields = {"name": name, "text": f"{title}\n{body}"}
            writer.add_document(tantivy.Document.from_dict(fields, self.schema))
        writer.commit()
        index.reload()
        self.searcher = index.searcher()

    def ask(self, question: str, limit: int) -> list[str]:
        words = [Query.term_query(self.schema, "text", w) for w in self.stems.analyze(question)]
        query = Query.boolean_query([(Occur.Should, word) for word in words])
        hits = self.searcher.search(query, limit).hits
        return [str(self.searcher.doc(place)["name"][0]) for _, place in hits]


class Fts5:
    """SQLite's FTS5 with Porter stems and bm25; any word of the question may match."""

    def __init__(self, one: Collection, _: Path) -> None:
        self.base = sqlite3.connect(":memory:")
        self.base.execute(
            "CREATE VIRTUAL TABLE notes USING fts5"
            "(name UNINDEXED, title, body, tokenize = 'porter unicode61')"
        )
        self.base.executemany("INSERT INTO notes VALUES (?, ?, ?)", one.documents())
        self.base.commit()

    def ask(self, question: str, limit: int) -> list[str]:
        words = " OR ".join(f'"{word}"' for word in _WORD.findall(question))
        sql = "SELECT name FROM notes WHERE notes MATCH ? ORDER BY bm25(notes) LIMIT ?"
        return [name for (name,) in self.base.execute(sql, (words, limit))]


class Ripgrep:
    """`rg` for the question's words without stop words, whatever their case.

    Files are ranked by how many different words match, then by how many matches there are.
    """

    def __init__(self, one: Collection, work: Path) -> None:
        program = shutil.which("rg")
        if program is None:
            raise LookupError("rg is not installed")
        self.program = program
        self.folder = one.files(work)

    def ask(self, question: str, limit: int) -> list[str]:
        words = [word for word in map(str.lower, _WORD.findall(question)) if word not in STOP_WORDS]
        words = words or _WORD.findall(question.lower())
        patterns = [part for word in dict.fromkeys(words) for part in ("-e", word)]
        line = [
            self.program,
            "-oiF",
            "--with-filename",
            "--no-line-number",
            "--null",
            *patterns,
            "-g",
            "*.md",
            ".",
        ]
        done = subprocess.run(line, cwd=self.folder, capture_output=True, check=False)
        found: dict[str, Counter[str]] = {}
        for row in done.stdout.decode(errors="replace").splitlines():
            file, _, match = row.partition("\0")
            found.setdefault(unquote(Path(file).stem), Counter())[match.lower()] += 1
        order = sorted(found, key=lambda name: (-len(found[name]), -found[name].total(), name))
        return order[:limit]


class BareVectors:
    """Cosines between the question's vector and those of whole documents."""

    def __init__(self, one: Collection, work: Path, *, embedder: str) -> None:
        cache = work / "vectors" / f"{one.name.replace(' ', '-')}.{embedder}.npy"
        model = plugins.load("search.embedders", embedder).load(Settings())
        self.model = model
        rows = list(one.documents())
        self.names = [name for name, _, _ in rows]
        if not cache.exists():
            texts = [f"{title}\n{body}" for _, title, body in rows]
            made = [model.embed(texts[i : i + 256]) for i in range(0, len(texts), 256)]
            cache.parent.mkdir(parents=True, exist_ok=True)
            np.save(cache, np.vstack(made))
        self.vectors = np.load(cache)

    def ask(self, question: str, limit: int) -> list[str]:
        scores = self.vectors @ self.model.embed([question], "query")[0]
        return [self.names[row] for row in np.argsort(-scores, kind="stable")[:limit]]


def makers(embedders: list[str]) -> dict[str, Callable[[Collection, Path], Rival]]:
    """Return what makes each rival of a collection and a folder to keep its files in."""
    return {
        "ripgrep": Ripgrep,
        "SQLite FTS5": Fts5,
        "bare tantivy": BareWords,
        **{f"bare vectors, {name}": partial(BareVectors, embedder=name) for name in embedders},
    }
