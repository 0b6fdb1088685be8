"""What commands, hooks, warm questions and the server cost in the bank of a project, in git.

    python -m tests.benchmarks.commands [REPOSITORY]

The project is cloned with its history; by default it is this repository. Times are of the
processor, the least of nine; those of `python -c pass` stand beside them.
"""

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from itertools import count
from pathlib import Path

from memory_bank.bank.bank import Bank, open_bank
from memory_bank.memory.overview import stats
from memory_bank.memory.retrieval.recall import recall
from tests.benchmarks import serving
from tests.benchmarks.timing import percentile

ROOT = Path(__file__).parents[2]
QUESTION = "Why do we use tantivy for the index and not sqlite?"
_NUMBERS = count(1)


def busy(line: Sequence[str], folder: Path, text: str = "", times: int = 9) -> float:
    """Return the least milliseconds of processor time of a command in a folder."""
    spent = []
    for _ in range(times):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        number = str(next(_NUMBERS))
        subprocess.run(
            [part.replace("NUMBER", number) for part in line],
            input=text.replace("NUMBER", number),
            cwd=folder,
            check=True,
            capture_output=True,
            text=True,
        )
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        spent.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return 1000 * min(spent)


def warm(bank: Bank, questions: Sequence[str], mode: str) -> str:
    """Return the median and the 95th percentile of the milliseconds of warm questions."""

    def once(question: str) -> float:
        before = time.process_time()
        recall(bank, question, 10, mode, count_access=False)
        return time.process_time() - before

    for question in questions[:5]:
        once(question)
    spent = [1000 * min(once(question) for _ in range(3)) for question in questions]
    return f"{statistics.median(spent):.1f} / {percentile(spent, 0.95):.1f}"


def event(name: str, project: Path, **fields: object) -> str:
    """Return an event of Claude Code as its hook gets it."""
    about = {"session_id": "session-NUMBER", "cwd": str(project), "hook_event_name": name}
    return json.dumps({**about, **fields})


def main() -> None:
    """Measure each row in turn."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("repository", nargs="?", type=Path, default=ROOT)
    options = parser.parse_args()
    show = lambda work, figure: print(f"{work:44}{figure}", flush=True)  # noqa: E731
    with tempfile.TemporaryDirectory() as temporary:
        project = Path(temporary).resolve() / "project"
        source = str(options.repository.resolve())
        subprocess.run(["git", "clone", "-q", source, str(project)], check=True)
        for kind in ("STATE", "CACHE", "DATA"):
            os.environ[f"XDG_{kind}_HOME"] = f"{temporary}/{kind.lower()}"
        asked = json.loads((ROOT / "tests/benchmarks/own_questions.json").read_text("utf-8"))
        questions = [row["query"] for row in asked]
        with open_bank(project / ".memories") as bank:
            bank.sync()
            while bank.embed(30).waiting:
                pass
            show("notes", str(stats(bank).count))
            for mode in ("lexical", "hybrid"):
                show(f"warm question, {mode}, p50 / p95", f"{warm(bank, questions, mode)} ms")
        program = [sys.executable, "-P", "-m", "memory_bank"]
        prompt = event("UserPromptSubmit", project, prompt=QUESTION, prompt_id="NUMBER")
        tool = event(
            *("PostToolUse", project),
            tool_name="Bash",
            tool_input={"command": "pytest"},
            tool_response={"stdout": "1 passed"},
            tool_use_id="NUMBER",
        )
        for work, line, text in (
            ("recall --mode lexical", ["recall", QUESTION, "--mode", "lexical"], ""),
            ("recall", ["recall", QUESTION], ""),
            ("remember", ["remember", "Ferry NUMBER leaves from pier NUMBER at noon."], ""),
            ("hook at a prompt", ["hook", "claude-code", "UserPromptSubmit"], prompt),
            ("hook at a tool call", ["hook", "claude-code", "PostToolUse"], tool),
        ):
            bare = busy([sys.executable, "-c", "pass"], project)
            ours = busy([*program, *line], project, text)
            show(f"{work}, python -c pass", f"{ours:.0f} ms, {bare:.0f} ms")
        for asks in ([], questions[:1]):
            weight = serving.by_server(program, project / ".memories", asks)
            private = weight["Private_Clean"] + weight["Private_Dirty"]
            show(f"server after {len(asks)} questions, private", f"{private:.0f} MB")


if __name__ == "__main__":
    main()
