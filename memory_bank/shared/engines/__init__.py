"""Engines of the shared index; `shared/engine.py` is their contract."""
