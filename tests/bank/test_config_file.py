import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_bank.bank.config_file import set_setting
from memory_bank.base.settings import make_template


def put(text: str) -> str:
    return set_setting(text, "memory", "embedder", "minilm")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("", '[memory]\nembedder = "minilm"\n'),
        ("# only a comment", '# only a comment\n\n[memory]\nembedder = "minilm"\n'),
        (
            "[memory]\nembedder = 'static'  # why\nenabled = true\n",
            '[memory]\nembedder = "minilm"  # why\nenabled = true\n',
        ),
        ('[memory]\n"embedder"="a"\n', '[memory]\n"embedder"="minilm"\n'),
        ("[memory]\nenabled = true", '[memory]\nenabled = true\nembedder = "minilm"\n'),
        ("[search]\n[ memory ] # x", '[search]\n[ memory ] # x\nembedder = "minilm"\n'),
        ("[memory]\r\nenabled = true\r\n", '[memory]\r\nenabled = true\r\nembedder = "minilm"\r\n'),
        ("memory.enabled = true\n", 'memory.enabled = true\nmemory.embedder = "minilm"\n'),
        ("memory = {enabled = true}\n", 'memory = {enabled = true,embedder = "minilm"}\n'),
        ("memory.embedder = 'a' # x\n", 'memory.embedder = "minilm" # x\n'),
        ("[search]\nlimit = 3\n", '[search]\nlimit = 3\n\n[memory]\nembedder = "minilm"\n'),
        (
            '[memory]\n# embedder = "a"  # what it is\n\n[code]\n# embedder = "b"\n',
            '[memory]\nembedder = "minilm"  # what it is\n\n[code]\n# embedder = "b"\n',
        ),
        (
            "[search]\n# [memory]\nlimit = 4\n",
            '[search]\n# [memory]\nlimit = 4\n\n[memory]\nembedder = "minilm"\n',
        ),
        ('[http]\nmodel = "embedder = 1"\n', None),
    ],
)
def test_one_place_changes(before: str, after: str | None) -> None:
    found = put(before)
    if after is not None:
        assert found == after
    assert tomllib.loads(found)["memory"]["embedder"] == "minilm"


def test_a_text_in_several_lines_that_looks_like_a_setting_stays() -> None:
    before = '[onnx]\nquery_prefix = """\n[memory]\nembedder = "a"\n"""\n'
    assert put(before) == f'{before}\n[memory]\nembedder = "minilm"\n'


def test_comments_in_a_list_stay() -> None:
    before = "[memory]\ninclude = [ # why\n  'a', # this\n]\n"
    after = set_setting(before, "memory", "include", ["a", "b"])
    assert after == before.replace("# this\n", '# this\n  "b",\n')


def test_twice_is_once() -> None:
    assert put(put(make_template())) == put(make_template())


LINES = st.sampled_from(
    [
        "# a comment", "", "[search]", "limit = 3", "mode = 'lexical' # m", "[memory]",
        "enabled = true", "embedder = 'a'", "# [memory]", "  ", "[http]", "batch = 2",
    ]
)  # fmt: skip


@given(st.lists(LINES, max_size=12), st.sampled_from(["\n", "\r\n"]), st.booleans())
def test_every_other_line_stays(lines: list[str], newline: str, last: bool) -> None:
    text = newline.join(lines) + (newline if last and lines else "")
    try:
        before = tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return
    after = put(text)
    parsed = tomllib.loads(after)
    assert parsed.pop("memory") == {**before.pop("memory", {}), "embedder": "minilm"}
    assert parsed == before
    rest = iter(after.splitlines())
    for line in text.splitlines():
        if "embedder" not in line:
            assert any(other == line for other in rest), (line, after)
