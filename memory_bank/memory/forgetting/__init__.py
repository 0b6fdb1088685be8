"""Remove a text everywhere."""
