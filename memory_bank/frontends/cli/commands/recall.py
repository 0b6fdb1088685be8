"""`memory-bank recall`: find notes by words, meaning and links."""

from __future__ import annotations

import re
from typing import Any

import click

from memory_bank.base.setting_sections import MODES, SCOPES
from memory_bank.frontends.cli import options, shell_completion
from memory_bank.frontends.cli.call import Call
from memory_bank.frontends.cli.command import as_command
from memory_bank.frontends.cli.help import Command

GROUP = "Find"

FORMATS = ("paths", "md", "json", "csv")

_NEGATED = re.compile(r"-[^-\s].*", re.DOTALL)


class _RecallCommand(Command):
    """Takes `-word` as an excluded word, not as options."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Move the excluded words behind `--`."""
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
        # only if needed: an option without its value would take `--` as the value
        return super().parse_args(ctx, [*kept, *(["--", *behind] if behind else [])])


@as_command(
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
    form=_RecallCommand,
)
@click.argument("query", nargs=-1, required=True, metavar="QUERY...")
@click.option("--mode", type=click.Choice(MODES), metavar="MODE", help="lexical, semantic, hybrid")
@options.limit(None, "Most notes to list, 1 to 100")
@options.tags("Only notes that have all these tags")
@options.kind("Only notes of this type")
@options.since
@options.before
@click.option(
    "--linked-to",
    metavar="NAME",
    help="Only notes that link to this note, file or person",
    shell_complete=shell_completion.notes,
)
@options.include_archived
@click.option(
    "--min-score",
    metavar="X",
    type=click.FloatRange(0, 1),
    default=0.0,
    help="Only notes of at least this score",
)
@click.option(
    "--scope",
    type=click.Choice(SCOPES),
    metavar="SCOPE",
    help="bank, shared (other repositories), both, user",
)
@click.option("--at", "rev", metavar="REV", help="Notes as of a commit, tag or branch")
@click.option("--also", is_flag=True, help="Show each note's other matching sections, too")
@click.option(
    "--format",
    "form",
    type=click.Choice(FORMATS),
    metavar="FORM",
    help="paths, md, json, csv",
)
@click.option("-i", "--interactive", is_flag=True, help="Choose a note and open it in your editor")
@click.option("--explain", is_flag=True, help="Show the parsed query and each note's scores")
@click.option("--no-count", is_flag=True, help="Don't count this as an access of the notes")
def command(call: Call, **options: Any) -> int:  # noqa: ANN401  (passed on by name)
    """Search notes by words, meaning and links."""
    from memory_bank.frontends.cli.recall_view import answer  # start-up: help needs no view

    return answer(call, **options)
