"""The pictures of the work tree that notes show, and no other file."""

import re
from collections.abc import Callable
from pathlib import Path

import httpx2

from .test_safety import TRAVERSALS, status_of

Git = Callable[..., str]
PNG = bytes.fromhex("89504e470d0a1a0a")
SVG = b'<svg xmlns="http://www.w3.org/2000/svg"><script>document.title = 1</script></svg>'
NOTE = """# Pictures

![The flow](flow%20chart.png) ![](../../docs/plan.svg) ![[near.webp|300]] ![[near.webp|Near]]

[a link](flow%20chart.png) [[near.webp]] ![out](https://example.org/a.png) ![none](none.png)
"""


def add_files(project: Path, git: Git) -> None:
    """Add a note with pictures beside it and in the project, and files that it may not show."""
    facts, docs = project / ".memories/facts", project / "docs"
    docs.mkdir(exist_ok=True)
    (facts / "flow chart.png").write_bytes(PNG)
    (facts / "near.webp").write_bytes(PNG)
    (docs / "plan.svg").write_bytes(SVG)
    (facts / "pictures.md").write_text(NOTE)
    (project / ".gitignore").write_text("secret.png\n")
    git(project, "add", "-A")
    (project / "secret.png").write_bytes(PNG)
    (project / "huge.png").write_bytes(b"")
    (facts / "away.png").symlink_to(project / "secret.png")
    (project / ".memories/.trash").mkdir(exist_ok=True)
    (project / ".memories/.trash/old.png").write_bytes(PNG)


def test_a_note_shows_pictures_of_the_work_tree(
    project: Path, git: Git, dashboard: httpx2.Client
) -> None:
    add_files(project, git)
    page = dashboard.get("/notes/facts/pictures").text
    assert re.findall(r"<img [^>]*>", page) == [
        '<img src="/pictures/.memories/facts/flow%20chart.png" alt="The flow" loading="lazy">',
        '<img src="/pictures/docs/plan.svg" alt="" loading="lazy">',
        '<img src="/pictures/.memories/facts/near.webp" alt="" loading="lazy" width="300">',
        '<img src="/pictures/.memories/facts/near.webp" alt="Near" loading="lazy">',
    ]
    assert 'href="https://example.org/a.png"' in page
    assert "picture: none" in page


def test_a_picture_runs_nothing(project: Path, git: Git, dashboard: httpx2.Client) -> None:
    add_files(project, git)
    answer = dashboard.get("/pictures/docs/plan.svg")
    assert answer.content == SVG
    assert answer.headers["content-type"] == "image/svg+xml"
    assert answer.headers["x-content-type-options"] == "nosniff"
    policy = answer.headers["content-security-policy"]
    assert "sandbox" in policy
    assert "allow" not in policy
    assert "script" not in policy
    assert dashboard.get("/pictures/.memories/facts/near.webp").content == PNG


def test_no_other_file_is_shown(project: Path, git: Git, dashboard: httpx2.Client) -> None:
    add_files(project, git)
    hidden = (
        "secret.png", ".memories/facts/away.png", ".memories/.trash/old.png", "src/index.py",
        ".memories/facts/pictures.md", ".git/config", "docs", "",
    )  # fmt: skip
    for name in (*TRAVERSALS, *hidden):
        assert status_of(dashboard, f"/pictures/{name}") in {400, 404}, name
    assert status_of(dashboard, "/pictures/docs/plan.svg") == 200
