"""Protocols to actions and back; no thinking here."""
