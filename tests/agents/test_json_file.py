import json

import pytest

from memory_bank.agents.json_file import JsonFile
from memory_bank.base.errors import BadInput

PATH = ("mcpServers", "memory-bank")
JSONC = JsonFile(comments=True, trailing_commas=True)
ENTRY = {"command": "memory-bank", "args": ["serve", "mcp"]}


def test_a_new_file_is_plain_json() -> None:
    made = JSONC.set_value("", PATH, ENTRY)
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
    made = JSONC.set_value(text, PATH, ENTRY)
    assert made == text.replace(
        "// me\n",
        '// me\n\t\t"memory-bank": {\n\t\t\t"command": "memory-bank",\n'
        '\t\t\t"args": ["serve", "mcp"]\n\t\t},\n',
    )
    assert JSONC.remove(made, PATH) == text


def test_what_stands_on_one_line_stays_on_one_line() -> None:
    text = '{"mcpServers": {"other": {"command": "x"}}}'
    made = JSONC.set_value(text, PATH, ENTRY)
    assert made.count("\n") == 0
    assert JSONC.value_at(made, PATH) == ENTRY
    assert JSONC.remove(made, PATH) == text


def test_a_key_is_added_or_replaced_in_an_object_that_is_there() -> None:
    text = (
        '{\r\n    "mcpServers": {\r\n        "memory-bank": {\r\n'
        '            "env": {"A": "1"}, // mine\r\n            "command": "/old"\r\n'
        "        }\r\n    }\r\n}\r\n"
    )
    made = JSONC.set_value(text, (*PATH, "command"), "memory-bank")
    assert made == text.replace("/old", "memory-bank")
    more = JSONC.set_value(made, (*PATH, "cwd"), "ü")
    assert more == made.replace('"memory-bank"\r', '"memory-bank",\r\n            "cwd": "ü"\r')
    assert JSONC.set_value(more, (*PATH, "cwd"), "ü") == more
    assert JSONC.remove(more, (*PATH, "cwd")) == made
    kept = JSONC.remove_keys(more, PATH, ["command", "cwd"])
    assert JSONC.value_at(kept, PATH) == {"env": {"A": "1"}}
    assert "// mine" in kept


HOOK = {"matcher": "Bash", "hooks": [{"type": "command", "command": "memory-bank"}]}


@pytest.mark.parametrize(
    "text",
    [
        "{}",
        '{"hooks": {}}\n',
        '{"hooks": {"Stop": [{"a": 1}, {"b": 2}]}}',
        '{\n  "hooks": {\n    "Stop": [\n      {"a": [1]}, // mine\n    ],\n  },\n}\n',
        '{\n  "hooks": {\n    "Stop": [\n      // none\n    ]\n  }\n}\n',
    ],
)
def test_an_element_goes_to_the_end_of_an_array_and_away_again(text: str) -> None:
    path = ("hooks", "Stop")
    old = JSONC.value_at(text, path) or []
    assert isinstance(old, list)
    made = JSONC.set_value(text, (*path, len(old)), HOOK)
    assert JSONC.value_at(made, path) == [*old, HOOK]
    assert JSONC.remove(made, (*path, len(old))) == text


def test_an_element_in_the_middle_is_replaced_or_removed() -> None:
    text = '{"hooks": {"Stop": [1, [2], 3]}}'
    assert JSONC.set_value(text, ("hooks", "Stop", 1, 0), 9) == text.replace("2", "9")
    assert JSONC.remove(text, ("hooks", "Stop", 1)) == '{"hooks": {"Stop": [1, 3]}}'
    assert JSONC.remove(text, ("hooks", "Stop", 0)) == '{"hooks": {"Stop": [ [2], 3]}}'


@pytest.mark.parametrize(
    ("editor", "text", "place"),
    [
        (JsonFile(), '{\n "a": 1,\n}', "line 2, column 8: this program reads no trailing comma"),
        (JsonFile(), '{"a": [1, ] }', "line 1, column 9: this program reads no trailing comma"),
        (JsonFile(), '{"a": 1} // c', "line 1, column 10: this program reads no comments"),
        (JsonFile(comments=True), '{"a": 1, /* c */ }', "line 1, column 8: .* no trailing comma"),
        (JsonFile(byte_order_mark=False), "\ufeff{}", "line 1, column 1: .* no byte order mark"),
    ],
)
def test_what_the_program_does_not_read_is_refused(editor: JsonFile, text: str, place: str) -> None:
    for change in (lambda: editor.set_value(text, PATH, 1), lambda: editor.remove(text, PATH)):
        with pytest.raises(BadInput, match=place):
            change()
    assert JSONC.set_value(text, PATH, 1)


def test_strict_json_stays_strict() -> None:
    for text in ("", "{}", '{"url": "http://x,}"}', '\ufeff{"a": [1, 2],\r\n "b": "/* c */"}'):
        made = JsonFile().set_value(text, PATH, ENTRY)
        json.loads(made.removeprefix("\ufeff"))
        assert JsonFile().remove(made, PATH) == text


def test_an_entry_in_the_middle_goes_with_its_comma() -> None:
    text = (
        '{\n  "mcpServers": {\n    "a": {},\n    "memory-bank": {} /* x */,\n    "b": {}\n  }\n}\n'
    )
    assert JSONC.remove(text, PATH) == (
        '{\n  "mcpServers": {\n    "a": {}, /* x */\n    "b": {}\n  }\n}\n'
    )


def test_a_comment_never_swallows_what_follows() -> None:
    text = '{"mcpServers": { // c\n "memory-bank": {}}}'
    assert JSONC.value_at(JSONC.remove(text, PATH), PATH[:1]) == {}


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ('{"a": 1', "line 1, column 8"),
        ('{"a": }', "line 1, column 7"),
        ("{a: 1}", "line 1, column 2"),
        ('{"a" 1}', "line 1, column 6"),
        ('{\n  "a": 1,,\n}', "line 2, column 10"),
        ('{\r  "a": 1,,\r}', "line 2, column 10"),
        ('{"a": 1 "b": 2}', "line 1, column 9"),
        ("[1 2]", "line 1, column 4"),
        ("[,]", "line 1, column 2"),
        ("{,}", "line 1, column 2"),
        ("{'a': 1}", "line 1, column 2"),
        ('{"a": 01}', "line 1, column 8"),
        ('{"a": "\n"}', "line 1, column 8"),
        ('{"a": "\n // "}', "line 1, column 8"),
        (r'{"a": "\q"}', "line 1, column 8"),
        ("{} {}", "line 1, column 4"),
        ("/* open", "line 1, column 1"),
        ('{"a": NaN}', "NaN is no JSON"),
        ("[" * 100_000, "recursion"),
    ],
)
def test_what_is_no_json_is_refused_with_its_place(text: str, place: str) -> None:
    with pytest.raises(BadInput) as caught:
        JSONC.set_value(text, PATH, ENTRY)
    assert place in caught.value.message


@pytest.mark.parametrize("text", ["[]", '"x"', "1", '{"mcpServers": []}', '{"mcpServers": null}'])
def test_a_place_that_holds_something_else_is_refused(text: str) -> None:
    with pytest.raises(BadInput, match="no object"):
        JSONC.set_value(text, PATH, ENTRY)
    with pytest.raises(BadInput, match="mcpServers is no array"):
        JSONC.set_value('{"mcpServers": {}}', ("mcpServers", 0), 1)


def test_half_a_surrogate_pair_stays_an_escape() -> None:
    made = JSONC.set_value("{}", PATH, "a\udc00")
    assert made.encode()
    assert JSONC.value_at(made, PATH) == "a\udc00"


def test_a_key_that_is_there_twice_is_not_half_changed() -> None:
    text = '{"mcpServers": {"memory-bank": {}, "memory-bank": {}}}'
    with pytest.raises(BadInput, match="twice"):
        JSONC.remove(text, PATH)
    with pytest.raises(BadInput, match="twice"):
        JSONC.set_value(text, PATH, ENTRY)


def test_what_is_absent_is_cut_from_nothing() -> None:
    for text in ("", "// c", "{}", '{"mcpServers": {"x": 1}}', '{"mcpServers": 1}'):
        assert JSONC.remove(text, PATH) == text
