"""The text of a passage that is embedded."""

from memory_bank.retrievers.base import Entry
from memory_bank.retrievers.keyword.analyzer import without_block_ids


def text_of(entry: Entry) -> str:
    """Return what is embedded of a passage: its headings and its text; see `TEXT_VERSION`.

    Headings without a letter (numbers, dates) are left out: they cost a small model five points of
    NDCG. So are block ids.
    """
    path = [entry.title, *(heading for heading in entry.headings if heading != entry.title)]
    headings = " > ".join(part for part in path if any(map(str.isalpha, part)))
    return f"{headings}\n{without_block_ids(entry.text).strip()}".strip("\n")
