"""The operation `feathers`, a command and a tool: count the notes that have a word."""

from typing import Annotated

from memory_bank.base.operation import Param, Tool, operation
from memory_bank.base.view import Entry, View


def view_feathers(answer):
    """Say how many notes have the word."""
    return View(f"{answer['notes']} notes", [Entry(text=answer["word"])])


@operation(
    "feathers",
    why="""
    Counts notes, for example those that name a bird.
    """,
    examples=(("memory-bank feathers owl", "how many notes name it"),),
    group="Find",
    tool=Tool("Count the notes that have a word.", "bank", view=view_feathers, reads=True),
)
def feathers(bank, word: Annotated[str, Param(argument=True)]) -> dict[str, object]:
    """Count the notes that have a word."""
    from memory_bank.memory.retrieval.recall import recall

    return {"word": word, "notes": len(recall(bank, word, mode="lexical").notes)}
