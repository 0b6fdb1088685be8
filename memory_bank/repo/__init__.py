"""Read the git repository around a bank."""
