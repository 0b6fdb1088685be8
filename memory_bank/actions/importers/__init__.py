"""Importers: one module a kind of source, found by its file name; `base` is the contract."""
