"""The contrast of the colours that are used together, by the formula of WCAG 2."""

import importlib.resources
import re

import pytest

STYLE = (importlib.resources.files("memory_bank.frontends.web") / "static/style.css").read_text(
    encoding="utf-8"
)
COLOURS = {
    name: (light, dark)
    for name, light, dark in re.findall(
        r"--([a-z-]+): light-dark\((#[0-9a-f]{6,8}), (#[0-9a-f]{6,8})\);", STYLE
    )
}
BACKS = ("paper", "raised", "wash")
TEXTS = [
    *((front, back) for front in ("ink", "soft", "faint", "accent") for back in BACKS),
    *((one, "paper") for one in ("warn", "bad", "add")),
    ("ink", "add-wash"),
    ("ink", "del-wash"),
    ("soft", "del-wash"),
    ("ink", "mark"),
    ("ink", "accent-wash"),
    ("on-accent", "accent"),
]
"""A text needs 4.5 to 1."""
EDGES = [("edge", "paper"), ("edge", "raised"), ("accent", "paper"), ("warn-dot", "paper")]
"""The edge of a field, and the mark of what has the focus, need 3 to 1."""
DECORATION = {"line", "shade", "veil"}
"""Nothing must be told by it."""


def luminance(colour: str) -> float:
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts
    ]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    high, low = sorted((luminance(one), luminance(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


def test_black_on_white_has_the_most() -> None:
    assert contrast("#000000", "#ffffff") == pytest.approx(21)


@pytest.mark.parametrize("theme", [0, 1], ids=["light", "dark"])
@pytest.mark.parametrize(
    ("front", "back", "least"), [*((*one, 4.5) for one in TEXTS), *((*one, 3.0) for one in EDGES)]
)
def test_colours_can_be_told_apart(front: str, back: str, least: float, theme: int) -> None:
    found = contrast(COLOURS[front][theme], COLOURS[back][theme])
    assert found >= least, f"--{front} on --{back}: {found:.2f}"


def test_every_colour_is_checked_and_used() -> None:
    checked = {name for pair in [*TEXTS, *EDGES] for name in pair} | DECORATION
    assert set(COLOURS) == checked
    for name in COLOURS:
        assert f"var(--{name})" in STYLE, name


def test_no_colour_stands_outside_the_list() -> None:
    rules = STYLE.split("--s1:", 1)[1]
    assert not re.findall(r"#[0-9a-fA-F]{3,8}\b|rgba?\(|hsla?\(", rules)
