"""The operation `feathers`: count the notes that have a word."""

from typing import Annotated

from memory_bank.base.operation import Param, operation


@operation(
    "feathers",
    why="""
    Counts notes, for example those that name a bird.
    """,
    examples=(("memory-bank feathers owl", "how many notes name it"),),
    group="Find",
)
def feathers(bank, word: Annotated[str, Param(argument=True)]):
    """Count the notes that have a word."""
    from memory_bank.memory.recall import recall

    return {"word": word, "notes": len(recall(bank, word, mode="lexical").notes)}
