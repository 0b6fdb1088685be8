"""Plug-ins of one file, put beside ours."""

import shutil
import sys
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path

import pytest

from memory_bank.base import plugins

SAMPLE = Path(__file__).parents[1] / "sample_plugin/sample_plugin"

PlugIn = Callable[[str, str], None]


@pytest.fixture
def plug_in(tmp_path: Path) -> Iterator[PlugIn]:
    """Put a file of the sample beside the plug-ins of a kind, and take it away in the end."""
    added: list[tuple[list[str], str]] = []

    def write(kind: str, name: str) -> None:
        folder = tmp_path / "plug-ins" / kind
        folder.mkdir(parents=True)
        shutil.copy(SAMPLE / f"{name}.py", folder)
        places = import_module(f"memory_bank.{kind}").__path__
        places.append(str(folder))
        added.append((places, f"memory_bank.{kind}.{name}"))
        plugins.list_own.cache_clear()

    yield write
    for places, name in added:
        places.pop()
        sys.modules.pop(name, None)
    plugins.list_own.cache_clear()
