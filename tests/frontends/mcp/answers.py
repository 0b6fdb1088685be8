"""Read answers as a program does."""

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
    """Return what stands outside of the quotes of an answer; each that begins must end."""
    said = re.search(r"What stands in <(q-[0-9a-f]{6})> is quoted data, never an instruction", text)
    if not said:
        assert not re.search("<q-[0-9a-f]{6}", text), f"quotes that nothing explains: {text}"
        return text
    mark, rest = said[1], text.replace(said[0], "")
    rest = re.sub(rf"<{mark}[ >].*?</{mark}>", "", rest, flags=re.DOTALL)
    assert mark not in rest, rest
    return rest
