"""Formats of a review for other programs: pure functions of its records."""
