"""Engines of the shared index; `shared/engines/base.py` is their contract."""
