"""Documents in, hits out: manifest, index, retrievers, embedders, ranking."""
