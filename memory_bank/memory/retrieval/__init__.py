"""Verbs that find notes: recall and ask, what they answer, and how they are shown."""
