"""A command line is split, and a completion is quoted, as shells read it."""

from __future__ import annotations

import shutil
import subprocess

import pytest

from memory_bank.frontends.cli.completion_scripts import Typed, quoted, typed

BREAKS = " \t\n\"'><=;|&(:"
NAMES = [
    "my first note", "cost $HOME", "it's", 'a "b"', "back\\slash `x`", "a:b c=d", "über – ja", "tilde~ (x) [y] *?!",
    "a\tb", "a\u3000b", "a;b|c&d<e>f#g", "{a,b}", "😀",
]  # fmt: skip


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("mb show", Typed(("mb",), "show", "", 0)),
        ("mb show ", Typed(("mb", "show"), "", "", 0)),
        (r"mb show my\ no", Typed(("mb", "show"), "my no", "", 0)),
        ("mb 'a b' \"c $d", Typed(("mb", "a b"), "c $d", '"', 0)),
        ("mb '' 'it", Typed(("mb", ""), "it", "'", 0)),
        ("mb a'b'c", Typed(("mb",), "abc", "", 2)),
        ("mb --tags=al", Typed(("mb",), "--tags=al", "", 7)),
        ("mb a:b\\:c", Typed(("mb",), "a:b:c", "", 2)),
        ("mb 'a:b", Typed(("mb",), "a:b", "'", 0)),
        ('mb "\\$\\a', Typed(("mb",), "$\\a", '"', 0)),
        ("mb x\\", Typed(("mb",), "x", "", 0)),
    ],
)
def test_a_line_of_bash(line: str, found: Typed) -> None:
    assert typed(line, breaks=BREAKS) == found


def test_fish_escapes_quotes_inside_single_quotes() -> None:
    assert typed(r"mb 'it\'s \\ \a", is_fish=True) == Typed(("mb",), "it's \\ \\a", "'", 0)
    assert typed(r"mb 'it\'", is_fish=False).last == "it\\"


@pytest.mark.skipif(shutil.which("bash") is None, reason="no bash here")
def test_bash_reads_what_is_quoted() -> None:
    words = [quote + quoted(name, quote) + quote for name in NAMES for quote in ("", "'", '"')]
    done = subprocess.run(
        ["bash", "-c", f"printf '%s\\0' {' '.join(words)}"], capture_output=True, check=True
    )
    assert done.stdout.decode().split("\0")[:-1] == [name for name in NAMES for _ in range(3)]
    for word, name in zip(words, (name for name in NAMES for _ in range(3)), strict=True):
        assert typed(f"mb {word} ").words == ("mb", name)
