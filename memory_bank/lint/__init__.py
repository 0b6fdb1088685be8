"""Lint rules for banks, one file for each rule."""
