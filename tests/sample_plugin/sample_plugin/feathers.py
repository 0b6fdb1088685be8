"""The operation `feathers`, a command and a tool: count the notes that have a word."""

from typing import Annotated

from memory_bank.base.operation import Param, Tool, operation


def told(found, quotes):
    """Say how many notes have the word."""
    return f"{found['notes']} notes: {quotes.inside(found['word'])}"


@operation(
    "feathers",
    why="""
    Counts notes, for example those that name a bird.
    """,
    examples=(("memory-bank feathers owl", "how many notes name it"),),
    group="Find",
    tool=Tool("Count the notes that have a word.", "bank", told, reads=True),
)
def feathers(bank, word: Annotated[str, Param(argument=True)]) -> dict[str, object]:
    """Count the notes that have a word."""
    from memory_bank.memory.retrieval.recall import recall

    return {"word": word, "notes": len(recall(bank, word, mode="lexical").notes)}
