"""The note of a session: its format, reading and writing."""
