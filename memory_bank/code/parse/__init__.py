"""Source code as symbols, imports and tests, parsed in another process."""
