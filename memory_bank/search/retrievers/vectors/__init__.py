"""The retriever `vectors`: semantic search by embeddings, in SQLite and usearch."""

from __future__ import annotations

import re
from pathlib import Path
from typing import cast

from memory_bank.base import plugins
from memory_bank.base.errors import BadInput, BadSetting, EmbedderUnavailable
from memory_bank.base.settings import Settings
from memory_bank.search.embedders.base import EmbedderModule, identity
from memory_bank.search.retrievers.base import TEXT_VERSION, VECTORS_VERSION, Retriever

MODES = ("semantic", "hybrid")

DISABLED = "embeddings_disabled"


def fingerprint(settings: Settings) -> str:
    """Return what determines the stored data: the embedder, its settings and files; no secret."""
    own = _module(settings).fingerprint(settings)
    return f"{VECTORS_VERSION}.{TEXT_VERSION} {settings.memory.embedder} {own}"


def load(folder: Path, owner: str, settings: Settings) -> Retriever | None:
    """Open the index in a folder below `folder`; None when embeddings are off.

    Where the default embedder lacks its weights, a quick one takes its place.
    Raises EmbedderUnavailable.
    """
    problem = ""
    module = _module(settings)
    try:
        embedder = module.load(settings)
    except EmbedderUnavailable as error:
        quick = getattr(module, "QUICK", None)
        if quick is None:
            raise
        embedder = quick.load(settings)
        problem = f"{error.message}: answered by words and word vectors; {error.hint}"
    if embedder is None:
        return None
    from memory_bank.search.retrievers.vectors.vector_index import VectorIndex

    name = re.sub(r"[^\w.-]+", "-", identity(embedder))[:80]
    return VectorIndex(folder / name, owner, embedder, problem)


def _module(settings: Settings) -> EmbedderModule:
    try:
        return cast("EmbedderModule", plugins.load("search.embedders", settings.memory.embedder))
    except BadInput as error:
        where = settings.origins.get("memory.embedder", "the settings")
        raise BadSetting.after(error, f"{where}: {error.message}") from error
