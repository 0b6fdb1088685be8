"""Text to vectors, one file an embedder; each offers `load(settings)` and a `SUMMARY` line."""
