"""Words of texts and questions: stop words, stems, identifier parts, scripts without spaces."""

import re
from collections.abc import Iterator
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

from tantivy import Filter, TextAnalyzer, TextAnalyzerBuilder, Tokenizer

# Function words and auxiliaries of English: they carry no subject in a question. A question made
# of these alone keeps them.
STOP_WORDS = frozenset(
    """
    a about after again all also am an and any are aren as at be because been before being
    between both but by can cannot could couldn d did didn do does doesn doing don during each
    few for from further get gets got had hadn has hasn have haven having he her here hers
    herself him himself his how i if in into is isn it its itself just let ll m me more most
    must mustn my myself no nor not now o of off on once only or other our ours ourselves out
    over own re s same shan she should shouldn so some such t than that the their theirs them
    themselves then there these they this those through to too under until up us ve very was
    wasn we were weren what when where which while who whom whose why will with won would wouldn
    you your yours yourself yourselves
    """.split()  # noqa: SIM905  (200 quoted words are no easier to read)
)
NAME_WEIGHT = 1.5
"""What a word with a capital letter weighs in a question, its first word left out."""
MOST_WORDS = 64
"""Words of a question that are looked up; a longer one is a text, and its first words will do."""

# Where two parts of an identifier meet: aB, HTTPServer, x2, 2x. It starts with a set of characters,
# so that plain prose is skipped: several times as fast as looking behind each character.
_JOINT = re.compile(
    r"[A-Z\d](?:(?<=[a-z\d][A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|(?<=[^\W\d_]\d)|(?<=\d)(?=[^\W\d_]))"
)
_WORD = re.compile(r"[^\W_]+")
_PART = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|\d+|[^\W\d_a-zA-Z]+")

# Scripts without spaces between words: Thai, Lao, Tibetan, Burmese, Khmer, Japanese, Chinese.
_UNSPACED = (
    "[\u0e00-\u0eff\u0f00-\u0fff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff"
    "\U00020000-\U0003ffff]+"
)

_BLOCK_ID = r"(?m)[ \t]\^[\w-]+[ \t]*$"
# Possessive where a part can't give back anything that the next one takes: no line is read twice.
_LINK_LINE = (
    r"(?m)^[ \t>*+-]*+[\w -]{1,40}+\**+:{1,2}\**+[ \t]*+(?:!?\[\[[^\[\]\n]*+\]\][ \t,]*+)++$"
)
_LINK = r"!?\[\[(?:[^\[\]\n|]*+\|)?([^\[\]\n]*+)\]\]"


class Weighed(NamedTuple):
    """A stem of a question and how much it counts."""

    stem: str
    weight: float


@lru_cache(maxsize=16)  # a question is put to several indices
def weigh(text: str) -> tuple[Weighed, ...]:
    """Return the stems of a question that carry its subject, a repeated one weighing more.

    Names, told by their capital letter, weigh more too. Parts of identifiers count as words.
    """
    weights: dict[str, float] = {}
    for place, word in _asked(text):
        weight = NAME_WEIGHT if _is_name(place, word) else 1.0
        for stem in stems(word):
            weights[stem] = weights.get(stem, 0.0) + weight
        for stem in stems(identifier_parts(word)):
            weights.setdefault(stem, 1.0)
    return tuple(Weighed(*pair) for pair in list(weights.items())[:MOST_WORDS])


def names(text: str) -> tuple[str, ...]:
    """Return the stems of the names in a question, told by their capital letter."""
    named = (stems(word)[:1] for place, word in _asked(text) if _is_name(place, word))
    return tuple(dict.fromkeys(stem for found in named for stem in found))[:MOST_WORDS]


@lru_cache(maxsize=16)
def together(text: str) -> tuple[tuple[str, str], ...]:
    """Return the stems of a question's subject that stand beside one another, pair by pair."""
    found = [stem for _, word in _asked(text)[:MOST_WORDS] for stem in stems(word)[:1]]
    return tuple((first, second) for first, second in pairwise(found) if first != second)


def _asked(text: str) -> list[tuple[int, str]]:
    """Return a question's words with their places, without stop words if others are left."""
    words = list(enumerate(re.findall(r"\w+(?:['’]\w+)?", text)))
    return [(place, word) for place, word in words if not _is_stop(word)] or words


def stems(text: str) -> list[str]:
    """Return the words of a text as the stemmed fields have them."""
    return list(_stemmer(with_stop_words=True).analyze(text))


def without_block_ids(text: str) -> str:
    """Return a text without the addresses at the ends of its lines, which say nothing."""
    return re.sub(_BLOCK_ID, "", text) if "^" in text else text


def cleaned(text: str) -> str:
    """Return a text without block ids, lines that only link, and the brackets of links."""
    text = without_block_ids(text)
    if "[[" in text:
        # By a function: a template is expanded in Python, five times as slowly.
        text = re.sub(_LINK, lambda found: found[1], re.sub(_LINK_LINE, "", text))
    return text


def identifier_parts(text: str) -> str:
    """Return the parts of all camelCase and letter-digit words, joined by spaces.

    Underscores, dots and slashes need nothing: every tokenizer splits there.
    """
    found: list[str] = []
    end = 0
    for joint in _JOINT.finditer(text):
        if joint.start() >= end:
            start = joint.start()
            while start and text[start - 1].isalnum():
                start -= 1
            word = _WORD.match(text, start)
            if word is not None:
                end = word.end()
                found += [part for part in _PART.findall(word[0]) if len(part) > 1]
    return " ".join(found)


def grams(text: str) -> str:
    """Return the character pairs of runs in scripts without spaces, joined by spaces."""
    return "" if text.isascii() else " ".join(_grams(text))


def _grams(text: str) -> Iterator[str]:
    for inline_block in re.findall(_UNSPACED, text):
        if len(inline_block) == 1:
            yield inline_block
        for start in range(len(inline_block) - 1):
            yield inline_block[start : start + 2]


def _is_name(place: int, word: str) -> bool:
    """Tell a name by its capital letter; a question's first word has one anyway."""
    return place > 0 and word[0].isupper() and not word.isupper()


def _is_stop(word: str) -> bool:
    return re.split("['’]", word.lower(), maxsplit=1)[0] in STOP_WORDS


@lru_cache(maxsize=2)
def _stemmer(*, with_stop_words: bool) -> TextAnalyzer:
    """Build what tantivy's own `en_stem` is made of, stop words left out if asked."""
    steps = TextAnalyzerBuilder(Tokenizer.simple())
    steps = steps.filter(Filter.remove_long(40)).filter(Filter.lowercase())
    if not with_stop_words:
        steps = steps.filter(Filter.custom_stopword(sorted(STOP_WORDS)))
    return steps.filter(Filter.stemmer("english")).build()
