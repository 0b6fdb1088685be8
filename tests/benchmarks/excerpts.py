"""What a reader gets of the note that answers: the settled rule of a talk, the sentence that answers.

python -m tests.benchmarks.excerpts [--show]

The rules are of past talks, asked for by bug reports; the sentences are of banks of real projects.
"""

import argparse
import json
import re
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from memory_bank.bank.bank import Bank, open_bank
from memory_bank.memory.retrieval.recall import recall
from memory_bank.memory.retrieval.recall_bank import fit_to_tokens
from memory_bank.search.snippets import cut_excerpt, cut_snippet
from tests.benchmarks import collections

TOKENS = (300, 500)
_END = 50
"""Characters at the end of a sentence by which it is recognized."""


class Wanted(NamedTuple):
    """A question, the note that answers it, and the sentences of which one does."""

    bank: Path
    text: str
    note: str
    sentences: tuple[str, ...]


def rules(work: Path) -> Iterator[Wanted]:
    """Yield the rules of past talks."""
    folder = collections.unpacked("rules", work) / "rules"
    for part in ("conversation", "amended"):
        for one in json.loads((folder / part / "queries.json").read_text(encoding="utf-8")):
            notes = folder / part / "notes"
            yield Wanted(notes, one["query"], one["current"], (one["rule"],))


def answers(work: Path) -> Iterator[Wanted]:
    """Yield the sentences that answer questions about projects."""
    folder = collections.unpacked("projects", work) / "projects"
    file = collections.SHARED / "answer-sentences.json"
    for one in json.loads(file.read_text(encoding="utf-8")):
        notes = folder / one["group"] / "notes"
        yield Wanted(notes, one["query"], one["note"], tuple(one["sentences"]))


def shown(bank: Bank, one: Wanted) -> Iterator[tuple[str, str]]:
    """Yield what a reader gets within each budget."""
    found = recall(bank, one.text, 10, detail="note", count_access=False)
    for tokens in TOKENS:
        notes = fit_to_tokens(found, tokens).notes
        yield f"{tokens} tokens", "\n".join(note.content for note in notes)
    note = (one.bank / one.note).read_text(encoding="utf-8")
    yield "of the note, 300 tokens", cut_excerpt(note, one.text, TOKENS[0]).text
    yield "its snippet", cut_snippet(note, one.text).text


def row(title: str, wanted: list[Wanted], *, show: bool) -> str:
    """Return how many questions a reader can answer, by budget: all, and every other one."""
    found: dict[str, list[bool]] = {}
    for bank_folder in dict.fromkeys(one.bank for one in wanted):
        with open_bank(bank_folder) as bank:
            bank.sync()
            for one in (one for one in wanted if one.bank == bank_folder):
                for budget, text in shown(bank, one):
                    has = any(_plain(said)[-_END:] in _plain(text) for said in one.sentences)
                    found.setdefault(budget, []).append(has)
                    if show and not has:
                        print(f"\n{budget}: {one.text}\n  wanted: {one.sentences}\n  got: {text}")
    cells = [f"{sum(some)} of {len(some)}, {sum(some[::2])}" for some in found.values()]
    return f"| {title} | {' | '.join(cells)} |"


def main() -> None:
    """Print the table; the second number of a cell is of the first, third, fifth … question."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--show", action="store_true", help="what was shown in place of an answer")
    options = parser.parse_args()
    print(f"| | {' | '.join(f'{one} tokens' for one in TOKENS)} | of the note | its snippet |")
    print("|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as temporary:
        work = Path(temporary)
        print(row("rules", list(rules(work)), show=options.show))
        print(row("answers", list(answers(work)), show=options.show))


def _plain(text: str) -> str:
    return re.sub(r"\W+", " ", text.lower()).strip()


if __name__ == "__main__":
    main()
