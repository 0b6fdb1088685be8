import re
import struct

import pytest

from .pictures import FOLDER, LOOKS, MOST_BYTES, PAGES

DOCS = FOLDER.parent


@pytest.mark.parametrize("page", PAGES)
def test_each_page_has_small_pictures(page: str) -> None:
    for look, (width, height, _) in LOOKS.items():
        file = FOLDER / f"{page}-{look}.png"
        data = file.read_bytes()
        assert struct.unpack_from(">II", data, 16) == (width, height)
        assert len(data) <= MOST_BYTES


def test_the_docs_show_no_picture_that_is_not_there() -> None:
    for page in (DOCS / "dashboard.md", DOCS.parent / "README.md"):
        text = page.read_text(encoding="utf-8")
        for name in re.findall(r'(?:src|srcset)="([^"]*)"', text):
            assert (page.parent / name).is_file(), name
