"""What the tests of embedders share."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Skip what leaves this machine unless it is asked for."""
    if "network" in str(config.getoption("-m")):
        return
    skip = pytest.mark.skip(reason="leaves this machine: run with -m network")
    for item in items:
        if item.get_closest_marker("network"):
            item.add_marker(skip)


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Keep what is remembered about models away from the user's folder."""
    folder = tmp_path / "cache"
    monkeypatch.setenv("XDG_CACHE_HOME", str(folder))
    return folder
