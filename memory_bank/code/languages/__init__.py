"""What the parser must know of each programming language; those that share rules in one file."""

from __future__ import annotations
