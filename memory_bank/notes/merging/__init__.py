"""Merge three versions of a note."""
