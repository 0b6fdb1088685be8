"""Answer the hooks of agents' programs: `memory-bank hook CLIENT EVENT`."""
