"""Every language keeps the contract of code/languages/base.py."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_bank.code.languages.base import detect_language, find_rules, list_languages
from memory_bank.code.parse import parsing

FUNCTIONS = {
    "bash": "scale() {\n  echo $1\n  round two\n}\n",
    "c": "int scale(int one)\n{\n  one += 2;\n  return round(one);\n}\n",
    "cpp": "int scale(int one)\n{\n  one += 2;\n  return round(one);\n}\n",
    "c_sharp": "class A {\n  int Scale(int one) {\n  one += 2;\n  return round(one);\n}\n}\n",
    "go": "func scale(one int) int {\n  one += 2\n  return round(one)\n}\n",
    "java": "class A {\n  int scale(int one) {\n  one += 2;\n  return round(one);\n}\n}\n",
    "javascript": "function scale(one) {\n  one += 2;\n  return round(one);\n}\n",
    "php": "function scale($one) {\n  $one += 2;\n  return round($one);\n}\n",
    "python": "def scale(one):\n  one += 2\n  return round(one)\n",
    "ruby": "def scale(one)\n  one += 2\n  round(one)\nend\n",
    "rust": "fn scale(one: u8) -> u8 {\n  let two = one + 2;\n  round(two)\n}\n",
    "tsx": "function scale(one: number) {\n  one += 2;\n  return round(one);\n}\n",
    "zsh": "scale() {\n  echo $1\n  round two\n}\n",
    "typescript": "function scale(one: number) {\n  one += 2;\n  return round(one);\n}\n",
}


@pytest.mark.parametrize("language", list_languages())
def test_fingerprints_of_each_language(language: str) -> None:
    def last(text: str) -> tuple[str, int]:
        start = "<?php\n" if language == "php" else ""
        found = parsing.parse((start + text).encode(), language).symbols[-1]
        return found.fingerprint, found.line

    text = FUNCTIONS[language]
    sign = "#" if language in ("python", "ruby", "bash", "zsh") else "//"
    moved = f"{sign} first\n\n\n" + text.replace("  ", "      ").replace("\n", "\n\n")
    commented = text.replace("\n  ", f" {sign} why\n  ", 2)
    crlf = text.replace("\n", "\r\n")
    assert last(moved)[1] > last(text)[1]
    assert {last(other)[0] for other in (moved, commented, crlf)} == {last(text)[0]}
    for old, new in (("round", "floor"), ("two" if language in ("bash", "zsh") else "2", "3")):
        assert last(text.replace(old, new))[0] != last(text)[0]


@pytest.mark.parametrize("language", list_languages())
def test_its_files_are_recognised(language: str) -> None:
    rules = find_rules(language)
    assert rules.name == language
    for name in (*(f"a{suffix}" for suffix in rules.suffixes), *rules.names):
        assert detect_language(name) == language
    for program in rules.programs:
        assert detect_language("run", f"#!/usr/bin/env {program}") == language


@pytest.mark.parametrize("language", list_languages())
@given(data=st.binary(max_size=300) | st.text(max_size=300).map(str.encode))
def test_any_bytes_are_parsed(language: str, data: bytes) -> None:
    found = parsing.parse(data, language)
    last = data.count(b"\n") + 2
    for one in (*found.symbols, *found.tests):
        assert 1 <= one.line < one.end_line <= last
