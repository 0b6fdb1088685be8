"""Find secrets in a text before it is written."""
