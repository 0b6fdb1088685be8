"""`memory-bank remember`: write something down."""

from __future__ import annotations

from pathlib import Path

import click

from memory_bank import actions
from memory_bank.agents import agent_name
from memory_bank.frontends.cli import options, text_input
from memory_bank.frontends.cli.call import Call
from memory_bank.frontends.cli.command import as_command

GROUP = "Write"

_SOURCES = ("manual", "agent", "session", "import")


@as_command(
    "remember",
    why="""
    Makes a Markdown note of the text; its name comes from its type and its first words. The same
    text a second time makes no second note: the tags are merged into the first.

    Without TEXT it is read from a pipe, or written in $VISUAL or $EDITOR; `-` always means stdin.
    Wikilinks in the text, `[[decisions/whoosh]]` or `supersedes:: [[…]]`, join it to other notes
    and to files; --file-ref, --symbol-ref and --entity do the same from outside the text.
    """,
    examples=(
        ('memory-bank remember "Retries need jitter" --tags http,lesson', "one line"),
        ("git log -1 --format=%B | memory-bank remember --type change", "from a pipe"),
        ("memory-bank remember --type decision --name decisions/queue", "in your editor"),
        ('memory-bank remember "…" --file-ref src/api.py --entity person:sarah', "with references"),
    ),
)
@options.text()
@options.tags("Tags, separated by commas")
@options.kind("decision, fact, plan, bugfix … or a word of your own")
@click.option("--name", metavar="NAME", default="", help="The note's name: folder/words")
@click.option(
    "--file-ref",
    "files",
    metavar="PATH",
    multiple=True,
    type=click.Path(),
    help="A file that it is about; may be given again",
)
@click.option("--symbol-ref", "symbols", metavar="NAME", multiple=True, help="A symbol: the same")
@click.option(
    "--entity", "entities", metavar="KIND:ID", multiple=True, help="A person, ticket, clause …"
)
@click.option(
    "--source",
    metavar="SOURCE",
    type=click.Choice(_SOURCES),
    help="Who says so: manual, agent, session (kept out of git), import",
)
@click.option("--agent", metavar="NAME", default="", help="Which agent, if one does")
@options.allow_secret
def command(
    call: Call,
    *,
    text: str | None,
    tags: tuple[str, ...],
    kind: str | None,
    name: str,
    files: tuple[str, ...],
    symbols: tuple[str, ...],
    entities: tuple[str, ...],
    source: str | None,
    agent: str,
) -> int:
    """Keep a text as a note."""

    def render(done: actions.remember.Remembered) -> None:
        verb = "created" if done.action == "created" else "updated"
        call.page.line(f"{verb} ", (call.place(done.path), "place"), f" (id {done.note_id})")
        if done.same_as:
            call.page.line("  same content, unchanged: ", (call.place(done.same_as), "place"))
        call.warn(done.warning)

    if agent and not agent_name(agent):
        raise call.wrong("--agent: the name has no character that can be seen")
    for words in entities:
        actions.remember.entity(words)  # before somebody writes a text in vain
    source = source or ("agent" if agent else "manual")
    with call.open() as bank:
        bank.settings.check_enabled()
        with text_input.given_or_edited(text) as content:
            done = actions.remember.remember(
                bank,
                content,
                tags=tags,
                type=kind or (source if source == "session" else ""),
                name=name,
                file_refs=[_below(bank.layout.project, file) for file in files],
                symbol_refs=symbols,
                entity_refs=entities,
                source_type=source,
                source_agent=agent,
            )
    call.answer(done, render)
    return 0


def _below(project: Path, file: str) -> str:
    """Return a file as the project calls it, if it is there; else as it was written."""
    found = Path(file).absolute().resolve()
    if found.exists() and found.is_relative_to(project):
        return found.relative_to(project).as_posix()
    return file
