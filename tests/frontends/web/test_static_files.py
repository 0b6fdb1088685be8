import gzip
import importlib.resources
import re

import httpx2
import pytest

from memory_bank.base.errors import FileNotFound
from memory_bank.frontends.web.templating import StaticFiles

FOLDER = importlib.resources.files("memory_bank.frontends.web") / "static"


def test_a_url_names_the_content() -> None:
    url = StaticFiles().url("style.css")
    assert re.fullmatch(r"/static/[0-9a-f]{16}/style\.css", url)
    assert url == StaticFiles().url("style.css")
    with pytest.raises(FileNotFound):
        StaticFiles().url("nothing.css")


def test_a_file_is_kept_for_ever_and_compressed(dashboard: httpx2.Client) -> None:
    url = StaticFiles().url("style.css")
    with dashboard.stream("GET", url, headers={"accept-encoding": "gzip"}) as answer:
        data = b"".join(answer.iter_raw())
    assert answer.headers["cache-control"] == "public, max-age=31536000, immutable"
    assert answer.headers["content-type"] == "text/css; charset=utf-8"
    assert gzip.decompress(data) == (FOLDER / "style.css").read_bytes()


def test_every_vendored_file_has_its_source_and_licence() -> None:
    vendored = [one.name for one in (FOLDER / "vendor").iterdir()]
    scripts = [name for name in vendored if name.endswith((".js", ".css"))]
    assert scripts
    for name in scripts:
        about = (FOLDER / "vendor" / f"{name.split('.')[0]}.txt").read_text(encoding="utf-8")
        assert re.search(r"\d+\.\d+\.\d+", about.splitlines()[0]), name
        assert "ermission" in about, name
