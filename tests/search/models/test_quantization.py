"""Rows of numbers with a byte a number."""

import numpy as np
from hypothesis import given
from hypothesis.extra.numpy import arrays

from memory_bank.base.settings import Settings
from memory_bank.search.embedders import static
from memory_bank.search.models.vectors import (
    measure_cosines,
    pack_vectors,
    scale_to_unit,
    unpack_vectors,
)

ROWS = arrays(np.int8, (5, 32)).map(lambda rows: scale_to_unit(rows.astype(np.float32)))
"""Rows of length 1 or 0, as embedders return them."""


@given(ROWS)
def test_packed_rows_are_as_like_one_another_as_they_were(rows: np.ndarray) -> None:
    found = unpack_vectors(pack_vectors(rows))
    np.testing.assert_allclose(found @ found.T, rows @ rows.T, atol=0.05)
    np.testing.assert_allclose(
        measure_cosines(pack_vectors(rows), found[0]), found @ found[0], atol=1e-5
    )
    assert [row.any() for row in found] == [row.any() for row in rows]


@given(ROWS)
def test_what_is_packed_stays_as_it_is(rows: np.ndarray) -> None:
    once = pack_vectors(rows)
    np.testing.assert_array_equal(pack_vectors(unpack_vectors(once)), once)


def test_cosines_of_real_texts_stay() -> None:
    texts = ["A kestrel hovers.", "The falcon dives.", "SQLite writes ahead.", "Buy milk!", ""]
    rows = static.load(Settings()).embed(texts)
    found = unpack_vectors(pack_vectors(rows))
    np.testing.assert_allclose(found @ found.T, rows @ rows.T, atol=0.005)
