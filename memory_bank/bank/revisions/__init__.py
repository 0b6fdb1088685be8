"""A bank as it was at a revision."""
