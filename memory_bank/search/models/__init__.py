"""The runtimes of the embedders."""
