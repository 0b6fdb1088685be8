"""Make a picture of a page small: a PNG with a palette of its most frequent colours."""

from __future__ import annotations

import struct
import zlib

import numpy as np
from numpy.typing import NDArray

_START = b"\x89PNG\r\n\x1a\n"
_CHANNELS = {2: 3, 6: 4}
"""Channels of the colour types that browsers write: RGB, and RGB with transparency."""

_NEAR = 100
"""Square of the distance of colours below which they look the same: nobody misses the other."""

Pixels = NDArray[np.uint8]


def small(data: bytes, colours: int) -> bytes:
    """Return a PNG of at most 256 colours that looks like another one.

    The colours are the most frequent ones that differ enough from each other, so that a small mark
    keeps its own.
    """
    pixels = read(data)
    height, width, _ = pixels.shape
    flat = pixels.reshape(-1, 3).astype(np.uint32)
    keys = flat[:, 0] << 16 | flat[:, 1] << 8 | flat[:, 2]
    found, inverse, counts = np.unique(keys, return_inverse=True, return_counts=True)
    exact = np.stack([found >> 16, found >> 8 & 255, found & 255], axis=1).astype(np.int32)
    distances = np.full(len(exact), np.iinfo(np.int32).max, np.int32)
    nearest = np.zeros(len(exact), np.uint8)
    palette: list[NDArray[np.int32]] = []
    for colour in exact[np.argsort(-counts, kind="stable")]:
        if len(palette) == colours:
            break
        new = ((exact - colour) ** 2).sum(axis=1)
        if any(((colour - one) ** 2).sum() < _NEAR for one in palette):
            continue
        nearest[new < distances] = len(palette)
        distances = np.minimum(new, distances)
        palette.append(colour)
    indices = nearest[inverse.reshape(-1)].reshape(height, width)
    return _written(indices, np.array(palette, np.uint8))


def read(data: bytes) -> Pixels:
    """Return the pixels of a PNG of 8 bits a channel as height, width and RGB."""
    assert data.startswith(_START)
    parts, at = [], len(_START)
    width = height = kind = 0
    while at < len(data):
        (length,), name = struct.unpack_from(">I", data, at), data[at + 4 : at + 8]
        body = data[at + 8 : at + 8 + length]
        at += length + 12
        if name == b"IHDR":
            width, height, depth, kind = struct.unpack_from(">IIBB", body)
            assert depth == 8
        elif name == b"IDAT":
            parts.append(body)
    channels = _CHANNELS[kind]
    raw = np.frombuffer(zlib.decompress(b"".join(parts)), np.uint8)
    lines = raw.reshape(height, 1 + width * channels)
    pixels = np.zeros((height, width * channels), np.uint8)
    above = np.zeros(width * channels, np.uint8)
    for number, line in enumerate(lines):
        above = pixels[number] = _unfiltered(int(line[0]), line[1:], above, channels)
    return pixels.reshape(height, width, channels)[:, :, :3]


def _unfiltered(kind: int, line: Pixels, above: Pixels, step: int) -> Pixels:
    """Return a line without its filter: see the PNG specification, section 9."""
    if kind == 0:
        return line
    if kind == 2:
        return line + above
    if kind == 1:
        columns = line.reshape(-1, step).astype(np.uint32)
        return columns.cumsum(axis=0).astype(np.uint8).reshape(-1)
    made, over = bytearray(line.tobytes()), above.tobytes()
    for at in range(len(made)):
        left = made[at - step] if at >= step else 0
        corner = over[at - step] if at >= step else 0
        guess = (left + over[at]) // 2 if kind == 3 else _paeth(left, over[at], corner)
        made[at] = (made[at] + guess) & 255
    return np.frombuffer(bytes(made), np.uint8)


def _paeth(left: int, up: int, corner: int) -> int:
    guess = left + up - corner
    return min((left, up, corner), key=lambda one: abs(guess - one))


def _written(indices: Pixels, palette: Pixels) -> bytes:
    height, width = indices.shape
    rows = np.zeros((height, width + 1), np.uint8)
    rows[:, 1:] = indices
    head = struct.pack(">IIBBBBB", width, height, 8, 3, 0, 0, 0)
    parts = {b"IHDR": head, b"PLTE": palette.tobytes()}
    parts |= {b"IDAT": zlib.compress(rows.tobytes(), 9), b"IEND": b""}
    return _START + b"".join(_chunk(name, body) for name, body in parts.items())


def _chunk(name: bytes, body: bytes) -> bytes:
    return struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body))
