"""Index documents: compare with the source, write the manifest, fill the retrievers."""
