"""What every room uses: errors, settings, paths, SQLite, plug-ins."""
