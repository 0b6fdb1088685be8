"""What an agent reads of an answer."""

from memory_bank.base.text import Quotes
from memory_bank.base.view import write_agent
from memory_bank.memory.retrieval.answers import Answer
from memory_bank.memory.retrieval.views import view_recall


def recall_text(answer: Answer, quotes: Quotes) -> str:
    return write_agent(view_recall(answer), quotes)
