"""Of the lines that the hook of a prompt adds, how many are of a note that bears on the prompt?

    python -m tests.benchmarks.injected [FOLDER PROMPTS.json] [--show]

FOLDER is a project with a bank, this one if it is left out; PROMPTS.json maps each prompt to the notes
that bear on it, written down before anything was asked. Prompts without notes should get nothing.
"""

import argparse
import json
import re
import shutil
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from memory_bank.agents.hook_answers import prompt_context
from memory_bank.agents.hook_bank import find_hook_bank
from memory_bank.bank.bank import open_bank
from memory_bank.base.text import Quotes, estimate

OWN = Path(__file__).with_name("prompts.json")
PROJECT = Path(__file__).parents[2]

_PLACE = re.compile(r'<q-\w+ at="([^"]*):\d+"')


class Injected(NamedTuple):
    """What one prompt got."""

    prompt: str
    relevant: Sequence[str]
    lines: Mapping[str, int]
    """How many lines of each note."""
    tokens: int

    @property
    def useful(self) -> int:
        """Return the number of lines of notes that bear on the prompt."""
        return sum(self.lines[path] for path in self.lines if path.endswith(tuple(self.relevant)))


def lines_of_notes(text: str) -> dict[str, int]:
    """Count the quoted lines of each note in what a hook adds."""
    counts: dict[str, int] = {}
    path = ""
    for line in text.splitlines():
        if place := _PLACE.match(line):
            path = place[1]
        elif line.startswith("</q-"):
            path = ""
        elif path and re.search(r"\w", line):
            counts[path] = counts.get(path, 0) + 1
    return counts


def ask(project: Path, prompts: Mapping[str, Sequence[str]]) -> list[Injected]:
    """Return what each prompt gets, each in a session of its own."""
    with open_bank(project) as bank:
        bank.sync()
    hook_bank = find_hook_bank(str(project))
    assert hook_bank is not None
    answers = []
    for number, (prompt, relevant) in enumerate(prompts.items()):
        text, _ = prompt_context(hook_bank, prompt, f"benchmark-{number}", Quotes())
        answers.append(Injected(prompt, relevant, lines_of_notes(text), estimate(text)))
    return answers


def report(answers: Sequence[Injected]) -> str:
    """Return the figures of the answers."""
    lines = sum(sum(answer.lines.values()) for answer in answers)
    useful = sum(answer.useful for answer in answers)
    wanting = [answer for answer in answers if answer.relevant]
    idle = [answer for answer in answers if not answer.relevant]
    return (
        f"lines of a note that bears on the prompt: {useful} of {lines} ({useful / (lines or 1):.0%})\n"
        f"prompts with a note that get it: {sum(bool(one.useful) for one in wanting)} of {len(wanting)}\n"
        f"prompts without one that get nothing: {sum(not one.lines for one in idle)} of {len(idle)}\n"
        f"tokens of a prompt with notes, mean:"
        f" {sum(one.tokens for one in answers) // (sum(bool(one.lines) for one in answers) or 1)}"
    )


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the share of lines, and how many prompts get their note."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", nargs="?", type=Path, default=PROJECT)
    parser.add_argument("prompts", nargs="?", type=Path, default=OWN)
    parser.add_argument("--show", action="store_true", help="what each prompt gets")
    options = parser.parse_args(arguments)
    prompts = json.loads(options.prompts.read_text(encoding="utf-8"))
    with tempfile.TemporaryDirectory() as temporary:
        project = Path(temporary).resolve() / "project"
        copy = ["git", "clone", "-q", "--no-hardlinks", str(options.folder), str(project)]
        subprocess.run(copy, check=True)
        if not (project / ".memories").is_dir():  # a bank that is not committed
            shutil.copytree(options.folder / ".memories", project / ".memories")
        answers = ask(project, prompts)
    if options.show:
        for answer in answers:
            print(answer.prompt, dict(answer.lines), "for", list(answer.relevant))
    print(report(answers))


if __name__ == "__main__":
    main()
