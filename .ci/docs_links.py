"""A hook of mkdocs: links that lead out of the docs, to code and notes, become their words."""  # noqa: INP001  (mkdocs loads it by its path)

import re
from types import SimpleNamespace

_OUT = re.compile(
    r"\[((?:[^\[\]]|\[[^\]]*\])*)\]"
    r"\(((?:\.\./)+[^)\s]*|editors/(?:vscode|zed)[^)\s]*)\)"
)


def on_page_markdown(markdown: str, page: SimpleNamespace, **_: object) -> str:
    """Return a page without links that the site could not follow."""
    depth = page.file.src_uri.count("/")

    def plain(found: re.Match[str]) -> str:
        leaves = found[2].count("../") > depth or not found[2].startswith("../")
        return found[1] if leaves else found[0]

    return _OUT.sub(plain, markdown)
