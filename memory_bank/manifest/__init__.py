"""The database of what is indexed: notes, sections, passages, links, and what couldn't be read."""
