"""`memory-bank recall`: find notes by words, meaning and links."""

from __future__ import annotations

from typing import Annotated

from memory_bank.base.operation import (
    Before,
    IncludeArchived,
    Limit,
    Param,
    Since,
    Tags,
    Type,
    operation,
)
from memory_bank.base.screen import Call
from memory_bank.base.setting_sections import MODES, SCOPES

FORMATS = ("paths", "md", "json", "csv")


@operation(
    "recall",
    why="""
    Any text is a query. It finds passages with its words (more and rarer words rank higher) and
    passages of similar meaning. Each note is listed once with its best section; --also lists its
    other matching sections. On a terminal, five notes are shown.

    A query may contain "phrases" (quote them once more for your shell), -words to exclude, and
    conditions: tag:search type:decision status:archived since:7d before:2026-05-01 in:decisions
    links:src/api.py, or any key of your notes' front matter. The options do the same. Conditions
    apply before ranking. Words of time (last week, in October) restrict the notes by date.

    --scope shared searches the notes that other repositories published to the shared index, both
    those and this bank; conditions there are also repo:NAME and team:NAME. --scope user searches
    this bank and your own banks.

    --mode lexical searches by words only and is fastest; semantic by meaning only. Notes that are
    often found or were written recently rank a little higher; each result counts as an access of
    the note unless --no-count is given.
    """,
    examples=(
        ("memory-bank recall why tantivy", "a question"),
        ("memory-bank recall '\"index grows\" -whoosh tag:search'", "phrase, exclusion, condition"),
        ("memory-bank recall retry --type bugfix --since 2w --explain", "with scores explained"),
        ("memory-bank recall retry --linked-to src/api.py", "what is known about a file"),
        ("memory-bank recall --scope both job queue repo:shop", "in other repositories, too"),
        ("memory-bank recall --at v1.0 which index", "what was known at a revision"),
        ("memory-bank recall retry -i", "choose a note and open it in your editor"),
        ("memory-bank recall retry --json | jq -r '.notes[].path'", "for a program"),
    ),
    group="Find",
)
def command(
    call: Call,
    *,
    query: Annotated[tuple[str, ...], Param(argument=True, metavar="QUERY...", excludes=True)],
    mode: Annotated[
        str | None, Param("lexical, semantic, hybrid", metavar="MODE", choices=MODES)
    ] = None,
    limit: Annotated[Limit, Param("Most notes to list, 1 to 100")] = None,
    tags: Annotated[Tags, Param("Only notes that have all these tags")] = (),
    kind: Annotated[Type, Param("Only notes of this type")] = None,
    since: Since = None,
    before: Before = None,
    linked_to: Annotated[
        str | None,
        Param(
            "Only notes that link to this note, file or person", metavar="NAME", complete="notes"
        ),
    ] = None,
    include_archived: IncludeArchived = False,
    min_score: Annotated[
        float, Param("Only notes of at least this score", metavar="X", least=0, most=1)
    ] = 0.0,
    scope: Annotated[
        str | None,
        Param("bank, shared (other repositories), both, user", metavar="SCOPE", choices=SCOPES),
    ] = None,
    rev: Annotated[
        str | None, Param("Notes as of a commit, tag or branch", flags="--at", metavar="REV")
    ] = None,
    also: Annotated[bool, Param("Show each note's other matching sections, too")] = False,
    form: Annotated[
        str | None, Param("paths, md, json, csv", flags="--format", metavar="FORM", choices=FORMATS)
    ] = None,
    interactive: Annotated[
        bool, Param("Choose a note and open it in your editor", flags="-i, --interactive")
    ] = False,
    explain: Annotated[bool, Param("Show the parsed query and each note's scores")] = False,
    no_count: Annotated[bool, Param("Don't count this as an access of the notes")] = False,
) -> int:
    """Search notes by words, meaning and links."""
    from memory_bank.frontends.cli.recall_view import answer  # start-up: help needs no view

    return answer(
        call,
        query=query,
        mode=mode,
        limit=limit,
        tags=tags,
        kind=kind,
        since=since,
        before=before,
        linked_to=linked_to,
        include_archived=include_archived,
        min_score=min_score,
        scope=scope,
        rev=rev,
        also=also,
        form=form,
        interactive=interactive,
        explain=explain,
        no_count=no_count,
    )
