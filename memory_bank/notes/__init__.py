"""Markdown as text: parse, write, journal, merge and compare notes."""
