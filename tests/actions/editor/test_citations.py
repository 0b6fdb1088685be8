from __future__ import annotations

import pytest

from memory_bank.actions.editor.citations import Named, citations, with_sentence
from tests.actions.editor.conftest import Make

PATH = "src/gateway.py"
CHARGE, OTHER = Named("sym-0123456789ab", "Gateway.charge"), Named("sym-9", "Gateway.send")


def cited(make: Make, text: str) -> list[tuple[int, str]]:
    bank = make({"n.md": text}).bank
    return [(one.line, one.symbol) for one in citations(bank, PATH, [CHARGE, OTHER])]


@pytest.mark.parametrize(
    "text",
    [
        "See [[src/gateway.py#Gateway.charge]].",
        "See [[src/gateway.py#charge]].",
        "See [[symbol:Gateway.charge]].",
        "See [[symbol:Gateway.charge()]].",
        "See [[symbol:sym-0123456789ab]].",
        "See [[symbol:src.gateway.Gateway.charge]].",
    ],
)
def test_a_note_cites_a_symbol_by_its_names(make: Make, text: str) -> None:
    assert cited(make, text) == [(1, "Gateway.charge")]


@pytest.mark.parametrize(
    "ref", ["Gateway.charge", "sym-0123456789ab", "src/gateway.py#Gateway.charge", "gateway.Gateway.charge"]
)  # fmt: skip
def test_a_note_cites_a_symbol_in_its_front_matter(make: Make, ref: str) -> None:
    assert cited(make, f'---\nsymbol_refs: ["{ref}"]\n---\nText.\n') == [(1, "Gateway.charge")]


@pytest.mark.parametrize(
    "text",
    [
        "[[symbol:other.Gateway.charge]] [[symbol:charge]] [[symbol:way.charge]]",
        "[[src/other.py#Gateway.charge]] [[src/gateway.py#Gateway]]",
        "---\nsymbol_refs: [other/gateway.py#Gateway.charge]\n---\n",
    ],
)
def test_other_names_are_those_of_others(make: Make, text: str) -> None:
    assert cited(make, text) == []


def test_a_note_cites_a_whole_file(make: Make) -> None:
    assert cited(make, "---\nfile_refs: [src/gateway.py]\n---\n[g](../src/gateway.py)\n") == [
        (1, ""),
        (4, ""),
    ]


def test_the_sentence_of_a_citation_is_that_of_its_link(make: Make) -> None:
    notes = {
        "a.md": "First. We *retry* in [[src/gateway.py#charge|the gateway]] on `Timeout`. Last.\n",
        "b.md": "---\nsymbol_refs: [Gateway.charge]\n---\n# Title\n\nIt is slow. More.\n",
        "c.md": "---\nsymbol_refs: [Gateway.charge]\n---\n# Only a title\n",
    }
    bank = make(notes).bank
    found = {one.note: with_sentence(bank, one) for one in citations(bank, PATH, [CHARGE])}
    assert {name: one.sentence for name, one in found.items()} == {
        "a.md": "We retry in the gateway on Timeout.",
        "b.md": "It is slow.",
        "c.md": "Only a title",
    }


def test_archived_notes_cite_nothing(make: Make) -> None:
    assert cited(make, "---\nstatus: archived\nfile_refs: [src/gateway.py]\n---\n") == []
