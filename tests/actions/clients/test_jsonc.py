from __future__ import annotations

import json

import pytest

from memory_bank.actions.clients import jsonc
from memory_bank.errors import BadInput

PATH = ("mcpServers", "memory-bank")
ENTRY = {"command": "memory-bank", "args": ["serve", "mcp"]}


def test_a_new_file_is_plain_json() -> None:
    made = jsonc.put("", PATH, ENTRY)
    assert json.loads(made) == {"mcpServers": {"memory-bank": ENTRY}}
    assert made == (
        '{\n  "mcpServers": {\n    "memory-bank": {\n      "command": "memory-bank",\n'
        '      "args": ["serve", "mcp"]\n    }\n  }\n}'
    )


def test_comments_trailing_commas_and_tabs_stay() -> None:
    text = (
        '// mine\n{\n\t"theme": "dark", // night\n\t"mcpServers": {\n'
        '\t\t"other": {"command": "x"}, /* keep */ // me\n\t},\n}\n'
    )
    made = jsonc.put(text, PATH, ENTRY)
    assert made == text.replace(
        "// me\n",
        '// me\n\t\t"memory-bank": {\n\t\t\t"command": "memory-bank",\n'
        '\t\t\t"args": ["serve", "mcp"]\n\t\t},\n',
    )
    assert jsonc.cut(made, PATH) == text


def test_what_stands_on_one_line_stays_on_one_line() -> None:
    text = '{"mcpServers": {"other": {"command": "x"}}}'
    made = jsonc.put(text, PATH, ENTRY)
    assert made.count("\n") == 0
    assert jsonc.value_at(made, PATH) == ENTRY
    assert jsonc.cut(made, PATH) == text


def test_an_entry_that_is_there_keeps_its_other_keys() -> None:
    text = (
        '{\r\n    "mcpServers": {\r\n        "memory-bank": {\r\n'
        '            "env": {"A": "1"}, // mine\r\n            "command": "/old"\r\n'
        "        }\r\n    }\r\n}\r\n"
    )
    made = jsonc.put(text, PATH, ENTRY)
    assert made == text.replace('"/old"', '"memory-bank",\r\n            "args": ["serve", "mcp"]')
    assert jsonc.put(made, PATH, ENTRY) == made


def test_an_entry_in_the_middle_goes_with_its_comma() -> None:
    text = (
        '{\n  "mcpServers": {\n    "a": {},\n    "memory-bank": {} /* x */,\n    "b": {}\n  }\n}\n'
    )
    assert jsonc.cut(text, PATH) == (
        '{\n  "mcpServers": {\n    "a": {}, /* x */\n    "b": {}\n  }\n}\n'
    )


def test_a_comment_never_swallows_what_follows() -> None:
    text = '{"mcpServers": { // c\n "memory-bank": {}}}'
    assert jsonc.value_at(jsonc.cut(text, PATH), PATH[:1]) == {}


def test_objects_that_put_made_go_too() -> None:
    text = '{\n  "a": 1\n}\n'
    assert jsonc.cut(jsonc.put(text, PATH, ENTRY), PATH) == text


@pytest.mark.parametrize(
    "empty", ["{}", "{ }", "{\n}", "{\n    \n  }", "{ // c\n  }", "{ /* c */ }"]
)
def test_an_empty_object_that_was_there_stays(empty: str) -> None:
    for text in (empty, f'{{"mcpServers": {empty}}}', f'{{\n  "mcpServers": {empty}\n}}\n'):
        made = jsonc.put(text, PATH, ENTRY)
        assert jsonc.value_at(made, PATH) == ENTRY
        assert jsonc.cut(made, PATH) == text


@pytest.mark.parametrize(
    ("text", "place", "what"),
    [
        ('{"a": 1', "line 1, column 8", "missing"),
        ('{"a": }', "line 1, column 7", "a value is missing"),
        ("{a: 1}", "line 1, column 2", "no JSON"),
        ('{"a" 1}', "line 1, column 6", "':' is missing"),
        ('{\n  "a": 1,,\n}', "line 2, column 10", "double quotes"),
        ('{"a": 1 "b": 2}', "line 1, column 9", "',' or '}'"),
        ("[1 2]", "line 1, column 4", "',' or ']'"),
        ("{'a': 1}", "line 1, column 2", "no JSON"),
        ('{"a": 01}', "line 1, column 8", "missing"),
        ('{"a": "\n"}', "line 1, column 7", "no JSON"),
        (r'{"a": "\q"}', "line 1, column 7", "no JSON string"),
        ("{} {}", "line 1, column 4", "more"),
        ("/* open", "line 1, column 1", "no JSON"),
        ("[" * 5000, "", "nested too deeply"),
    ],
)
def test_what_is_no_json_is_refused_with_its_place(text: str, place: str, what: str) -> None:
    with pytest.raises(BadInput) as caught:
        jsonc.put(text, PATH, ENTRY)
    assert place in caught.value.message
    assert what in caught.value.message


@pytest.mark.parametrize("text", ["[]", '"x"', "1", '{"mcpServers": []}', '{"mcpServers": null}'])
def test_a_place_that_holds_something_else_is_refused(text: str) -> None:
    with pytest.raises(BadInput, match="no object"):
        jsonc.put(text, PATH, ENTRY)


def test_a_key_that_is_there_twice_is_not_half_removed() -> None:
    text = '{"mcpServers": {"memory-bank": {}, "memory-bank": {}}}'
    with pytest.raises(BadInput, match="twice"):
        jsonc.cut(text, PATH)
    shadowed = '{"mcpServers": {"memory-bank": {"command": "a"}, "memory-bank": {"command": "b"}}}'
    assert jsonc.value_at(jsonc.put(shadowed, PATH, ENTRY), PATH) == ENTRY


def test_what_is_absent_is_cut_from_nothing() -> None:
    for text in ("", "// c", "{}", '{"mcpServers": {"x": 1}}', '{"mcpServers": 1}'):
        assert jsonc.cut(text, PATH) == text
