"""The generation of the index that a bank's questions see, with its tables."""

from memory_bank.bank.bank import Bank
from memory_bank.search.index import IndexView


def view_of(bank: Bank) -> IndexView:
    """Return what a question sees now; nothing is brought up to date."""
    return bank.read(lambda view: view)
