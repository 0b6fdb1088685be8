"""A graph of Logseq becomes notes: properties, journals, namespaces, and references to blocks."""

from collections.abc import Callable
from pathlib import Path

import pytest

from memory_bank.bank.bank import Bank
from memory_bank.memory.import_notes import import_notes
from memory_bank.memory.importers import logseq
from memory_bank.memory.importers.base import ImportedNote
from memory_bank.memory.records import NotImported

BLOCK = "60ab6f5b-a01f-44eb-8d4a-fb8ca1893dcf"
PAGE = f"""\
type:: [[Decision]]
status:: accepted
alias:: cache, [[the cache]]
tags:: #infra, [[speed]]
created-at:: 1614348097567
updated-at:: 1614350275750
relates-to:: [[Ops/Redis]]

- We keep sessions in Redis.
  id:: {BLOCK}
  collapsed:: true
\t- Two regions write.
- ```
  id:: {BLOCK}
  ```
"""
FILES = {
    "pages/Session store.md": PAGE,
    "pages/Ops___Redis.md": f"- See (({BLOCK})), [why]((({BLOCK}))), {{{{embed (({BLOCK}))}}}}\n",
    "pages/Why%3F.md": "title:: Why?\ntype:: two words\n\n- {{embed [[Session store]]}}\n",
    "journals/2021_03_02.md": "- Talked on [[Session store]], ((00000000-0000-0000-0000-000000000000)).\n",
    "pages/old.org": "* Org\n",
    "logseq/bak/x.md": "- A copy.\n",
}


@pytest.fixture
def graph(tmp_path: Path) -> Path:
    for name, text in FILES.items():
        file = tmp_path / "graph" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    return tmp_path / "graph"


def notes(graph: Path) -> dict[str, ImportedNote]:
    found = [one for one in logseq.read(graph) if isinstance(one, ImportedNote)]
    return {one.item.name: one for one in found}


def test_properties_are_type_status_dates_tags_and_links(graph: Path) -> None:
    item = notes(graph)["Session store"].item
    assert (item.type, item.extra["status"]) == ("decision", "accepted")
    assert item.tags == ("infra", "speed")
    assert {"cache", "the cache"} == {*item.aliases}
    assert item.created_at is not None
    assert item.updated_at is not None
    assert (item.created_at.isoformat()[:19], item.updated_at.isoformat()[:10]) == (
        "2021-02-26T14:01:37",
        "2021-02-26",
    )
    assert "- relates-to:: [[Ops/Redis]]\n" in item.content
    assert f"- We keep sessions in Redis. ^{BLOCK}\n" in item.content
    assert "collapsed" not in item.content
    assert f"- ```\n  id:: {BLOCK}\n" in item.content


def test_references_lead_to_the_block(graph: Path) -> None:
    target = f"[[Session store#^{BLOCK}"
    assert f"See {target}]], {target}|why]], !{target}]]" in notes(graph)["Ops/Redis"].item.content


def test_names_are_those_of_the_graph(graph: Path) -> None:
    found = notes(graph)
    assert found.keys() == {"Session store", "Ops/Redis", "Why-", "journals/2021-03-02"}
    assert found["Why-"].item.extra["page-type"] == "two words"
    assert "![[Session store]]" in found["Why-"].item.content
    journal = found["journals/2021-03-02"].item
    assert journal.created_at is not None
    assert journal.created_at.isoformat()[:10] == "2021-03-02"
    assert "Mar 2nd, 2021" in journal.aliases
    assert "((00000000-0000-0000-0000-000000000000))" in journal.content


def test_what_is_no_markdown_is_named(graph: Path) -> None:
    left = [one for one in logseq.read(graph) if isinstance(one, NotImported)]
    assert [one.place for one in left] == ["pages/old.org"]


def test_a_second_import_changes_nothing(
    graph: Path, project: Path, opening: Callable[..., Bank]
) -> None:
    bank = opening(project)
    first = import_notes(bank, "logseq", graph)
    assert {one.action for one in first.notes} == {"created"}
    assert {one.action for one in import_notes(bank, "logseq", graph).notes} == {"unchanged"}
    text = (project / f".memories/{first.notes[0].path}").read_text()
    assert "imported_from: logseq:" in text
