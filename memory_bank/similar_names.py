"""Names similar to an unknown one, for suggestions."""

from __future__ import annotations

from collections.abc import Iterable


def similar_names(
    name: str, known: Iterable[str], *, most: int = 3, least: float = 0.6
) -> list[str]:
    """Return the known names that are similar to a name, the most similar first, at most `most`.

    `least` is the similarity as in difflib, 0 to 1; letters in another order are always similar.
    """
    from difflib import get_close_matches  # start-up: few commands suggest

    wanted = name.casefold()
    spelled = {one.casefold(): one for one in known}
    swapped = [one for one in spelled if sorted(one) == sorted(wanted)]
    near = get_close_matches(wanted, list(spelled), n=most, cutoff=least)
    return [spelled[one] for one in dict.fromkeys([*swapped, *near])][:most]


def did_you_mean(names: Iterable[str]) -> str:
    """Return `; did you mean A or B?`; empty without names."""
    near = " or ".join(names)
    return f"; did you mean {near}?" if near else ""
