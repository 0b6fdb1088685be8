"""Analyze texts and questions: stop words, stems, identifier parts, scripts without spaces."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import islice, pairwise
from typing import TYPE_CHECKING
from unicodedata import category, normalize

from memory_bank.base import NamedTuple, lazy_pattern

if TYPE_CHECKING:
    from tantivy import TextAnalyzer


# Function words and auxiliaries of English. They are dropped from a question unless it has no other
# words.
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
"""Weight of a capitalized word in a question, except its first word."""

MOST_WORDS = 64
"""Maximum number of words of a question that are looked up."""

# Boundary of two parts of an identifier: aB, HTTPServer, x2, 2x. The pattern starts with a set of
# characters instead of a look-behind, which is several times as fast on prose.
_JOINT = lazy_pattern(
    r"[A-Z\d](?:(?<=[a-z\d][A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|(?<=[^\W\d_]\d)|(?<=\d)(?=[^\W\d_]))"
)

_WORD = lazy_pattern(r"[^\W_]+")

_FILE_NAME = lazy_pattern(r"\w[\w-]*\.[a-zA-Z]\w{0,4}")

_PUNCTUATION = ".,;:!?()[]{}<>\"'`"

_PART = lazy_pattern(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|\d+|[^\W\d_a-zA-Z]+")

# Scripts without spaces between words: Thai, Lao, Tibetan, Burmese, Khmer, Japanese, Chinese; and
# Korean, whose words have endings.
_UNSPACED = (
    "[\u0e00-\u0eff\u0f00-\u0fff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3"
    "\uf900-\ufaff\U00020000-\U0003ffff]+"
)

_BLOCK_ID = r"(?m)[ \t]\^[\w-]+[ \t]*$"

# Possessive quantifiers prevent backtracking, so that no line is read twice.
_LINK_LINE = (
    r"(?m)^[ \t>*+-]*+[\w-]{1,40}+(?: [\w-]{1,40}+){0,2}+\**+:{1,2}\**+[ \t]*+"
    r"(?:!?\[\[[^\[\]\n]*+\]\][ \t,]*+)++$"
)

_CONTENTS_LINE = lazy_pattern(
    r"(?m)^[ \t>]*+(?:[-*+]|\d{1,9}+[.)])[ \t]++[^\w\[\]\n]{0,8}+\[([^\[\]\n]*+)\]"
    r"\((?!\w++:)[^\s()]*?\.md(?:#[^\s()]*+)?\)[ \t]*+$"
)
"""A line of a table of contents: an item that is a link to another note and nothing else."""

_WIKILINK = lazy_pattern(r"!?\[\[([^\[\]\n|]*+)(?:\|([^\[\]\n]*+))?\]\]")

_DESTINATION = lazy_pattern(r"(?<=\]\()(?:<[^<>\n]*+>|[^\s()<>]*?(?:/|\.md\b)[^\s()<>]*+)(?=[\s)])")
"""The destination of a Markdown link that is a path or an address."""


@lru_cache(maxsize=16)  # several indexes get the same question
def weighted_stems(text: str) -> Mapping[str, float]:
    """Return the stems of a question without stop words, each with its weight.

    Repeated words and names (capitalized words) weigh more. Parts of identifiers count as words.
    """
    weights: dict[str, float] = {}
    for position, word in query_words(text):
        weight = NAME_WEIGHT if is_name(position, word) else 1.0
        for stem in stem_words(word):
            weights[stem] = weights.get(stem, 0.0) + weight
        for stem in stem_words(identifier_parts(word)):
            weights.setdefault(stem, 1.0)
    return dict(islice(weights.items(), MOST_WORDS))


_IN_OTHER_LANGUAGES = frozenset(
    "a all am an as do had has he her here i in is me no of on over s so t was we will".split()  # noqa: SIM905
)
"""Function words that other languages of Latin script have, too."""

_MOST_KEYWORDS = 4
"""Words of a question that may be a list of keywords."""


def is_english(text: str) -> bool:
    """Return whether a question has an English function word, or is too short to tell.

    That holds for 200 of 204 questions in English, and for none of 20 in German.
    """
    words = _WORD.findall(text.casefold())
    if any(map(split_bigrams, words)):
        return False
    functions = STOP_WORDS - _IN_OTHER_LANGUAGES
    return len(text.split()) <= _MOST_KEYWORDS or not functions.isdisjoint(words)


def count_words(text: str) -> int:
    """Count the words of a question; of a script without spaces, two characters count as one."""
    words = sum(not split_bigrams(stem) for stem in weighted_stems(text))
    if text.isascii():  # the pattern takes long to compile
        return words
    return words + sum(map(len, re.findall(_UNSPACED, to_plain(text)))) // 2


@lru_cache(maxsize=16)
def adjacent_stems(text: str) -> tuple[tuple[str, str], ...]:
    """Return pairs of stems that are adjacent in a question without stop words."""
    stems = [stem for _, word in query_words(text)[:MOST_WORDS] for stem in stem_words(word)[:1]]
    return tuple((first, second) for first, second in pairwise(stems) if first != second)


def find_beginnings(text: str) -> tuple[str, ...]:
    """Return the stems before a star: `datab*` asks for all words that begin so."""
    before = (word.partition("*")[0] for word in text.split() if "*" in word)
    return tuple(stem_words(part)[-1] for part in before if len(part) > 1 and part[-2:].isalnum())


def find_paths(text: str) -> tuple[str, ...]:
    """Return the paths and file names in a question."""
    words = (word.strip(_PUNCTUATION) for word in text.split())
    return tuple(word for word in words if "/" in word or _FILE_NAME.fullmatch(word))


_FOLDED = lazy_pattern("[\u0300-\u036f\u0483-\u0487\u0591-\u05c7\u064b-\u065f\u0670\u0640]")
"""Marks of Latin, Greek, Cyrillic, Hebrew and Arabic, which many leave out."""

_CHARACTERS = _UNSPACED[1:-2]

_SCRIPTS = lazy_pattern(
    f"(?<=[{_CHARACTERS}])(?=[^\\W{_CHARACTERS}])|(?<=[^\\W{_CHARACTERS}])(?=[{_CHARACTERS}])"
)
"""Boundary between a script without spaces and another one."""

_BRITISH = lazy_pattern(
    r"[cioruyCIORUY](?=[eusEUS])(?i:(?<=i)s(?<=\w\w\w..)(?=(?:e[drs]?|ers|ing|able|ations?)\b)"
    r"|(?<=y)s(?<=\w\w..)(?=(?:e[drs]?|ers|ing)\b)"
    r"|(?<=o)ur(?<=\w\w\w...)(?=(?:s|ed|ing|ful|able|ite|al|ally|hood|ly)?\b)"
    r"|(?<=r)e(?<=cent..)(?=s?\b)|(?<=defenc|licenc|offenc)(?=e[ds]?\b)|(?<=u)e(?<=alog..)(?=s?\b))"
)
_AMERICAN = {"is": "iz", "ys": "yz", "our": "or", "re": "er", "c": "s", "ue": ""}
"""British endings and the American ones; texts and questions are treated alike, so that it does no
harm where a word such as "promise" only looks like one."""


_LETTERS = str.maketrans(
    {
        "ß": "ss",
        "æ": "ae",
        "Æ": "AE",
        "œ": "oe",
        "Œ": "OE",
        "þ": "th",
        "Þ": "TH",
        **dict(zip("øØłŁđĐðÐıħĦŧŦ", "oOlLdDdDihHtT", strict=True)),
    }
)
"""Letters of Latin script that are typed as others, and that have no mark to be dropped."""


def to_plain(text: str) -> str:
    """Return a text as it is analyzed: without accents, in American spelling, scripts apart."""
    if not text.isascii():
        folded = _FOLDED.sub("", normalize("NFKD", text.translate(_LETTERS)))
        text = normalize("NFC", folded)
        text = _SCRIPTS.sub(" ", text)
    return _BRITISH.sub(_as_american, text)


def _as_american(british: re.Match[str]) -> str:
    american = _AMERICAN[british[0].lower()]
    return american.upper() if british[0].isupper() else american


def query_words(text: str) -> list[tuple[int, str]]:
    """Return a question's words with their positions, without stop words if others are left."""
    text = to_plain(text)
    # a word of Hindi or Tamil goes on behind a mark, which is no letter
    marks = {mark for mark in text if not mark.isascii() and category(mark) in {"Mn", "Mc"}}
    word_pattern = f"[\\w{re.escape(''.join(sorted(marks)))}]+(?:['’]\\w+)?"
    words = list(enumerate(re.findall(word_pattern, text)))
    return [(position, word) for position, word in words if not _is_stop(word)] or words


_LONG_STEM = 4
"""Letters of a stem from which on three of them are those of the word."""


def stem_words(text: str) -> list[str]:
    """Return the words of a text as they are stored in stemmed fields."""
    return list(build_stemmer(with_stop_words=True).analyze(to_plain(text)))


def find_start(stem: str) -> str:
    """Return how each word of ASCII with a stem begins, in lower case: what its spelling keeps.

    The stemmer and American spelling change the ends of words (`dying` to `die`, `metre` to
    `meter`), and an `s` to a `z` before them.
    """
    return stem[: 3 if len(stem) > _LONG_STEM else 1].partition("z")[0]


def drop_block_ids(text: str) -> str:
    """Return a text without the block ids at the ends of its lines."""
    return re.sub(_BLOCK_ID, "", text) if "^" in text else text


def clean_text(text: str) -> str:
    """Return a text without block ids, lines of nothing but links, and the targets of links.

    A link's own text stays. So does a target without one if it is a single word, which is then
    part of the sentence: `[[Redis]] keeps the sessions`. Of a line of a table of contents nothing
    stays: the note that it leads to has that title itself.
    """
    text = drop_block_ids(text)
    if "[[" in text:
        text = _WIKILINK.sub(_text_of_link, re.sub(_LINK_LINE, "", text))
    return _DESTINATION.sub("", _CONTENTS_LINE.sub("", text)) if "](" in text else text


def find_targets(text: str) -> str:
    """Return the targets of a text's links that `clean_text` leaves out."""
    if "[[" not in text and "](" not in text:
        return ""
    wikilinks = _WIKILINK.findall(re.sub(_LINK_LINE, "", text))
    left_out = [target for target, alias in wikilinks if alias or not _is_word(target)]
    return " ".join((*left_out, *_CONTENTS_LINE.findall(text), *_DESTINATION.findall(text)))


def _text_of_link(link: re.Match[str]) -> str:
    """Return a wikilink's own text, or its target if that is a single word."""
    return link[2] or (_name_in(link[1]) if _is_word(link[1]) else "")


def _is_word(target: str) -> bool:
    return len(_WORD.findall(_name_in(target))) <= 1


def _name_in(target: str) -> str:
    return target.rpartition("/")[2].removesuffix(".md")


def identifier_parts(text: str) -> str:
    """Return the parts of all camelCase and letter-digit words, joined by spaces.

    Underscores, dots and slashes need no handling: every tokenizer splits there.
    """
    parts: list[str] = []
    end = 0
    for joint in _JOINT.finditer(text):
        if joint.start() >= end:
            start = joint.start()
            while start and text[start - 1].isalnum():
                start -= 1
            word = _WORD.match(text, start)
            if word is not None:
                end = word.end()
                parts += [part for part in _PART.findall(word[0]) if len(part) > 1]
    return " ".join(parts)


def split_bigrams(text: str) -> str:
    """Return the character bigrams of text in scripts without spaces, joined by spaces."""
    return "" if text.isascii() else " ".join(_grams(text))


def _grams(text: str) -> Iterator[str]:
    for run in re.findall(_UNSPACED, text):
        yield from run if len(run) > 1 else (run,)
        for start in range(len(run) - 1):
            yield run[start : start + 2]


def is_name(position: int, word: str) -> bool:
    """Tell whether a word is capitalized, but not the first word and not in capitals."""
    return position > 0 and word[0].isupper() and not word.isupper()


def _is_stop(word: str) -> bool:
    return re.split("['’]", word.lower(), maxsplit=1)[0] in STOP_WORDS


@lru_cache(maxsize=2)
def build_stemmer(*, with_stop_words: bool) -> TextAnalyzer:
    """Build tantivy's `en_stem` for longer words, too, with a filter of stop words if wanted."""
    from tantivy import Filter, TextAnalyzerBuilder, Tokenizer  # start-up: records need no words

    steps = TextAnalyzerBuilder(Tokenizer.simple())
    steps = steps.filter(Filter.remove_long(200)).filter(Filter.lowercase())
    if not with_stop_words:
        steps = steps.filter(Filter.custom_stopword(sorted(STOP_WORDS)))
    return steps.filter(Filter.stemmer("english")).build()


STEMMED = "stemmed"
"""Name of the stemmer among the tokenizers of an index."""

TARGETS = "targets"
"""The field of targets of links: what a link names is said there, not in the note that links."""

FIELDS = {"body": 1.0, "identifiers": 0.3, "about": 0.4, TARGETS: 0.02}
"""Stemmed fields and their weights; the body has the title and the headings, too."""

GRAMS = "grams"
"""The field of character bigrams, separated by spaces."""


def join_fields(
    title: str,
    passages: Sequence[tuple[Sequence[str], str]],
    *,
    keywords: str = "",
    about: str = "",
) -> dict[str, str]:
    """Return the texts of some passages, given as headings and text; no text is empty."""
    headings = [
        heading for above_passage, _ in passages for heading in above_passage if heading != title
    ]
    above = "\n".join((title, *dict.fromkeys(headings)))
    parts = [_analyzed(text) for text in (above, *(text for _, text in passages))]
    rest = identifier_parts(f"{keywords}\n{about}")
    texts = {
        "body": "\n".join(
            (to_plain(above), *(part.text for part in parts[1:]), to_plain(keywords))
        ),
        "about": to_plain(about),
        "identifiers": " ".join(filter(None, (*(part.identifiers for part in parts), rest))),
        GRAMS: " ".join(filter(None, (part.grams for part in parts))),
        TARGETS: " ".join(filter(None, (part.targets for part in parts))),
    }
    return {field: text for field, text in texts.items() if text}


def forget() -> None:
    """Forget the texts that were analyzed for a batch."""
    _analyzed.cache_clear()


class _Analyzed(NamedTuple):
    """A text with the derived text of other fields."""

    text: str
    identifiers: str
    grams: str
    targets: str


@lru_cache(maxsize=1 << 15)
def _analyzed(text: str) -> _Analyzed:
    """Analyze a text; cached for a batch, since both units index every passage."""
    clean = to_plain(clean_text(text))
    return _Analyzed(
        clean, identifier_parts(clean), split_bigrams(clean), to_plain(find_targets(text))
    )
