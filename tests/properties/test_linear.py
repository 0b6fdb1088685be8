"""Time grows with a text's length, not with its square, whatever a note or a question says.

A text of four times the length may take six times as long. A square takes sixteen.
"""

import gc
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from memory_bank.base import paths
from memory_bank.base.documents import UNDATED, Document, Span, read_lines
from memory_bank.base.errors import MemoryBankError
from memory_bank.notes import front_matter, links, parsing
from memory_bank.notes.names import file_link_name, lookup_key
from memory_bank.notes.source import build_document
from memory_bank.search import query, snippets
from memory_bank.search.manifest.writer import _entries
from memory_bank.search.retrievers.keyword.analyzer import (
    clean_text,
    identifier_parts,
    split_bigrams,
)
from memory_bank.search.retrievers.vectors.vector_index import embedded_text

from .hostile import TEXTS

pytestmark = pytest.mark.slow

ENOUGH = 0.3
"""Seconds that the longer text must take, for the clock to measure it."""
LONGEST = 80_000
"""Characters; front matter beyond 100,000 is not read at all."""
QUESTION = "word a body [[a]] fixes"
CHANGES = {"title": "x y", "tags": ["a", "b"], "k": "v", "a": None, "created": None, "zz": 1}


def read(text: str) -> None:
    """Do what indexing does, but for the libraries that keep the words."""
    note = parsing.parse("folder/note.md", text.encode())
    made = build_document(note, UNDATED, ".memories/", "")
    assert given(made) < 100 * len(text) + 10_000, "what is indexed must not outgrow the text"


def given(made: Document) -> int:
    """Count the characters that the indices of words and of meaning are given of a note."""
    size = 0
    for entry in _entries(made, 1, range(1, 10**9)):
        words = (clean_text(entry.text), split_bigrams(entry.text), identifier_parts(entry.text))
        size += sum(map(len, (*words, embedded_text(entry))))
    return size


def edit(text: str) -> None:
    with suppress(MemoryBankError):
        front_matter.set_keys(text, CHANGES)


def move(text: str) -> None:
    links.relink(text, lambda link: "facts/other")


def search(text: str) -> None:
    snippets.cut_snippet(read_lines(text, Span(1, len(text) + 1)), QUESTION)
    query.parse(text, ["k"])


@contextmanager
def quiet() -> Iterator[None]:
    """Keep the collector of garbage out: its work grows with what other tests have left."""
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def seconds(work: Callable[[str], None], text: str, runs: int = 1) -> float:
    """Return the least processor time of some runs."""
    best = float("inf")
    for _ in range(runs):
        began = time.process_time()
        work(text)
        best = min(best, time.process_time() - began)
    return best


@pytest.mark.parametrize("name", TEXTS)
def test_four_times_the_text_takes_at_most_six_times_as_long(name: str) -> None:
    make = TEXTS[name]
    with quiet():
        for work in (read, edit, move, search):
            size = 500
            while (took := seconds(work, make(4 * size))) < ENOUGH and 8 * size <= LONGEST:
                size *= 2
            short = 0.0
            for _ in range(5):  # others take the processor's cache at times, but not each time
                if took <= max(ENOUGH, 6 * short):
                    break
                short = seconds(work, make(size), 2)
                took = min(took, seconds(work, make(4 * size)))
            assert took <= max(ENOUGH, 6 * short), f"{work.__name__}: {short:.3f} s, {took:.3f} s"


@pytest.mark.parametrize("unit", ["a:", '"a ', "-", "tag:a ", "since:1d ", 'x:"y', "(", "\u0301"])
def test_a_query_of_a_megabyte_is_read_at_once(unit: str) -> None:
    def ask(text: str) -> None:
        query.parse(text, ["x"])

    assert seconds(ask, unit * (1_000_000 // len(unit))) < 0.5


@pytest.mark.parametrize("unit", ["./", ".", "a.", "a:1", "\\", "\u0301\u0327", "../"])
def test_a_name_of_a_megabyte_is_read_at_once(folder: Path, unit: str) -> None:
    place = paths.layout_at(folder)

    def ask(text: str) -> None:
        file_link_name(text, place)
        lookup_key(text)

    assert seconds(ask, unit * (1_000_000 // len(unit))) < 1
