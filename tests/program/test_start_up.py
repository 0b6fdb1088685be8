"""A library is loaded only when it is used: what a plain question costs is what it needs."""

import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from memory_bank.bank.bank import Bank, open_bank
from memory_bank.memory.retrieval.recall import recall

Run = Callable[..., subprocess.CompletedProcess[str]]

HEAVY = (
    "tantivy", "numpy", "networkx", "yaml", "frontmatter", "markdown_it", "rich", "click",
    "watchdog", "usearch", "tokenizers", "onnxruntime", "pygls", "lsprotocol", "tree_sitter",
    "dataclasses", "inspect", "usearch.index", "tqdm",
)  # fmt: skip
LOADED = f"""
def loaded():
    import sys
    print(*[name for name in {HEAVY} if name in sys.modules])
"""

IMPORT = """
loaded()
"""

OPEN = """
import sys
from memory_bank.bank.bank import open_bank
open_bank(sys.argv[1]).close()
loaded()
"""

ASK = """
import sys
from memory_bank.bank.bank import open_bank
from memory_bank.memory.retrieval.recall import recall
with open_bank(sys.argv[1]) as bank:
    assert recall(bank, "tantivy", mode=sys.argv[2]).result_count
loaded()
"""

LIST = """
import sys
from memory_bank.bank.bank import open_bank
from memory_bank.memory.links import ghosts
from memory_bank.memory.links import links_of
from memory_bank.memory.overview import stats
from memory_bank.memory.show import list_notes
from memory_bank.memory.show import tag_counts
from memory_bank.review.doctor import doctor
with open_bank(sys.argv[1], settings={"memory.embedder": "none"}) as bank:
    assert list_notes(bank).result_count and tag_counts(bank) and ghosts(bank)
    assert links_of(bank, "bm25").incoming and stats(bank).count and doctor(bank).notes
loaded()
"""


@pytest.fixture
def settled(project: Path) -> Path:
    """Bring the project's bank up to date, until its files' stamps are trusted."""
    with open_bank(project) as bank:
        bank.sync()
        time.sleep(0.2)
        bank.sync()
        recall(bank, "tantivy", mode="lexical")  # the first compares the code that notes cite
    return project


def test_importing_the_package_loads_no_library(run_python: Run) -> None:
    assert run_python(LOADED + IMPORT).stdout.split() == []


def test_opening_a_bank_loads_no_library(run_python: Run, settled: Path) -> None:
    assert run_python(LOADED + OPEN, settled).stdout.split() == []


def test_a_question_of_words_loads_the_index_of_words_alone(run_python: Run, settled: Path) -> None:
    assert run_python(LOADED + ASK, settled, "lexical").stdout.split() == ["tantivy"]


def test_a_question_of_words_leaves_a_new_note_to_the_next_by_meaning(
    run_python: Run, settled: Path
) -> None:
    note = settled / ".memories/tantivy-again.md"
    note.write_text("Why tantivy: it is fast.\n", encoding="utf-8")
    found = set(run_python(LOADED + ASK, settled, "lexical").stdout.split())
    assert "tantivy" in found
    assert not found & {"numpy", "usearch", "tokenizers"}
    with open_bank(settled) as bank:
        answer = recall(bank, "why is tantivy fast?", mode="semantic")
    assert note.name in [hit.path for hit in answer.notes]


def test_a_question_of_meaning_loads_no_parser_no_graph_and_no_screen(
    run_python: Run, settled: Path
) -> None:
    found = set(run_python(LOADED + ASK, settled, "hybrid").stdout.split())
    assert found <= {"tantivy", "numpy", "usearch", "tokenizers", "dataclasses", "inspect"}


def test_a_list_a_count_and_a_check_need_no_model_no_graph_and_no_screen(
    run_python: Run, settled: Path
) -> None:
    found = set(run_python(LOADED + LIST, settled).stdout.split())
    assert not found & {"numpy", "networkx", "rich", "watchdog", "usearch", "tokenizers", "click"}


def test_every_public_name_is_there() -> None:
    import memory_bank

    for name in memory_bank.__all__:
        assert getattr(memory_bank, name) is not None
    assert memory_bank.Bank is Bank
    with pytest.raises(AttributeError):
        memory_bank.nothing  # noqa: B018
