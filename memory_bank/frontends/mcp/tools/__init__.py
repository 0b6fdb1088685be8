"""Toolsets, one file each; the file's name is the toolset's name."""

from __future__ import annotations
