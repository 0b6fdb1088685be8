"""Tell random values and passwords from words and placeholders."""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from collections.abc import Iterator
from functools import cache
from itertools import islice, pairwise
from math import log2
from pathlib import Path
from typing import Any

from memory_bank.base import NamedTuple, lazy_pattern


class Format(NamedTuple):
    """One kind of secret: a text that is always in it, and its pattern.

    The pattern's group 1, where there is one, is the part that was drawn at random.
    """

    kind: str
    mark: str
    pattern: str
    near: str = ""
    """A word required within 80 characters, in lower case, if the format alone proves nothing."""


@cache
def read_table() -> dict[str, Any]:
    """Return the data file: formats, and words that are no secret."""
    document: dict[str, Any] = json.loads(Path(__file__).with_name("secrets.json").read_bytes())
    document["allowlist"]["stopwords"] = frozenset(document["allowlist"]["stopwords"])
    return document


@cache
def read_formats() -> tuple[Format, ...]:
    """Return the formats."""
    return tuple(
        Format(row["description"], row["keywords"][0], row["regex"], row.get("near", ""))
        for row in read_table()["rules"]
    )


_RUN = lazy_pattern(r"[A-Za-z0-9_.:/+~=$%@-]{16,}")
"""A run of characters that may have a secret of any format: a few percent of most texts."""

_NEAR = 80

_MOST = 20_000
"""Maximum matches of one format that are examined in one text."""


def find_formats(text: str) -> Iterator[tuple[str, int, int, str]]:
    """Find all matches of the formats, in time linear in the text.

    Yield the kind, start and end of each, and its random part.
    """
    starts, ends, runs, size = list[int](), list[int](), list[str](), 0
    for run in _RUN.finditer(text):
        starts.append(run.start())
        ends.append(size)
        runs.append(run[0])
        size += len(run[0]) + 1
    joined = "\n".join(runs)
    for form in read_formats():
        if form.mark not in joined:
            continue
        for match in islice(_yield_matches(joined, form), _MOST):
            number = bisect_right(ends, match.start()) - 1
            shift = starts[number] - ends[number]
            start, end = match.start() + shift, match.end() + shift
            around = text[max(0, start - _NEAR) : end + _NEAR].lower() if form.near else ""
            if not form.near or re.search(form.near, around):
                yield form.kind, start, end, match[1]


def _yield_matches(text: str, form: Format) -> Iterator[re.Match[str]]:
    """Yield the matches of a format; where its pattern starts with its mark, that is found first."""
    fits = compile_format(form.pattern)
    if not form.pattern.replace("\\", "").startswith(form.mark):
        yield from fits.finditer(text)
        return
    at = text.find(form.mark)
    while at >= 0:
        match = fits.match(text, at)
        if match is not None:
            yield match
        at = text.find(form.mark, match.end() if match else at + len(form.mark))


@cache
def compile_format(pattern: str) -> re.Pattern[str]:
    """Return the pattern, which matches only at the start of a word."""
    return re.compile(rf"(?<![A-Za-z0-9])(?:{pattern})")


_FEW = 0.5
"""Share of one character in masks such as `xxxxxxxx` or `000000000001`."""

# Different characters of the random part of a token.
_LEAST_KINDS = 4

_SEQUENCES = (
    "0123456789012345678901234567890",
    "abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyz",
    "9876543210987654321098765432109",
    "qwertyuiopasdfghjklzxcvbnm",
)

_IN_A_ROW = 8
"""Sequences of the keyboard or the alphabet, which are not random."""

_INVENTED = lazy_pattern(
    r"example|placeholder|changeme|change[-_]?this|replace[-_]?(?:me|with|this)?|your[-_ ]|[-_ ]here\b|yourkey|yourtoken"
    r"|my[-_]?(?:secret|token|password|api|key)|dummy|redacted|insert|foobar|foo[-_]?bar|sample"
    r"|todo|fixme|x{4,}|\*{3,}|\.{3}|…|•{3}|password|passwd|passw0rd|p4ssw0rd|p@ssw0rd|deadbeef"
    r"|not[-_]?a?[-_]?(?:real|secret)|fake|lorem|ipsum|secret[-_]?(?:key|token|value|here)"
    r"|none\b|null|undefined|true\b|false\b|test(?:ing)?[-_]?(?:key|token|pass|secret|value)"
)
"""Parts of placeholders."""

_INSIDE_CODE = lazy_pattern(
    r"[$%@#]\{|\{\{|\$\(|[-_/:.]\$[A-Za-z_]+$|^\$|^%[A-Za-z_]\w*%|^[<{\[(]|^[A-Za-z_][\w.:>-]*[(\[{]"
    r"|^(?:process|os|env|config|settings|secrets|vars|self|this|request|req|ctx|options|params)[.\[]"
    r"|^(?:https?|ssh|ftp|file|git|arn|urn|op|vault|ref|data|sha256|sha512|sha1)[:/@]"
    r"|^(?:\.{0,2}|~|[A-Za-z]:)[/\\][\w./\\ -]*$|^--?[a-z-]+$|^--[A-Za-z]|^-[A-Za-z]\w+="
)
"""Prefixes of variables of code, shells and templates, of paths and of addresses."""

_VARIABLES, _IN_CALLS = ("${", "{{", "$(", "#{", "@{", "%{", "<"), frozenset(",.:;[]{}")

_LEAST_SCRAMBLED = 40
"""Characters of keys that frameworks make of letters, digits and signs."""

_TECHNICAL = lazy_pattern(
    r"v?\d+(?:\.\d+)*[a-z]?|(?:sha|md|aes|rsa|hs|rs|es|ps|utf|iso|rfc|ed|pbkdf|argon|oauth|base|http|s|ec|p|nist|fips|cve|k|tls)-?\d[\w./-]*"
    r"|\d+(?:st|nd|rd|th|px|em|rem|pt|kb|mb|gb|ms|s|min|h|d|am|pm|bits?|bytes?|chars?|x|k|m|%)\+?"
    r"|\d{1,4}[-/.:]\d{1,2}(?:[-/.:]\d{1,4})?\S*|(?:ctrl|cmd|alt|shift|option|meta)\+\S*|[a-z]+-\d+|(?:pre|post|non)-#\d+|e2e\S*"
)

_WORD = lazy_pattern(r"[A-Z]?[a-z]{4,}|[A-Z]{5,}")

# Chosen on planted secrets and real commits (tests/benchmarks/planted.py, refusals.py).
_CLASSES, _LEAST_MIXED, _LEAST_LETTERS = 3, 7, 8

_HEX = lazy_pattern(r"[0-9a-fA-F-]+")

_SIGNS = "!#$%*?^"

_NAMED = lazy_pattern(
    r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+|[^%]*%[0-9A-Fa-f]{2}[^%]*%.*|0x[0-9A-Fa-f]+|[a-z]{2,8}_\w+|.*\.[A-Za-z]{2,12}"
)
"""Addresses, escaped names, numbers, ids with a prefix, names of files."""

_LOWER_RUN, _DIGIT_WITHIN = lazy_pattern(r"[a-z]{5}"), lazy_pattern(r"[0-9][A-Za-z]")

_LETTERS, _PHRASE = (
    lazy_pattern(r"[a-zäöüß]{10,64}"),
    lazy_pattern(r"[a-z]{3,12}(?:[-_.][a-z]{3,12}){3,11}"),
)

_LINKING = lazy_pattern(
    r"(?:^|[-_.])(?:the|to|by|a|see|in|from|your|not|for|and|of|with|ask|use|set|key|secret|token|db|prod|staging|name|path"
    r"|file|app|service|credentials?|pass|default|env|user|value|manager|config)(?:$|[-_.])"
)

_INFLECTED = lazy_pattern(
    r"(?:ed|ings?|ions?|ables?|ibles?|ly|ments?|als?|ives?|ics?|ous|ity|ties|ness|less|ful|an[tc]e?s?|en[tc]e?s?|ar[yi]\w{0,3}"
    r"|or[yi]\w{0,3}|at(?:e|es|or|ors)|i[sz](?:e|es|er|ers|ed|m)|ists?|ships?|wards?|where|thing|one|bod(?:y|ies)|texts?|scripts?"
    r"|phrases?|systems?|bases?|stores?|sql|points?|names?|graph|mode|ware|files?|fields?|forms?|words?|codes?|keys?|ids?|ever"
    r"|links?|vars?|params?|chains?|types?|urls?|uri|paths?|strings?|values?|length|hash|managers?|tes|ungs?|ungen|[hk]eit|lich\w{0,2}|isch\w{0,2}"
    r"|bar|ie?rt\w{0,2}|schaft|ologie|abe|aben|ennen|ieren)$"
    r"|^(?:ab|an|auf|aus|ein|vor|zu|nach|hinter|fest|un)?ge\w+(?:t|en)$|^(?:ver|ent|zer|be|hinter|über|unter|er)\w+(?:t|en|er)$"
)
"""Patterns of English and German words; other letters are compounds or random."""


def is_placeholder(value: str) -> bool:
    """Return whether a value is a placeholder: a variable, a mask, an example, a common word."""
    return (
        value.lower() in read_table()["allowlist"]["stopwords"]
        or is_masked(value)
        or (bool(_INSIDE_CODE.search(value)) and not _is_scrambled(value))
    )


def _is_scrambled(value: str) -> bool:
    """Return whether a long value is random, although its signs look like a call or a variable."""
    if len(value) < _LEAST_SCRAMBLED or value.startswith(_VARIABLES) or _IN_CALLS & set(value):
        return False
    return is_random(value)


# Bits a character of what is drawn, its share of words, and its changes of class a character.
# Chosen on planted secrets and real commits (tests/benchmarks/planted.py, refusals.py).
_LEAST_HEX, _LEAST_ENTROPY, _MOST_WORDS, _LEAST_CHANGES, _DRAWN_CHANGES = 2.5, 3.0, 0.65, 0.2, 0.35


def is_masked(value: str) -> bool:
    """Return whether the random part of a token is an example, a mask or a sequence."""
    lower = value.lower()
    if _INVENTED.search(lower):
        return True
    chars = [char for char in lower if char.isalnum()]
    if not chars or len(set(chars)) < _LEAST_KINDS:
        return True
    if max(chars.count(char) for char in set(chars)) > _FEW * len(chars):
        return True
    return len(chars) >= _IN_A_ROW and _is_sequence("".join(chars))


def is_random(value: str) -> bool:
    """Return whether a token looks random: no words, more than one class of characters."""
    core = value.strip("=")
    if not any(char.isdigit() for char in core) or not any(char.isalpha() for char in core):
        return False
    if measure_entropy(core) < (_LEAST_HEX if _HEX.fullmatch(core) else _LEAST_ENTROPY):
        return False
    words = sum(len(match) for match in _WORD.findall(core))
    return words <= _MOST_WORDS * len(core) and _count_changes(core) > _LEAST_CHANGES * len(core)


def is_chosen(value: str, *, loose: bool) -> bool:
    """Return whether a value looks like a password that a person chose.

    It mixes three of lower case, upper case, digits and signs. With `loose`, for a place where the
    text announces a password, letters with digits are enough.
    """
    if _TECHNICAL.fullmatch(value.lower()):
        return False
    lower = any(char.islower() for char in value)
    upper = any(char.isupper() for char in value)
    digit = any(char.isdigit() for char in value)
    sign = any(char in "!@#$%^&*?+=~<>()[]{}|;," for char in value.rstrip(".,;:)"))
    mixed = lower + upper + digit + sign
    if mixed >= _CLASSES and (digit or sign) and len(value) >= _LEAST_MIXED:
        return True
    if not loose:
        return False
    if lower and upper and value.isalpha():  # letters alone: drawn, or no password
        return len(value) >= _LEAST_LETTERS and _count_changes(value) > _DRAWN_CHANGES * len(value)
    return (lower or upper) and (digit or (sign and mixed > 1))


def is_strong(value: str) -> bool:
    """Return whether a value is a password whenever it follows a user."""
    return not is_placeholder(value) and is_chosen(value.rstrip(".,;:)*_]}\\"), loose=False)


def is_generated(value: str) -> bool:
    """Return whether a value mixes lower case, upper case and digits as generated passwords do."""
    core = value.rstrip(".,;:!?*_~")
    if len(value) < _LEAST_LETTERS or _NAMED.fullmatch(value) or not is_strong(value):
        return False
    if not (
        any(c.islower() for c in core)
        and any(c.isupper() for c in core)
        and any(c.isdigit() for c in core)
    ):
        return False
    if any(char in _SIGNS for char in core[1:]):
        return True
    bare = "".join(filter(str.isalnum, core))
    is_mixed = _DIGIT_WITHIN.search(bare) and not _LOWER_RUN.search(bare)
    return (
        len(bare) >= _LEAST_LETTERS
        and bool(is_mixed)
        and _count_changes(bare) > _DRAWN_CHANGES * len(bare)
    )


def is_joined(value: str, *, phrase: bool = False) -> bool:
    """Return whether lower-case letters are not one word, but a compound or random.

    With `phrase`, only four words or more with hyphens between them.
    """
    if is_placeholder(value) or value.isdigit():
        return False
    if _PHRASE.fullmatch(value):
        return not _LINKING.search(value)
    return not phrase and bool(_LETTERS.fullmatch(value)) and not _INFLECTED.search(value)


def measure_entropy(value: str) -> float:
    """Return the Shannon entropy of a value in bits per character."""
    size = len(value)
    return -sum(
        count / size * log2(count / size) for count in (value.count(char) for char in set(value))
    )


def _is_sequence(text: str) -> bool:
    """Return whether eight characters in a row follow the alphabet, a keyboard row or the digits."""
    parts = {text[at : at + _IN_A_ROW] for at in range(min(len(text), 400) - _IN_A_ROW + 1)}
    return any(part in sequence for part in parts for sequence in _SEQUENCES)


def _count_changes(value: str) -> int:
    """Count where lower case, upper case, digits and signs follow another class."""
    classes = [
        "d" if char.isdigit() else "l" if char.islower() else "u" if char.isupper() else "s"
        for char in value
    ]
    return sum(first != second for first, second in pairwise(classes))
