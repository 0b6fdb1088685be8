"""Verify files of weights, remember what they are, and keep loaded models until nobody asks."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import sys
import time
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import TypeVar

from memory_bank.base import NamedTuple
from memory_bank.base.errors import EmbedderUnavailable
from memory_bank.base.paths import user_folder


class Pinned(NamedTuple):
    """A file that must have exactly these bytes; `name` is its path below its folder."""

    name: str
    size: int
    sha256: str

    def check_size(self, folder: Path, hint: str) -> Path:
        """Return the file's path; raise EmbedderUnavailable when it is missing or of wrong size."""
        path = folder / self.name
        try:
            size = path.stat().st_size
        except OSError as error:
            raise EmbedderUnavailable(f"{path}: {error.strerror}", hint) from error
        if size != self.size:
            raise EmbedderUnavailable(f"{path}: has {size} bytes, not {self.size}", hint)
        return path

    def check_once(self, folder: Path, hint: str) -> Path:
        """Return the file's path; hash it unless that was done since it was last written."""
        path = self.check_size(folder, hint)
        key = f"{path}|{path.stat().st_mtime_ns}"
        if recall(key).model_hash != self.sha256:
            self.check_hash(folder, hint)
            remember(key, KnownModel(model_hash=self.sha256))
        return path

    def check_hash(self, folder: Path, hint: str) -> Path:
        """Return the file's path; raise EmbedderUnavailable if its hash differs."""
        path = self.check_size(folder, hint)
        try:
            with path.open("rb") as file:
                digest = hashlib.file_digest(file, "sha256").hexdigest()
        except OSError as error:
            raise EmbedderUnavailable(f"{path}: {error.strerror}", hint) from error
        if digest != self.sha256:
            raise EmbedderUnavailable(
                f"{path}: SHA-256 is {digest}, not the pinned {self.sha256}", hint
            )
        return path


_MOST = 64  # models remembered, the newest


class KnownModel(NamedTuple):
    """A model's vector length (0: not known yet) and the hash of its files, if it has any."""

    dimension: int = 0
    model_hash: str = ""


def recall(key: str) -> KnownModel:
    """Return the cached values; empty if the file is missing or damaged."""
    entry = _read(_path()).get(key)
    match entry:
        case {"dimension": int(dimension), "model_hash": str(model_hash)} if dimension >= 0:
            return KnownModel(dimension, model_hash)
    return KnownModel()


def remember(key: str, model: KnownModel) -> None:
    """Cache values; ignore failures of the disk."""
    path = _path()
    entries = _read(path)
    entries.pop(key, None)
    entries[key] = model._asdict()
    newest = dict(list(entries.items())[-_MOST:])
    made_path = path.with_name(f"{path.name}.{os.getpid()}")
    with contextlib.suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        made_path.write_text(json.dumps(newest, indent=1), encoding="utf-8")
        made_path.replace(path)


def _path() -> Path:
    return user_folder("cache") / "models.json"


def _read(path: Path) -> dict[str, object]:
    try:
        entries = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return entries if isinstance(entries, dict) else {}


Loader = TypeVar("Loader", bound=Callable[..., object])

_forget_models: list[Callable[[], None]] = []

_last_used = 0.0


def loaded_once(load: Loader) -> Loader:
    """Keep the models that `load` returns, by its arguments, until `release_idle` lets them go.

    Whoever uses a model asks for it each time, and keeps no reference to it. No lock is held: two
    threads that ask first at the same moment load it twice, and one of the two is kept.
    """
    cached = cache(load)
    _forget_models.append(cached.cache_clear)

    def ask(*place: object) -> object:
        global _last_used  # noqa: PLW0603  (of the process, as the models are)
        _last_used = time.monotonic()
        return cached(*place)

    return ask  # type: ignore[return-value]


def release_idle(seconds: float) -> None:
    """Let all models go if the last was asked for that many seconds ago."""
    global _last_used  # noqa: PLW0603  (as above)
    if _last_used and time.monotonic() - _last_used >= seconds:
        _last_used = 0.0
        for forget in _forget_models:
            forget()
        return_freed_memory()


def return_freed_memory() -> None:
    """Give the pages of freed objects back to the system, which glibc does only when it is told."""
    if sys.platform == "linux":
        import ctypes  # start-up: few processes are idle for long, or index much

        trim = getattr(ctypes.CDLL(None), "malloc_trim", None)  # other libraries of C have none
        if trim is not None:
            trim(0)
