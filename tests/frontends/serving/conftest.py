from collections.abc import Iterator

import pytest

from tests.frontends.mcp.over_http import Served, served


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """Serve an empty bank with the usual limits."""
    project = tmp_path_factory.mktemp("project")
    (project / ".memories").mkdir()
    with served(project) as server:
        yield server
