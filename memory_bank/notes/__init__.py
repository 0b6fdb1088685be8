"""Text to values and back; the only code that writes the user's files."""
