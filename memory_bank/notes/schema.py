"""Read the keys of front matter in all their common forms."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import date, datetime, time

from memory_bank.base import lazy_pattern
from memory_bank.base.dates import to_datetime
from memory_bank.base.documents import Fault
from memory_bank.base.errors import BadInput, Hint
from memory_bank.base.text import agent_name
from memory_bank.notes import okf
from memory_bank.notes.characters import to_nfc
from memory_bank.notes.identity import make_slug
from memory_bank.notes.note import Entity, Meta

KEYS: Mapping[str, tuple[str, ...]] = {
    "id": ("id",),
    "title": ("title",),
    "type": ("type",),
    "status": ("status",),
    "tags": ("tags", "tag"),
    "aliases": ("aliases", "alias"),
    "created_at": ("created_at", "created", "date"),
    "updated_at": ("updated_at", "updated", "modified", "lastmod"),
    "source_type": ("source_type",),
    "source_agent": ("source_agent",),
    "entity_refs": ("entity_refs",),
    "file_refs": ("file_refs",),
    "symbol_refs": ("symbol_refs",),
}
"""Our names, and the keys with the same meaning; case, `-` and spaces are ignored."""

KNOWN_TYPES: tuple[str, ...] = (
    "plan", "journal", "fact", "observation", "reflection", "decision", "bugfix", "feature",
    "refactor", "discovery", "change", "session", "rule",
)  # fmt: skip

_TYPE = lazy_pattern(r"[^\W_][\w-]{0,39}")

_FOLDERS = {"journal": "journal", "bugfix": "bugfixes", "discovery": "discoveries"}

_Split = Callable[[str], Iterable[str]]

_YES = frozenset({"true", "yes", "on", "y", "1"})

_NO = frozenset({"false", "no", "off", "n", "0", ""})

_SPACE = lazy_pattern(r"\s+")

_MAX_DEPTH = 100
"""Depth of nested lists, as in `notes/yaml.py`."""

_MAX_INTEGER = 10**18

_MAX_FAULTS = 20

LONGEST_TITLE = 300
"""Maximum length of a title, which is indexed with each passage."""

MAX_TAGS = 1000
"""Maximum number of tags of a note, including those in its text."""

LONGEST_TAG = 200
"""Maximum length of a tag, which is indexed with the note."""


def folder_for_type(kind: str) -> str:
    """Return the folder for new notes of a type; the user's own types are folders."""
    if kind in KNOWN_TYPES:
        return _FOLDERS.get(kind, f"{kind}s")
    return make_slug(kind) if kind.strip() else "notes"


def plain_key(key: str) -> str:
    """Return a key as keys are compared."""
    return key.strip().lower().replace("-", "_").replace(" ", "_")


def normalise_tags(tags: Iterable[str]) -> tuple[str, ...]:
    """Return tags in lower case, without `#`, `-` for spaces; drop empty ones and duplicates.

    A comma divides tags, as it does where they are read from front matter.
    """
    parts = (part for tag in tags for part in tag.split(","))
    cleaned = (_SPACE.sub("-", _bare_tag(to_nfc(part.lower()))) for part in parts)
    return tuple(dict.fromkeys(tag for tag in cleaned if tag))


def _bare_tag(tag: str) -> str:
    """Return a tag without white space and `#` around it."""
    start, end = 0, len(tag)
    while start < end and (tag[start] == "#" or tag[start].isspace()):
        start += 1
    while end > start and (tag[end - 1] == "#" or tag[end - 1].isspace()):
        end -= 1
    return tag[start:end]


def check_tags(tags: Iterable[str]) -> tuple[str, ...]:
    """Return tags as `normalise_tags` does; raise BadInput for an empty or a long one."""
    tags = list(tags)
    for tag in tags:
        if not normalise_tags([tag]):
            raise BadInput(f"tag {tag!r} is empty", Hint.GIVE_TAG_LETTER)
        if len(tag) > LONGEST_TAG:
            raise BadInput(
                f"the tag {tag[:30]!r}… has {len(tag):,} characters", f"at most {LONGEST_TAG}"
            )
    return normalise_tags(tags)


def spelled_key(raw: Mapping[str, object], name: str) -> str:
    """Return the key that this front matter uses for one of our names."""
    return next(_KeyReader(raw).keys(name), name)


def spelled_keys(raw: Mapping[str, object], name: str) -> tuple[str, ...]:
    """Return all keys that this front matter uses for one of our names, in order of precedence."""
    return tuple(_KeyReader(raw).keys(name))


def read_meta(
    raw: Mapping[str, object], inline_tags: Sequence[str] = ()
) -> tuple[Meta, tuple[Fault, ...]]:
    """Return the values of front matter by our names; never raises.

    A value of a wrong type is a fault and stays in `extra`, as do unknown keys. So does a status of
    the user's own (`accepted`), which counts as active.
    """
    reader = _KeyReader(raw)
    meta = Meta(
        id=reader.text("id"),
        title=reader.title(),
        type=known_type(reader.text("type")),
        status=reader.status(),
        tags=reader.tags(inline_tags),
        aliases=tuple(dict.fromkeys(reader.words("aliases", _split_commas))),
        created_at=reader.moment("created_at"),
        updated_at=reader.moment("updated_at"),
        source_type=reader.text("source_type"),
        source_agent=agent_name(reader.text("source_agent")),
        entity_refs=tuple(reader.entities("entity_refs")),
        file_refs=tuple(reader.words("file_refs", _single_text)),
        symbol_refs=tuple(reader.words("symbol_refs", _single_text)),
        extra=reader.extra(),
    )
    return meta, tuple(dict.fromkeys(reader.faults))[:_MAX_FAULTS]


class _KeyReader:
    """The reader of one front matter; records the keys that were read, and faults."""

    def __init__(self, raw: Mapping[str, object]) -> None:
        self.raw = raw
        self.faults: list[Fault] = []
        self.used: set[str] = set()
        self.spellings: dict[str, list[str]] = {}
        for key in raw:
            plain = plain_key(key)
            # The exact key has precedence.
            self.spellings.setdefault(plain, []).insert(0 if plain == key else 99, key)

    def keys(self, name: str) -> Iterator[str]:
        """Yield the keys that are used for one of our names, in order of precedence."""
        for spelling in KEYS.get(name, (name,)):
            yield from self.spellings.get(spelling, ())

    def yield_values(self, name: str) -> Iterator[tuple[str, object]]:
        """Yield keys with values that aren't empty; an empty value counts as read."""
        for key in self.keys(name):
            value = self.raw[key]
            if value is None or value == "":
                self.used.add(key)
            else:
                yield key, value

    def add_fault(self, key: str, problem: str) -> None:
        self.used.discard(key)
        self.faults.append(Fault(f"front matter: {key[:60]} {problem}"))

    def text(self, name: str) -> str:
        for key, value in self.yield_values(name):
            text = _text(value)
            if text is None:
                self.add_fault(key, f"is {_name_kind(value)}, not text")
                continue
            self.used.add(key)
            if text:
                return _SPACE.sub(" ", text)
        return ""

    def words(self, name: str, split: _Split, split_element: _Split | None = None) -> Iterator[str]:
        """Yield the parts of a text, or the items of a list, which `split_element` may split."""
        for key, value in self.yield_values(name):
            self.used.add(key)
            split_text = (split_element or _single_text) if isinstance(value, list) else split
            for element in _flatten(value):
                text = _text(element)
                if text is None:
                    self.add_fault(key, f"holds {_name_kind(element)}, not text")
                else:
                    yield from (
                        word for part in split_text(text) if (word := _strip_brackets(part))
                    )

    def title(self) -> str:
        text = self.text("title")
        if len(text) > LONGEST_TITLE:
            limit = f"{LONGEST_TITLE} characters"
            self.faults.append(
                Fault(f"front matter: title is longer than {limit}, the rest is cut")
            )
        return text[:LONGEST_TITLE]

    def tags(self, inline: Sequence[str]) -> tuple[str, ...]:
        tags = normalise_tags([*self.words("tags", _split_tags, _split_commas), *inline])
        if len(tags) > MAX_TAGS:
            self.faults.append(Fault(f"only the first {MAX_TAGS:,} of {len(tags):,} tags count"))
        tags = tags[:MAX_TAGS]
        usable = tuple(tag for tag in tags if len(tag) <= LONGEST_TAG)
        if usable != tags:
            text = f"{len(tags) - len(usable):,} longer than {LONGEST_TAG} characters"
            self.faults.append(Fault(f"tags: {text} do not count"))
        return usable

    def moment(self, name: str) -> datetime | None:
        for key, value in self.yield_values(name):
            moment = to_datetime(value)
            if moment is not None:
                self.used.add(key)
                return moment
            self.add_fault(key, f"is no date: {str(_to_json(value))[:60]!r}")
        return None

    def status(self) -> str:
        status = "active"
        for key, value in self.yield_values("status"):
            word = _text(value)
            if word is None:
                self.add_fault(key, f"is {_name_kind(value)}, not text")
            elif word.lower() in {"active", "archived", *okf.STATUSES}:
                self.used.add(key)
                status = word.lower()
            break
        for key, value in self.yield_values("archived"):
            word = (_text(value) or "-").lower()
            if word in _YES | _NO:
                self.used.add(key)
                status = "archived" if word in _YES else status
        return status

    def entities(self, name: str) -> Iterator[Entity]:
        for key, value in self.yield_values(name):
            self.used.add(key)
            for element in _flatten(value):
                entity = read_entity(element)
                if entity:
                    yield entity
                else:
                    self.add_fault(key, "holds something that is neither {kind, id} nor `kind:id`")

    def extra(self) -> dict[str, object]:
        return {key: _to_json(value) for key, value in self.raw.items() if key not in self.used}


def check_type(kind: str) -> str:
    """Return a type for a new note, as `known_type` does; raise BadInput if it is no word."""
    if kind.strip() and not _TYPE.fullmatch(kind.strip()):
        raise BadInput(
            f"{kind.strip()[:60]!r} can't be a type: it is no word",
            "write one word of letters, digits, '-' and '_', such as decision or fact",
        )
    return known_type(kind)


def known_type(kind: str) -> str:
    """Return a type without white space around, a known one in lower case."""
    kind = kind.strip()
    return kind.lower() if kind.lower() in KNOWN_TYPES else kind


def _single_text(text: str) -> Iterable[str]:
    return [text]


def _split_commas(text: str) -> Iterable[str]:
    return text.split(",")


def _split_tags(text: str) -> Iterable[str]:
    return text.split("," if "," in text else None)


def _strip_brackets(text: str) -> str:
    """Return a text without white space and wikilink brackets around it."""
    text = text.strip()
    return text[2:-2].strip() if text.startswith("[[") and text.endswith("]]") else text


def _flatten(value: object) -> Iterator[object]:
    if isinstance(value, list):
        for item in value:
            yield from _flatten(item)
    elif value is not None:
        yield value


def read_entity(value: object) -> Entity | None:
    """Read `{kind: person, id: sarah}`, `{person: sarah}` or `person:sarah`; None for others."""
    kind, name = None, None
    if isinstance(value, str):
        kind, _, name = value.partition(":")
    elif isinstance(value, Mapping):
        if "id" in value or "kind" in value:
            kind, name = _text(value.get("kind")), _text(value.get("id"))
        elif len(value) == 1:
            kind, name = next((str(key), _text(item)) for key, item in value.items())
    kind, name = (kind or "").strip(), (name or "").strip()
    return Entity(kind, name) if kind and name else None


def _text(value: object) -> str | None:
    """Return a scalar as text; None for lists, mappings and None."""
    if isinstance(value, str):
        return value.strip()
    if value is None or isinstance(value, Mapping | list | tuple):
        return None
    return str(value).lower() if isinstance(value, bool) else str(_to_scalar(value))


def _to_json(value: object, depth: int = 0) -> object:
    """Return a value for JSON: dates and numbers that JSON doesn't support become text."""
    if depth > _MAX_DEPTH:
        return "…"
    if isinstance(value, Mapping):
        return {str(key): _to_json(item, depth + 1) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_to_json(item, depth + 1) for item in value]
    return _to_scalar(value)


def _to_scalar(value: object) -> object:
    if isinstance(value, date | time):
        return value.isoformat()
    if isinstance(value, int) and abs(value) >= _MAX_INTEGER:
        return hex(value)  # Python refuses to print one of 5,000 digits
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return value if value is None or isinstance(value, str | int | float) else str(value)


def _name_kind(value: object) -> str:
    return "a mapping" if isinstance(value, Mapping) else "a list"
