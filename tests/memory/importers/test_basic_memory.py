from collections.abc import Callable
from pathlib import Path

import pytest

from memory_bank.bank.bank import Bank
from memory_bank.memory.import_notes import import_notes
from memory_bank.memory.links import links_of
from memory_bank.memory.show import show

COFFEE = """---
title: Coffee Brewing Methods
type: guide
permalink: drinks/coffee-brewing-methods
tags:
- coffee
---

# Coffee Brewing Methods

## Observations

- [method] Pour over is clearer #brewing (personal experience)

## Relations

- relates_to [[Coffee Bean Origins]]
- "pairs well with" [[memory://drinks/beans]] (breakfast)
- see what [[Coffee Bean Origins]] says

```
- requires [[Nothing]]
```
"""


@pytest.fixture
def bank(folder: Path, opening: Callable[..., Bank]) -> Bank:
    return opening(folder)


def test_observations_stay_and_relations_become_typed_links(bank: Bank, tmp_path: Path) -> None:
    source = tmp_path / "basic"
    (source / "drinks").mkdir(parents=True)
    (source / "drinks/Coffee Brewing Methods.md").write_text(COFFEE)
    beans = "---\ntitle: Coffee Bean Origins\npermalink: drinks/beans\n---\n# Beans\n\nEthiopia.\n"
    (source / "drinks/Beans.md").write_text(beans)
    (source / "notes.db").write_bytes(b"SQLite")
    done = import_notes(bank, "basic-memory", source, into=".")
    assert done.counts == {"created": 2}
    assert [unread.place for unread in done.unread] == ["notes.db"]
    note = show(bank, "drinks/coffee-brewing-methods")
    assert (note.title, note.meta.type) == ("Coffee Brewing Methods", "guide")
    assert note.meta.tags == ("coffee", "brewing")
    assert "- [method] Pour over is clearer #brewing (personal experience)\n" in note.body
    assert "- pairs_well_with:: [[drinks/beans]] (breakfast)\n- see what [[Coffee" in note.body
    assert "```\n- requires [[Nothing]]\n```\n" in note.body
    types = {link.row.type: link.target for link in links_of(bank, note.path).outgoing}
    assert types["relates_to"] == types["pairs_well_with"] == "drinks/Beans.md"
