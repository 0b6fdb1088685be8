"""What is indexed: documents, sections, links."""
