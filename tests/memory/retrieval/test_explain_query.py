from memory_bank.bank.bank import Bank
from memory_bank.memory.retrieval.recall import recall
from memory_bank.memory.retrieval.views import view_recall


def test_a_query_is_taken_apart(bank: Bank) -> None:
    query = 'index "grows slowly" -whoosh tag:search -type:plan since:2026-01-01'
    document = view_recall(recall(bank, query), bank, query=query, explain=True).document
    assert isinstance(document, dict)
    assert document["read_as"] == {
        "words": "index grows slowly",
        "phrases": ("grows slowly",),
        "without": ("whoosh",),
        "conditions": ["tag:search", "-type:plan", "since:2026-01-01T00:00:00Z"],
    }
