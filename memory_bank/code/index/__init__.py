"""The index of the code of a work tree: its database, its lanes of search and its files."""
