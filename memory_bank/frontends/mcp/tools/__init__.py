"""Toolsets, one file each; the file's name is the toolset's name."""
