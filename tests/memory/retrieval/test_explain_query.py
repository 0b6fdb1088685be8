from memory_bank.bank.bank import Bank
from memory_bank.memory.retrieval.hits import read_query


def test_a_query_is_taken_apart(bank: Bank) -> None:
    read = read_query(bank, 'index "grows slowly" -whoosh tag:search -type:plan since:2026-01-01')
    assert read.words.startswith("index")
    assert read.phrases == ("grows slowly",)
    assert read.without == ("whoosh",)
    assert read.conditions == ("tag:search", "-type:plan", "since:2026-01-01T00:00:00Z")
