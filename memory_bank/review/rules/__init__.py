"""The lint rules."""
