"""Tell in one line which embedder serves a bank whose notes are mostly not in English."""

from __future__ import annotations

import re
from itertools import islice

from memory_bank.bank.bank import Bank
from memory_bank.base import lazy_pattern, plugins
from memory_bank.base.errors import MemoryBankError
from memory_bank.notes.characters import decode
from memory_bank.search.retrievers.keyword.analyzer import STOP_WORDS

_ENGLISH = frozenset(["minilm", "static"])
"""Embedders that were made from English texts."""

_READ, _FEWEST, _FEWEST_WORDS = 60, 3, 10
"""Notes that are read at most, and number of notes below which nothing is said; words from
which a note is judged."""

_LEAST = 0.08
"""Share of words of `_FUNCTION_WORDS` from which a note is in another language, if it has fewer of
English: of 213 notes of three banks, 10 that are so; of 16 German ones, all."""

_FUNCTION_WORDS = frozenset(
    """
    der die das und ist nicht ein eine einen einem den dem mit für auf von wird sind auch werden bei
    zu im am aus nach oder nur noch wenn damit
    de les des est une un dans que qui sur avec pas sont par cette être aux du le la et
    el los las es una del por para con pero este esta se en
    il lo gli che di della dei delle le non sono nel nella si perché ha anche è
    um uma não com mais da ao aos pelo são também é
    het een van niet met voor zijn dat wordt ook op te bij naar er zodat
    nie jest się że dla jak od przez które są tylko lub oraz na
    bir ve bu için ile olarak değil daha çok gibi olan çünkü
    """.split()  # noqa: SIM905  (a line a language)
)
"""Frequent words of the languages in Latin script that `multilingual` knows; English has none."""

_SCRIPTS = lazy_pattern(
    "[\u0400-\u04ff\u0600-\u06ff\u0e00-\u0e7f\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]"
)
"""The other scripts that it knows: Cyrillic, Arabic, Thai, Chinese, Japanese, Korean."""

_WORD = lazy_pattern(r"[^\W\d_]+")

_NO_PROSE = lazy_pattern(r"\A---\r?\n.*?\n---\r?\n|```.*?```|`[^`\n]*`|https?://\S+", re.DOTALL)


def multilingual_hint(bank: Bank) -> str:
    """Return how to use the embedder for other languages if most notes are in one, else nothing."""
    if bank.settings.memory.embedder not in _ENGLISH:
        return ""
    try:
        paths = islice([key for root in bank.roots.all() for key in root.scan().signatures], _READ)
        texts = [decode(data).text for path in paths if (data := bank.roots.of(path).read(path))]
    except (MemoryBankError, UnicodeError):
        return ""
    foreign = sum(map(is_other_language, texts))
    if foreign < _FEWEST or foreign * 2 <= len(texts):
        return ""
    return (
        "most notes are not in English: `memory-bank embedder use multilingual` finds more by"
        f" meaning; {plugins.install_hint('multilingual')}"
    )


def is_other_language(text: str) -> bool:
    """Return whether a text is in another language that `multilingual` knows.

    What merely has few words of English, as lists of names have, is in none.
    """
    words = [word.casefold() for word in _WORD.findall(_NO_PROSE.sub(" ", text))]
    letters = "".join(words)
    if len(_SCRIPTS.findall(letters)) > len(letters) / 2:
        return True
    if len(words) < _FEWEST_WORDS:
        return False
    english, other = (
        sum(word in vocabulary for word in words) for vocabulary in (STOP_WORDS, _FUNCTION_WORDS)
    )
    return other > english and other >= _LEAST * len(words)
