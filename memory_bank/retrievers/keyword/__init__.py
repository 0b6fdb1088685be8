"""The index of words: BM25 over passages or whole documents, kept by tantivy."""
