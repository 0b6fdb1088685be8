"""A bank that stays open in a server."""
