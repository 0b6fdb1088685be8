"""Run git safely, and read its objects and its history."""
