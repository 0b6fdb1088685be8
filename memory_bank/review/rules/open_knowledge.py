"""What the Open Knowledge Format requires of the files of a bundle, and what it recommends."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from memory_bank.bank.records import Finding, Severity
from memory_bank.base import lazy_pattern
from memory_bank.base.dates import to_datetime
from memory_bank.notes import okf as bundle_format
from memory_bank.notes.characters import BREAK
from memory_bank.notes.parsing import NoteText
from memory_bank.review.rules.base import RuleContext, bank_rule, problem

_STATUSES = ("draft", "stable", "deprecated", "active", "archived")

_DAY_HEADING = lazy_pattern(r"##[ \t]+\d{4}-\d\d-\d\d(?:\W.*|[ \t]*)")

_DAY = len("2026-01-01")

_ACTOR = lazy_pattern(r"(?:human|process|team):\S.*|[^\s/]+/\S+")

_OFFSET = lazy_pattern(r"\d{4}-\d\d-\d\d[T ].*(?:Z|[+-]\d\d:?\d\d)", re.IGNORECASE)

_FOOTNOTE = lazy_pattern(r"\[\^([^\]\s]{1,200})\](?!:)")


_DEFINED = lazy_pattern(r"^ {0,3}\[\^([^\]\s]{1,200})\]:", re.MULTILINE)


@bank_rule("error", "a file does not conform to the Open Knowledge Format", has_remarks=True)
def okf(bank: RuleContext) -> Iterator[Finding]:
    """Yield what is against the format in bundles; of all notes if the rule is named."""
    for path in bank.wanted(bank.files):
        bundle = bank.roots.bundle(path)
        inside = bundle is not None or "okf" in bank.named
        if inside and not bank.roots.is_private(path) and (note := bank.note(path)):
            place = bank.roots.of(path).folder
            is_skipped = bundle is not None and bundle_format.skips_untyped(place, bundle)
            for finding in _yield_required(note):
                yield finding._replace(severity="info" if is_skipped else "error")
            yield from _yield_recommended(note)
    for root in bank.roots.all():
        for path in bank.wanted(root.reserved):
            if note := bank.note(path):
                is_root = path in {bundle_format.index_of(folder) for folder in root.bundles}
                yield from _yield_reserved(note, is_root=is_root)


def _yield_required(note: NoteText) -> Iterator[Finding]:
    """Yield what makes a file no concept."""
    kind = note.keys.get("type")
    if not note.head:
        yield problem(note.path, 1, "a concept has front matter", "add it, with a type")
    elif note.faults and not note.keys:
        yield problem(note.path, 1, "the front matter can't be read", "write YAML")
    elif not isinstance(kind, str) or not kind.strip():
        yield problem(note.path, note.key_line("type"), "`type` must be a text", "add type: …")


def _yield_reserved(note: NoteText, *, is_root: bool) -> Iterator[Finding]:
    """Yield what a list or a log must not have."""
    is_log = note.path.endswith("log.md")
    if note.head and not (is_root and "okf_version" in note.keys):
        message = "lists and logs have no front matter"
        # the specification's own bundle has a log with some
        severity: Severity = "info" if is_log else "error"
        yield problem(note.path, 1, message, "remove it", severity=severity)
    if not is_log:
        return
    last = ""
    for number, line in enumerate(BREAK.split(note.text), 1):
        if not line.startswith("## "):
            continue
        day = line[3:].strip()[:_DAY]
        if not _DAY_HEADING.fullmatch(line) or to_datetime(day) is None:
            yield problem(
                note.path,
                number,
                "a heading of a log is a day",
                "write ## YYYY-MM-DD",
                severity="error",
            )
        elif last and day > last:
            yield problem(
                note.path,
                number,
                "the days of a log begin with the newest",
                "sort them",
                severity="error",
            )
        last = day


def _yield_recommended(note: NoteText) -> Iterator[Finding]:
    """Yield what a concept should have, or should write otherwise."""
    keys = note.keys
    if not keys:
        return
    for key in ("title", "description"):
        if not keys.get(key):
            yield problem(note.path, 1, f"`{key}` is recommended", f"add {key}: …")
        elif not isinstance(keys[key], str):
            yield _remark(note, key, "is no text")
    if "tags" in keys and not isinstance(keys["tags"], list):
        yield _remark(note, "tags", "is no list")
    if "timestamp" in keys:
        yield _remark(note, "timestamp", "is `generated.at` since version 0.2")
    status = keys.get("status")
    if status is not None and str(status).lower() not in _STATUSES:
        yield _remark(note, "status", f"{str(status)[:40]!r} is no status of the format")
    if (value := keys.get("stale_after")) is not None and not _is_instant(value):
        yield _remark(note, "stale_after", "is no moment with an offset")
    yield from _yield_actors(note)
    yield from _yield_sources(note)
    yield from _yield_windows(note)
    if note.keys.get("type") == "Attested Computation":
        yield from _yield_computation(note)


def _yield_actors(note: NoteText) -> Iterator[Finding]:
    """Yield who wrote or reviewed a concept, where that is not as the format says it."""
    for key in ("generated", "verified"):
        for event in _list_items(note.keys.get(key)):
            if not isinstance(event, Mapping) or not event.get("by"):
                yield _remark(note, key, "has no `by`")
            elif not _ACTOR.fullmatch(str(event["by"])):
                yield _remark(note, key, "`by` is neither human:ID, process:ID nor NAME/VERSION")
            elif not _is_instant(event.get("at")) and (key == "verified" or "at" in event):
                yield _remark(note, key, "`at` is no moment with an offset")


def _yield_sources(note: NoteText) -> Iterator[Finding]:
    """Yield sources without a resource, and footnotes that name no source."""
    ids = set[str]()
    for source in _list_items(note.keys.get("sources")):
        if not isinstance(source, Mapping) or not source.get("resource"):
            yield _remark(note, "sources", "an entry has no `resource`")
            continue
        if (name := str(source.get("id") or "")) in ids:
            yield _remark(note, "sources", f"several entries have the id {name!r}")
        ids |= {name} if name else set()
        if "author" in source and not _ACTOR.fullmatch(str(source["author"])):
            yield _remark(note, "sources", "`author` is neither human:ID, team:ID nor NAME/VERSION")
        if "last_modified" in source and not _is_instant(source["last_modified"]):
            yield _remark(note, "sources", "`last_modified` is no moment with an offset")
        if "usage_count" in source and not isinstance(source["usage_count"], int):
            yield _remark(note, "sources", "`usage_count` is no number")
    ids.update(_DEFINED.findall(note.parts.body))
    for match in _FOOTNOTE.finditer(note.parts.body) if "sources" in note.keys else ():
        if match[1] not in ids and not note.in_code(note.body_start + match.start()):
            line, _ = note.place(note.body_start + match.start())
            yield problem(
                note.path,
                line,
                f"the footnote {match[1]!r} is neither defined nor the id of a source",
            )


def _yield_windows(note: NoteText) -> Iterator[Finding]:
    """Yield times of use that lack a start or an end."""
    sources = [item for item in _list_items(note.keys.get("sources")) if isinstance(item, Mapping)]
    for holder, key in ((note.keys, "usage_window"), *((item, "sources") for item in sources)):
        window = holder.get("usage_window")
        ends = (
            [window.get(end) for end in ("from", "to")] if isinstance(window, Mapping) else [None]
        )
        if window is not None and not all(map(_is_instant, ends)):
            yield _remark(note, key, "a window of use has `from` and `to` with an offset")


def _yield_computation(note: NoteText) -> Iterator[Finding]:
    """Yield what a computation lacks to be run."""
    if not note.keys.get("runtime"):
        yield _remark(note, "type", "a computation has a `runtime`")
    for item in _list_items(note.keys.get("parameters")):
        if not isinstance(item, Mapping) or not (item.get("name") and item.get("type")):
            yield _remark(note, "parameters", "a parameter has a `name` and a `type`")
    for key in ("executor", "attester"):
        value = note.keys.get(key)
        if value is not None and not (isinstance(value, Mapping) and value.get("resource")):
            yield _remark(note, key, "has no `resource`")


def _remark(note: NoteText, key: str, message: str) -> Finding:
    return problem(note.path, note.key_line(key), f"{key}: {message}")


def _list_items(value: object) -> list[object]:
    return [] if value is None else value if isinstance(value, list) else [value]


def _is_instant(value: object) -> bool:
    """Return whether a value is a moment with an offset; YAML has read some already."""
    if isinstance(value, str):
        return bool(_OFFSET.fullmatch(value)) and to_datetime(value) is not None
    return getattr(value, "tzinfo", None) is not None
