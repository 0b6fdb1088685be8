"""`python -m tests.benchmarks.ask REPOSITORY...`: which files did a commit with this message change?

Each repository is a git directory with its full history, such as a clone. The newest fifth of its
commits is asked of the work tree before them: recall@5 of the files in the results of `ask`, each
once in their order, beside plain BM25 over the text of all files in the same run. `--every N` asks
each Nth question. `--subjects` asks only the first line of each message, counts the files of the
first five results as they are shown, and asks the questions of `code_questions.json` about the
repository: how many have a right file first?
"""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

import tantivy

from memory_bank.code.index.codebase import Codebase, open_codebase
from memory_bank.memory.retrieval.answers import result_file
from memory_bank.memory.retrieval.ask import ask
from tests.benchmarks.commit_questions import HeldOut, Question, held_out

_FIRST = 5
_RESULTS = 15
"""Results of `ask` whose files are looked at."""
_MOST_BYTES = 1_000_000

QUESTIONS = Path(__file__).with_name("code_questions.json")

Answer = Callable[[str], Sequence[str]]


def main(words: Sequence[str]) -> None:
    """Print a line for each repository."""
    every = int(words[words.index("--every") + 1]) if "--every" in words else 1
    places = [Path(word) for word in words if "/" in word or Path(word).exists()]
    if not places:
        print("no repository is named: nothing is measured")
        return
    print(f"{'repository':<16}{'questions':>10}{'BM25':>8}{'ask':>8}{'ratio':>8}{'rrf':>8}")
    with tempfile.TemporaryDirectory() as work:
        os.environ["XDG_CACHE_HOME"] = f"{work}/cache"
        os.environ["XDG_STATE_HOME"] = f"{work}/state"
        for place in places:
            asked = held_out(place, Path(work))
            if "--subjects" in words:
                _subjects(asked, every)
            else:
                _measure(asked, every)


def _measure(asked: HeldOut, every: int) -> None:
    questions = asked.questions[::every]
    bare = recall(questions, _bm25(asked.tree))
    shares = []
    for how in ("scores", "rrf"):
        with open_codebase(asked.tree, settings={"search.fusion": how}) as codebase:
            codebase.catch_up(seconds=1000)
            shares.append(recall(questions, lambda text: _files(codebase, text)))
    ours, ranks = shares
    print(
        f"{asked.name:<16}{len(questions):>10}{100 * bare:>8.1f}{100 * ours:>8.1f}"
        f"{ours / bare if bare else 0:>8.2f}{100 * ranks:>8.1f}",
        flush=True,
    )


def _subjects(asked: HeldOut, every: int) -> None:
    questions = [one._replace(text=one.text.splitlines()[0]) for one in asked.questions[::every]]
    known = json.loads(QUESTIONS.read_text(encoding="utf-8")).get(asked.name, [])
    with open_codebase(asked.tree) as codebase:
        codebase.catch_up(seconds=1000)

        def shown(text: str) -> list[str]:
            return [
                result_file(one) for one in ask(None, codebase, text, count_access=False).results
            ]

        share = recall(questions, shown)
        first = sum(shown(one["text"])[:1] == [file] for one in known for file in one["files"])
    told = f", first {first} of {len(known)} questions" if known else ""
    print(f"{asked.name:<16}{len(questions):>10} subjects{share:>8.3f} as shown{told}", flush=True)


def recall(questions: Sequence[Question], answer: Answer) -> float:
    """Return the mean share of the changed files that are among the first five."""
    found = [len(set(answer(one.text)[:_FIRST]) & one.files) / len(one.files) for one in questions]
    return sum(found) / max(1, len(found))


def _files(codebase: Codebase, text: str) -> list[str]:
    found = ask(None, codebase, text, _RESULTS, count_access=False)
    return list(dict.fromkeys(map(result_file, found.results)))


def _bm25(tree: Path) -> Answer:
    """Return plain BM25 over the text of all files of a work tree, with English stems."""
    schema = (
        tantivy.SchemaBuilder()
        .add_text_field("path", stored=True, tokenizer_name="raw")
        .add_text_field("body", tokenizer_name="en_stem")
        .build()
    )
    index = tantivy.Index(schema)
    writer = index.writer(50_000_000)
    listed = subprocess.run(
        ["git", "-C", str(tree), "ls-files", "-z"], capture_output=True, check=True
    )
    for name in filter(None, listed.stdout.decode("utf-8", "replace").split("\0")):
        file = tree / name
        if file.is_symlink() or not file.is_file() or file.stat().st_size > _MOST_BYTES:
            continue
        data = file.read_bytes()
        if b"\0" not in data:
            writer.add_document(tantivy.Document(path=name, body=data.decode("utf-8", "replace")))
    writer.commit()
    index.reload()
    searcher = index.searcher()

    def answer(text: str) -> list[str]:
        words = "".join(char if char.isalnum() else " " for char in text)
        query, _ = index.parse_query_lenient(words, ["body"])
        return [searcher.doc(at)["path"][0] for _, at in searcher.search(query, _FIRST).hits]

    return answer


if __name__ == "__main__":
    main(sys.argv[1:])
