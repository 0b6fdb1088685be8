"""Embedders: one plug-in each; see `base.py`."""
