import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from memory_bank.frontends.cli.completion import Typed, quoted, typed

from .conftest import Run, environment


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_script_is_for_both_names(mb: Run, shell: str) -> None:
    answer = mb("completion", shell)
    assert answer.code == 0
    assert "_MEMORY_BANK_COMPLETE" in answer.out
    for name in ("_memory_bank_completion", "_mb_completion"):
        assert name in answer.out
    assert mb("completion", shell, "--json").json["script"] == answer.out


def test_another_shell_is_refused(mb: Run) -> None:
    assert mb("completion", "tcsh").code == 2


Offered = Callable[..., list[str]]


@pytest.fixture
def offered(mb: Run, monkeypatch: pytest.MonkeyPatch) -> Offered:
    """Return what click's own script offers in bash for the last word."""

    def call(*words: str) -> list[str]:
        with monkeypatch.context() as patched:
            patched.setenv("_MEMORY_BANK_COMPLETE", "bash_complete")
            patched.setenv("COMP_WORDS", " ".join(["memory-bank", *words]))
            patched.setenv("COMP_CWORD", str(len(words)))
            answer = mb()
        assert answer.err == ""
        return [row.partition(",")[2] for row in answer.out.splitlines() if row]

    return call


def test_what_is_offered(offered: Offered) -> None:
    assert offered("re") == ["recall", "remember", "restore", "review"]
    assert "--explain" in offered("recall", "--e")
    assert offered("embedder", "in") == ["install"]
    assert offered("shared", "re") == ["revoke"]
    assert "--dry-run" in offered("publish", "--d")
    assert offered("embedder", "use", "s") == ["static"]
    assert offered("recall", "--mode", "le") == ["lexical"]
    assert offered("recall", "--type", "dec") == ["decision"]
    assert offered("config", "search.f") == ["search.fusion"]
    assert offered("search", "--obs-type", "bugfix,d") == ["bugfix,decision", "bugfix,discovery"]


def test_notes_and_tags_are_offered_once_they_are_indexed(
    mb: Run, offered: Offered, project: Path
) -> None:
    assert offered("show", "dec") == []
    assert not (project / ".memories/.index").exists()
    assert mb("sync").code == 0
    assert offered("show", "dec") == ["decisions/tantivy", "decisions/whoosh"]
    assert offered("mv", "facts/") == ["facts/bm25"]
    assert offered("recall", "x", "--tags", "ar") == ["architecture"]
    assert offered("recall", "x", "--tags", "search,ar") == ["search,architecture"]
    assert offered("--bank", str(project), "show", "facts/") == ["facts/bm25"]
    assert offered("--bank", "/nowhere", "show", "facts/") == []


ODD = ("my first note", "cost $HOME", "it's", "a:b c", "über – ja")


@pytest.fixture
def odd_names(mb: Run, project: Path) -> Path:
    """Have notes of names that shells must quote in the index."""
    for name in ODD:
        (project / f".memories/{name}.md").write_text("---\ntags: [älter, b c]\n---\n", "utf-8")
    assert mb("sync").code == 0
    return project


def in_shell(project: Path, *words: str, path: Path) -> str:
    """Run a shell in which `mb` is this checkout."""
    program = path / "mb"
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m memory_bank "$@"\n', "utf-8")
    program.chmod(0o755)
    env = {**environment(), "PATH": f"{path}{os.pathsep}{os.environ['PATH']}", "LC_ALL": "C.UTF-8"}
    done = subprocess.run(
        words, cwd=project, env=env, capture_output=True, text=True, check=False, timeout=60
    )
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


@pytest.mark.skipif(shutil.which("bash") is None, reason="no bash here")
def test_bash_inserts_words_that_it_reads_back(mb: Run, odd_names: Path, tmp_path: Path) -> None:
    lines = {
        "mb show my\\ ": r"my\ first\ note",  # the typed part is replaced
        "mb show 'co": "cost $HOME",
        "mb show it": r"it\'s",
        "mb show a:": r"b\ c",  # bash keeps what is before the colon
        "mb show über": r"über\ –\ ja",
        "mb recall x --tags=b": r"b-c",
    }
    asked = "".join(
        f"COMP_LINE={shlex.quote(line)}; COMP_POINT=${{#COMP_LINE}}; _mb_completion mb;"
        ' printf "%s\\n" "${COMPREPLY[*]}"\n'
        for line in lines
    )
    script = mb("completion", "bash").out
    shown = in_shell(
        odd_names, "bash", "-c", f"{script}\ncomplete -p memory-bank mb\n{asked}", path=tmp_path
    )
    first, second, *found = shown.splitlines()
    assert first.startswith("complete -o nosort -F _memory_bank_completion")
    assert second.endswith(" mb")
    assert found == list(lines.values())


@pytest.mark.skipif(shutil.which("fish") is None, reason="no fish here")
def test_fish_gets_whole_words(mb: Run, odd_names: Path, tmp_path: Path) -> None:
    script = mb("completion", "fish").out
    lines = (
        "mb show 'my", r"mb show my\ ", "mb show a:", "mb recall x --tags=b", "mb recall --expl",
    )  # fmt: skip
    asked = "".join(f"complete -C {shlex.quote(line)}\n" for line in lines)
    shown = in_shell(odd_names, "fish", "--no-config", "-c", f"{script}\n{asked}", path=tmp_path)
    found = [line.partition("\t")[0] for line in shown.splitlines()]
    assert found == ["my first note", "my first note", "a:b c", "--tags=b-c", "--explain"]


@pytest.mark.skipif(shutil.which("zsh") is None, reason="no zsh here")
def test_zsh_loads_its_completion_system_for_the_script(mb: Run, tmp_path: Path) -> None:
    script = mb("completion", "zsh").out
    done = in_shell(
        tmp_path,
        "zsh",
        "-f",
        "-c",
        f"{script}\nprint $_comps[mb] $_comps[memory-bank]",
        path=tmp_path,
    )
    assert done == "_mb_completion _memory_bank_completion\n"


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
