"""The manifest: the database of documents, sections, passages, links and faults."""
