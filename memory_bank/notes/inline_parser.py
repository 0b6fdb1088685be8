"""Find links, code and HTML in one inline block, in one pass from left to right.

Follows CommonMark's precedence (escapes, code spans, HTML and autolinks before brackets; no link
inside a link); wikilinks come before other brackets. There is no backtracking, so that time is
linear even for 20,000 opening brackets.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import NamedTuple

from markdown_it.common.utils import normalizeReference
from markdown_it.helpers import parseLinkDestination, parseLinkTitle

_TOKEN = re.compile(r"[\\`<\[\]]")
_PUNCTUATION = frozenset("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~")
_TICKS = re.compile(r"`+")
_WIKILINK = re.compile(r"\[\[[^\[\]\n]+\]\]")
# A text without these can have wikilinks only.
_SPECIAL = re.compile(r"[`<\\]|\]\(")
# Fast path: a destination without title, brackets and escapes.
_SIMPLE = re.compile(r"\([ \t\n]*([^\s()\\<\x00-\x1f\x7f][^\s()\\\x00-\x1f\x7f]*+)\)")
_BLANKS = re.compile(r"[ \t\n]*")
_LABEL = re.compile(r"\[((?:[^\[\]\\]|\\.){0,999}+)\]", re.DOTALL)
_LONGEST_LABEL = 999
_SIZE = re.compile(r"\s*\d+(?:x\d+)?\s*")

_ATTRIBUTE = r"""\s+[a-z_:][\w:.-]*+(?:\s*=\s*(?:[^"'=<>`\x00-\x20]++|'[^']*'|"[^"]*"))?"""
_TAG = re.compile(
    rf"<[a-z][a-z0-9-]*+(?:{_ATTRIBUTE})*+\s*/?>|</[a-z][a-z0-9-]*+\s*>",
    re.ASCII | re.IGNORECASE,
)
_AUTOLINK = re.compile(
    r"<(?:[a-z][a-z0-9+.-]{1,31}:[^<>\x00-\x20]*|[\w.!#$%&'*+/=?^`{|}~-]++@[\w.-]+)>",
    re.ASCII | re.IGNORECASE,
)
# HTML without inner structure: how it starts, and the text that ends it.
_RAW = re.compile(r"<!--|<\?|<!\[CDATA\[|<![A-Za-z]")
_RAW_ENDS = {"<!--": "-->", "<?": "?>", "<![CDATA[": "]]>"}


class Span(NamedTuple):
    """A link, or code, HTML or URL that can have no link inside, by its offsets in the text."""

    start: int
    end: int
    kind: str
    """wiki, markdown, code, html or url (`<https://…>`)."""
    shown: tuple[int, int] = (0, 0)
    """Offsets of the link's visible text."""
    target: tuple[int, int] = (0, 0)
    """Offsets of the destination; in a wikilink with heading and block."""
    embed: bool = False
    label: str = ""
    """Normalised label of a reference link, whose definition has the destination."""


def scan(text: str, labels: Collection[str] = ()) -> list[Span]:
    """Return the spans of a text in order; `labels` are those with a definition."""
    if labels or _SPECIAL.search(text):
        return _Scan(text, labels).run()
    links = (_wikilink(text, *found.span()) for found in _WIKILINK.finditer(text))
    return [link for link in links if link]


def _wikilink(text: str, start: int, end: int, since: int = 0) -> Span | None:
    """Read `[[target|text]]`; a `!` before it, if not before `since`, makes it an embed."""
    bar = text.find("|", start, end)
    stop = bar if bar >= 0 else end - 2
    if bar >= 0 and text[bar - 1] == "\\":
        # In a table the bar is escaped; the backslash is not part of the target.
        stop -= 1
    target = (start + 2, stop)
    words = text[start + 2 : stop].lstrip(" \t#^")
    if not words or words.isspace():
        return None
    embed = start > since and text[start - 1] == "!"
    # A link within the note shows its heading without `#`.
    shown = (stop - len(words), stop)
    if bar >= 0:
        alias = text[bar + 1 : end - 2]
        # The size of an image is not its text.
        if alias.strip() and not (embed and _SIZE.fullmatch(alias)):
            shown = (end - 2 - len(alias.lstrip()), bar + 1 + len(alias.rstrip()))
    return Span(start - embed, end, "wiki", shown, target, embed)


class _Scan:
    """One pass over one text."""

    def __init__(self, text: str, labels: Collection[str]) -> None:
        self.text = text
        self.labels = labels
        self.spans: list[Span] = []
        self.openers: list[tuple[int, bool]] = []
        """Offsets of unclosed brackets, and whether each starts an image."""
        self.linked = 0
        """Openers before this index have a link inside, so that they can't be links."""
        self.ticks: dict[int, list[int]] | None = None
        """Length of a run of backticks to the offsets of such runs, last first."""
        self.missing: set[str] = set()
        """Closing marks of comments and the like that don't occur in the rest of the text."""

    def run(self) -> list[Span]:
        """Return the spans of the text."""
        text, at = self.text, 0
        while found := _TOKEN.search(text, at):
            start, first = found.start(), found[0]
            if first == "[":
                at = self._open(start, at)
            elif first == "]":
                at = self._close(start)
            elif first == "`":
                at = self._code(start)
            elif first == "<":
                at = self._html(start)
            else:
                at = start + 1 + (text[start + 1 : start + 2] in _PUNCTUATION)
        self.spans.sort()
        return self.spans

    def _open(self, start: int, since: int) -> int:
        """Read a wikilink, or record the bracket; return the offset behind it."""
        found = _WIKILINK.match(self.text, start)
        if found and (link := _wikilink(self.text, start, found.end(), since)):
            self.spans.append(link)
            if not link.embed:
                self.linked = len(self.openers)
            return link.end
        self.openers.append((start, start > since and self.text[start - 1] == "!"))
        return start + 1

    def _code(self, start: int) -> int:
        """Read a code span; backticks without a closing run are text."""
        if self.ticks is None:
            self.ticks = {}
            for run in _TICKS.finditer(self.text):
                self.ticks.setdefault(len(run[0]), []).append(run.start())
            for starts in self.ticks.values():
                starts.reverse()
        end = _end(_TICKS, self.text, start)
        size = end - start
        partners = self.ticks.get(size, [])
        while partners and partners[-1] < end:
            partners.pop()
        if not partners:
            return end
        stop = partners.pop() + size
        self.spans.append(Span(start, stop, "code", (end, stop - size)))
        return stop

    def _html(self, start: int) -> int:
        """Read a tag, a comment or an autolink; any other `<` is text."""
        text = self.text
        if raw := _RAW.match(text, start):
            closing = _RAW_ENDS.get(raw[0], ">")
            # The shortest comments are `<!-->` and `<!--->`: the marks may overlap.
            at = -1 if closing in self.missing else text.find(closing, start + 2)
            if at < 0:
                self.missing.add(closing)
                return raw.end()
            span = Span(start, at + len(closing), "html")
        elif found := _TAG.match(text, start):
            span = Span(start, found.end(), "html")
        elif found := _AUTOLINK.match(text, start):
            span = Span(start, found.end(), "url", (start + 1, found.end() - 1))
        else:
            return start + 1
        self.spans.append(span)
        return span.end

    def _close(self, at: int) -> int:
        """Read what follows a closing bracket; return the offset behind it."""
        if not self.openers:
            return at + 1
        start, embed = self.openers.pop()
        dead = len(self.openers) < self.linked and not embed
        self.linked = min(self.linked, len(self.openers))
        if dead:
            return at + 1
        shown = (start + 1, at)
        link = self._inline_link(start, shown) or self._reference_link(start, shown)
        if not link:
            return at + 1
        self.spans.append(link._replace(start=start - 1, embed=True) if embed else link)
        if not embed:
            self.linked = len(self.openers)
        return link.end

    def _inline_link(self, start: int, shown: tuple[int, int]) -> Span | None:
        """Read `(destination "title")`."""
        text, at = self.text, shown[1] + 1
        if not text.startswith("(", at):
            return None
        if found := _SIMPLE.match(text, at):
            return Span(start, found.end(), "markdown", shown, found.span(1))
        at = _end(_BLANKS, text, at + 1)
        target = (at, at)
        goal = parseLinkDestination(text, at, len(text))
        if goal.ok:
            target = (at, goal.pos)
            at = _end(_BLANKS, text, goal.pos)
            title = parseLinkTitle(text, at, len(text))
            if title.ok and at > goal.pos:
                at = _end(_BLANKS, text, title.pos)
        if not text.startswith(")", at):
            return None
        return Span(start, at + 1, "markdown", shown, target)

    def _reference_link(self, start: int, shown: tuple[int, int]) -> Span | None:
        """Read `[label]`, `[]` or nothing behind a link's text, if the label is defined."""
        if not self.labels:
            return None
        end = shown[1] + 1
        label = ""
        if found := _LABEL.match(self.text, end):
            label, end = found[1], found.end()
        if not label:
            if shown[1] - shown[0] > _LONGEST_LABEL:
                return None
            label = self.text[slice(*shown)]
        label = normalizeReference(label)
        if label not in self.labels or label.startswith("^"):
            return None
        return Span(start, end, "markdown", shown, label=label)


def _end(pattern: re.Pattern[str], text: str, at: int) -> int:
    found = pattern.match(text, at)
    return found.end() if found else at
