"""One file an index: how it is kept, filled and asked."""
