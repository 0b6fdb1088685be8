"""Cache dimension and hash of models between processes."""

from __future__ import annotations

import contextlib
import json
import os
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from memory_bank.layout import user_folder

if TYPE_CHECKING:
    from pathlib import Path

_MOST = 64  # models remembered, the newest


@dataclass(frozen=True, slots=True)
class Known:
    """A model's vector length (0: not known yet) and the hash of its files, if it has any."""

    dimension: int = 0
    model_hash: str = ""


def recall(key: str) -> Known:
    """Return the cached values; empty if the file is missing or damaged."""
    entry = _read(_path()).get(key)
    match entry:
        case {"dimension": int(dimension), "model_hash": str(model_hash)} if dimension >= 0:
            return Known(dimension, model_hash)
    return Known()


def remember(key: str, known: Known) -> None:
    """Cache values; ignore failures of the disk."""
    path = _path()
    entries = _read(path)
    entries.pop(key, None)
    entries[key] = asdict(known)
    newest = dict(list(entries.items())[-_MOST:])
    made = path.with_name(f"{path.name}.{os.getpid()}")
    with contextlib.suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        made.write_text(json.dumps(newest, indent=1), encoding="utf-8")
        made.replace(path)


def _path() -> Path:
    return user_folder("cache") / "models.json"


def _read(path: Path) -> dict[str, object]:
    try:
        entries = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return entries if isinstance(entries, dict) else {}
