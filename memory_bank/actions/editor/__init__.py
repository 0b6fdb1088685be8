"""What an editor asks about notes that are open in it, with changes that are not saved yet.

Places are offsets in characters of a note's text. The index is asked as it is, never updated: an
editor must not wait for it. None of these functions writes.
"""
