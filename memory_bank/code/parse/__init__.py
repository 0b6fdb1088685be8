"""Source code as symbols, imports and tests, parsed in another process."""

VERSION = "18"
"""It changes with the rules by which files are parsed; see `parsing.parser_version`."""
