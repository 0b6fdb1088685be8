"""List and choose embedders."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, cast

from memory_bank.bank.bank import Bank
from memory_bank.bank.config_file import change_file, set_setting
from memory_bank.base import NamedTuple, plugins, settings
from memory_bank.base.errors import BadInput, EmbedderUnavailable, MemoryBankError
from memory_bank.base.operation import Param, operation, topic
from memory_bank.base.screen import Call, Piece
from memory_bank.base.settings import Settings
from memory_bank.base.view import Block, Table, View

if TYPE_CHECKING:
    from memory_bank.search.embedders.base import EmbedderModule
import re
from itertools import islice

from memory_bank.base import lazy_pattern
from memory_bank.notes.characters import decode
from memory_bank.search.retrievers.keyword.analyzer import STOP_WORDS

KIND = "search.embedders"

SETTING = "memory.embedder"


class EmbedderShown(NamedTuple):
    """An embedder, and whether it can be used."""

    name: str
    summary: str
    active: bool
    ready: bool
    problem: str | None = None
    hint: str | None = None


class ChosenEmbedder(NamedTuple):
    """The embedder chosen for a bank."""

    embedder: str
    file: str
    changed: bool
    problem: str | None = None
    """Which other setting overrides it, if one does."""


topic(
    "embedder",
    "List and choose embedders.",
    group="Look after",
    why="""
    An embedder turns texts into vectors, so that passages are found by meaning. The default,
    minilm, is part of the installation; static is faster and rougher; multilingual, http and onnx
    use other models; none disables semantic search.
    """,
    examples=(
        ("memory-bank embedder list", "all embedders"),
        ("memory-bank embedder use static", "for a small machine"),
    ),
)


def _view_embedders(embedders: Sequence[EmbedderShown], call: Call) -> View:
    """Describe each embedder in a row."""
    worded = [embedder._replace(hint=call.hint(embedder.hint)) for embedder in embedders]
    rows = [
        (embedder.name, "*" if embedder.active else "", embedder.summary, _state(embedder))
        for embedder in worded
    ]
    table = Table(("embedder", "used", "what it is", "state"), rows)
    return View("", [table], document={"embedders": worded})


def _state(embedder: EmbedderShown) -> str:
    if embedder.ready:
        return "ready"
    # what is missing besides a setting, such as an extra of the package, is told by the hint
    return (
        embedder.hint if embedder.hint and " install " in embedder.hint else embedder.problem or ""
    )


def _view_chosen(choice: ChosenEmbedder, call: Call) -> View:
    """Tell which embedder the bank uses now."""
    verb = "now uses" if choice.changed else "already uses"
    line: Sequence[Piece] = [
        f"this bank {verb} ",
        (choice.embedder, "bold"),
        f" ({call.place(choice.file)})",
    ]
    remarks = ["next: memory-bank sync"] if choice.changed else ()
    return View("", [Block([line])], remarks=remarks, warning=choice.problem)


@operation(
    "embedder list",
    why="""
    Lists all embedders with a description, which one the bank uses, and why one can't be used.
    """,
    examples=(("memory-bank embedder list", "all embedders"),),
    view=_view_embedders,
)
def embedder_list(settings: Settings) -> tuple[EmbedderShown, ...]:
    """List the embedders and whether they can be used.

    Return all embedders, and for each whether it can be used.
    """
    return tuple(_view_embedder(name, settings) for name in plugins.list_plugins(KIND))


@operation(
    "embedder use",
    why="""
    Writes `embedder = "NAME"` into the bank's settings, which are in git: everybody who works on
    the project uses the same embedder. All other lines of the file stay the same. The new vectors
    are computed during the next queries, or all at once by sync; until then they find by words.
    """,
    examples=(("memory-bank embedder use static && memory-bank sync", "change it at once"),),
    view=_view_chosen,
)
def embedder_use(bank: Bank, name: Annotated[str, Param(argument=True)]) -> ChosenEmbedder:
    """Choose the embedder of this bank.

    Write `embedder = "name"` into the bank's settings; the rest of the file is unchanged.

    Raises BadInput for an unknown name, EmbedderUnavailable when it can't be used yet.
    """
    _module(name).load(bank.settings)
    file = bank.layout.config
    with bank.store.writing():
        changed = change_file(file, lambda text: set_setting(text, "memory", "embedder", name))
    effective = settings.load(bank.layout.root)
    origin = effective.origins.get(SETTING, "")
    problem = f"{origin} sets {effective.memory.embedder!r} and overrides it"
    return ChosenEmbedder(
        embedder=name,
        file=str(file),
        changed=changed,
        problem=None if effective.memory.embedder == name else problem,
    )


def _view_embedder(name: str, settings: Settings) -> EmbedderShown:
    module = _module(name)
    problem: MemoryBankError | None = None
    try:
        module.load(settings)
    except (EmbedderUnavailable, BadInput) as error:
        problem = error
    return EmbedderShown(
        name=name,
        summary=module.SUMMARY,
        active=name == settings.memory.embedder,
        ready=problem is None,
        problem=problem.message if problem else None,
        hint=(problem.hint or None) if problem else None,
    )


def _module(name: str) -> EmbedderModule:
    return cast("EmbedderModule", plugins.load(KIND, name))


_ENGLISH = frozenset(["minilm", "static"])
"""Embedders that were made from English texts."""

_READ, _FEWEST, _FEWEST_WORDS = 60, 3, 10
"""Notes that are read at most, and number of notes below which nothing is said; words from
which a note is judged."""

_LEAST = 0.08
"""Share of words of `_FUNCTION_WORDS` from which a note is in another language, if it has fewer of
English: of 213 notes of three banks, 10 that are so; of 16 German ones, all."""

_FUNCTION_WORDS = frozenset(
    """
    der die das und ist nicht ein eine einen einem den dem mit für auf von wird sind auch werden bei
    zu im am aus nach oder nur noch wenn damit
    de les des est une un dans que qui sur avec pas sont par cette être aux du le la et
    el los las es una del por para con pero este esta se en
    il lo gli che di della dei delle le non sono nel nella si perché ha anche è
    um uma não com mais da ao aos pelo são também é
    het een van niet met voor zijn dat wordt ook op te bij naar er zodat
    nie jest się że dla jak od przez które są tylko lub oraz na
    bir ve bu için ile olarak değil daha çok gibi olan çünkü
    """.split()  # noqa: SIM905  (a line a language)
)
"""Frequent words of the languages in Latin script that `multilingual` knows; English has none."""

_SCRIPTS = lazy_pattern(
    "[\u0400-\u04ff\u0600-\u06ff\u0e00-\u0e7f\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]"
)
"""The other scripts that it knows: Cyrillic, Arabic, Thai, Chinese, Japanese, Korean."""

_WORD = lazy_pattern(r"[^\W\d_]+")

_NO_PROSE = lazy_pattern(r"\A---\r?\n.*?\n---\r?\n|```.*?```|`[^`\n]*`|https?://\S+", re.DOTALL)


def multilingual_hint(bank: Bank) -> str:
    """Return how to use the embedder for other languages if most notes are in one, else nothing."""
    if bank.settings.memory.embedder not in _ENGLISH:
        return ""
    try:
        paths = islice([key for root in bank.roots.all() for key in root.scan().signatures], _READ)
        texts = [decode(data).text for path in paths if (data := bank.roots.of(path).read(path))]
    except (MemoryBankError, UnicodeError):
        return ""
    foreign = sum(map(is_other_language, texts))
    if foreign < _FEWEST or foreign * 2 <= len(texts):
        return ""
    return (
        "most notes are not in English: `memory-bank embedder use multilingual` finds more by"
        f" meaning; {plugins.install_hint('multilingual')}"
    )


def is_other_language(text: str) -> bool:
    """Return whether a text is in another language that `multilingual` knows.

    What merely has few words of English, as lists of names have, is in none.
    """
    words = [word.casefold() for word in _WORD.findall(_NO_PROSE.sub(" ", text))]
    letters = "".join(words)
    if len(_SCRIPTS.findall(letters)) > len(letters) / 2:
        return True
    if len(words) < _FEWEST_WORDS:
        return False
    english, other = (
        sum(word in vocabulary for word in words) for vocabulary in (STOP_WORDS, _FUNCTION_WORDS)
    )
    return other > english and other >= _LEAST * len(words)
