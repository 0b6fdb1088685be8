import re
import struct
import subprocess

import pytest

from .pictures import FOLDER, LOOKS, MOST_BYTES

DOCS = FOLDER.parent
SHOWN = sorted(
    {
        name.rpartition("/")[2]
        for page in (DOCS / "dashboard.md", DOCS.parent / "README.md")
        for name in re.findall(r'(?:src|srcset)="([^"]*)"', page.read_text(encoding="utf-8"))
    }
)


def test_git_keeps_the_pictures_that_a_page_shows_and_no_other() -> None:
    listed = subprocess.run(
        ["git", "ls-files", "."], cwd=FOLDER, capture_output=True, text=True, check=True
    )
    assert listed.stdout.split() == SHOWN


@pytest.mark.parametrize("name", [name for name in SHOWN if name.endswith(".png")])
def test_a_picture_is_small(name: str) -> None:
    data = (FOLDER / name).read_bytes()
    width, height, _ = LOOKS[name.partition("-")[2].removesuffix(".png")]
    assert struct.unpack_from(">II", data, 16) == (width, height)
    assert len(data) <= MOST_BYTES
