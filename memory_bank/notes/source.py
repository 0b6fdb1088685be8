"""The notes of a bank as a source of documents, without what was asked in a session."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from functools import partial

from memory_bank.base import lazy_pattern
from memory_bank.base.dates import to_datetime
from memory_bank.base.documents import (
    Dates,
    Document,
    Link,
    Postponed,
    Read,
    Scan,
    Section,
    Signature,
    Span,
    Unchanged,
    Unreadable,
    split_lines,
)
from memory_bank.base.errors import BadName, StorageFailed, UnreadableNote
from memory_bank.base.filenames import StatSignature, signature_from_stat
from memory_bank.base.text import estimate
from memory_bank.notes import okf
from memory_bank.notes.characters import decode, written_words
from memory_bank.notes.decision_records import ENDED, may_be_record
from memory_bank.notes.identity import hash_bytes
from memory_bank.notes.link_targets import (
    InProject,
    TargetNames,
    no_project,
    resolve_target,
    yield_names,
)
from memory_bank.notes.names import WORD, name_of
from memory_bank.notes.note import Meta, Note, write_data
from memory_bank.notes.roots import Roots
from memory_bank.notes.storage import files
from memory_bank.notes.storage.files import UNKNOWN
from memory_bank.notes.storage.folders import hold_folder

READER = "16"
"""Version of the parser: it changes whenever notes are parsed into other documents."""

ARCHIVED = "archived"

CREATED = "created_at"
"""The inline field with the time at which a section was written."""

_SESSION_ID, _HEAD = re.compile(r"^[\"']?session_id\b", re.MULTILINE), 10_000
"""What the front matter of a session's note has, in its first characters."""

NO_TYPE = "its front matter has no `type`: no concept of the bundle in which it is"

_MAX_UNPARSED_BYTES = 4_000_000
"""Maximum bytes of a note that exceeds the limits of `blocks`: a larger one would take over 5 s."""


_MOST_BYTES = 2_000_000
"""Bytes of the notes that are kept in memory for the next question."""


class NotesSource:
    """The Markdown files of a bank, and those that its settings include."""

    name = "notes"

    def __init__(
        self,
        roots: Roots,
        *,
        max_bytes: int,
        in_project: InProject = no_project,
        most_bytes: int | None = None,
    ) -> None:
        """Read the notes of `roots`; larger ones than `max_bytes` are listed, not read.

        Those of more than `most_bytes` are postponed.
        """
        self._roots = roots
        self._in_project = in_project
        self._max_bytes = max_bytes
        self._texts: dict[tuple[str, str], tuple[bytes, list[str], SessionPrompts | None]] = {}
        """Bytes, lines and prompts of notes that were read last, by path and hash: an answer asks
        for several parts of each."""
        self._scans: list[Scan] = []
        self._scanned = Scan({})
        self._most_bytes = max_bytes if most_bytes is None else most_bytes

    @property
    def fingerprint(self) -> str:
        """The version of the parser, and which folders say that they are bundles."""
        declared = [
            f" okf:{folder}"
            for root in self._roots.all()
            for folder in root.folders
            if root.is_bundle or okf.is_declared(root.folder, folder)
        ]
        return READER + "".join(declared)

    @property
    def leftover(self) -> list[str]:
        """Temporary files that the last scan found where we write."""
        return [path for root in self._roots.all() for path in root.leftover]

    def scan(self) -> Scan:
        """Return the signatures of all notes.

        Raises StorageFailed for a folder that can't be read (its notes are not gone) and NoBank
        if the bank's own folder is missing.
        """
        before, scans = self._scans, [root.scan() for root in self._roots.all()]
        self._scans = scans
        keys = scans[0].changed_since(before[0]) if before and scans[1:] == before[1:] else None
        if keys is not None and not any(
            key in scan.signatures for scan in scans[1:] for key in keys
        ):
            changes = {key: scans[0].signatures.get(key) for key in keys}
            self._scanned = self._scanned.change(changes) if changes else self._scanned
            return self._scanned
        signatures, refused = dict(scans[0].signatures), dict(scans[0].refused)
        for root, scan in zip(self._roots.all()[1:], scans[1:], strict=True):
            refused |= scan.refused
            for key, signature in scan.signatures.items():
                if key in signatures:
                    kind = "included" if root is self._roots.included else "private"
                    refused[key] = f"the {kind} file {key} has the same path: not indexed"
                else:
                    signatures[key] = signature
        self._scanned = Scan(signatures, refused, [])
        return self._scanned

    def refresh(self, *, again: bool = False) -> bool:
        """Read the dates of undated notes from git; return whether any changed."""
        changed = [root.refresh(again=again) for root in self._roots.all()]
        return any(changed)

    def read(self, key: str, indexed_hash: str = "") -> Read:
        """Read a note."""
        root = self._roots.of(key)
        try:
            with hold_folder(root.folder, key) as file:
                stat_signature = signature_from_stat(file.stat())
                if stat_signature is None:
                    return None
                if stat_signature[0] > self._max_bytes:
                    reason = f"{stat_signature[0]} bytes, more than the setting max_note_bytes ="
                    signature = root.signature(key, stat_signature)
                    return Unreadable(
                        f"{reason} {self._max_bytes}", signature, size=stat_signature[0]
                    )
                if stat_signature[0] > self._most_bytes:
                    return Postponed()
                try:
                    data = files.read(file)
                except StorageFailed as error:
                    return Unreadable(error.message, UNKNOWN, size=stat_signature[0])
        except (FileNotFoundError, NotADirectoryError, BadName):
            return None  # BadName: a symbolic link in the path
        return None if data is None else self._parse(key, data, stat_signature, indexed_hash)

    def _parse(
        self, key: str, data: bytes, stat_signature: StatSignature, indexed_hash: str
    ) -> Read:
        from memory_bank.notes import blocks, parsing

        root = self._roots.of(key)
        signature, data_hash = root.signature(key, stat_signature), hash_bytes(data)
        bundle = self._roots.bundle(key)
        try:
            if bundle is not None and not parsing.front_matter(data).type:
                return Unreadable(NO_TYPE, signature, data_hash, stat_signature[0])
            if data_hash == indexed_hash:
                meta = parsing.front_matter(data)
                if meta.created_at is None and may_be_record(name_of(key)):
                    meta = parsing.parse(key, data).meta
                return Unchanged(signature, root.dates(meta, key, stat_signature, data))
            if stat_signature[0] > _MAX_UNPARSED_BYTES:
                text = decode(data).text
                lines = parsing.count_lines(text) + 1
                if excess := blocks.find_exceeded_limit(text, lines):
                    reason = f"{excess}, in more than {_MAX_UNPARSED_BYTES:,} bytes"
                    return Unreadable(reason, signature, data_hash, stat_signature[0])
            note = parsing.parse(key, data)
        except UnreadableNote as error:
            return Unreadable(error.message, signature, data_hash, stat_signature[0])
        dates = root.dates(note.meta, key, stat_signature, data)
        return build_document(
            note,
            dates,
            self._roots.prefix,
            signature,
            included=root is self._roots.included,
            in_project=self._in_project,
            bundle=bundle,
        )

    def text(self, key: str, hash: str, span: Span) -> str | None:  # noqa: A002  (the contract's word)
        """Return some lines of a note; None if its bytes have changed.

        Of a session's note, what was asked in it is left out.
        """
        if not self._keep_text(key, hash):
            return None
        _, lines, prompts = self._texts[key, hash]
        text = "\n".join(lines[span.line - 1 : span.end_line - 1]).strip("\n")
        return prompts.blank_prompts(text).strip("\n") if prompts else text

    def data(self, key: str, hash: str) -> bytes | None:  # noqa: A002  (as in `text`)
        """Return the bytes of a note; None if they have changed."""
        return self._texts[key, hash][0] if self._keep_text(key, hash) else None

    def _keep_text(self, key: str, hash: str) -> bool:  # noqa: A002  (as in `text`)
        """Read a note unless it is in memory; return whether it has the hash."""
        if (key, hash) in self._texts:
            return True
        try:
            data = self._roots.of(key).read(key)
        except BadName:
            return False
        if data is None or hash_bytes(data) != hash:
            return False
        if sum(len(data) for data, _, _ in self._texts.values()) + len(data) > _MOST_BYTES:
            self._texts.clear()
        text, prompts = decode(data).text, None
        if _SESSION_ID.search(text, 0, _HEAD):  # start-up: other notes need no parser
            from memory_bank.notes import parsing

            prompts = prompts_in(parsing.front_matter(text.encode()), text)
        self._texts[key, hash] = data, split_lines(text), prompts
        return True

    def close(self) -> None:
        """Close all files."""
        self._roots.close()


def build_document(
    note: Note,
    dates: Dates,
    prefix: str,
    signature: Signature,
    *,
    included: bool = False,
    in_project: InProject = no_project,
    bundle: str | None = None,
) -> Document:
    """Return a note as a document; `prefix` is the bank's folder below its project.

    An `included` note is a file of the project outside that folder. `in_project` tells which files
    the project has, `bundle` is the folder of the bundle in which the note is, as in its path.
    """
    from memory_bank.notes import passages

    resolve = partial(
        resolve_target,
        path=note.path,
        project_prefix=prefix,
        included=included,
        in_project=in_project,
        bundle=bundle,
    )
    meta = note.meta
    owners = _find_owners(note.body.sections)
    prompts = prompts_in(meta, note.text)
    headings = prompts.headings(note.body.sections, note.title) if prompts else frozenset[str]()
    return Document(
        key=note.path,
        hash=note.etag,
        content=note.content_hash,
        title=note.title,
        passages=tuple(
            passage._replace(section=owners[ordinal])
            for ordinal, section in enumerate(note.body.sections)
            for passage in passages.split_passages(_remove_prompts(section, prompts))
        ),
        id=meta.id,
        fields=tuple(dict.fromkeys(_yield_fields(note))),
        data=write_data(meta) | ({"asked": sorted(headings)} if headings else {}),
        keywords=_keywords(note),
        about=_list_words(note, named=prompts is None),
        asked=headings,
        dates=dates,
        hidden=meta.status == ARCHIVED,
        sections=tuple(_yield_sections(note.body.sections, owners, dates)),
        links=tuple(_link(link, resolve(link)) for link in note.body.links),
        names=tuple(yield_names(note, included=included)),
        anchors=(
            *((block.casefold(), line) for block, line in note.body.blocks.items()),
            *dict(_written_headings(note.body.sections)).items(),
        ),
        faults=note.faults,
        size=note.size,
        signature=signature,
    )


def _remove_prompts(section: Section, prompts: SessionPrompts | None) -> Section:
    """Return a section without what was asked in the session."""
    return section._replace(text=prompts.blank_prompts(section.text)) if prompts else section


def _yield_fields(note: Note) -> Iterator[tuple[str, str]]:
    meta = note.meta
    yield "status", meta.status.casefold()
    if meta.status not in {ARCHIVED, "active", *ENDED}:  # a draft is active, too
        yield "status", "active"
    yield "type", meta.type.casefold()
    if meta.source_type:
        yield "source_type", meta.source_type.casefold()
    for tag in meta.tags:
        yield "tag", tag
    yield from _yield_extra(meta.extra)


def _written_headings(sections: Sequence[Section]) -> Iterator[tuple[str, int]]:
    """Yield the words of each heading with links, as written: Obsidian links to it by these."""
    for section in sections:
        line = section.text.partition("\n")[0] if section.level else ""
        if "](" in line or "[[" in line:
            yield f"#{written_words(line)}", section.line


def _find_owners(sections: Sequence[Section]) -> list[int]:
    """Return the number of the observation that each section is a part of, else its own.

    A person may divide an observation by headings below its own.
    """
    owners: list[int] = []
    observation = -1
    for number, section in enumerate(sections):
        if section.name or (observation >= 0 and section.level <= sections[observation].level):
            observation = number if _is_observation(section) else -1
        owners.append(number if observation < 0 else observation)
    return owners


def _is_observation(section: Section) -> bool:
    return section.name.startswith("obs-") and any(key == "obs_type" for key, _ in section.fields)


def _yield_sections(
    sections: Sequence[Section], owners: Sequence[int], dates: Dates
) -> Iterator[Section]:
    """Yield the sections; an observation reaches over the sections that are parts of it."""
    ends = dict(zip(owners, sections, strict=True))
    tokens = Counter[int]()
    for owner, section in zip(owners, sections, strict=True):
        tokens[owner] += estimate(section.text) if sections[owner].name else 0
    for number, section in enumerate(sections):
        note_section = _strip_section(section, dates)
        if owners[number] == number and ends[number] is not section:
            note_section = note_section._replace(
                end_line=ends[number].end_line, tokens=tokens[number]
            )
        yield note_section


def _strip_section(section: Section, dates: Dates) -> Section:
    """Return a section as an index has it: without its text, with its time and tokens."""
    if not (section.name or section.fields):
        return section._replace(text="")
    written = next((value for key, value in section.fields if key == CREATED), "")
    moment = to_datetime(written) if written else None
    created = (
        moment.timestamp() if moment else dates.created * (dates.stated and bool(section.name))
    )
    return section._replace(
        text="",
        fields=tuple(dict.fromkeys((key, value.casefold()) for key, value in section.fields)),
        created=created,
        tokens=estimate(section.text) if section.name else 0,
    )


def _link(link: Link, target: TargetNames) -> Link:
    return link._replace(names=target.names, ghost=target.ghost)


def _keywords(note: Note) -> str:
    """Return the tags that the text doesn't have, the aliases, and the description if it is new."""
    from memory_bank.notes.sections import describe_note

    inline = set(note.body.tags)
    tags = (tag for tag in note.meta.tags if tag not in inline)
    description = okf.read_description(note.meta.extra)
    if description and description == describe_note(note.body_text):
        description = None
    return "\n".join((*tags, *note.meta.aliases, *([description] if description else [])))


def _list_words(note: Note, *, named: bool) -> str:
    """Return the other words of the front matter, except the title, and of the path, for lookup.

    A note is not `named` if its path is made of what was asked.
    """
    meta = note.meta
    words = [note.name if named else "", meta.type, *meta.file_refs, *meta.symbol_refs]
    words += [f"{entity.kind} {entity.id}" for entity in meta.entity_refs]
    words += [f"{source.title} {source.resource}" for source in okf.list_sources(meta.extra)]
    extra = {key: value for key, value in meta.extra.items() if key not in okf.NOT_ABOUT}
    words += [f"{key} {value}" for key, value in _yield_extra(extra)]
    return "\n".join(word for word in words if word)


def _yield_extra(extra: Mapping[str, object]) -> Iterator[tuple[str, str]]:
    for key, value in extra.items():
        for element in value if isinstance(value, list | tuple) else (value,):
            if isinstance(element, datetime):
                yield key.casefold(), element.isoformat()
            elif element is not None and not isinstance(element, Mapping):
                yield key.casefold(), str(element).casefold()


_SESSION = "session"

_ASKED = lazy_pattern(
    r"^[ \t]*[-*+][ \t]+(?:prompt \d{1,9}|request)::(.*(?:\r?\n[ \t]+\S.*)*)$",
    re.IGNORECASE | re.MULTILINE,
)

_LINE = lazy_pattern(r"^[ \t]*[-*+][ \t]+(?:(?!fact::)[a-z_]{1,40}::[ \t])?(.*)$", re.MULTILINE)

_HEADING = lazy_pattern(
    r"^ {0,3}#{1,6}[ \t]+(.*)$(?!\s*[-*+][ \t]+obs_type::[ \t]+decision)", re.MULTILINE
)

_LABEL = lazy_pattern(r"^[^:]{1,80}: |\s\([^()]*\)$")
"""What titles have around a prompt: `Look into: … (a.py)`."""

_TIME = lazy_pattern(r"^\s*\d{4}-\d\d-\d\dT\S+\s")

_NOT_A_BREAK = lazy_pattern(r"[^\r\n]+")

_LEAST = 3
"""Fewest words of a text that repeats the start of a prompt; fewer are there by chance."""


class SessionPrompts:
    """The prompts and requests of one session, as a tree of their words."""

    def __init__(self, texts: Iterable[str]) -> None:
        """Take the texts, each of one line."""
        self._after: dict[tuple[int, str], int] = {}
        self._ends = set[int]()
        for text in texts:
            at = 0
            for word in _words(text):
                at = self._after.setdefault((at, word), len(self._after) + 1)
            self._ends.add(at)

    def repeats(self, text: str) -> bool:
        """Return whether a text is a prompt or the start of one, perhaps with its last word cut."""
        words = _words(text)
        if text.rstrip().endswith("…") and len(words) > _LEAST:
            words = words[:-1]
        at = 0
        for word in words:
            at = self._after.get((at, word), -1)
        return at > 0 and (len(words) >= _LEAST or at in self._ends)

    def is_made_of_prompt(self, text: str) -> bool:
        """Return whether a title is made of a prompt, as `Change a.py for: …` is."""
        return self.repeats(text) or self.repeats(_LABEL.sub("", text))

    def headings(self, sections: Sequence[Section], title: str) -> frozenset[str]:
        """Return the title and the headings that are made of a prompt, except a decision's."""
        headings = {
            heading
            for section in sections
            for heading in section.headings
            if self.is_made_of_prompt(heading)
        }
        decisions = {
            section.headings[-1]
            for section in sections
            if ("obs_type", "decision") in section.fields
        }
        return frozenset(
            headings - decisions | ({title} if self.is_made_of_prompt(title) else set())
        )

    def blank_prompts(self, text: str) -> str:
        """Return lines of the note; those of prompts, and those that repeat one, are blank."""

        def blank(match: re.Match[str]) -> str:
            return _NOT_A_BREAK.sub("", match[0])

        def blank_repeated(match: re.Match[str]) -> str:
            return blank(match) if self.is_made_of_prompt(match[1]) else match[0]

        return _HEADING.sub(blank_repeated, _LINE.sub(blank_repeated, _ASKED.sub(blank, text)))


def prompts_in(meta: Meta, text: str) -> SessionPrompts | None:
    """Return what was asked in the session of a note; None if it is no session's note."""
    if meta.type != _SESSION or not {"session_id", "project"} <= meta.extra.keys():
        return None
    return SessionPrompts(_prompt_texts(text))


def _prompt_texts(text: str) -> Iterator[str]:
    for match in _ASKED.finditer(text):
        for line in match[1].splitlines():
            yield _TIME.sub("", line)


def _words(text: str) -> list[str]:
    return [word.casefold() for word in WORD.findall(text)]
