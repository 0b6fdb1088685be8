"""A named tuple of ours is one of `typing`, but for the annotations, which stay text."""

from __future__ import annotations

import pickle
from collections.abc import Sequence
from typing import get_type_hints

import pytest

from memory_bank.base import NamedTuple


class Measured(NamedTuple):
    """A value with its unit."""

    value: float
    unit: str = "m"
    tags: Sequence[str] = ()

    @property
    def text(self) -> str:
        """The value as it is written."""
        return f"{self.value} {self.unit}"


def test_fields_defaults_methods_and_types_are_those_of_the_class_body() -> None:
    length = Measured(2.5)
    assert length == (2.5, "m", ())
    assert length._replace(unit="km").text == "2.5 km"
    assert repr(length) == "Measured(value=2.5, unit='m', tags=())"
    assert Measured._field_defaults == {"unit": "m", "tags": ()}
    assert get_type_hints(Measured) == {"value": float, "unit": str, "tags": Sequence[str]}
    assert Measured.__annotations__["value"] == "float"
    assert Measured.__doc__ == "A value with its unit."
    assert pickle.loads(pickle.dumps(length)) == length  # noqa: S301  (our own bytes)


def test_a_field_that_is_missing_or_unknown_is_an_error() -> None:
    with pytest.raises(TypeError, match="value"):
        Measured()  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="weight"):
        Measured(1, weight=2)  # type: ignore[call-arg]
