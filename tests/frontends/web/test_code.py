from pathlib import Path

import httpx2

from .conftest import Look, Serve
from .test_safety import TRAVERSALS, status_of


def test_a_line_of_a_file_is_reached_by_its_address(
    project: Path, serve: Serve, look: Look
) -> None:
    (project / "long.py").write_text("".join(f"a{n} = {n}\n" for n in range(200)))
    page = look(f"{serve().url}/code/long.py#L150", width=390)
    line = page.locator("tr:target")
    assert line.inner_text().split() == ["150", "a149", "=", "149"]
    assert 0 < line.bounding_box()["y"] < 900
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    assert page.title() == "long.py · project"


def test_no_other_file_is_reached(project: Path, dashboard: httpx2.Client) -> None:
    (project / ".gitignore").write_text(".env\n")
    (project / ".env").write_text("a=1\n")
    for name in (*TRAVERSALS, ".env", ".git/config", "%2eenv", ".git%2fconfig", ""):
        assert status_of(dashboard, f"/code/{name}") in {400, 404}, name
    assert status_of(dashboard, "/code/src/index.py") == 200
