"""What `recall` answers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Annotated, NamedTuple

from memory_bank.bank.backlinks import LinkShown
from memory_bank.bank.bank import Bank
from memory_bank.bank.hits import RecalledNote
from memory_bank.bank.note_files import SESSION
from memory_bank.base.dates import iso
from memory_bank.base.operation import Param, operation
from memory_bank.base.rendering import count, named
from memory_bank.base.screen import FOUND, NOTHING, Call, Piece, cells
from memory_bank.base.text import estimate
from memory_bank.memory.retrieval.ask_results import CommitResult
from memory_bank.search import snippets
from memory_bank.search.manifest import filters
from memory_bank.search.query import parse

_GHOST = "ghost:"


@operation(
    "links",
    why="""
    Lists the links from a note and to it, each with its type and the words around it. A link
    target that is not a note is a ghost: a source file, a person, a note to be written. NAME may
    be a ghost too: `links src/index.py` lists the notes that link to the file.

    --path finds the shortest path of links between two notes, --related the notes that share
    neighbours with this one.
    """,
    examples=(
        ("memory-bank links tantivy", "in both directions"),
        ("memory-bank links src/index.py", "what is known about a file"),
        ("memory-bank links --ghosts", "all link targets that are not notes"),
        ("memory-bank links tantivy --path bm25", "how two notes are connected"),
    ),
    group="Find",
)
def links(
    call: Call,
    *,
    name: Annotated[str | None, Param(argument=True, complete="notes")] = None,
    ghosts: Annotated[bool, Param("Only ghosts: of this note, or of the whole bank")] = False,
    other: Annotated[
        str | None, Param("Path to a note", flags="--path", metavar="OTHER", complete="notes")
    ] = None,
    related: Annotated[bool, Param("Notes that share neighbours with it")] = False,
) -> int:
    """List links, ghosts, paths and related notes."""
    if sum((ghosts, other is not None, related)) > 1:
        raise call.usage_error("choose one: --ghosts, --path, or --related")
    if name is None and not ghosts:
        raise call.usage_error("name a note, or give --ghosts")
    with call.open() as bank:
        if name is None:
            return _all_ghosts(call, bank)
        if other is not None:
            return _path(call, bank, name, other)
        if related:
            return _related(call, bank, name)
        return _links(call, bank, name, ghosts=ghosts)


def _links(call: Call, bank: Bank, name: str, *, ghosts: bool) -> int:
    from memory_bank.memory.links import links_of

    found = links_of(bank, name)
    into = () if ghosts else found.incoming
    out = [link for link in found.outgoing if not ghosts or link.target.startswith(_GHOST)]
    if call.json:
        call.document({"path": found.path, "outgoing": out, "incoming": into})
        return FOUND if out or into else NOTHING
    for heading, links in (("from", out), ("to", into)):
        if links:
            call.console.line(
                (f"{count(len(links), 'link')} {heading} {named(found.path)}", "bold")
            )
        for link in links:
            _show(call, link)
    if not out and not into:
        call.remark(f"{found.path} has no {'such ' if ghosts else ''}links")
    return FOUND if out or into else NOTHING


def _show(call: Call, link: LinkShown) -> None:
    console = call.console
    where = (call.place(link.source, link.line), "place")
    does: tuple[Piece, ...] = ((link.type, "tag"), f" → {link.target}")
    wide = sum(map(cells, ("  ", where[0], "  ", link.type, " → ", link.target)))
    if console.terminal and wide > console.columns:
        console.line("  ", where)
        console.line("    ", *does)
    else:
        console.line("  ", where, "  ", *does)
    if link.problem:
        console.line("      ", (link.problem, "bad"))
    console.block(link.context, "      ", "dim")


def _all_ghosts(call: Call, bank: Bank) -> int:
    from memory_bank.memory import links

    found = links.ghosts(bank)
    if call.json:
        call.document({"result_count": len(found), "ghosts": found})
    elif not found:
        call.remark("no ghosts")
    else:
        rows = [(ghost.name, str(ghost.count), _some(ghost.sources)) for ghost in found]
        call.console.table(("ghost", "links", "from"), rows)
    return FOUND if found else NOTHING


def _path(call: Call, bank: Bank, name: str, other: str) -> int:
    from memory_bank.memory import links

    steps = links.path_between(bank, name, other)
    if call.json:
        call.document({"result_count": len(steps), "steps": steps})
    elif not steps:
        call.remark(f"no path of links connects {name} and {other}")
    for step in () if call.json else steps:
        call.console.line(named(step.source), "  ", (step.type, "tag"), f" → {step.target}")
    return FOUND if steps else NOTHING


def _related(call: Call, bank: Bank, name: str) -> int:
    from memory_bank.memory import links

    found = links.related(bank, name)
    if call.json:
        call.document({"result_count": len(found), "related": found})
    elif not found:
        call.remark(f"no notes are related to {name}")
    else:
        rows = [(_target(call, near.path), f"{near.score:.2f}") for near in found]
        call.console.table(("related", "score"), rows)
    return FOUND if found else NOTHING


def _target(call: Call, path: str) -> str:
    return path if path.startswith(_GHOST) else call.place(path, 1)


def _some(paths: Sequence[str], most: int = 3) -> str:
    """Return the first few paths, and the number of the others."""
    more = f" and {len(paths) - most} more" if len(paths) > most else ""
    return ", ".join(paths[:most]) + more


class AsOf(NamedTuple):
    """A revision of the repository."""

    commit: str
    """Its full id; of what is staged, that of HEAD."""
    asked: str
    """The name that was asked for."""
    committed_at: str


@dataclass(frozen=True, slots=True)
class ReadQuery:
    """A parsed query."""

    words: str
    phrases: tuple[str, ...]
    without: tuple[str, ...]
    conditions: tuple[str, ...]
    """Each as `key:value`, with a `-` before a negated one."""


def matching_words(text: str, words: str) -> list[tuple[int, int]]:
    """Return where the words of a text are that match the words of a query, as start and end."""
    return snippets.matches(text, words) if words.strip() else []


def read_query(bank: Bank, query: str, *, times: bool = True) -> ReadQuery:
    """Parse a query as `recall` does; keys of this bank's front matter are conditions.

    `times`: whether words of time are conditions, too.
    """
    known = bank.read(lambda view: filters.fields(view.manifest)) if ":" in query else ()
    parsed = parse(query, known, times=times)
    return ReadQuery(
        words=parsed.question.text,
        phrases=parsed.question.required + parsed.question.preferred,
        without=parsed.question.excluded,
        conditions=tuple(
            f"{'-' * found.negated}{found.key}:"
            f"{found.value if isinstance(found.value, str) else iso(found.value)}"
            for found in parsed.conditions
        ),
    )


SCHEMA_VERSION = "1.0"


class Recalled(NamedTuple):
    """An answer: notes by relevance, the mode used, and problems of the search."""

    schema_version: str
    query: str
    mode_used: str
    fallback_reason: str | None
    result_count: int
    notes: tuple[RecalledNote, ...]
    problem: str | None = None
    answered: bool = True
    """Whether a note may answer: False if none was found, or surely none of them does."""
    notices: tuple[str, ...] = ()
    """How words of time restricted the answer, and what may be mistyped in the query."""
    rev: AsOf | None = None
    """The revision as of which the notes are; None for now."""
    commits: tuple[CommitResult, ...] | None = None
    """Commits whose messages answer, the best first; None if they were not included."""

    @property
    def apart(self) -> bool:
        """Whether weak notes are set apart: from others, or since none answers."""
        return not self.answered or any(not note.weak for note in self.notes)


_ENOUGH = 600
"""Tokens of a note's excerpt beyond which its other sentences say little about the question."""

_LEAST = 40
"""Fewest tokens that an excerpt is worth its frame."""

_WEAK = 80
"""Most tokens of a note that is only a weak match."""

_WEAK_SESSIONS, _OF_SESSION = 1, 400

_FRAME = 60
"""Tokens of a note's place, type, author and dates in an answer."""


def briefly(answer: Recalled) -> Recalled:
    """Give of sessions what answers best; of the best weak one a few sentences, of others none."""
    kept, left = list[RecalledNote](), _WEAK_SESSIONS
    for note in answer.notes:
        weak = note.weak and answer.apart
        if note.type != SESSION or not note.content:
            kept.append(note)
        elif weak and not left:
            kept.append(note._replace(content="", snippet="", also=()))
        else:
            left -= weak
            most = _WEAK if weak else _OF_SESSION
            text = snippets.excerpt(note.content, answer.query, most).text
            kept.append(note._replace(content=text, snippet="" if weak else note.snippet, also=()))
    return answer._replace(notes=tuple(kept))


def fitted(
    answer: Recalled, tokens: int, frame: Callable[[RecalledNote], int] = lambda _: _FRAME
) -> Recalled:
    """Replace the texts of notes by excerpts that fit a number of tokens together.

    The best note gets as much as it needs, then the next; those that nothing is left for come
    without text. `frame` returns the tokens that a note takes besides its excerpt.
    """
    notes = []
    for note in answer.notes:
        most = min(tokens - frame(note), _WEAK if note.weak and answer.apart else _ENOUGH)
        text = snippets.excerpt(note.content, answer.query, most).text if most >= _LEAST else ""
        tokens -= estimate(text) + frame(note) if text else 0
        notes.append(note._replace(content=text, snippet=note.snippet if text else "", also=()))
    return answer._replace(notes=tuple(notes))
