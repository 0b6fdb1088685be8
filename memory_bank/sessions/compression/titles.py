"""Titles, types, facts and concepts of observations, made of what happened."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import pairwise

from memory_bank.notes.characters import nfc
from memory_bank.sessions.compression.definitions import Paths
from memory_bank.sessions.compression.drafts import (
    Draft,
    Happening,
    cut,
    draft,
    sentence_of_decision,
)
from memory_bank.sessions.compression.edits import WordedChange
from memory_bank.sessions.records import TITLE_LIMIT

_TITLE = TITLE_LIMIT - 1

_PREFIX = re.compile(r"^(\w{2,10})(?:\([^)]{1,40}\))?!?: +")

_PREFIXES = {"fix": "bugfix", "bugfix": "bugfix", "hotfix": "bugfix", "feat": "feature", "feature": "feature",
             "refactor": "refactor", "perf": "refactor", "style": "refactor", "docs": "change", "test": "change",
             "tests": "change", "chore": "change", "build": "change", "ci": "change"}  # fmt: skip

_FIXES = re.compile(
    r"\b(?:fix(?:es|ed)?|bugs?|broken|crash(?:es|ed)?|regression|repair|wrong|fails?|failing)\b",
    re.IGNORECASE,
)

_TIDIES = re.compile(
    r"\b(?:refactor\w*|renam\w+|clean ?up|tidy|extract\w*|simplif\w+|reorgani[sz]\w+|move)\b",
    re.IGNORECASE,
)

_MISSING = re.compile(
    r"ImportError|NameError|ModuleNotFound|AttributeError|not defined|undefined|has no attribute|cannot find|unresolved"
    r"|not found|NoMethodError|does not exist|is not a function|no such|cannot import", re.IGNORECASE
)  # fmt: skip

_LETTERS = re.compile(r"[^\W\d_]+")

_WORD = re.compile(r"[A-Za-z][a-z]+|[A-Z]+(?![a-z])")

_COMMON = frozenset(
    "the and for with from that this into not are was but you can use add fix make file files test tests src lib main init"
    " index app code please should would could when where what how why new all its has have get set one two now also then"
    " def class function return import run main self value data list name type change update create remove mod utils util"
    " helper helpers common core base spec docs readme our let see look does did out over them they there been will just"
    " some any more like want need work works way able instead".split()
)

_LEAST_WORD, _MOST_PLACE, _LEAST_REQUEST, _MOST_PARTS = 3, 44, 3, 10


def main_edit(items: Sequence[Happening]) -> Happening:
    """Return the edit that a group is told by: the last of code, else the last."""
    from memory_bank.sessions.compression.definitions import kind_of

    code = [one for one in items if any(kind_of(path) == "code" for path in one.modified)]
    return (code or list(items))[-1]


class Wording:
    """Makes drafts of items, with the prompts they answer."""

    def __init__(self, asked: Mapping[int, str], paths: Paths) -> None:
        self._asked = asked
        self._paths = paths

    def draft(self, item: Happening) -> Draft:
        """Return the observation that an item becomes."""
        request = self._request(item)
        if item.decision and request[:40] == item.decision[:40]:
            request = ""
        return draft(
            self._type(item),
            self._paths.short(self._title(item, request)),
            item.when,
            subtitle=request,
            facts=map(self._paths.short, self._facts(item)),
            narrative=self._paths.short(self._narrative(item)),
            concepts=self._concepts(item),
            files_read=item.reads,
            files_modified=item.modified,
            prompt_number=item.prompt,
            discovery_tokens=item.tokens,
            event_ids=sorted(item.events),
        )

    def _request(self, item: Happening) -> str:
        """Return the first sentence of the prompt, if it says something."""
        text = self._asked.get(item.prompt, "").strip()
        first = re.split(r"(?<=[.!?。])\s+|\n+", text[:2000], maxsplit=1)[0]
        words = len(first.split())
        return cut(first, 150) if words >= _LEAST_REQUEST or not first.isascii() else ""

    def _type(self, item: Happening) -> str:
        subject = item.commit.split("\n", 1)[0]
        if item.decision or sentence_of_decision(item.commit):
            return "decision"
        if item.sort != "edit":
            return (
                "change" if item.sort == "run" and (item.commit or item.modified) else "discovery"
            )
        prefix = _PREFIX.match(subject)
        if prefix and prefix[1].casefold() in _PREFIXES:
            return _PREFIXES[prefix[1].casefold()]
        if item.resolved:
            return "feature" if _was_missing(item) or _is_new(item) else "bugfix"
        return self._type_of_edit(item, subject or self._asked.get(item.prompt, ""))

    def _type_of_edit(self, item: Happening, said: str) -> str:
        words = item.words
        if item.title or (
            words and all(word.sort in ("renamed", "layout", "moved") for word in words)
        ):
            return "refactor"
        code = [word for word in words if word.kind == "code"]
        if not code:
            return "change"
        if _FIXES.search(said[:400]) and any(word.sort != "new" for word in code):
            return "bugfix"
        if _TIDIES.search(said[:400]):
            return "refactor"
        added = any(word.added or word.sort == "new" for word in code)
        return "feature" if added else "change"

    def _title(self, item: Happening, request: str) -> str:
        if item.decision:
            return cut(item.decision.rstrip("."), _TITLE)
        if item.commit:
            subject = _PREFIX.sub("", item.commit.split("\n", 1)[0]).strip()
            if subject:
                return _with(subject[:1].upper() + subject[1:], _place(item))
        if item.sort == "edit":
            return self._title_of_edit(item, request)
        if item.sort == "failure":
            command = cut(item.command, 60)
            return cut(
                f"{command} fails: {item.message}" if item.message else f"{command} fails", _TITLE
            )
        if item.title:
            return cut(item.title, _TITLE)
        return self._title_of_look(item, request)

    def _title_of_edit(self, item: Happening, request: str) -> str:
        if item.title:
            return cut(item.title, _TITLE)
        if not item.words:
            return _with("Change files", _place(item))
        word = _main(item.words)
        told = word.title
        if not told:
            told = f"Change {word.path}" + (f" for: {request}" if request else " by a command")
            return cut(told, _TITLE)
        whole = word.sort in ("new", "gone", "moved")
        place = _place(item) if not whole or len(item.words) > 1 else ""
        if whole and place:
            place = f"and {_files(len(set(item.modified)) - (2 if word.sort == 'moved' else 1))}"
        fixes = item.resolved and not _was_missing(item) and not _is_new(item)
        if fixes and item.resolved[0].message:
            problem = cut(item.resolved[0].message, 42).rstrip("…")
            told = f"Fix {problem}: {told[:1].lower()}{told[1:]}"
        return _with(told, place)

    def _title_of_look(self, item: Happening, request: str) -> str:
        fact = item.facts[0] if item.facts else ""
        reads = list(dict.fromkeys(item.reads))
        if request:
            place = (
                f"{_short(reads[0])} and {_files(len(reads) - 1)}"
                if len(reads) > 1
                else "".join(map(_short, reads))
            )
            return _with(f"Look into: {request}", place)
        if fact:
            return cut(fact[:1].upper() + fact[1:], _TITLE)
        shown = ", ".join(map(_short, reads[:3]))
        return cut(
            f"Look at {shown} without a change" if shown else "Look around without a change", _TITLE
        )

    def _facts(self, item: Happening) -> list[str]:
        """Return what happened: failures and their end first, since they say most."""
        facts = [fact for failure in item.resolved for fact in failure.facts]
        passes = [fact for fact in item.facts if fact not in facts]
        told = list[str]()
        several = len(item.words) > 1
        for word in sorted(item.words, key=lambda one: one.kind != "code")[:_MOST_PARTS]:
            said = "; ".join(word.facts[: 2 if several else 4])
            if said:
                told.append(f"{word.path}: {said}" if several else said)
        if item.sort == "failure" and item.times > 1:
            passes.append(f"fails {item.times} times")
        return _unique([*facts, *told, *passes])

    def _narrative(self, item: Happening) -> str:
        """Return text with more than the facts: a commit's message, the lines of an error."""
        parts = list[str]()
        if "\n" in item.commit:
            parts.append(item.commit.split("\n", 1)[1].strip())
        parts += [failure.narrative for failure in item.resolved if failure.narrative]
        if item.narrative and item.narrative not in parts:
            parts.append(item.narrative)
        outside = [path for path in dict.fromkeys(item.modified) if self._paths.outside(path)]
        if outside:
            parts.append(f"Outside the project: {', '.join(outside[:20])}")
        return "\n\n".join(filter(None, parts))

    def _concepts(self, item: Happening) -> list[str]:
        """Return the words that name what it is about, from names, paths and the prompt."""
        count = Counter[str]()
        for path in dict.fromkeys([*item.modified, *item.reads[:5]]):
            count.update(dict.fromkeys(set(_words(path.rpartition("/")[2].partition(".")[0])), 2))
        for name in [name for change in item.words for name in (*change.added, *change.removed)][
            :40
        ]:
            count.update(set(_words(name.name)))
        prompt = set(_words(self._asked.get(item.prompt, "")[:400]))
        for word in prompt:
            if word in count:
                count[word] += 3
        return [word for word, _ in sorted(count.items(), key=lambda pair: (-pair[1], pair[0]))][:5]


def _words(text: str) -> list[str]:
    parts = (part for letters in _LETTERS.findall(nfc(text)) for part in _parts(letters))
    found = ((part.casefold(), part.isascii()) for part in parts)
    return [
        word
        for word, ascii_only in found
        if len(word) >= (_LEAST_WORD if ascii_only else 2) and word not in _COMMON
    ]


def _parts(letters: str) -> list[str]:
    """Return the words of a name such as `retryJob`."""
    if letters.isascii():
        return _WORD.findall(letters)
    starts = [
        at for at in range(1, len(letters)) if letters[at - 1].islower() and letters[at].isupper()
    ]
    return [letters[start:end] for start, end in pairwise([0, *starts, len(letters)])]


def _was_missing(item: Happening) -> bool:
    """Tell whether what failed was only not written yet."""
    missing = item.resolved[0].message
    names = [name.name for word in item.words for name in word.added]
    return bool(_MISSING.search(missing)) and any(
        name in missing or name in item.resolved[0].narrative for name in names
    )


def _is_new(item: Happening) -> bool:
    """Tell whether all code of a change is in new files, so that what failed was its own."""
    code = [word for word in item.words if word.kind == "code"]
    return bool(code) and all(word.sort == "new" for word in code)


def _main(words: Sequence[WordedChange]) -> WordedChange:
    order = {"names": 0, "new": 0, "renamed": 1, "moved": 1, "lines": 2, "gone": 2}
    return min(words, key=lambda word: (word.kind != "code", order.get(word.sort, 3)))


def _place(item: Happening) -> str:
    """Return the files of a change for a title: the path of one, the number of others."""
    paths = list(dict.fromkeys(item.modified))
    if not paths:
        return ""
    first = _main(item.words).path if item.words else paths[0]
    return _short(first) if len(paths) == 1 else f"{_short(first)} and {_files(len(paths) - 1)}"


def _files(count: int) -> str:
    return "1 other file" if count == 1 else f"{count} other files"


def _short(path: str) -> str:
    if len(path) <= _MOST_PLACE:
        return path
    parts = path.split("/")
    short = "…/" + "/".join(parts[-2:])
    return short if len(short) <= _MOST_PLACE else "…" + parts[-1][1 - _MOST_PLACE :]


def _with(told: str, place: str) -> str:
    """Return a title with its place in brackets, where it is not in it yet."""
    if not place or place in told:
        return cut(told, _TITLE)
    joined = f" {place}" if place.startswith("and ") else f" ({place})"
    return cut(told, _TITLE - len(joined)) + joined


def _unique(facts: Sequence[str]) -> list[str]:
    return list(dict.fromkeys(filter(None, facts)))
