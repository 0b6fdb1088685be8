"""The dashboard's wording of hints: what a person in front of it can do after an error."""

from __future__ import annotations

from memory_bank.hints import Hint

HINTS = {
    Hint.LIST_NOTES: "search for it, or follow a link from the start page",
    Hint.SEARCH_IDS: "search for it, or look for it among the sessions",
    Hint.READ_AGAIN: "load the note again",
    Hint.READ_AND_REPEAT: "load the note again, then repeat the change on what it says now",
}
"""Hints that name a page; all others are shown unchanged."""
