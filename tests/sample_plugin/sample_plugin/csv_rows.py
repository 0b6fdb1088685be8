"""Rows of a table."""

import csv

from memory_bank.memory.importers.base import ImportedNote
from memory_bank.memory.records import Draft, NotImported

SUMMARY = "a CSV file with the columns title and text"


def read(path):
    with path.open(newline="", encoding="utf-8") as file:
        for number, row in enumerate(csv.DictReader(file), 2):
            if row["title"]:
                yield ImportedNote(row["title"], Draft(row["text"], name=row["title"]))
            else:
                yield NotImported(f"row {number}", "it has no title")
