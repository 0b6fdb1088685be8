"""`memory-bank remember`: write a new note."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from memory_bank.base.operation import Param, Tags, Text, Type, operation
from memory_bank.base.screen import Call
from memory_bank.base.text import agent_name
from memory_bank.frontends.cli import text_input
from memory_bank.frontends.cli.change_view import ask_whether_amended

if TYPE_CHECKING:
    from memory_bank.memory import remember


_SOURCES = ("manual", "agent", "session", "import")


@operation(
    "remember",
    why="""
    Writes the text as a Markdown note, named after its type and its first words. The same text a
    second time makes no second note: its tags are added to the first.

    Without TEXT it is read from a pipe, or written in $VISUAL or $EDITOR; `-` always means stdin.
    Wikilinks in the text, `[[decisions/whoosh]]` or `supersedes:: [[…]]`, link it to other notes
    and to files; --file-ref, --symbol-ref and --entity add links outside the text.
    """,
    examples=(
        ('memory-bank remember "Retries need jitter" --tags http,lesson', "one line"),
        ("git log -1 --format=%B | memory-bank remember --type change", "from a pipe"),
        ("memory-bank remember --type decision --name decisions/queue", "in your editor"),
        ('memory-bank remember "…" --file-ref src/api.py --entity person:sarah', "with references"),
    ),
    group="Write",
    allow_secret=True,
)
def command(
    call: Call,
    *,
    text: Text = None,
    tags: Annotated[Tags, Param("Tags, separated by commas")] = (),
    kind: Annotated[Type, Param("decision, fact, plan, bugfix … or a word of your own")] = None,
    name: Annotated[str, Param("The note's name: folder/name", metavar="NAME")] = "",
    files: Annotated[
        tuple[str, ...],
        Param(
            "A file that it is about; repeatable", flags="--file-ref", metavar="PATH", path="any"
        ),
    ] = (),
    symbols: Annotated[
        tuple[str, ...], Param("A symbol; repeatable", flags="--symbol-ref", metavar="NAME")
    ] = (),
    entities: Annotated[
        tuple[str, ...], Param("A person, ticket, clause …", flags="--entity", metavar="KIND:ID")
    ] = (),
    source: Annotated[
        str | None,
        Param(
            "Who wrote it: manual, agent, session (not in git), import",
            metavar="SOURCE",
            choices=_SOURCES,
        ),
    ] = None,
    agent: Annotated[str, Param("The agent that writes it, if one does", metavar="NAME")] = "",
) -> int:
    """Write a text as a new note."""
    from memory_bank.memory import remember
    from memory_bank.memory.same_subject import side_by_side

    def render(done: remember.Remembered) -> None:
        verb = "created" if done.action == "created" else "updated"
        call.console.line(f"{verb} ", (call.place(done.path), "place"), f" (id {done.note_id})")
        if done.same_as:
            call.console.line("  same content: ", (call.place(done.same_as), "place"))
        if done.similar_to:
            call.console.line("  similar: ", (call.place(done.similar_to), "place"))
        for remark in done.remarks:
            for line in side_by_side(remark, call.place(remark.path)):
                call.console.line(f"  {line}")
        call.warn(done.warning)

    if agent and not agent_name(agent):
        raise call.usage_error("--agent: the name has no visible character")
    for words in entities:
        remember.entity(words)  # report errors before the user writes the text
    source = source or ("agent" if agent else "manual")
    with call.open() as bank:
        bank.settings.check_enabled()
        with text_input.given_or_edited(text) as content:
            done = remember.remember(
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
        ask_whether_amended(call, bank, done.path, done.may_amend)
    return 0


def _below(project: Path, file: str) -> str:
    """Return a file's path relative to the project; unchanged if it is not in the project."""
    found = Path(file).absolute().resolve()
    if found.exists() and found.is_relative_to(project):
        return found.relative_to(project).as_posix()
    return file
