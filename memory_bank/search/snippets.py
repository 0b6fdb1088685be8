"""Excerpts: the sentences of a text that answer a question, within a budget.

A sentence counts by its share of the question's words, each by its rarity in the text; by its
place, at the end of a talk, at the start of another text or in a section of what was decided; and
by words of a rule. `docs/benchmarks.md` has what is reached.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from heapq import heapify, heappop, heappush
from itertools import chain, groupby
from types import MappingProxyType

from memory_bank.base import NamedTuple, lazy_pattern
from memory_bank.base.text import estimate
from memory_bank.search.retrievers.keyword import analyzer

SNIPPET = 240
"""Approximate length of a snippet, in characters."""

LONGEST = 20_000
"""Characters of a text that is worth reading for an excerpt; else, a section or passage is read."""

PLACE, LEAD, RULE = 0.5, 0.3, 0.25
"""Weights of a sentence's place, in a section of what holds and in the first paragraph, and of its
words of a rule; all words of the question have 1."""

_BEFORE_LAST = 0.6
"""Share of the last paragraph's weight that the one before it has."""

_AGAIN = 0.5
"""Share that a word of the question still counts for where a chosen sentence has it."""

_LENGTH = 0.3
"""Exponent of a sentence's cost by which its value is divided."""

_RULES = 2
"""Words of a rule at which these count fully."""

_TALK = 3
"""Turns of the shortest talk, in which somebody speaks twice."""

_LINK = lazy_pattern(
    r"!?\[\[(?:[^\[\]|]*\|([^\[\]]+)|([^\[\]|]+))\]\]"
    r"|!?\[([^\[\]]*)\](?:\([^()]*\)|(?<=[^\[]\])\[[^\[\]]*\])"
)
"""A link on one line; what stands between backticks is not told apart."""

PLACE_IN_TARGET = lazy_pattern(r"[#^].*")
"""The heading or block of a link's target."""

_MARKS = lazy_pattern(
    r"(?<!`)(`{1,3})(?!`)(?P<code>[^`\n]{1,300})(?<!`)\1(?!`)"
    r"|(?:^[ \t]*|(?<=[….!?:] ))(?:[#>*+-]+\s+)+"
    r"|`{1,3}|\*{1,3}(?=[^\s*])|(?<=[^\s*])\*{1,3}|~~|\]\]|\[\[",
    re.MULTILINE,
)
"""Marks of Markdown; code between backticks is matched with them, since its stars are none."""

_LINE_MARKS = lazy_pattern(r"\A(\u2026 )?(?:[ \t]*(?:>|(?:[-*+]|#{1,6}|\d{1,9}[.)])[ \t]))++[ \t]*")
"""What begins the line of an item or a quote."""

_DEFINITION = lazy_pattern(r"\[[^\[\]^]+\]:[ \t]+<?\S+")
"""Where a link of a label leads."""

_ADDRESS = lazy_pattern(r"(?:^|(?<=… ))(?:\[[^\]]*\]: ?)?<?https?://\S+(?= …|$)")
"""A sentence of a snippet that is an address only, such as a definition of a link."""

_GAPS = lazy_pattern(r"…(?: +…)+")

_HEADING = lazy_pattern(r"[ ]{0,3}(#{1,6})[ \t]+(.*)")

# Possessive quantifiers prevent backtracking, so that no line is read twice.
_FENCE = lazy_pattern(r"^[ \t>]*+(?:```|~~~)")

_ITEM = lazy_pattern(r"^[ \t>]*+(?:[-*+][ \t]|\d{1,9}[.)][ \t]|\|)")

# It starts with a set of characters instead of a look-behind, which is several times as fast.
_END = lazy_pattern(
    r"[.!?\u2026\u3002\uff01\uff1f](?:(?<=[\u3002\uff01\uff1f])|(?<![.!?\u2026]{2})[.!?\u2026]*+"
    r"[\"')\]*_\u00bb\u201d\u2019]{0,4}+[ \t]++(?=[^\s\da-z]))"
)

_COMMENT = lazy_pattern(r"(?<!`)(`++)[^`]*+\1(?!`)|<!--(?:[^-]|-(?!->))*+(-->)?")
"""A comment, which may end on a later line, or a span of code, which is none."""

_ROW = lazy_pattern(r"[ \t]*+\|")
"""A row of a table."""

_INDENTED = lazy_pattern(r"(?: {4}|\t)[ \t]*+\S")

_SPEAKER = lazy_pattern(r"\**+\w[\w .'-]{0,30}+\**+:\**+[ \t]")

_NOT_SAID = lazy_pattern(
    # a field with links or a short value; a status, a date
    r"[ \t>*+-]*+(?:\w[\w -]{0,40}+\**+::\**+[ \t]*+(?:(?:!?\[\[[^\[\]]*+\]\][ \t,]*+)++|\S{0,80}+)"
    r"|(?:(?:(?:RFC|ADR|start|last)[ \t]+)?(?:status|date|created|updated|(?:created|updated)_at"
    r"|deciders?|tags?)|RFC[ \t]+(?:type|PR|driver|approver))\**+:\**+[ \t].{0,80})",
    re.IGNORECASE,
)
"""Lines that answer nothing."""

_ABOUT = lazy_pattern(r"(?:status|date|deciders?|tags?)[ \t#:]*", re.IGNORECASE)

_SHORT = 3
"""Words of a line below such a heading that answers nothing; and of a sentence that says little."""

_CHANGES = lazy_pattern(r"change ?-?log|revision history|table of contents", re.IGNORECASE)
"""Headings inside a text above items that are about the text itself."""

_RULING = lazy_pattern(
    r"\b(?:decisions?|decided|conclusions?|rules?|policy|consequences?|outcomes?|resolution"
    r"|agreements?|lessons?|summary|recap)\b",
    re.IGNORECASE,
)
"""Words of headings above what holds."""

_RULE = lazy_pattern(
    r"\b(?:must|never|always|from now on|going forward|agreed|decided|decision|rules?|policy"
    r"|we (?:will|chose|use)|shall|no longer|instead of|only (?:if|when)|recap|supersed\w+|amended"
    r"|do not|don't|not allowed|required?)\b"
)
"""Words of a rule, in lower case: to search without regard to case takes three times as long."""


class Excerpt(NamedTuple):
    """Sentences of a text, with marks where others are left out."""

    text: str
    lines: tuple[int, ...]
    """0-based lines of the text where their paragraphs start."""


class _Line(NamedTuple):
    number: int
    """From 0."""
    text: str
    code: int
    """The first line of the code that it is in, from 1: a fence, a table, or what is indented."""
    listed: int
    """The first line of the list that it is in, with the code in its items."""


class _Sentence(NamedTuple):
    text: str
    line: int
    paragraph: int
    ruling: bool
    """Whether it is in a section of what was decided."""
    code: bool = False
    """Whether it is code, or a whole list: its lines stay lines."""


def unlink_text(text: str, titles: Mapping[str, str] = MappingProxyType({})) -> str:
    """Return a text of Markdown with the words of its links in place of the links.

    Of `[[target]]`, these are the title of the note, if `titles` has it by the target.
    """

    def words(match: re.Match[str]) -> str:
        target = match[2] or ""
        title = titles.get(PLACE_IN_TARGET.sub("", target), "")
        return match[1] or title or target or match[3] or ""

    return _LINK.sub(words, text)


def strip_markdown(text: str, titles: Mapping[str, str] = MappingProxyType({})) -> str:
    """Return Markdown, or a snippet of it, as one line without marks: links as `unlink_text`."""
    words = _MARKS.sub(lambda match: match["code"] or "", unlink_text(text, titles))
    line = " ".join(words.split())
    return _GAPS.sub("…", _ADDRESS.sub("", line)).strip()


def cut_snippet(text: str, question: str, size: int = SNIPPET) -> Excerpt:
    """Return the sentences that answer best, on one line of about `size` characters.

    Headings are left out, since an answer has them in another field.
    """
    excerpt = cut_excerpt(text, question, size, len, headings=False)
    return Excerpt(_on_one_line(excerpt.text), excerpt.lines)


def _on_one_line(text: str) -> str:
    """Return lines of Markdown as one, without the marks of items, quotes and tables.

    Items and rows that end without a full stop are kept apart by `·`.
    """
    joined = ""
    for line in text.splitlines():
        words = _LINE_MARKS.sub(r"\1", line).strip()
        if _ROW.match(words.removeprefix("\u2026 ")):
            cells = (cell.strip(" :-") for cell in words.split("|"))
            words = " · ".join(cell for cell in cells if cell.strip("\u2026"))
        if not words or _DEFINITION.match(words):
            continue
        is_row = words != line.strip() and not words.startswith("\u2026")
        apart = " ·" if is_row and joined and joined[-1] not in ":;\u2026" else ""
        joined += f"{apart} {' '.join(words.split())}"
    return joined.strip()


def cut_excerpt(
    text: str,
    question: str,
    most: int,
    measure: Callable[[str], int] = estimate,
    *,
    headings: bool = True,
) -> Excerpt:
    """Return the sentences of a text of Markdown that answer a question best, in their order.

    `most` is the budget, in tokens or in what else `measure` counts. A text that fits is returned
    whole, but for fields, comments, the lines of its status and date, and its headings if these are
    not wanted.
    """
    lines = _answering_lines(text)
    kept_lines = [
        line.text for line in lines if headings or line.code or not _HEADING.match(line.text)
    ]
    whole = "\n".join(kept_lines).strip("\n") or text.strip()
    if measure(whole) <= most:
        return Excerpt(whole, tuple(line.number for line in lines if line.text))
    # on one line, code is shown by its lines; else code and lists as blocks, if they fit
    blocks = headings
    sentences = [
        sentence
        for sentence in _all_sentences(lines, blocks=blocks)
        if not (blocks and sentence.code and measure(f"\u2026\n{sentence.text} \u2026") > most)
    ]
    if not sentences:  # of a text that is one long list, some items say more than nothing
        sentences = [row for row in _all_sentences(lines, blocks=False) if not row.code]
    if not sentences:
        return Excerpt("", ())
    chosen = _choose_sentences(sentences, question, most, measure)
    while len(chosen) > 1 and measure(_join_sentences(sentences, chosen)) > most:
        chosen.pop()
    joined = _join_sentences(sentences, chosen)
    if measure(joined) > most:
        joined = _cut_sentence(sentences[chosen[0]].text, question, most, measure)
    return Excerpt(joined, tuple(sentences[at].line for at in sorted(chosen)))


@lru_cache(maxsize=256)  # several questions find the same notes
def _answering_lines(text: str) -> tuple[_Line, ...]:
    return tuple(_lines(text))


def _lines(text: str) -> Iterator[_Line]:
    """Yield the lines of a text that may answer, without comments."""
    code, fenced, about, changes, comment, item, first = 0, False, False, False, False, False, 0
    before = ""
    for number, whole in enumerate(analyzer.drop_block_ids(text).split("\n"), 1):
        line = whole
        fence = bool(_FENCE.match(line))
        if comment or (not fenced and "<!--" in line):
            line, comment = _strip_comments(line, inside=comment)
            if not line.strip():
                continue
        indented = not (fenced or item) and bool(_INDENTED.match(line))
        apart = fenced or fence or indented or bool(_ROW.match(line))
        code = (code or number) if apart else 0
        heading = None if code else _HEADING.match(line)
        if not code and _ITEM.match(line):
            first = first or number
        elif not (fenced or not line.strip() or line[:1].isspace() or (before and not heading)):
            first = 0
        before = line.strip()
        if heading:
            about = bool(_ABOUT.fullmatch(heading[2]))
            changes = len(heading[1]) > 1 and bool(_CHANGES.fullmatch(heading[2].strip("# \t")))
        short = about and len(line.split()) <= _SHORT
        listed = changes and bool(_ITEM.match(line))
        if code or not (short or listed or _NOT_SAID.fullmatch(line)):
            yield _Line(number - 1, line.rstrip(), code, first)
        if fence and fenced:
            code = 0
        fenced ^= fence
        if line.strip() and not fenced:
            item = bool(_ITEM.match(line)) or (item and line[:1].isspace())


def _strip_comments(line: str, *, inside: bool) -> tuple[str, bool]:
    """Return a line without comments, and whether one goes on in the next; `inside` of one now."""
    if inside:
        _, end, line = line.partition("-->")
        if not end:
            return "", True
    opened = any(m[0].startswith("<!--") and not m[2] for m in _COMMENT.finditer(line))
    return _COMMENT.sub(lambda match: match[0] if match[1] else "", line), opened


@lru_cache(maxsize=256)
def _all_sentences(lines: tuple[_Line, ...], *, blocks: bool) -> tuple[_Sentence, ...]:
    return tuple(_sentences(lines, blocks=blocks))


def _sentences(lines: Sequence[_Line], *, blocks: bool) -> Iterator[_Sentence]:
    """Yield the sentences of some lines; with `blocks`, code and a list are one each.

    Without, each line of code and each item of a list is.
    """
    texts_of_lines: list[str] = []
    first = paragraph = below = 0
    for block, rows in groupby(lines, lambda line: (blocks and line.listed) or line.code):
        if block:
            yield from _split(texts_of_lines, first, paragraph, ruling=bool(below))
            texts_of_lines = []
            paragraph += 1
            block_lines = [line for line in rows if blocks or not _FENCE.match(line.text)]
            texts = [line.text for line in block_lines]
            for line, text in zip(
                block_lines, ["\n".join(texts)] if blocks else texts, strict=False
            ):
                if any(map(str.isalnum, text)):
                    yield _Sentence(
                        text.strip("\n"), line.number, paragraph, bool(below), code=True
                    )
            paragraph += 1
            continue
        for row in rows:
            heading = _HEADING.match(row.text)
            apart = heading or not row.text.strip()
            if texts_of_lines and (apart or _ITEM.match(row.text)):
                yield from _split(texts_of_lines, first, paragraph, ruling=bool(below))
                texts_of_lines = []
            if heading:
                level = len(heading[1])
                if below == 0 or level <= below:  # what is below a ruling heading is of it
                    below = level if row.number and _RULING.search(heading[2]) else 0
            paragraph += bool(apart)
            if not apart and any(map(str.isalnum, row.text)):
                first = first if texts_of_lines else row.number
                texts_of_lines.append(row.text)
    yield from _split(texts_of_lines, first, paragraph, ruling=bool(below))


def _split(
    line_texts: Sequence[str], line: int, paragraph: int, *, ruling: bool
) -> Iterator[_Sentence]:
    text, start = " ".join(" ".join(line_texts).split()), 0
    if line_texts and _ITEM.match(line_texts[0]):  # a list below a list stays one
        text = line_texts[0][: len(line_texts[0]) - len(line_texts[0].lstrip())] + text
    contents = len(line_texts) == 1 and not analyzer.clean_text(text).strip(" \t-*+")
    ends = [] if contents else [match.end() for match in _END.finditer(text)]
    for end in (*ends, len(text)):
        if text[start:end].strip():
            part = text[start:end].strip() if start else text[:end].rstrip()
            yield _Sentence(part, line, paragraph, ruling)
        start = end


def _choose_sentences(
    sentences: Sequence[_Sentence], question: str, most: int, measure: Callable[[str], int]
) -> list[int]:
    """Choose sentences that fit a budget, the best first; at least one, which may be too long."""
    stems = set(analyzer.weighted_stems(question))
    starts = [analyzer.find_start(stem) for stem in stems]
    stems.update(analyzer.split_bigrams(question).split())
    shared = [_shared_words(sentence.text, stems, starts) for sentence in sentences]
    having = Counter(chain.from_iterable(shared))
    rarity = {word: math.log1p(len(shared) / count) for word, count in having.items()}
    total = math.fsum(rarity.values()) or 1.0
    rarities = [{word: rarity[word] / total for word in asked} for asked in shared]
    costs = [measure(sentence.text) + 1 for sentence in sentences]
    standing = _standing(sentences, rarities)
    words = set[str]()
    texts = set[str]()

    def value(at: int) -> float:
        near = sum(
            share * (_AGAIN if word in words else 1.0) for word, share in rarities[at].items()
        )
        return (near + standing[at]) / math.pow(costs[at], _LENGTH)

    # values only fall, so that one that is still the best when it is computed again is the best
    waiting = [(-value(at), at) for at in range(len(shared)) if rarities[at] or standing[at]]
    heapify(waiting)
    chosen: list[int] = []
    while waiting:
        score, at = heappop(waiting)
        if sentences[at].text in texts:
            continue  # a note may say a sentence often: once is enough
        if -value(at) > score:
            heappush(waiting, (-value(at), at))
        elif costs[at] <= most or not chosen:
            chosen.append(at)
            texts.add(sentences[at].text)
            most -= costs[at]
            words |= rarities[at].keys()
    return chosen + _beside(sentences, chosen, costs, most)


def _standing(sentences: Sequence[_Sentence], shared: Sequence[Collection[str]]) -> list[float]:
    """Return what each sentence is worth by its place and by words of a rule.

    `found` are the words of the question in each: the first paragraph may have another subject.
    """
    starts = {sentence.paragraph: sentence.text for sentence in reversed(sentences)}
    turns = Counter(turn[0] for start in starts.values() if (turn := _SPEAKER.match(start)))
    last, lead = dict[int, float](), sentences[0].paragraph
    if len(turns) > 1 and sum(turns.values()) >= _TALK and max(turns.values()) > 1:
        lead = -1
        last = dict(zip(sorted(starts)[:-3:-1], (PLACE, _BEFORE_LAST * PLACE), strict=False))
    return [
        (PLACE if sentence.ruling and (has or len(sentence.text.split()) >= _SHORT) else 0.0)
        + last.get(sentence.paragraph, 0.0) * (not sentence.ruling)
        + (LEAD if sentence.paragraph == lead and has else 0.0)
        + _rule_share(sentence.text)
        for sentence, has in zip(sentences, shared, strict=True)
    ]


@lru_cache(maxsize=4096)
def _rule_share(text: str) -> float:
    """Return what a sentence is worth by the words of a rule that it has."""
    return RULE * min(1.0, len(_RULE.findall(text.lower())) / _RULES)


def _beside(
    sentences: Sequence[_Sentence], chosen: Sequence[int], costs: Sequence[int], most: int
) -> list[int]:
    """Return sentences after those chosen, as far as there is room; without any, the first."""
    used = set(chosen)
    texts = {sentences[at].text for at in chosen}
    for start in sorted(chosen) or [-1]:
        at = start + 1
        while at < len(costs) and at not in used and costs[at] <= most:
            if sentences[at].text in texts:
                break
            used.add(at)
            most -= costs[at]
            at += 1
    return sorted(used.difference(chosen)) or ([] if chosen else [0])


def _join_sentences(sentences: Sequence[_Sentence], chosen: Collection[int]) -> str:
    """Join sentences in their order, with dots where others are left out."""
    text, before = "", -1
    for at in sorted(chosen):
        sentence = sentences[at]
        gap = at > before + 1
        apart = (
            sentence.code
            or _ITEM.match(sentence.text)
            or sentence.paragraph != sentences[at - 1].paragraph
        )
        text += ("\n" if apart else " ") if text else ""
        lines = "\n" in sentence.text  # a block, which begins on a line of its own
        gap = gap or (sentence.code and bool(text) and not lines)
        start = ("\u2026\n" if lines else "\u2026 ") if gap else ""
        text += start + sentence.text
        before = at
    return text + (" \u2026" if before + 1 < len(sentences) else "")


def _cut_sentence(text: str, question: str, most: int, measure: Callable[[str], int]) -> str:
    """Cut the piece with most words of a question out of a long sentence."""
    lowered, words = text.lower(), _content_words(question)
    places = _places(lowered, words, whole=True)
    if not places:  # count inflections: words with the same beginning
        places = _places(lowered, {_stem(word) for word in words}, whole=False)
    size = len(text) * most // measure(text)
    start = _densest(sorted(places), size) if places else 0
    if start:
        start = text.find(" ", max(0, start - size // 6)) + 1
    end = start + size
    cut = text.rfind(" ", start, end) if end < len(text) else len(text)
    piece = text[start : cut if cut > start else end]
    return ("\u2026 " if start else "") + piece + (" \u2026" if end < len(text) else "")


def _shared_words(text: str, stems: Collection[str], starts: Iterable[str]) -> frozenset[str]:
    """Return the words of a question that a sentence has; `starts` are how those of ASCII begin."""
    if text.isascii():
        lowered = text.lower()
        if not any(start in lowered for start in starts):
            return frozenset()
    return _words(text).intersection(stems)


@lru_cache(maxsize=4096)  # several questions find the same notes
def _words(text: str) -> frozenset[str]:
    words = {*analyzer.stem_words(text)}
    if parts := analyzer.identifier_parts(text):
        words.update(analyzer.stem_words(parts))
    return frozenset(words if text.isascii() else words.union(analyzer.split_bigrams(text).split()))


def count_words(question: str, text: str) -> float:
    """Return how many of a question's words a text has; one with another ending counts half."""
    lowered, score = text.lower(), 0.0
    for word in _content_words(question):
        if _places(lowered, [word], whole=True):
            score += 1
        elif _places(lowered, [_stem(word)], whole=False):
            score += 0.5
    return score


def find_matches(text: str, question: str) -> list[tuple[int, int]]:
    """Return where the words of a text are that have a stem in common with a question's words."""
    stems_asked = set(analyzer.weighted_stems(question))
    spans = []
    for word in re.finditer(r"[^\W_]+", text):
        stems = analyzer.stem_words(word[0]) + analyzer.stem_words(
            analyzer.identifier_parts(word[0])
        )
        if not stems_asked.isdisjoint(stems):
            spans.append(word.span())
    return spans


def _stem(word: str) -> str:
    return word[: max(4, len(word) - 3)]


def _densest(places: Sequence[int], size: int) -> int:
    """Return the place from which most others lie within `size` characters."""
    best, most, last = places[0], 0, 0
    for first, place in enumerate(places):
        while last < len(places) and places[last] < place + size:
            last += 1
        if last - first > most:
            best, most = place, last - first
    return best


def _places(text: str, words: Collection[str], *, whole: bool) -> list[int]:
    """Return where words begin in a text; compiling a pattern would take longer than this loop."""
    places = []
    padded = f" {text} "
    for word in words:
        place = padded.find(word, 1)
        while place > 0:
            after = place + len(word)
            before, behind = padded[place - 1], padded[after] if whole else " "
            if not (before.isalnum() or before == "_" or behind.isalnum() or behind == "_"):
                places.append(place - 1)
            place = padded.find(word, after)
    return places


@lru_cache(maxsize=64)
def _content_words(question: str) -> frozenset[str]:
    """Return the words of a question that are no stop words, in lower case."""
    words = (word.lower() for word in re.findall(r"\w+", question))
    return frozenset(word for word in words if word not in analyzer.STOP_WORDS)
