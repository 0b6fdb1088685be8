"""Symbols, tests, calls and coupling of a work tree."""
