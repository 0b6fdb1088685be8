"""The index of meaning: vectors of passages, kept by SQLite and usearch."""
