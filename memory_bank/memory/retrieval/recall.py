"""Search a bank's notes, and those of other repositories or revisions."""

from __future__ import annotations

import time
from collections.abc import Sequence
from operator import attrgetter
from typing import TYPE_CHECKING, Annotated, Any, Literal

from memory_bank.bank.backlinks import find_node
from memory_bank.bank.bank import Bank
from memory_bank.base.dates import seconds_to_iso
from memory_bank.base.errors import BadInput, MemoryBankError
from memory_bank.base.operation import (
    LONGEST_NAME,
    LONGEST_QUERY,
    REQUIRED,
    Before,
    IncludeArchived,
    Limit,
    Param,
    Since,
    Tags,
    Tool,
    Type,
    operation,
)
from memory_bank.base.screen import Call
from memory_bank.base.setting_sections import BANK, HYBRID, MODES, SCOPES, Search
from memory_bank.memory.retrieval import views
from memory_bank.memory.retrieval.answers import (
    COMMITS,
    Answer,
    Result,
)
from memory_bank.memory.retrieval.recall_bank import (
    fit_to_tokens,
    search_notes,
    shorten_sessions,
)
from memory_bank.search import snippets
from memory_bank.search.document_changes import Progress
from memory_bank.search.query import Query, list_conditions

if TYPE_CHECKING:  # start-up: a search in notes needs no code
    from memory_bank.code.index.codebase import Codebase, CodeHit

MOST = 100
"""Most notes in an answer."""

_ON_SCREEN = 5
"""Notes in an answer on a terminal, unless a setting or an option says otherwise."""

TOKENS = 1500
"""Tokens of an answer to an agent that names no number."""

SECTION, NOTE, INDEX = "section", "note", "index"

AGENTS, GLOBAL = "agents", "global"

DETAILS = (SECTION, NOTE, INDEX)
"""What an answer has of each note: its best section, all of it, or no text."""


_At = Annotated[
    str | None, Param("Notes as of a commit, tag or branch", metavar="REV", about="git revision")
]


def _recall_by_agent(bank: Bank, query: str, *, at: _At = None, **options: Any) -> Answer:  # noqa: ANN401  (those of recall)
    """Search the bank, as it is or as of a revision."""
    return recall(bank, query, **options) if at is None else recall_at(bank, at, query, **options)


def _add_commits(bank: Bank, answer: Answer, most: int) -> Answer:
    """Add the commits whose messages answer; what stops that is a problem of the answer."""
    from memory_bank.code.index.codebase import open_codebase  # start-up: rarely asked

    try:
        with open_codebase(bank.layout.project, bank=bank.layout.root) as codebase:
            problem = codebase.catch_up((COMMITS,)).problem
            hits = codebase.search(COMMITS, answer.query, most, mode=answer.mode_used).hits
            commits = tuple(commit_result(codebase, hit, answer.query) for hit in hits)
    except MemoryBankError as error:
        problem, commits = f"commits not searched: {error.message}", ()
    return answer._replace(commits=commits, problem=answer.problem or problem or None)


def commit_result(codebase: Codebase, hit: CodeHit, query: str) -> Result:
    """Return the result for a commit, with the sentences of its message that answer best."""
    document = hit.hit.document
    text = snippets.cut_snippet("\n".join(codebase.whole(hit).split("\n")[1:]), query).text
    author = str(document.data.get("author", ""))
    return Result(
        hit.path,
        document.title,
        text,
        round(hit.score, 4),
        author=author,
        created_at=seconds_to_iso(document.created),
        kind="commit",
    )


def _recall_in_command(
    call: Call,
    bank: Bank,
    query: str,
    limit: int | None = None,
    *,
    at: _At = None,
    form: str | None = None,
    **options: Any,  # noqa: ANN401  (those of recall)
) -> Answer:
    """Search the bank for as many notes as a terminal shows, the weak ones last."""
    if call.json and form not in {None, "json"}:
        raise call.usage_error(f"give --json or --format {form}, not both")
    if (options.get("scope") not in {None, BANK} or options.get("include")) and (
        at or options.get("linked_to")
    ):
        raise call.usage_error(
            "--at and --linked-to search the bank only, not --scope or --include"
        )
    call.json = call.json or form == "json"
    usual = bank.settings.search.limit == Search().limit
    if limit is None and usual and call.console.terminal and not call.json and form is None:
        limit = _ON_SCREEN
    answer = _recall_by_agent(bank, query, at=at, limit=limit, **options)
    return answer._replace(notes=tuple(sorted(answer.notes, key=attrgetter("weak"))))


@operation(
    "recall",
    why="""
    Any text is a query. It finds passages with its words (more and rarer words rank higher) and
    passages of similar meaning. Each note is listed once with its best section; JSON has its
    other matching sections. A terminal shows the notes that fit the screen.

    A query may contain "phrases" (quote them once more for your shell), -words to exclude, and
    conditions: tag:search type:decision status:archived since:7d before:2026-05-01 in:decisions
    links:src/api.py, or any key of your notes' front matter. The options do the same. Conditions
    apply before ranking. Words of time (last week, in October) restrict the notes by date.

    --scope shared searches what other repositories published to the shared index, --scope both
    that and this bank; repo:NAME is then a condition, too. --include agents also searches the
    memories that Claude Code and Codex keep of this project on your machine, which nobody else
    sees, --include global also those that Codex keeps for all projects; --include commits lists
    commits whose messages answer.

    --mode lexical searches by words only and is fastest; semantic by meaning only. Notes that
    were opened often or written recently rank a little higher; each result counts as an access of
    the note.
    """,
    examples=(
        ("memory-bank recall why tantivy", "a question"),
        ("memory-bank recall '\"index grows\" -whoosh tag:search'", "phrase, exclusion, condition"),
        ("memory-bank recall retry --type bugfix --since 2w --explain", "with scores explained"),
        ("memory-bank recall retry --linked-to src/api.py", "what is known about a file"),
        ("memory-bank recall --scope both job queue repo:shop", "in other repositories, too"),
        ("memory-bank recall --at v1.0 which index", "what was known at a revision"),
        ("memory-bank recall --include commits why retries wait", "messages of commits, too"),
        ("memory-bank recall retry --json | jq -r '.notes[].path'", "for a program"),
    ),
    group="Find",
    through=_recall_in_command,
    view=views.view_recall,
    tool=(
        Tool(
            """Know this project's memory: each note, decision, fact or plan, and why. Also its
            history; what a session did yesterday, or should remember. Call it before you plan,
            decide or debug.""",
            "store",
            takes=(
                "query",
                "mode",
                "detail",
                "tokens",
                "limit",
                "tags",
                "type",
                "since",
                "before",
                "include_archived",
                "at",
                "scope",
                "include",
            ),
            defaults={"mode": "hybrid", "tokens": TOKENS, "limit": 5, "include": ()},
            bare=("since", "at", "scope"),
            reads=True,
            sought_by=(
                "what do we know about it; why was it so decided, chosen or dropped, who said so"
                " and when; is there a rule, decision, convention, note or fact on how it is done"
                " in this project; what did we do, learn, plan or try before, earlier, yesterday,"
                " last week, in the last session; have we seen this error; history, background,"
                " past discussions; search, look up, remember, memory, knowledge"
            ),
            without=("links",),
            run=_recall_by_agent,
        ),
        Tool(
            "Search notes by tags (all of them), type and time. For a question, `recall`.",
            "bank",
            name="search_memories",
            takes=("query", "limit", "tags", "type", "since", "before"),
            defaults={"limit": 5},
            bare=("query", "since"),
            fixed={"tokens": TOKENS},
            reads=True,
        ),
        Tool(
            """Search notes that link to a file, symbol, person or note. Call it before you change a
            file.""",
            "bank",
            view=views.view_linked,
            name="search_linked_memories",
            takes={"query": "query", "target_document": "linked_to", "limit": "limit"},
            defaults={"limit": 5, "target_document": REQUIRED},
            bare=("query",),
            fixed={"tokens": TOKENS},
            reads=True,
        ),
    ),
)
def recall(
    bank: Bank,
    query: Annotated[
        str,
        Param(
            argument=True,
            metavar="QUERY...",
            excludes=True,
            words=True,
            longest=LONGEST_QUERY,
            about='a question; "phrase" -word tag:x in:dir since:7d',
        ),
    ],
    limit: Annotated[Limit, Param("Most notes to list, 1 to 100")] = None,
    mode: Annotated[
        str | None,
        Param(
            "lexical, semantic, hybrid",
            metavar="MODE",
            choices=MODES,
            only=Literal["hybrid", "lexical", "semantic"],
        ),
    ] = None,
    *,
    detail: Annotated[str, Param(only=Literal["section", "index"])] = SECTION,
    tokens: Annotated[int | None, Param(only=int)] = None,
    tags: Annotated[Tags, Param("Only notes that have all these tags")] = (),
    type: Annotated[Type, Param("Only notes of this type")] = None,  # noqa: A002  (the field's word)
    since: Annotated[Since, Param(about="7d, last week, 2026-05")] = None,
    before: Before = None,
    linked_to: Annotated[
        str | None,
        Param(
            "Only notes that link to this note, file or person",
            metavar="NAME",
            complete="notes",
            longest=LONGEST_NAME,
        ),
    ] = None,
    include_archived: IncludeArchived = False,
    count_access: bool = True,
    scope: Annotated[
        str | None,
        Param(
            "bank, shared (other repositories), both",
            metavar="SCOPE",
            choices=SCOPES,
            only=Literal["bank", "shared", "both"] | None,
            about="shared: other repositories",
        ),
    ] = None,
    include: Annotated[
        Sequence[str],
        Param(
            "Also search: commits, agents (own memories), global",
            metavar="WHAT",
            choices=(AGENTS, GLOBAL, COMMITS),
            only=Sequence[Literal["commits"]],  # a server must not show agents' memories
        ),
    ] = (),
    progress: Progress | None = None,
) -> Answer:
    """Search notes by words, meaning and links.

    Return the notes that match a query, best first, each once with its best section.

    Sessions come with an excerpt; of those that are only weak matches, the best two.

    `limit` is clamped to 1 to 100. With the detail `note`, notes come whole instead of their best
    section, with `index` without text. With `tokens`, at least 1, they come with an excerpt, the
    best ones first, as far as that many tokens go; the others come without text. Notes need all of
    `tags`. Filters apply before ranking. With `linked_to`, the name of a note or ghost (such as a
    source file), only notes that link to it where it is about the query, with those links, the most
    relevant first; without words, all of them. Words of time in the query (`last week`) restrict it
    as `since` and `before` do, unless these are given; if no note of that time matches, all dates
    are searched. `notices` says both.
    Notes that are too unlikely to answer come last, marked as weak. Unless `count_access` is false,
    the access counts of the others are then increased by one.
    `scope` says what is searched: `bank`; `shared`, the notes of other repositories in the shared
    index; or `both`. With `agents` in `include`, the
    memories that agents' programs keep of the project on this machine, too; with `global`, also
    those for all projects; with `commits`, the
    commits whose messages answer. By default, it is that of the settings; with `linked_to`, it is
    the bank. Where the shared index can't be asked, the bank is searched, and `fallback_reason`
    says why.

    Raises BadInput for an unknown mode, detail, scope or time, `tokens` below 1,
    NoteNotFound for a `linked_to` that is neither a note nor a file.
    """
    bank.settings.check_enabled()
    mode = mode or HYBRID
    agents = not {AGENTS, GLOBAL}.isdisjoint(include)
    scope = scope or (bank.settings.search.scope if linked_to is None and not agents else BANK)
    _check_arguments(mode, detail, tokens)
    if unknown := [kind for kind in include if kind not in {AGENTS, GLOBAL, COMMITS}]:
        raise BadInput(
            f"recall can't include {unknown[0]!r}", f"choose {AGENTS}, {GLOBAL} or {COMMITS}"
        )
    search_query = Query(
        typed=query,
        conditions=list_conditions(tags=tags, types=type, since=since, before=before),
        mode=mode,
        limit=min(max(bank.settings.search.limit if limit is None else limit, 1), MOST),
        archived=include_archived,
        node="" if linked_to is None else find_node(bank, linked_to),
        reads_times=since is None and before is None,
        texts=detail != INDEX,
        whole=detail == NOTE or tokens is not None,
        also=detail != INDEX and tokens is None,
    )
    with bank.lock:
        if scope == BANK and not agents:
            answer = _recall_bank(bank, search_query, tokens, progress, count_access=count_access)
        else:
            from memory_bank.memory.retrieval.recall_scopes import (
                recall_across,  # start-up: rarely asked
            )

            answer = recall_across(
                bank,
                search_query,
                scope,
                agents=agents,
                everywhere=GLOBAL in include,
                count_access=count_access,
                progress=progress,
            )
            answer = answer if tokens is None else fit_to_tokens(answer, tokens)
    return _add_commits(bank, answer, search_query.limit) if COMMITS in include else answer


def _recall_bank(
    bank: Bank,
    query: Query,
    tokens: int | None,
    progress: Progress | None,
    *,
    count_access: bool,
) -> Answer:
    """Search the bank alone, and count accesses; the caller holds its lock."""
    answer, hits = search_notes(bank, query, progress)
    answer = fit_to_tokens(answer, tokens) if tokens else shorten_sessions(answer)
    used = [hit.document.known_as for hit in hits if not hit.weak]
    if not (count_access and used):
        return answer
    uncounted = bank.state.count_returned(used, time.time())
    return answer._replace(problem=answer.problem or uncounted or None)


def _check_arguments(mode: str, detail: str, tokens: int | None) -> None:
    if mode not in MODES:
        raise BadInput(f"there is no mode {mode!r}", f"choose one of: {', '.join(MODES)}")
    if detail not in DETAILS:
        raise BadInput(f"there is no detail {detail!r}", f"choose one of: {', '.join(DETAILS)}")
    if tokens is not None and tokens < 1:
        raise BadInput(f"{tokens} tokens are too few", "give 1 or more")


def recall_at(
    bank: Bank,
    rev: str,
    query: str,
    limit: int | None = None,
    mode: str | None = None,
    **options: Any,  # noqa: ANN401  (those of recall)
) -> Answer:
    """Return the notes that matched a query at a revision: a commit, tag, branch, `HEAD~3`.

    `options` are those of `recall`. Paths and lines are those of that revision, which `rev` of the
    answer names. No access is counted. Raises BadInput, also if the bank has no notes there.
    """
    bank.settings.check_enabled()
    if options.get("scope") not in {None, BANK} or options.get("include"):
        raise BadInput("all but the notes is known as it is now", "leave out the revision")
    from memory_bank.bank.revisions import bank_at  # start-up: rarely asked

    options |= {"count_access": False, "scope": BANK}
    with bank_at(bank, rev, required=True) as old_bank:
        answer = recall(old_bank, query, limit, mode, **options)
        notices = (*old_bank.take_notices(), *answer.notices)
        return answer._replace(rev=old_bank.revision, notices=notices)
