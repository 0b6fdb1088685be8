"""The verbs on notes."""
