"""Keep every retriever equal to the files."""
