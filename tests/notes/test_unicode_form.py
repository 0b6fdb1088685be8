import time
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_bank.notes.characters import to_nfc

letters = st.text(
    st.sampled_from("ae\u0301\u0327\u0308\u0f73\u1100\u1161\u11a8é \n字"), max_size=300
)


@given(letters)
def test_what_people_write_is_composed_as_the_library_does(text: str) -> None:
    assert to_nfc(text) == unicodedata.normalize("NFC", text)


@pytest.mark.parametrize("before", ["", "a", "ab" * 50, "é" * 61])
@pytest.mark.parametrize("count", [59, 60, 61, 62, 120, 121, 1000])
def test_very_many_marks_stay_and_the_letters_around_are_composed(before: str, count: int) -> None:
    text = f"e\u0301a{before}{chr(0x301) * count}e\u0301"
    found = to_nfc(text)
    assert found.startswith("\xe9")
    assert found.endswith("\xe9")
    assert unicodedata.normalize("NFC", found) == unicodedata.normalize("NFC", text)


@pytest.mark.slow
def test_marks_in_disorder_take_no_square_of_their_number() -> None:
    began = time.process_time()
    to_nfc("a" + "\u0301\u0327" * 500_000)
    assert time.process_time() - began < 3
