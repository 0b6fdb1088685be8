"""What the parser must know of each programming language, one file each."""

from __future__ import annotations
