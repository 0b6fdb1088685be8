"""`memory-bank recall`: find notes by words, meaning and links."""

from __future__ import annotations

import re
from typing import Any

import click

from memory_bank.config import MODES
from memory_bank.frontends.cli import options
from memory_bank.frontends.cli import shell_completion as completing
from memory_bank.frontends.cli.call import Call
from memory_bank.frontends.cli.command import as_command
from memory_bank.frontends.cli.help import Command
from memory_bank.frontends.cli.recall_view import answer

GROUP = "Find"

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
@click.option("--mode", type=click.Choice(MODES), metavar="MODE", help="lexical, semantic, hybrid")
@options.limit(None, "Most notes to list, 1 to 100")
@options.tags("Only notes that have all these tags")
@options.kind("Only notes of this type")
@options.since
@options.before
@click.option(
    "--linked-to",
    metavar="NAME",
    help="Only what links to this note, file, person; and why",
    shell_complete=completing.notes,
)
@options.include_archived
@click.option("--explain", is_flag=True, help="Say how it was read and why notes were found")
@click.option("--no-count", is_flag=True, help="Don't count this as an access of the notes")
def command(call: Call, **asked: Any) -> int:  # noqa: ANN401  (handed on under their names)
    """Find what the bank knows."""
    return answer(call, **asked)
