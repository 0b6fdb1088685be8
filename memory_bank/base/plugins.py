"""Find plug-ins in the folder of their kind and in installed packages, and import them."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import suppress
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType
from typing import TYPE_CHECKING, cast

from memory_bank.base.errors import BadInput, PluginFailed, find_exhausted

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

_NOT_PLUGINS = frozenset({"__init__", "base"})

GROUPS = {
    "agents.clients": "memory_bank.clients",
    "code.languages": "memory_bank.languages",
    "code.sources": "memory_bank.sources",
    "memory.importers": "memory_bank.importers",
    "operations": "memory_bank.operations",
    "review.rules": "memory_bank.rules",
    "search.embedders": "memory_bank.embedders",
    "search.retrievers": "memory_bank.retrievers",
    "shared.engines": "memory_bank.engines",
}
"""The kinds that installed packages may extend, by the entry points of a group."""

_METADATA = (".dist-info", ".egg-info")


def list_plugins(kind: str) -> list[str]:
    """List the plug-ins of a kind (`search.embedders`, `operations`), ours first.

    One of ours is a module or a package whose name doesn't start with an underscore; the others are
    entry points of installed packages.
    """
    own = list_own(kind)
    return [*own, *sorted(name for name in list_installed(kind) if name not in own)]


def has(kind: str, name: str) -> bool:
    """Tell whether there is a plug-in of that name."""
    return name in list_own(kind) or name in list_installed(kind)


def load(kind: str, name: str) -> ModuleType:
    """Import one plug-in by name; one of ours comes before an installed one.

    Raises BadInput, naming the others, when there is none, and PluginFailed.
    """
    if name in list_own(kind):
        return import_module(f"memory_bank.{kind}.{name}")
    part = kind.rpartition(".")[2].rstrip("s")
    entry_points = list_installed(kind).get(name, ())
    if not entry_points:
        hint = "choose one of: {known}"
        hint += "; or install the package that has it" if kind in GROUPS else ""
        text = ", ".join(list_plugins(kind))
        raise BadInput(f"there is no {part} called {name!r}", hint, known=text)
    packages = [_package(point) for point in entry_points]
    if len(packages) > 1:
        raise PluginFailed(
            f"several packages have a plug-in of the kind {part} called {name!r}:"
            f" {', '.join(packages)}",
            "uninstall all of them but one",
        )
    try:
        return cast("ModuleType", entry_points[0].load())
    except Exception as error:  # what code of another package raises is not known
        raise find_exhausted(error) or PluginFailed(
            f"the {part} {name!r} of the package {packages[0]} can't be loaded:"
            f" {type(error).__name__}: {error}",
            "update that package, or uninstall it: pip uninstall {package}",
            package=packages[0],
        ) from error


def list_installed(kind: str) -> Mapping[str, tuple[EntryPoint, ...]]:
    """Return the entry points of installed packages that are plug-ins of a kind, by name."""
    group = GROUPS.get(kind)
    entry_points: dict[str, tuple[EntryPoint, ...]] = {}
    for point in _entry_points() if group else ():
        if point.group == group:
            name = point.name.replace("-", "_")
            entry_points[name] = (*entry_points.get(name, ()), point)
    return entry_points


@cache
def plugins_version(kind: str) -> str:
    """Return a text that changes with the installed plug-ins of a kind; empty without any."""
    texts = (
        f"{name}={_package(point)} {point.dist.version if point.dist else ''}"
        for name, points in sorted(list_installed(kind).items())
        for point in points
    )
    return ", ".join(texts)


@cache
def list_own(kind: str) -> tuple[str, ...]:
    """List our own plug-ins of a kind."""
    spec = find_spec(f"memory_bank.{kind}")
    folders = spec.submodule_search_locations if spec else None
    files = [file for folder in folders or () for file in os.listdir(folder)]  # noqa: PTH208  (start-up)
    modules = {file.removesuffix(".py") for file in files if "." not in file.removesuffix(".py")}
    return tuple(sorted(name for name in modules - _NOT_PLUGINS if not name.startswith("_")))


@cache
def _entry_points() -> tuple[EntryPoint, ...]:
    """Return the entry points of installed packages for this program.

    Packages are read from the folders of this Python only: `sys.path` may lead to a repository.
    """
    return tuple(
        point
        for folder in _package_folders()
        for place in _named_in(folder)
        for point in _points_of(place)
        if point.group in GROUPS.values()
    )


def _package_folders() -> list[str]:
    import site  # Python has it loaded

    own = [site.getusersitepackages()] if site.ENABLE_USER_SITE else []
    return list(dict.fromkeys([*site.getsitepackages(), *own]))


def _named_in(folder: str) -> Iterator[str]:
    """Yield the metadata of packages in a folder that name a group of ours.

    A hundred packages take 1 ms; importlib.metadata would take 17 at each start.
    """
    files: list[str] = []
    with suppress(OSError):
        files = sorted(os.listdir(folder))  # noqa: PTH208  (start-up)
    for file in files:
        if file.endswith(_METADATA):
            place = os.path.join(folder, file)  # noqa: PTH118  (start-up)
            with suppress(OSError), open(os.path.join(place, "entry_points.txt"), "rb") as stream:  # noqa: PTH118, PTH123  (start-up)
                if b"[memory_bank." in stream.read():
                    yield place


def _points_of(place: str) -> Iterator[EntryPoint]:
    from importlib.metadata import Distribution

    with suppress(ValueError):  # a damaged file
        yield from Distribution.at(place).entry_points


def install_hint(extra: str) -> str:
    """Return the step after an error for what an extra of this package would have installed."""
    import shlex  # start-up: few commands need an extra

    python = shlex.quote(sys.executable)
    pip = f"{python} -m pip install" if find_spec("pip") else f"uv pip install --python {python}"
    return f"run: {pip} 'markdown-memory-bank[{extra}]'"


def _package(point: EntryPoint) -> str:
    return point.dist.name if point.dist else point.value
