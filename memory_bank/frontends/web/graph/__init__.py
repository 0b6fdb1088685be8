"""The picture of the links between notes."""
