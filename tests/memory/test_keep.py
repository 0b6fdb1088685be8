"""What sessions decided is offered as notes, each once, and kept only if somebody says so."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from memory_bank.bank.bank import Bank, open_bank
from memory_bank.base.errors import BadInput
from memory_bank.memory.confirm import keep
from memory_bank.sessions.sessions import end_session, store_observation


@pytest.fixture
def bank(folder: Path) -> Iterator[Bank]:
    with open_bank(folder) as bank:
        for title, kind in (
            ("Use cents", "decision"),
            ("Add run()", "feature"),
            ("Ship late", "decision"),
        ):
            facts = (
                [f"decided: {title} in all prices", "decided: Say so"] if kind == "decision" else []
            )
            store_observation(bank, "s-1", title=title, obs_type=kind, facts=facts)
        end_session(bank, "s-1")
        yield bank


def test_decisions_are_offered_and_nothing_becomes_a_note_by_itself(
    bank: Bank, folder: Path
) -> None:
    before = sorted(folder.rglob("*.md"))
    offered = keep(bank).offers
    assert [(one.key, one.said) for one in offered] == [
        ("1", "Use cents in all prices · Say so"),
        ("2", "Ship late in all prices · Say so"),
    ]
    assert sorted(folder.rglob("*.md")) == before


def test_what_was_kept_or_refused_is_not_offered_again(bank: Bank) -> None:
    done = keep(bank, ["1"], refuse=["2"])
    (path,) = done.kept
    assert bank.store.read(path).meta.type == "decision"
    assert (done.offers, len(done.refused)) == ((), 1)
    assert keep(bank).offers == ()
    with pytest.raises(BadInput, match="nothing is offered as 2"):
        keep(bank, ["2"])
