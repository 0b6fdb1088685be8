"""The shop whose notes cite it, for all that joins code and notes."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from memory_bank import open_bank, open_codebase
from memory_bank.bank import Bank
from memory_bank.codebase import Codebase
from tests.actions.cited_shop import make_shop


@pytest.fixture(scope="package")
def cited_shop(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_shop(tmp_path_factory.mktemp("repository").resolve() / "shop")


@pytest.fixture
def code(cited_shop: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Codebase]:
    monkeypatch.setenv("MEMORY_BANK_EMBEDDER", "none")
    with open_codebase(cited_shop) as opened:
        yield opened


@pytest.fixture
def shop_bank(cited_shop: Path, code: Codebase) -> Iterator[Bank]:
    with open_bank(cited_shop) as opened:
        yield opened
