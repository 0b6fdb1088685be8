"""Open a bank: its folders, index, private logs, settings and revisions."""
