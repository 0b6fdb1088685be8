"""A server put into a program's configuration changes nothing else, and goes without a trace."""

import json
import tomllib
from collections.abc import Iterable

from hypothesis import example, given
from hypothesis import strategies as st

from memory_bank.agents.json_file import JsonFile, TomlFile
from memory_bank.base.errors import BadInput

JSONC = JsonFile(comments=True, trailing_commas=True)
TOML = TomlFile()

ENTRY = {"command": "memory-bank", "args": ["serve", "mcp", "--bank", "/a b/ü"]}
JSON_PATH = ("mcpServers", "memory-bank")
TOML_PATH = ("mcp_servers", "memory-bank")

names = st.sampled_from(["a", "b", "mcpServers", "x y", "ключ", "//", "/*", "}", '"', ","])
scalars = st.sampled_from(
    ["x", "", "// no comment", "/* */", '"', "\\", "}", "ü😀", 0, -1.5, 10**20, True, False, None]
)
trees = st.dictionaries(
    names,
    st.recursive(
        scalars,
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(names, inner, max_size=3),
        max_leaves=8,
    ),
    max_size=4,
)
FILLERS = [
    "", "", " ", "\n", "\n  ", "\r\n\t", "/* c */", " // c\n", "\n// }\n  ", "/*\n\n*/",
    "  \n\n",
]  # fmt: skip


@st.composite
def documents(draw: st.DrawFn) -> str:
    """Draw a JSON document as editors and people leave it, or one that says nothing yet."""
    tree = draw(trees)
    if isinstance(tree.get("mcpServers"), dict):
        tree["mcpServers"].pop("memory-bank", None)
    elif "mcpServers" in tree:
        tree["mcpServers"] = {}
    fillers = st.sampled_from(draw(st.sampled_from([FILLERS, ["", "\n  "], [" "], [""]])))

    def space() -> str:
        return draw(fillers)

    def items(parts: Iterable[str]) -> str:
        found = [f"{space()}{part}{space()}" for part in parts]
        trailing = "," + space() if found and draw(st.booleans()) else ""
        return ",".join(found) + trailing if found else space()

    def written(value: object) -> str:
        if isinstance(value, dict):
            pairs = (
                f"{json.dumps(key)}{space()}:{space()}{written(item)}"
                for key, item in value.items()
            )
            return f"{{{items(pairs)}}}"
        if isinstance(value, list):
            return f"[{items(written(item) for item in value)}]"
        return json.dumps(value, ensure_ascii=draw(st.booleans()))

    start = draw(st.sampled_from(["", "\ufeff", "// mine\n", "\n", "/* a */"]))
    body = written(tree) if draw(st.integers(0, 9)) else ""
    return start + body + draw(st.sampled_from(["", "\n", "\r\n", "\n// end", " \n\n"]))


def holds(new: str, old: str) -> bool:
    """Tell whether the new text is the old one with something put in."""
    rest = iter(new)
    return all(char in rest for char in old)


@given(documents())
@example('{"mcpServers": {"a": 1, // c\n}}')
@example('{"a": 1 /* c */ // d\n, "mcpServers": {}}')
@example("{\n}")
@example("// only")
@example("")
def test_json_is_only_added_to_and_comes_back(text: str) -> None:
    before = JSONC.value_at(text, ()) or {}
    assert isinstance(before, dict)
    made = JSONC.set_value(text, JSON_PATH, ENTRY)
    assert holds(made, text)
    servers = {**before.get("mcpServers", {}), "memory-bank": ENTRY}
    assert JSONC.value_at(made, ()) == {**before, "mcpServers": servers}
    assert JSONC.set_value(made, JSON_PATH, ENTRY) == made
    assert JSONC.remove(made, JSON_PATH) == text


@given(documents(), st.dictionaries(names, scalars, max_size=3))
def test_an_entry_that_is_there_keeps_what_we_do_not_write(
    text: str, others: dict[str, object]
) -> None:
    new = JSONC.set_value(text, JSON_PATH, {**others, "command": "/old"})
    for key, value in ENTRY.items():
        new = JSONC.set_value(new, (*JSON_PATH, key), value)
    assert JSONC.value_at(new, JSON_PATH) == {**others, **ENTRY}
    left = JSONC.value_at(JSONC.remove(new, JSON_PATH), ())
    assert left == JSONC.value_at(text, ())


@given(documents(), st.lists(scalars, max_size=2))
def test_elements_of_an_array_come_and_go(text: str, others: list[object]) -> None:
    array = ("mcpServers", "hooks x")
    for number, item in enumerate([*others, ENTRY]):
        before, text = text, JSONC.set_value(text, (*array, number), item)
        assert holds(text, before)
    assert JSONC.value_at(text, array) == [*others, ENTRY]
    assert JSONC.remove(text, (*array, len(others))) == before


STATEMENTS = [
    "a = 1", "b = '''\n[x]\n'''", "# c", "", "", "c = [\n  1, # d\n  [2],\n]", "[t]", "[t.u]",
    "[[l]]", "d.e = 'f'", '[mcp_servers."other"]', 'command = "x"', "[mcp_servers.z.env]", "  # e",
]  # fmt: skip


@st.composite
def toml_documents(draw: st.DrawFn) -> str:
    """Draw lines that are mostly TOML."""
    newline = draw(st.sampled_from(["\n", "\r\n"]))
    lines = draw(st.lists(st.sampled_from(STATEMENTS), max_size=8))
    text = "\n".join(lines) + draw(st.sampled_from(["", "\n", "\n\n"]))
    return text.replace("\n", newline)


@given(toml_documents())
def test_toml_is_only_added_to_and_comes_back(text: str) -> None:
    try:
        before = tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return
    made = TOML.set_value(text, TOML_PATH, ENTRY)
    assert made.startswith(text)
    servers = {**before.get("mcp_servers", {}), "memory-bank": ENTRY}
    assert tomllib.loads(made) == {**before, "mcp_servers": servers}
    assert TOML.remove(made, TOML_PATH) == text


@given(toml_documents(), st.sampled_from([("a",), ("t", "u", "x"), ("mcp_servers", "other")]))
def test_a_change_anywhere_in_toml_keeps_all_other_lines(text: str, path: tuple[str, ...]) -> None:
    try:
        before = tomllib.loads(text)
        made = TOML.set_value(text, (*path[:-1], "new"), 7)
    except (tomllib.TOMLDecodeError, BadInput):
        return
    assert holds(made, text)
    assert without(tomllib.loads(made), (*path[:-1], "new")) == without(before, ())
    try:
        rest = TOML.remove(text, path)
    except BadInput:
        return
    assert holds(text, rest)
    assert without(tomllib.loads(rest), ()) == without(before, path)


def without(tree: object, path: tuple[str, ...]) -> object:
    """Return a tree without what is at a path, and without empty tables."""
    if not isinstance(tree, dict):
        return tree
    inner = {
        key: without(value, path[1:] if path and key == path[0] else ())
        for key, value in tree.items()
        if path != (key,)
    }
    return {key: value for key, value in inner.items() if value != {}}
