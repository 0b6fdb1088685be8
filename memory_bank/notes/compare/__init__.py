"""Say what differs between two versions of notes."""
