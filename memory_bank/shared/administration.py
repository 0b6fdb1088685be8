"""Make and look after a shared index."""

from __future__ import annotations

from typing import Annotated

from memory_bank.base.errors import BadInput
from memory_bank.base.operation import Param, operation, topic
from memory_bank.base.plugins import load
from memory_bank.base.rendering import count
from memory_bank.base.screen import FOUND, Call
from memory_bank.base.settings import Settings
from memory_bank.search.embedders.base import identity
from memory_bank.shared import views
from memory_bank.shared.engines.base import IndexInfo, SharedEngine, open_engine
from memory_bank.shared.views import DroppedIndex

_To = Annotated[str, Param("The shared index [env: MEMORY_BANK_SHARED_URL]", metavar="URL")]


@operation(
    "shared init",
    why="""
    Makes the tables in a PostgreSQL database with the extension vector, and fixes the embedder of
    the index: that of this bank, or outside a bank that of your settings. All that publish must
    have the same. The role that runs it is the operator: it owns the tables. If they are there,
    nothing changes.
    """,
    examples=(("memory-bank shared init --to postgresql://operator@db/notes", "once"),),
    view=views.view_made,
)
def make(settings: Settings, *, to: _To = "") -> IndexInfo:
    """Make the tables of a shared index.

    Raises BadInput, SharedUnavailable, EmbedderUnavailable.
    """
    embedder, dimension = _embedder(settings)
    with _open_engine(settings, to) as engine:
        created = not engine.is_made()
        index_info = engine.make(embedder, dimension)
        return index_info._replace(place=engine.place, created=created)


@operation(
    "shared status",
    why="""
    Lists the banks that are published, with the commit of each.
    """,
    examples=(("memory-bank shared status", "what is published"),),
    view=views.view_status,
)
def status(settings: Settings, *, to: _To = "") -> IndexInfo:
    """List what is published."""
    with _open_engine(settings, to) as engine:
        info, heads = engine.info(), engine.heads()
        return info._replace(place=engine.place, banks=tuple(heads))


def _ask_to_drop(
    call: Call,
    settings: Settings,
    *,
    to: str = "",
    yes: Annotated[bool, Param("Drop without asking")] = False,
) -> DroppedIndex | int:
    """Ask before the tables are removed."""
    if not yes:
        status_now = status(settings, to=to)
        text = f"{count(len(status_now.banks or ()), 'bank')} in {status_now.place}"
        if call.json or not call.interactive:
            raise BadInput(
                f"{text} would be removed, but confirmation needs a terminal",
                "add --yes to drop without a question",
            )
        if not call.confirm(f"Remove {text}?"):
            call.remark("nothing was changed")
            return FOUND
    return drop(settings, to=to)


@operation(
    "shared drop",
    why="""
    Removes the tables with all that is published. The notes stay in their
    repositories, and can be published again.
    """,
    examples=(("memory-bank shared drop", "asks first"),),
    through=_ask_to_drop,
    view=views.view_dropped,
)
def drop(settings: Settings, *, to: _To = "") -> DroppedIndex:
    """Remove the tables with all that is published."""
    with _open_engine(settings, to) as engine:
        return DroppedIndex(engine.place, engine.drop())


def _open_engine(settings: Settings, to: str) -> SharedEngine:
    return open_engine(to or settings.shared.url)


def _embedder(settings: Settings) -> tuple[str, int]:
    from memory_bank.shared.export import NONE

    module = load("search.embedders", settings.memory.embedder)
    embedder = module.load(settings)
    return (NONE, 0) if embedder is None else (identity(embedder), embedder.dimension)


topic(
    "shared",
    "Look after the index that many repositories share.",
    group="Share",
    why="""
    A shared index has the reviewed notes of many repositories, in PostgreSQL with pgvector, so that
    one question finds what was learned in any of them. Its operator makes it, and says by the
    rights of the database who may read and publish. See docs/shared.md.
    """,
    examples=(
        ("memory-bank shared init --to postgresql://operator@db/notes", "make it"),
        ("memory-bank shared status", "what is published"),
    ),
)
