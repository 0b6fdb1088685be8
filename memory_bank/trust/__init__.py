"""Who wrote a note, who reviewed it, and whether it still holds."""
