"""What every room uses: errors, settings, paths, SQLite, plug-ins."""

__version__ = "0.1.0"
