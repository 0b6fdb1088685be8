"""What texts are told apart by."""

from hypothesis import given
from hypothesis import strategies as st

from memory_bank.notes.identity import number_text


def test_a_text_keeps_the_number_that_databases_know_it_by() -> None:
    assert number_text("bm25") == 4545578960554542554
    assert number_text("é") == 2551419180762355338


@given(st.text())
def test_numbers_fit_into_an_integer_of_sqlite(text: str) -> None:
    assert 0 <= number_text(text) < 2**63
