"""Imports lead to files."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, cast

import pytest

from memory_bank.repo.import_targets import ImportTargets, module_name
from memory_bank.repo.symbol_table import FileState, SymbolTable


class Files:
    """A table of some files."""

    def __init__(self, *paths: str) -> None:
        self._paths = paths

    def files(self) -> dict[str, FileState]:
        def language(path: str) -> str:
            return "go" if path.endswith(".go") else "other"

        return {path: FileState(language(path), "", b"", "", "") for path in self._paths}


def targets(paths: Iterable[str]) -> ImportTargets:
    return ImportTargets(cast("SymbolTable", Files(*paths)))


PYTHON = [
    "src/app/__init__.py", "src/app/db.py", "src/app/web/__init__.py", "src/app/web/db.py",
    "src/app/json.py", "tools/run.py", "tools/helper.py",
]  # fmt: skip
SCRIPT = ["src/index.ts", "src/util.ts", "src/parts/index.tsx", "src/parts/menu.js", "README.js"]
RUST = ["src/lib.rs", "src/store/mod.rs", "src/store/disk.rs", "src/main.rs"]
GO = ["main.go", "internal/store/disk.go", "internal/store/memory.go", "internal/web/web.go"]
JAVA = ["src/main/java/org/shop/Order.java", "src/main/java/org/shop/Payment.java"]
C = ["src/queue.c", "src/queue.h", "include/shop/order.h", "src/main.c"]
RUBY = ["lib/shop.rb", "lib/shop/order.rb"]


@pytest.mark.parametrize(
    ("files", "path", "target", "names", "found"),
    [
        (PYTHON, "src/app/web/db.py", "app.db", (), ["src/app/db.py"]),
        (PYTHON, "src/app/db.py", "app", ("web",), ["src/app/__init__.py", "src/app/web/__init__.py"]),
        (PYTHON, "src/app/web/db.py", ".", ("db",), ["src/app/web/__init__.py", "src/app/web/db.py"]),
        (PYTHON, "src/app/web/db.py", "..db", ("Base",), ["src/app/db.py"]),
        (PYTHON, "tools/run.py", "json", (), []),
        (PYTHON, "tools/run.py", "helper", (), ["tools/helper.py"]),
        (PYTHON, "tools/run.py", "os.path", ("join",), []),
        (SCRIPT, "src/index.ts", "./util", ("x",), ["src/util.ts"]),
        (SCRIPT, "src/index.ts", "./util.js", (), ["src/util.ts"]),
        (SCRIPT, "src/index.ts", "./parts", (), ["src/parts/index.tsx"]),
        (SCRIPT, "src/parts/menu.js", "../util", (), ["src/util.ts"]),
        (SCRIPT, "src/index.ts", "react", (), []),
        (SCRIPT, "src/index.ts", "../../../etc/passwd", (), []),
        (RUST, "src/main.rs", "crate::store::disk::Disk", (), ["src/store/disk.rs"]),
        (RUST, "src/main.rs", "crate::store", ("Disk",), ["src/store/mod.rs"]),
        (RUST, "src/main.rs", "std::collections::HashMap", (), []),
        (GO, "main.go", "example.org/shop/internal/store", (), GO[1:3]),
        (GO, "main.go", "fmt", (), []),
        (JAVA, JAVA[0], "org.shop.Payment", (), [JAVA[1]]),
        (JAVA, JAVA[0], "java.util.List", (), []),
        (C, "src/main.c", "queue.h", (), ["src/queue.c", "src/queue.h"]),
        (C, "src/main.c", "shop/order.h", (), ["include/shop/order.h"]),
        (C, "src/main.c", "stdio.h", (), []),
        (RUBY, "lib/shop.rb", "shop/order", (), ["lib/shop/order.rb"]),
        (RUBY, "lib/shop.rb", "json", (), []),
    ],
)  # fmt: skip
def test_an_import_leads_to_files(
    files: list[str], path: str, target: str, names: tuple[str, ...], found: list[str]
) -> None:
    assert sorted(targets(files).files(path, target, names)) == sorted(found)


@pytest.mark.parametrize(
    "target", ["", ".", "..", "........", "/", "::", "a" * 10_000, "./" * 5000]
)
@pytest.mark.parametrize("path", ["a.py", "a.js", "src/a.rs"])
def test_no_target_is_too_odd(target: str, path: str) -> None:
    assert isinstance(targets([path]).files(path, target, ("x", "*", "")), list)


def test_imports_and_importers_of_a_file(table: SymbolTable) -> None:
    found = ImportTargets(table)
    imported: Any = found.imported("shop/orders.py")
    assert imported["shop/payments.py"] == {"payments", "Gateway"}
    assert found.importers("shop/orders.py") == ["shop/reports.py", "tests/test_orders.py"]
    assert found.importers("tests/test_orders.py") == []


def test_a_module_is_named_by_its_path() -> None:
    assert module_name("memory_bank/index/index.py") == "memory_bank.index.index"
    assert module_name("memory_bank/__init__.py") == "memory_bank"
    assert module_name("src/parts/index.ts") == "src.parts"
    assert module_name("Makefile") == "Makefile"
