from __future__ import annotations

import math
import random
from itertools import pairwise

import pytest

from memory_bank.frontends.web.graph.layout import positions

Points = tuple[tuple[float, float], ...]


def mean(points: Points, pairs: list[tuple[int, int]]) -> float:
    return sum(math.dist(points[a], points[b]) for a, b in pairs) / len(pairs)


@pytest.mark.parametrize("count", [60, 1200])
def test_linked_nodes_lie_nearer_than_others(count: int) -> None:
    size = 20
    groups = tuple(at // size for at in range(count))
    chance = random.Random(1)
    edges = {
        (at, group * size + chance.randrange(size))
        for at, group in enumerate(groups)
        for _ in "xyz"
    }
    linked = sorted((a, b) for a, b in edges if a != b)
    linked += [(at * size, (at + 1) * size) for at in range(count // size - 1)]
    found = positions(groups, tuple(linked))
    others = [(chance.randrange(count), chance.randrange(count)) for _ in range(2000)]
    assert mean(found, linked) < 0.5 * mean(found, others)
    assert max(abs(value) for point in found for value in point) == pytest.approx(1)
    assert len(set(found)) > 0.98 * count


def test_the_same_graph_has_the_same_picture() -> None:
    edges = tuple(pairwise(range(30)))
    first = positions((0,) * 30, edges)
    positions.cache_clear()
    assert positions((0,) * 30, edges) == first


def test_few_nodes_have_places_too() -> None:
    assert positions((), ()) == ()
    assert positions((0,), ()) == ((0.0, 0.0),)
    one, other = positions((0, 0), ((0, 1),))
    assert math.dist(one, other) > 1
    assert all(map(math.isfinite, (*one, *other)))
