from __future__ import annotations

import re
import struct
import zlib

import numpy as np
import pytest

from .pictures import FOLDER, LOOKS, MOST_BYTES, PAGES
from .small_png import read, small

DOCS = FOLDER.parent


@pytest.mark.parametrize("page", PAGES)
def test_each_page_has_small_pictures(page: str) -> None:
    for look, (width, height, _) in LOOKS.items():
        file = FOLDER / f"{page}-{look}.png"
        data = file.read_bytes()
        assert struct.unpack_from(">II", data, 16) == (width, height)
        assert len(data) <= MOST_BYTES


def test_the_docs_show_no_picture_that_is_not_there() -> None:
    for page in (DOCS / "dashboard.md", DOCS.parent / "README.md"):
        text = page.read_text(encoding="utf-8")
        for name in re.findall(r'(?:src|srcset)="([^"]*)"', text):
            assert (page.parent / name).is_file(), name


def png(pixels: list[list[list[int]]], kinds: list[int]) -> bytes:
    """Return a PNG of RGB pixels whose lines have the given filters."""
    rows = np.array(pixels, np.int32).reshape(len(pixels), -1)
    made, above = b"", np.zeros(rows.shape[1], np.int32)
    for kind, row in zip(kinds, rows, strict=True):
        left = np.concatenate([[0, 0, 0], row[:-3]])
        corner = np.concatenate([[0, 0, 0], above[:-3]])
        guess = {0: 0 * row, 1: left, 2: above, 3: (left + above) // 2}.get(kind)
        if guess is None:
            near = np.stack([left, above, corner])
            guess = near[np.abs(left + above - corner - near).argmin(axis=0), range(len(row))]
        made += bytes([kind]) + ((row - guess) % 256).astype(np.uint8).tobytes()
        above = row
    head = struct.pack(">IIBBBBB", rows.shape[1] // 3, len(rows), 8, 2, 0, 0, 0)
    chunks = {b"IHDR": head, b"IDAT": zlib.compress(made), b"IEND": b""}
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(body)) + name + body + b"1234" for name, body in chunks.items()
    )


def test_a_picture_of_any_filter_is_read_and_its_colours_are_kept() -> None:
    pixels = np.random.default_rng(3).integers(0, 256, (5, 7, 3)).tolist()
    data = png(pixels, [0, 1, 2, 3, 4])
    assert read(data).tolist() == pixels
    made = small(png([[[250, 0, 0], [0, 0, 0], [1, 2, 3]]], [1]), 2)
    assert struct.unpack_from(">IIBB", made, 16) == (3, 1, 8, 3)
    assert b"PLTE" in made
