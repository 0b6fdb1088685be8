"""Files of a work tree import each other."""

from pathlib import Path

import pytest

from memory_bank.code.imports import ImportTargets
from memory_bank.code.index.symbol_table import SymbolTable
from tests.support.files import write_files


def test_imports_and_importers_of_a_file(table: SymbolTable) -> None:
    found = ImportTargets(table)
    assert found.imported("shop/orders.py") == {"shop/payments.py": {"payments", "Gateway"}}
    assert found.importers("shop/orders.py") == ["shop/reports.py", "tests/test_orders.py"]
    assert found.importers("tests/test_orders.py") == []


def test_a_module_of_go_is_named_by_its_go_mod(shop: Path, table: SymbolTable) -> None:
    pytest.importorskip("tree_sitter_go")
    write_files(
        shop,
        {
            "go/go.mod": "module example.org/shop\n",
            "go/main.go": 'package main\n\nimport "example.org/shop/store"\n\nfunc main() {}\n',
            "go/store/disk.go": "package store\n\nfunc Open() {}\n",
        },
    )
    table.refresh()
    assert list(ImportTargets(table).imported("go/main.go")) == ["go/store/disk.go"]
    assert "go/go.mod" not in table.files()
    assert not table.refresh()
