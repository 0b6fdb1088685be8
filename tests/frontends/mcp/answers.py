"""Read answers as a program does."""

from __future__ import annotations

import re
from typing import Any


def unquoted(structure: Any) -> Any:
    """Return a structure with its texts out of their quotes, as the command's JSON has them."""
    mark = re.search(r"<(q-\w+)>", structure.get("notice", ""))
    assert mark, structure

    def plain(value: Any) -> Any:
        if isinstance(value, dict):
            return {plain(key): plain(item) for key, item in value.items()}
        if isinstance(value, list):
            return [plain(item) for item in value]
        if isinstance(value, str):
            return value.removeprefix(f"<{mark[1]}>").removesuffix(f"</{mark[1]}>")
        return value

    return plain({name: item for name, item in structure.items() if name != "notice"})


def outside(text: str) -> str:
    """Return what stands outside of the quotes of an answer."""
    return re.sub(r"<(q-[0-9a-f]{6})(?: [^\n]*?)?>.*?</\1>", "", text, flags=re.DOTALL)
