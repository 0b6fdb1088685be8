"""Choose what turns text into vectors: list, install, use and try embedders."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from memory_bank import config, plugins
from memory_bank.actions.setting_edit import with_setting
from memory_bank.bank import Bank
from memory_bank.config import Settings
from memory_bank.embedders import static
from memory_bank.errors import BadInput, EmbedderUnavailable, MemoryBankError
from memory_bank.hints import Hint
from memory_bank.notes import files
from memory_bank.notes.identity import etag

if TYPE_CHECKING:
    from memory_bank.embedders.base import Embedder, EmbedderModule

KIND = "embedders"
SETTING = "memory.embedder"

_QUESTION = "How do I sign in when I forgot my password?"
_RELATED = "Users who lost their login secret reset it through a link in an e-mail."
_UNRELATED = "The recipe wants two eggs, butter and a pinch of salt."
_SENTENCES = 32


@dataclass(frozen=True, slots=True)
class EmbedderShown:
    """An embedder that could be used, and whether it can be now."""

    name: str
    summary: str
    active: bool
    ready: bool
    installable: bool
    """Whether `embedder_install` can fetch what it needs."""
    problem: str | None = None
    hint: str | None = None


@dataclass(frozen=True, slots=True)
class Chosen:
    """What a bank uses from now on."""

    embedder: str
    file: str
    changed: bool
    problem: str | None = None
    """Why the setting does not hold here, if something stronger says otherwise."""


@dataclass(frozen=True, slots=True)
class Tried:
    """What an embedder does on this machine."""

    embedder: str
    dimension: int
    load_seconds: float
    """Until the first vector was there."""
    query_seconds: float
    texts_per_second: float
    related: float
    """Cosine of a question and a sentence that answers it in other words."""
    unrelated: float
    """Cosine of the same question and a sentence about something else."""
    verified: str | None = None
    """What was found about the integrity of its files."""


def embedder_list(settings: Settings) -> tuple[EmbedderShown, ...]:
    """Return all embedders, and for each whether it can be used as things are."""
    return tuple(_shown(name, settings) for name in plugins.names(KIND))


def embedder_install(settings: Settings, name: str, say: Callable[[str], None]) -> str:
    """Fetch what an embedder needs and return where it is; `say` is told of each step.

    Raises BadInput for one that needs nothing or brings its own; EmbedderUnavailable and
    StorageFailed when it can't be had or kept.
    """
    install = getattr(_module(name), "install", None)
    if install is None:
        raise BadInput(f"the embedder {name!r} has nothing to install", Hint.LIST_EMBEDDERS)
    return cast("str", install(settings, say))


def embedder_use(bank: Bank, name: str) -> Chosen:
    """Write `embedder = "name"` into the bank's settings; all other bytes of the file stay.

    Raises BadInput for an unknown name, EmbedderUnavailable when it can't be used yet.
    """
    _module(name).load(bank.settings)
    file = bank.layout.config
    with bank.store.writing():
        data = files.read(file)
        text = (data or b"").decode("utf-8")
        new = with_setting(text, "memory", "embedder", name)
        if new != text:
            files.replace(file, new.encode(), files.ABSENT if data is None else etag(data))
    held = config.load(bank.layout.root)
    origin = held.origins.get(SETTING, "")
    problem = f"{origin} says {held.memory.embedder!r} and wins"
    return Chosen(
        embedder=name,
        file=str(file),
        changed=new != text,
        problem=None if held.memory.embedder == name else problem,
    )


def embedder_test(settings: Settings, name: str = "") -> Tried:
    """Embed some sentences, and return how fast that was and whether meaning is seen.

    Raises BadInput for the embedder that makes no vectors, EmbedderUnavailable.
    """
    name = name or settings.memory.embedder
    module = _module(name)
    started = time.perf_counter()
    embedder = module.load(settings)
    if embedder is None:
        raise BadInput(f"the embedder {name!r} makes no vectors", "there is nothing to test")
    embedder.embed([_UNRELATED])
    loaded = time.perf_counter()
    question, related, unrelated = (
        _vector(embedder, text) for text in (_QUESTION, _RELATED, _UNRELATED)
    )
    asked = time.perf_counter()
    texts = [f"{_RELATED} {number}" for number in range(_SENTENCES)]
    embedder.embed(texts)
    done = time.perf_counter()
    verify = getattr(module, "verify", None)
    return Tried(
        embedder=name,
        dimension=embedder.dimension,
        load_seconds=loaded - started,
        query_seconds=(asked - loaded) / 3,
        texts_per_second=_SENTENCES / (done - asked),
        related=_cosine(question, related),
        unrelated=_cosine(question, unrelated),
        verified=verify(settings) if verify else None,
    )


def count_tokens(texts: Sequence[str]) -> list[int]:
    """Estimate how many tokens of a language model texts are; raise EmbedderUnavailable.

    Counted with the tokenizer that comes with the install, Llama 2's: newer ones need fewer.
    """
    return static.count_tokens(texts)


def _shown(name: str, settings: Settings) -> EmbedderShown:
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
        installable=hasattr(module, "install"),
        problem=problem.message if problem else None,
        hint=(problem.hint or None) if problem else None,
    )


def _module(name: str) -> EmbedderModule:
    return cast("EmbedderModule", plugins.load(KIND, name))


def _vector(embedder: Embedder, text: str) -> list[float]:
    return [float(part) for part in embedder.embed([text])[0]]


def _cosine(a: list[float], b: list[float]) -> float:
    return sum(x * y for x, y in zip(a, b, strict=True))  # the vectors have length 1
