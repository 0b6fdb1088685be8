"""The commands: one file each, named as the command is."""

from __future__ import annotations
