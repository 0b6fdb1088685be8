"""The labelled prompts, and how lines that a hook adds are counted."""

import json
from pathlib import Path

from tests.benchmarks import injected


def test_the_notes_of_the_labelled_prompts_are_there() -> None:
    prompts = json.loads(injected.OWN.read_text(encoding="utf-8"))
    bank = injected.PROJECT / ".memories"
    missing = [path for notes in prompts.values() for path in notes if not (bank / path).exists()]
    assert missing == []


def test_lines_are_counted_by_their_note(tmp_path: Path) -> None:
    text = 'Notes:\n<q-1a at="a.md:3" type="fact">\nBees dance.\n…\n\nThey fly.\n</q-1a>\n<q-1a at="b.md:1">\nNo.\n</q-1a>'
    lines = injected.lines_of_notes(text)
    assert lines == {"a.md": 2, "b.md": 1}
    answer = injected.Injected("Do bees dance?", ["a.md"], lines, 40)
    assert "2 of 3 (67%)" in injected.report([answer])
