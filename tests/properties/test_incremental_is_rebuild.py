"""After any history of changes the index is what a fresh one would be, and answers the same."""

import os
import subprocess
import tempfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from unittest import mock

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, rule, run_state_machine_as_test

from memory_bank.bank.bank import open_bank
from memory_bank.base.errors import MemoryBankError
from memory_bank.memory.change import set_status
from memory_bank.memory.edit import append, edit
from memory_bank.memory.maintenance import compare
from memory_bank.memory.move_and_merge import merge, rename
from memory_bank.memory.remember import remember
from memory_bank.memory.retrieval.recall import recall
from memory_bank.memory.trash import delete, restore
from memory_bank.notes.characters import decode
from memory_bank.search import candidates

pytestmark = pytest.mark.slow

NAMES = st.sampled_from(
    ["alpha", "beta", "gamma", "Alpha", "sub/alpha", "sub/delta", "Ümlaut", "U\u0308mlaut", "deep/er/x"]
)  # fmt: skip
WORDS = st.lists(
    st.sampled_from(["tantivy", "vector", "graph", "lock", "journal", "ranking", "memory"]),
    min_size=1,
    max_size=6,
).map(" ".join)
HEADS = [
    "", "---\ntags: [a, b]\n---\n", "---\nid: same\ntitle: One\naliases: [beta]\n---\n",
    "---\nbad: [\n---\n", "---\ncreated: 2026-01-01\nstatus: archived\nown: x\n---\n",
    "---\nupdated: 2026-02-02\nfile_refs: [src/a.py]\n---\n", "\ufeff", "+++\ntitle = 'T'\n+++\n",
]  # fmt: skip
TEXTS = st.builds(
    "{}# {}\n\n{} see [[{}]] ^block\n\n## Next\n\nsupersedes:: [[{}]] and [text]({}.md) [[sub/{}#Next]]\n"
    .format,
    st.sampled_from(HEADS), WORDS, WORDS, NAMES, NAMES, NAMES, NAMES,
)  # fmt: skip
QUESTIONS = ("tantivy ranking", "graph of locks", "journal tag:a", "own:x", "links:alpha")


class Histories(RuleBasedStateMachine):
    """Writes files behind the bank's back and through it."""

    def __init__(self) -> None:
        super().__init__()
        self._folder = tempfile.TemporaryDirectory()
        self.root = Path(self._folder.name).resolve() / "bank"
        self.root.mkdir()
        self.bank = open_bank(self.root, settings={"memory.embedder": "static"})
        self.tick = 1_000_000_000

    def teardown(self) -> None:
        try:
            self.check()
            before = self.answers()
            self.bank.rebuild()
            assert self.answers() == before
        finally:
            self.bank.close()
            self._folder.cleanup()

    def answers(self) -> list[set[tuple[str, str | None]]]:
        """Ask in every mode, far enough that no order of equals decides who is in.

        Tantivy counts deleted texts until they are merged: nothing is left out as too unlikely, and
        which of a note's sections is the best may differ, but each is as it stands in the file.
        """
        found = []
        with mock.patch.object(candidates, "LEAST", 0.0):
            for question in QUESTIONS:
                for mode in ("lexical", "hybrid"):
                    notes = recall(self.bank, question, 100, mode, count_access=False).notes
                    found.append({(note.path, note.superseded_by) for note in notes})
                    for note in notes:
                        lines = decode((self.root / note.path).read_bytes()).text.splitlines()
                        shown = (note.content or "").splitlines()
                        assert lines[note.line - 1 :][: len(shown)] == shown
        return found

    @rule()
    def check(self) -> None:
        assert compare(self.bank)[1] == ()

    @rule(name=NAMES, text=TEXTS)
    def write_a_file(self, name: str, text: str) -> None:
        file = self.root / f"{name}.md"
        file.parent.mkdir(parents=True, exist_ok=True)
        with suppress(OSError):  # a folder, or links in a circle
            file.write_text(text, encoding="utf-8")

    @rule(name=NAMES, data=st.sampled_from([b"", b"binary \0", b"caf\xe9 tantivy", b"\xff\xfea\0"]))
    def write_odd_bytes(self, name: str, data: bytes) -> None:
        with suppress(OSError):
            (self.root / f"{name}.md").write_bytes(data)

    @rule(name=NAMES)
    def touch_a_file(self, name: str) -> None:
        self.tick += 1000
        with suppress(OSError):
            os.utime(self.root / f"{name}.md", (self.tick, self.tick))

    @rule(name=NAMES)
    def remove_a_file(self, name: str) -> None:
        (self.root / f"{name}.md").unlink(missing_ok=True)

    @rule(name=NAMES, goal=NAMES)
    def move_a_file(self, name: str, goal: str) -> None:
        source, target = self.root / f"{name}.md", self.root / f"{goal}.md"
        if source.exists():
            target.parent.mkdir(parents=True, exist_ok=True)
            source.replace(target)

    @rule(goal=st.sampled_from(["moved", "sub", "deep"]))
    def move_a_folder(self, goal: str) -> None:
        with suppress(OSError):
            (self.root / "sub").rename(self.root / goal)

    @rule(name=NAMES, goal=NAMES)
    def link_a_file(self, name: str, goal: str) -> None:
        with suppress(OSError):
            (self.root / f"{name}.md").symlink_to(f"{goal}.md")

    @rule(text=WORDS)
    def remember_a_text(self, text: str) -> None:
        self._try(lambda: remember(self.bank, text, tags=["a"]))

    @rule(name=NAMES, text=WORDS)
    def append_a_text(self, name: str, text: str) -> None:
        self._try(lambda: append(self.bank, name, text))

    @rule(name=NAMES, text=WORDS)
    def edit_a_section(self, name: str, text: str) -> None:
        self._try(lambda: edit(self.bank, name, text, section="Next"))

    @rule(name=NAMES, status=st.sampled_from(["archived", "active"]))
    def change_a_status(self, name: str, status: str) -> None:
        self._try(lambda: set_status(self.bank, name, status))

    @rule(name=NAMES, goal=NAMES)
    def rename_a_note(self, name: str, goal: str) -> None:
        self._try(lambda: rename(self.bank, name, goal))

    @rule(name=NAMES)
    def delete_a_note(self, name: str) -> None:
        self._try(lambda: delete(self.bank, name))

    @rule(name=NAMES)
    def restore_a_note(self, name: str) -> None:
        self._try(lambda: restore(self.bank, name))

    @rule(first=NAMES, second=NAMES, goal=NAMES, text=WORDS)
    def merge_notes(self, first: str, second: str, goal: str, text: str) -> None:
        self._try(lambda: merge(self.bank, [first, second], goal, text))

    @rule()
    def ask(self) -> None:
        recall(self.bank, QUESTIONS[0], mode="lexical", count_access=False)

    @rule()
    def close(self) -> None:
        self.bank.close()

    def _try(self, action: Callable[[], object]) -> None:
        """Do what may be refused: a missing name, a taken one, front matter that can't be read."""
        with suppress(MemoryBankError):
            action()


class Committed(Histories):
    """The same in a git repository: notes that say no date have that of their first commit."""

    def __init__(self) -> None:
        super().__init__()
        self.commits = 0
        self.git("init", "-q")
        (self.root / ".gitignore").write_text(".index/\n.trash/\n")
        self.commit()

    def git(self, *words: str) -> None:
        who = ("-c", "user.name=T", "-c", "user.email=t@example.org")
        self.commits += 1
        date = {"GIT_AUTHOR_DATE": f"2020-01-01T00:00:{self.commits % 60:02}Z"}
        words = ("git", "-C", str(self.root), *who, *words)
        subprocess.run(words, check=False, capture_output=True, env={**os.environ, **date})

    @rule()
    def commit(self) -> None:
        self.git("add", "-A")
        self.git("commit", "-q", "--allow-empty", "-m", "x")

    @rule()
    def undo(self) -> None:
        self.git("checkout", "-q", "--", ".")

    @rule()
    def go_back(self) -> None:
        self.git("reset", "-q", "--hard", "HEAD~1")


@pytest.mark.parametrize(
    ("examples", "steps"),
    [(6, 25), pytest.param(200, 60, marks=pytest.mark.torture)],
    ids=["some", "many"],
)
@pytest.mark.parametrize("machine", [Histories, Committed])
def test_histories(machine: type[Histories], examples: int, steps: int) -> None:
    run_state_machine_as_test(
        machine,
        settings=settings(
            max_examples=examples,
            stateful_step_count=steps,
            deadline=None,
            suppress_health_check=list(HealthCheck),
        ),
    )


def test_a_rebuild_answers_the_same(tmp_path: Path) -> None:
    for number in range(30):
        text = f"# Note {number}\n\nranking of graph {number % 7} with [[note-{number // 2}]]\n"
        (tmp_path / f"note-{number}.md").write_text(text, encoding="utf-8")
    with open_bank(tmp_path, settings={"memory.embedder": "static"}) as bank:
        bank.sync()
        for number in range(0, 30, 3):
            text = f"# Other {number}\n\ngraph\n"
            (tmp_path / f"note-{number}.md").write_text(text, encoding="utf-8")

        def answers() -> list[list[tuple[str, float]]]:
            return [
                [(n.path, n.relevance_score) for n in recall(bank, q, count_access=False).notes]
                for q in QUESTIONS
            ]

        before = answers()
        bank.rebuild()
        assert answers() == before
