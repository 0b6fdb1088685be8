"""Make observations of the events of a session."""
