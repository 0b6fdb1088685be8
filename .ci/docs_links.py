"""A hook of mkdocs: links that lead out of the docs, to code and notes, become their words."""

import re
from typing import Any

_OUT = re.compile(r"\[((?:[^\[\]]|\[[^\]]*\])*)\]\(((?:\.\./)+[^)\s]*|editors/(?:vscode|zed)[^)\s]*|pictures)\)")


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Return a page without links that the site could not follow."""
    depth = page.file.src_uri.count("/")

    def plain(found: re.Match[str]) -> str:
        leaves = found[2].count("../") > depth or not found[2].startswith("../")
        return found[1] if leaves else found[0]

    return _OUT.sub(plain, markdown)
