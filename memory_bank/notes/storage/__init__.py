"""Files of notes on the disk: the store, its journal, folders and trash."""
