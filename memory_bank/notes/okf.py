"""The Open Knowledge Format: which folders are bundles, and what its keys mean.

The specification: https://github.com/GoogleCloudPlatform/knowledge-catalog, `okf/SPEC.md`. Versions
0.1 to 0.3, and unknown ones, are read alike: no bundle is refused.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from memory_bank.base import NamedTuple, lazy_pattern
from memory_bank.base.dates import format_iso, to_datetime
from memory_bank.base.documents import Link
from memory_bank.base.errors import MemoryBankError
from memory_bank.notes.note import Note
from memory_bank.notes.storage import files

if TYPE_CHECKING:
    from memory_bank.notes.front_matter import Split

INDEX = "index.md"

RESERVED = frozenset([INDEX, "log.md"])
"""Files of a bundle that are no notes, in each of its folders."""

FORMAT = "okf"
"""The value of `memory.format` for a bank that is a bundle."""

DRAFT, DEPRECATED = "draft", "deprecated"

STATUSES = frozenset([DRAFT, DEPRECATED])
"""Statuses that are read in any bank; `stable` is the usual one."""

_OWN_KEYS = frozenset(
    ["generated", "verified", "sources", "stale_after", "superseded_by", "resource", "timestamp"]
)

NOT_ABOUT = frozenset(
    ["description", "generated", "verified", "stale_after", "superseded_by", "timestamp"]
)
"""Keys that say nothing of what a note is about, or what is searched by itself."""

_DECLARED = lazy_pattern(r"""^["']?okf_version["']?[ \t]*:""", re.MULTILINE)

_LIST_LINE = lazy_pattern(r"^[*+-][ \t]+\[[^\]\n]*\]\([^)\n]*\)", re.MULTILINE)

_MOST_SAMPLED, _MOST_READ, _MOST_BUNDLES = 8, 100_000, 200

_LONGEST = 300
"""Characters of a description, or of what is said of a source, that are shown."""

_PATH = lazy_pattern(r"(?![A-Za-z][A-Za-z0-9+.-]*:|//)[^\s*?\[\]{}|<>\"\\]{1,500}")
"""A value that may be a path: no URL, and no description of a scope, which has blanks."""

_SUPERSEDED_BY, _DEFAULT = "superseded_by", Link._field_defaults["type"]

_CURRENT = lazy_pattern(
    r"\b(?:current(?:ly)?|replaced by|replacement|(?<!not )use)\b[^.!?\n]{0,80}\Z", re.IGNORECASE
)

_SUFFIX = lazy_pattern(r"\.\w{1,12}(?s:#.*)?\Z")


def find_bundles(
    root: Path, folders: Sequence[str], paths: Mapping[str, object], *, by_setting: bool = False
) -> tuple[str, ...]:
    """Return the folders below `root` that are bundles; `paths` are the notes there.

    A folder is a bundle if the front matter of its `index.md` has `okf_version`. One of `folders`
    is also one if its `index.md` has no front matter and lists links, and its notes have types and
    keys of the format. By the setting, the bank is a bundle, and so is each of `folders` whose
    notes have types.
    """
    indexes = [path[: -len(INDEX) - 1] for path in paths if path.endswith(f"/{INDEX}")]
    candidates = list(dict.fromkeys([*folders, *indexes]))[:_MOST_BUNDLES]

    def is_bundle(folder: str) -> bool:
        if index_of(folder) in paths and is_declared(root, folder):
            return True
        if folder not in folders:
            return False
        if by_setting:
            return not folder or _are_concepts(_sample_heads(root, folder, paths))
        return _is_list(root, folder, paths)

    return tuple(filter(is_bundle, candidates))


def index_of(folder: str) -> str:
    """Return the path of the list of a folder."""
    return _path_below(folder, INDEX)


def is_declared(root: Path, folder: str) -> bool:
    """Return whether the `index.md` of a folder says that it is a bundle."""
    head, _, _ = _read_start(root, index_of(folder)).partition("\n---")  # start-up: without YAML
    return head.startswith("---") and bool(_DECLARED.search(head))


def skips_untyped(root: Path, folder: str) -> bool:
    """Return whether a bundle is of version 0.3, in which files without a type are no concepts."""
    version = str(_read_keys(_read_start(root, index_of(folder))).get("okf_version", ""))
    return version.strip().partition(".")[2] >= "3" if version.startswith("0.") else bool(version)


def is_reserved(path: str, bundles: Sequence[str]) -> bool:
    """Return whether a file is a list or a log of one of some bundles."""
    return path.rpartition("/")[2] in RESERVED and find_bundle(path, bundles) is not None


def find_bundle(path: str, bundles: Sequence[str]) -> str | None:
    """Return the innermost of some bundles in which a file is; None if it is in none."""
    holding = [folder for folder in bundles if folder in {"", "."} or path.startswith(f"{folder}/")]
    return max(holding, key=len, default=None)


def _is_list(root: Path, folder: str, paths: Mapping[str, object]) -> bool:
    """Return whether a folder has a list of links, and notes of the format."""
    text = _read_start(root, index_of(folder))
    if not _LIST_LINE.search(text) or _split(text).block:
        return False
    heads = _sample_heads(root, folder, paths)
    own = sum(bool(_OWN_KEYS & head.keys()) for head in heads)
    return _are_concepts(heads) and 2 * own >= len(heads)


def _are_concepts(heads: Sequence[Mapping[str, object]]) -> bool:
    return bool(heads) and all("type" in head for head in heads)


def _sample_heads(
    root: Path, folder: str, paths: Mapping[str, object]
) -> list[Mapping[str, object]]:
    """Return the front matter of some notes of a folder that have any."""
    paths_inside = (path for path in paths if find_bundle(path, [folder]) is not None)
    concepts = (path for path in sorted(paths_inside) if path.rpartition("/")[2] not in RESERVED)
    heads = (_read_keys(_read_start(root, path)) for path in islice(concepts, _MOST_SAMPLED))
    return [head for head in heads if head]


def _path_below(folder: str, name: str) -> str:
    return name if folder in {"", "."} else f"{folder}/{name}"


def _read_start(root: Path, path: str) -> str:
    """Return the start of a file; empty if it can't be read."""
    try:
        data = files.read_in(root, path) or b""
    except MemoryBankError:
        return ""
    return data[:_MOST_READ].decode("utf-8-sig", "replace")


def _split(text: str) -> Split:
    from memory_bank.notes.front_matter import split  # start-up: it loads YAML

    return split(text)


def _read_keys(text: str) -> Mapping[str, object]:
    from memory_bank.notes.front_matter import read_metadata

    return read_metadata(_split(text))[0]


def path_links(keys: Mapping[str, object]) -> Iterator[Link]:
    """Yield the links of the keys that have a path: to a note's successors and to what it cites."""
    for key in (_SUPERSEDED_BY, "supersedes"):
        value = keys.get(key)
        for path in value if isinstance(value, list) else [value]:
            if is_path(path):
                yield _make_link(path, key)
    paths = [keys.get("resource"), keys.get("computation")]
    sources = keys.get("sources")
    paths += [path.get("resource") for path in list_mappings(sources)]
    for code in (keys.get("executor"), keys.get("attester")):
        paths += [path.get("resource") for path in list_mappings(code)]
    yield from (_make_link(path, "mentions") for path in paths if is_path(path))


def link_successor(note: Note) -> Note:
    """Return a note unchanged, or a deprecated one whose link to its successor has that type.

    "The current definition is [gross margin](./gross-margin.md)" names the successor of the note.
    """
    links = note.body.links
    if note.meta.status != DEPRECATED or any(link.type == _SUPERSEDED_BY for link in links):
        return note
    for number, link in enumerate(links):
        if link.type == _DEFAULT and link.target and _CURRENT.search(link.before):
            new = link._replace(type=_SUPERSEDED_BY)
            return note._replace(
                body=note.body._replace(links=(*links[:number], new, *links[number + 1 :]))
            )
    return note


def is_path(value: object) -> bool:
    """Return whether a value of front matter may be a path, and is no URL."""
    return isinstance(value, str) and bool(
        _PATH.fullmatch(value) and ("/" in value or _SUFFIX.search(value))
    )


def _make_link(written: object, kind: str) -> Link:
    path, _, heading = str(written).partition("#")
    return Link(path, "reference", 1, kind, heading)


def list_mappings(value: object) -> list[Mapping[str, object]]:
    """Return the mappings in a list; one mapping alone is a list of one."""
    items = value if isinstance(value, list) else [value]
    return [item for item in items if isinstance(item, Mapping)]


def merge_keys(heads: Mapping[str, Mapping[str, object]], path: str) -> dict[str, object]:
    """Return the keys of the note at `path` that replaces notes: all that they derive from."""
    sources: list[Mapping[str, object]] = []
    for source, head in heads.items():
        for source_item in list_mappings(head.get("sources")):
            moved = {
                **source_item,
                "resource": _move_source(source_item.get("resource"), source, path),
            }
            sources += [moved] if moved not in sources else []
    subjects = {
        str(_move_source(head.get("resource"), source, path)) for source, head in heads.items()
    }
    (subject, *others) = sorted(subjects - {"None"}) or [""]
    return {"sources": sources} | ({} if others else {"resource": subject})


def _move_source(resource: object, source: str, path: str) -> object:
    """Return what a note at `source` derives from, as seen from `path`."""
    if not isinstance(resource, str) or not resource.startswith(("./", "../")):
        return resource
    place = posixpath.join(posixpath.dirname(source), resource)
    return posixpath.relpath(place, posixpath.dirname(path) or ".")


class StatedSource(NamedTuple):
    """What a note derives from, as its front matter says."""

    resource: str
    """A path, a URL, or words for a part of something."""
    title: str = ""
    id: str = ""
    """The id by which footnotes name it."""
    about: str = ""
    """Who made it, when it was changed, and how often it was used."""
    is_subject: bool = False
    """Whether the note describes it."""

    @property
    def name(self) -> str:
        """Its title; its resource if it has none."""
        return self.title or self.resource


def list_sources(keys: Mapping[str, object]) -> tuple[StatedSource, ...]:
    """Return what a note derives from, after what it describes."""
    subject = keys.get("resource")
    subjects = [StatedSource(subject.strip(), is_subject=True)] if isinstance(subject, str) else []
    window = _describe_window(keys.get("usage_window"))
    return (*subjects, *(_read_source(item, window) for item in list_mappings(keys.get("sources"))))


def _read_source(item: Mapping[str, object], window: str) -> StatedSource:
    texts = {key: _one_line(item.get(key)) for key in ("resource", "title", "id", "author")}
    facts = [f"by {texts['author'].removeprefix('human:')}"] if texts["author"] else []
    if moment := to_datetime(item.get("last_modified")):
        facts.append(f"changed {moment.date().isoformat()}")
    if isinstance(number := item.get("usage_count"), int):
        facts.append(f"used {number:,} times{_describe_window(item.get('usage_window')) or window}")
    return StatedSource(texts["resource"], texts["title"], texts["id"], ", ".join(facts))


def _describe_window(window: object) -> str:
    """Return from when to when something was counted; empty if that is not said."""
    days = [to_datetime(item.get(key)) for item in list_mappings(window) for key in ("from", "to")]
    dates = [moment.date().isoformat() for moment in days if moment]
    return f" from {dates[0]} to {dates[1]}" if len(dates) > 1 else ""


def _one_line(value: object) -> str:
    """Return a text or number of front matter on one line; empty for anything else."""
    return " ".join(str(value).split())[:_LONGEST] if isinstance(value, str | int) else ""


def read_description(keys: Mapping[str, object]) -> str | None:
    """Return the sentence that says what a note is about; None if it has none."""
    return _one_line(keys.get("description")) or None


def changed_at(keys: Mapping[str, object]) -> datetime | None:
    """Return when a note says that its meaning changed last: `generated.at`, else `timestamp`."""
    generated = next(iter(list_mappings(keys.get("generated"))), {})
    return to_datetime(generated.get("at") or keys.get("timestamp"))


def add_review(keys: Mapping[str, object], by: str, at: datetime) -> dict[str, object]:
    """Return the key that says who reviewed a note, with one review more: the last of each."""
    reviews = [review for review in list_mappings(keys.get("verified")) if review.get("by") != by]
    review = {"by": by, "at": format_iso(at)}
    return {"verified": [*reviews, review] if reviews else review}


def past_review(keys: Mapping[str, object], now: float) -> str:
    """Return a message if a note is past the date in `stale_after`, else an empty text.

    A text that is no date counts as past.
    """
    value = keys.get("stale_after")
    if value is None or value == "":
        return ""
    moment = to_datetime(value)
    if moment is not None and moment > datetime.fromtimestamp(now, UTC):
        return ""
    date = moment.date().isoformat() if moment else f"{str(value)[:40]!r} is no date"
    return f"past its review date: {date}"


def yield_claims(keys: Mapping[str, object]) -> Iterator[str]:
    """Yield a note's own words on who wrote and who reviewed it, which nobody has checked."""
    generated, changed = next(iter(list_mappings(keys.get("generated"))), {}), changed_at(keys)
    if generated.get("by"):
        yield f"says it was written by {_describe_actor(generated)}"
    for review in list_mappings(keys.get("verified")):
        if review.get("by"):
            moment = to_datetime(review.get("at"))
            is_old = bool(moment and changed and moment < changed)
            yield (
                f"says it was reviewed by {_describe_actor(review)}"
                + ", before its last change" * is_old
            )


def _describe_actor(event: Mapping[str, object]) -> str:
    moment = to_datetime(event.get("at"))
    day = f" on {moment.date().isoformat()}" if moment else ""
    return f"{str(event['by']).removeprefix('human:')[:100]}{day}"
