"""`memory-bank recall`: find notes by words, meaning and links."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import click

from memory_bank.frontends.cli import _completing as completing
from memory_bank.frontends.cli import _options as options
from memory_bank.frontends.cli._command import FOUND, NOTHING, Call, as_command
from memory_bank.frontends.cli._help import Command
from memory_bank.frontends.present import plain

if TYPE_CHECKING:
    from memory_bank.actions.reading import ReadQuery
    from memory_bank.actions.recall import Recalled, RecalledNote

GROUP = "Find"

_MODES = ("lexical", "semantic", "hybrid")
_INDENT = "   "
_NEGATED = re.compile(r"-[^-\s].*", re.DOTALL)


class _Asking(Command):
    """Takes `-word` for a word that must not be there, not for options."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Put the negated words where no option is looked for."""
        end = args.index("--") if "--" in args else len(args)
        valued = {
            name
            for param in self.params
            if isinstance(param, click.Option) and not param.is_flag
            for name in param.opts
        }
        words = [
            number
            for number, word in enumerate(args[:end])
            if len(word) > len("-h") and _NEGATED.fullmatch(word)
            if not number or args[number - 1] not in valued
        ]
        kept = [word for number, word in enumerate(args[:end]) if number not in words]
        behind = [*(args[number] for number in words), *args[end + 1 :]]
        # none without need: an option that lacks its value would take it for that
        return super().parse_args(ctx, [*kept, *(["--", *behind] if behind else [])])


@as_command(
    "recall",
    why="""
    Any text is a query. Passages that have its words are found, the more and the rarer the
    better, and passages of a similar meaning. Each note is listed once with its best section;
    sections that match too stand below it.

    A query may hold "phrases" (quote them once more for your shell), -words that must not be
    there, and conditions: tag:search type:decision status:archived since:7d before:2026-05-01
    in:decisions links:src/api.py, or any key of your notes' front matter. The options say the
    same. Conditions apply before ranking.

    --mode lexical looks for words only and is fastest; semantic for meaning only. What is found
    often or was written lately ranks a little higher; each answer counts as an access of its
    notes unless --no-count is given.
    """,
    examples=(
        ("memory-bank recall why tantivy", "a question"),
        ("memory-bank recall '\"index grows\" -whoosh tag:search'", "phrase, exclusion, condition"),
        ("memory-bank recall retry --type bugfix --since 2w --explain", "and why it was found"),
        ("memory-bank recall retry --linked-to src/api.py", "what is known about a file"),
        ("memory-bank recall retry --json | jq -r '.notes[].path'", "for a program"),
    ),
    form=_Asking,
)
@click.argument("query", nargs=-1, required=True, metavar="QUERY...")
@click.option("--mode", type=click.Choice(_MODES), metavar="MODE", help="lexical, semantic, hybrid")
@options.limit(None, "Most notes to list, 1 to 100")
@options.tags("Only notes that have all these tags")
@options.kind("Only notes of this type")
@options.since
@options.before
@click.option(
    "--linked-to",
    metavar="NAME",
    default="",
    help="Only what links to this note, file, person; and why",
    shell_complete=completing.notes,
)
@options.include_archived
@click.option("--explain", is_flag=True, help="Say how it was read and why notes were found")
@click.option("--no-count", is_flag=True, help="Don't count this as an access of the notes")
def command(
    call: Call,
    *,
    query: tuple[str, ...],
    kind: str | None,
    explain: bool,
    no_count: bool,
    **wanted: Any,  # noqa: ANN401  (handed on under the action's names)
) -> int:
    """Find what the bank knows."""
    text = " ".join(query)
    read = None
    with call.open() as bank:
        bank.look_ahead(call.ctx.obj)
        from memory_bank.actions.recall import recall

        answer = recall(bank, text, type=kind, count_access=not no_count, **wanted)
        if explain:
            from memory_bank.actions.reading import read_query

            read = read_query(bank, text)
    if call.json:
        call.document({**_fields(answer), **({"read_as": read} if read else {})})
    else:
        _show(call, answer, read)
    call.fallback(answer.fallback_reason)
    call.warn(answer.problem)
    if not answer.notes and not call.json:
        call.remark("nothing found")
    return FOUND if answer.notes else NOTHING


def _fields(answer: Recalled) -> dict[str, object]:
    shown = plain(answer)
    return shown if isinstance(shown, dict) else {}


def _show(call: Call, answer: Recalled, read: ReadQuery | None) -> None:
    if read is not None:
        call.page.line(("read as: ", "dim"), _read(read), ("; mode: ", "dim"), answer.mode_used)
    for rank, note in enumerate(answer.notes, 1):
        if rank > 1 or read is not None:
            call.page.line()
        _show_note(call, rank, note, explain=read is not None)


def _show_note(call: Call, rank: int, note: RecalledNote, *, explain: bool) -> None:
    page = call.page
    score = (f"{note.relevance_score:.2f}", "dim")
    page.line(f"{rank:<{len(_INDENT)}}", (call.place(note.path, note.line), "place"), "  ", score)
    page.line(_INDENT, (_headed(note.title, note.heading), "bold"))
    page.block(note.snippet, _INDENT)
    about = [note.type, *(f"#{tag}" for tag in note.tags), note.created_at[:10]]
    if note.status != "active":
        about.append(note.status)
    page.line(_INDENT, (" · ".join(filter(None, about)), "tag"))
    if note.superseded_by:
        page.line(_INDENT, (f"superseded by {call.place(note.superseded_by)}", "warn"))
    if explain:
        for reason in note.reasons:
            shown = f"{reason.source:<12}{reason.detail:<24}{reason.score:>6.2f}"
            page.line(_INDENT, ("why  ", "dim"), shown)
    for link in note.links or ():
        where = (call.place(link.source, link.line), "place")
        page.line(_INDENT, ("link ", "dim"), where, f"  {link.type}: {link.context}")
    for other in note.also:
        where = (call.place(note.path, other.line), "place")
        page.line(_INDENT, ("also ", "dim"), where, f"  {_headed('', other.heading)}")
        page.block(other.snippet, f"{_INDENT}     ", "dim")


def _headed(title: str, heading: str) -> str:
    """Return a note's title and the headings below it."""
    parts = heading.split(" > ") if heading else []
    if title and parts[:1] != [title]:
        parts.insert(0, title)
    return " › ".join(parts)


def _read(read: ReadQuery) -> str:
    parts = [f"words {read.words!r}"] if read.words else []
    parts += [f"phrase {phrase!r}" for phrase in read.phrases]
    parts += [f"without {word!r}" for word in read.without]
    return ", ".join([*parts, *read.conditions]) or "nothing to look for"
