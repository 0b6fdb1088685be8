"""A server put into a program's configuration changes nothing else, and goes without a trace."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterable

from hypothesis import example, given, settings
from hypothesis import strategies as st

from memory_bank.actions.clients import jsonc, toml
from memory_bank.notes import toml_edit

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
    "",
    "",
    " ",
    "\n",
    "\n  ",
    "\r\n\t",
    "/* c */",
    " // c\n",
    "\n// }\n  ",
    "/*\n\n*/",
    "  \n\n",
]


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


@settings(max_examples=400, deadline=None)
@given(documents())
@example('{"mcpServers": {"a": 1, // c\n}}')
@example('{"a": 1 /* c */ // d\n, "mcpServers": {}}')
@example("{\n}")
@example("// only")
@example("")
def test_json_is_only_added_to_and_comes_back(text: str) -> None:
    before = jsonc.value_at(text, ()) or {}
    assert isinstance(before, dict)
    made = jsonc.put(text, JSON_PATH, ENTRY)
    assert holds(made, text)
    servers = {**before.get("mcpServers", {}), "memory-bank": ENTRY}
    assert jsonc.value_at(made, ()) == {**before, "mcpServers": servers}
    assert jsonc.put(made, JSON_PATH, ENTRY) == made
    assert jsonc.cut(made, JSON_PATH) == text


@settings(max_examples=200, deadline=None)
@given(documents(), st.dictionaries(names, scalars, max_size=3))
def test_an_entry_that_is_there_keeps_what_we_do_not_write(
    text: str, others: dict[str, object]
) -> None:
    made = jsonc.put(text, JSON_PATH, {**others, "command": "/old"})
    new = jsonc.put(made, JSON_PATH, ENTRY)
    assert jsonc.value_at(new, JSON_PATH) == {**others, **ENTRY}
    left = jsonc.value_at(jsonc.cut(new, JSON_PATH), ())
    assert left == jsonc.value_at(text, ())


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


@settings(max_examples=2000, deadline=None)
@given(toml_documents())
def test_toml_is_only_added_to_and_comes_back(text: str) -> None:
    try:
        before = tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return
    made = toml.put(text, TOML_PATH, ENTRY)
    assert made.startswith(text)
    servers = {**before.get("mcp_servers", {}), "memory-bank": ENTRY}
    assert tomllib.loads(made) == {**before, "mcp_servers": servers}
    assert toml.cut(made, TOML_PATH) == text


def test_what_is_written_as_toml_is_read_as_it_was() -> None:
    for value in (ENTRY["command"], ENTRY["args"], ["ü", 'a"b', "C:\\x", "\x7f"]):
        assert tomllib.loads(f"a = {toml_edit.render(value)}") == {"a": value}
