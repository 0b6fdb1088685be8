"""Files and runtimes of embedding models."""
