"""What agents did: events, observations, notes of sessions."""
