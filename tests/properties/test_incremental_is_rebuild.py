"""After any history of changes the index is what a fresh one would be, and answers the same."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from memory_bank import append, delete, merge, open_bank, recall, remember, rename, restore
from memory_bank.actions.upkeep import compare
from memory_bank.errors import MemoryBankError

_NAMES = st.sampled_from(
    ["alpha", "beta", "gamma", "sub/alpha", "sub/delta", "Ümlaut", "deep/er/x"]
)
_WORDS = st.lists(
    st.sampled_from(["tantivy", "vector", "graph", "lock", "journal", "ranking", "memory"]),
    min_size=1,
    max_size=6,
).map(" ".join)
_TEXTS = st.builds(
    "{}# {}\n\n{} see [[{}]]\n\n## Next\n\nsupersedes:: [[{}]] and [text]({}.md)\n".format,
    st.sampled_from(
        ["", "---\ntags: [a, b]\n---\n", "---\nid: same\ntitle: One\n---\n", "---\nbad: [\n---\n"]
    ),
    _WORDS, _WORDS, _NAMES, _NAMES, _NAMES,
)  # fmt: skip
_QUESTIONS = ("tantivy ranking", "graph of locks", "journal")


class Histories(RuleBasedStateMachine):
    """Writes files behind the bank's back and through it."""

    def __init__(self) -> None:
        super().__init__()
        self._folder = tempfile.TemporaryDirectory()
        self.root = Path(self._folder.name) / "bank"
        self.root.mkdir()
        self.bank = open_bank(self.root, settings={"memory.embedder": "hashing"})

    def teardown(self) -> None:
        self.bank.close()
        self._folder.cleanup()

    @rule(name=_NAMES, text=_TEXTS)
    def edit_a_file(self, name: str, text: str) -> None:
        file = self.root / f"{name}.md"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")

    @rule(name=_NAMES)
    def remove_a_file(self, name: str) -> None:
        (self.root / f"{name}.md").unlink(missing_ok=True)

    @rule(name=_NAMES, goal=_NAMES)
    def move_a_file(self, name: str, goal: str) -> None:
        source, target = self.root / f"{name}.md", self.root / f"{goal}.md"
        if source.exists():
            target.parent.mkdir(parents=True, exist_ok=True)
            source.replace(target)

    @rule(text=_WORDS)
    def remember_a_text(self, text: str) -> None:
        remember(self.bank, text, tags=["kept"])

    @rule(name=_NAMES, text=_WORDS)
    def append_a_text(self, name: str, text: str) -> None:
        self._try(lambda: append(self.bank, name, text))

    @rule(name=_NAMES, goal=_NAMES)
    def rename_a_note(self, name: str, goal: str) -> None:
        self._try(lambda: rename(self.bank, name, goal))

    @rule(name=_NAMES)
    def delete_a_note(self, name: str) -> None:
        self._try(lambda: delete(self.bank, name))

    @rule(name=_NAMES)
    def restore_a_note(self, name: str) -> None:
        self._try(lambda: restore(self.bank, name))

    @rule(first=_NAMES, second=_NAMES, goal=_NAMES, text=_WORDS)
    def merge_notes(self, first: str, second: str, goal: str, text: str) -> None:
        self._try(lambda: merge(self.bank, [first, second], goal, text))

    @rule()
    def ask(self) -> None:
        recall(self.bank, _QUESTIONS[0], mode="lexical", count_access=False)

    @invariant()
    def index_is_what_a_fresh_one_would_be(self) -> None:
        assert compare(self.bank).differences == ()

    def _try(self, action: Callable[[], object]) -> None:
        """Do what may be refused: a missing name, a taken one, front matter that can't be read."""
        with suppress(MemoryBankError):
            action()


Histories.TestCase.settings = settings(
    max_examples=12,
    stateful_step_count=10,
    deadline=None,
    suppress_health_check=list(HealthCheck),
)
test_histories = Histories.TestCase


def test_a_rebuild_answers_the_same(tmp_path: Path) -> None:
    for number in range(30):
        text = f"# Note {number}\n\nranking of graph {number % 7} with [[note-{number // 2}]]\n"
        (tmp_path / f"note-{number}.md").write_text(text, encoding="utf-8")
    with open_bank(tmp_path, settings={"memory.embedder": "hashing"}) as bank:
        bank.sync()
        for number in range(0, 30, 3):
            (tmp_path / f"note-{number}.md").write_text(
                f"# Other {number}\n\ngraph\n", encoding="utf-8"
            )

        def answers() -> list[list[tuple[str, float]]]:
            return [
                [(n.path, n.relevance_score) for n in recall(bank, q, count_access=False).notes]
                for q in _QUESTIONS
            ]

        before = answers()
        bank.rebuild()
        assert answers() == before
