"""Modules are imported at first use, by several threads at once, too."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from importlib.machinery import ModuleSpec, SourceFileLoader
from importlib.util import spec_from_file_location
from pathlib import Path

import pytest

from memory_bank.lazy import modules_of


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.syspath_prepend(str(tmp_path))
    before = set(sys.modules)
    yield tmp_path
    for name in set(sys.modules) - before:
        del sys.modules[name]


def test_a_name_that_is_no_module_is_no_attribute(folder: Path) -> None:
    (folder / "shop").mkdir()
    (folder / "shop/__init__.py").touch()
    with pytest.raises(AttributeError, match="'shop' has no attribute 'cellar'"):
        modules_of("shop")("cellar")


def test_a_module_whose_own_import_is_missing_says_so(folder: Path) -> None:
    (folder / "shop").mkdir()
    (folder / "shop/__init__.py").touch()
    (folder / "shop/till.py").write_text("import no_such_library_for_tills\n")
    with pytest.raises(ModuleNotFoundError, match="no_such_library_for_tills"):
        modules_of("shop")("till")


class Slow(SourceFileLoader):
    """Take long to create a module, so that another thread begins meanwhile."""

    began = threading.Event()

    def create_module(self, spec: ModuleSpec) -> None:
        self.began.set()
        time.sleep(0.3)

    def find_spec(self, name: str, *_: object) -> ModuleSpec | None:
        if name != self.name:
            return None
        return spec_from_file_location(
            name, self.path, loader=self, submodule_search_locations=[str(Path(self.path).parent)]
        )


def test_two_threads_import_a_package_and_its_module(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("shop", "library"):
        (folder / name).mkdir()
    (folder / "shop/__init__.py").touch()
    (folder / "shop/whole.py").write_text("import library\n")
    (folder / "shop/part.py").write_text("import library.part\n")
    (folder / "library/part.py").touch()
    (folder / "library/__init__.py").write_text("import library.part\n")
    slow = Slow("library", str(folder / "library/__init__.py"))
    monkeypatch.setattr(sys, "meta_path", [slow, *sys.meta_path])
    with ThreadPoolExecutor() as pool:
        whole = pool.submit(modules_of("shop"), "whole")
        assert Slow.began.wait(10)
        part = pool.submit(modules_of("shop"), "part")
    assert (whole.result().__name__, part.result().__name__) == ("shop.whole", "shop.part")
