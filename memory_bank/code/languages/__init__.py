"""What the parser must know of each programming language, one file for each or for its family."""

from __future__ import annotations
