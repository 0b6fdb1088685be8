"""A bank that is known by its fingerprint is one in which nothing differs, whatever was done to it."""

from __future__ import annotations

import os
import tempfile
import time
from pathlib import Path

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from memory_bank import Bank, open_bank
from memory_bank.indexer import changes
from memory_bank.manifest.database import seen
from memory_bank.notes.scan import dumped, fingerprint, scan

NAMES = st.sampled_from(["a.md", "b.md", "in/c.md", "d.MD", "e.txt"])
TEXTS = st.sampled_from(["one", "two", "# three", "\0"])
OLD = 1_700_000_000


class Edited(RuleBasedStateMachine):
    """Files come, go and change, are indexed now and then, and are looked at after each step."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.TemporaryDirectory()
        self.root = Path(self.folder.name, "notes")
        (self.root / "in").mkdir(parents=True)
        self.bank = open_bank(self.root, settings={"memory.embedder": "none"})
        self.known = 0

    @rule(name=NAMES, text=TEXTS, old=st.booleans())
    def write(self, name: str, text: str, *, old: bool) -> None:
        file = self.root / name
        file.write_text(text)
        if old:  # as a checkout or a copy may leave it
            os.utime(file, (OLD, OLD))

    @rule(name=NAMES)
    def remove(self, name: str) -> None:
        (self.root / name).unlink(missing_ok=True)

    @rule(name=NAMES, other=NAMES)
    def rename(self, name: str, other: str) -> None:
        if (self.root / name).exists():
            (self.root / name).replace(self.root / other)

    @rule(age=st.sampled_from([0.0, 0.0, 0.12]))
    def index(self, age: float) -> None:
        time.sleep(age)  # stamps of young files are not trusted
        self.bank.sync()

    @rule()
    def look_from_elsewhere(self) -> None:
        with Bank(self.bank.layout, self.bank.settings) as other:
            other.catch_up()

    @invariant()
    def what_is_known_differs_in_nothing(self) -> None:
        base = self.bank.index.base
        found = scan(self.root)
        differs = bool(changes._compared(base, found))
        known = fingerprint(dumped(found))
        if seen(base, known):
            self.known += 1
            assert not differs
        assert bool(changes.compare(base, found)) == differs
        assert seen(base, known) == (not differs)

    def teardown(self) -> None:
        self.bank.close()
        self.folder.cleanup()


TestEdited = Edited.TestCase
TestEdited.settings = settings(
    max_examples=15,
    stateful_step_count=25,
    deadline=None,
    suppress_health_check=list(HealthCheck),
)
