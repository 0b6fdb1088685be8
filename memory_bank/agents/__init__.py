"""Agents' programs: their configuration, hooks, events and transcripts."""
