"""The dashboard as a static site."""
