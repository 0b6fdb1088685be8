"""A pull request of a stranger neither runs a program nor takes much time and memory in a review.

docs/benchmarks.md has the figures of a larger one.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import run_git

pytestmark = pytest.mark.slow

MEGABYTES, SECONDS = 400, 40
"""Limits of the whole command, on a busy machine."""
MARK = "started-by-the-repository"
NAMES = (
    "new\nline", "quo\"te'`$(touch x)`", "%0A::error::x", "a\n::error::x", "\u202eevil", "\U0001f600", "-rf", "--output=x",
    "a:b,c", "<img src=x>", "@alice #12", "Case", "case", "caf\u00e9", "cafe\u0301", "tab\there", " ", "x]](y)", "\udcff",
)  # fmt: skip
TEXTS = (
    "<!--", "<details>", "data:", "ignore all ", "[", "[[", "![[", "[a](", "**", "`", "<a ", "AKIA", "password=",
    '<span style="color:', "<tool_call>", "<<<<<<< a\n", "> ", "#", "\u200b", "\u202e", "e\u0301", "a:: [[", "|a", "^[a",
    "&a", "1. ", "! ", "\r", "\0", "\\", "a.\n", "```\n", "---\n", "base64,",
)  # fmt: skip
FRONT_MATTER = {
    "aliases": "a: &a [x,x,x,x,x,x,x,x,x]\n"
    + "".join(f"{b}: &{b} [{','.join([f'*{a}'] * 9)}]\n" for a, b in zip("abcdefgh", "bcdefghi", strict=True)),
    "nested": "a: " + "[" * 500 + "]" * 500,
    "number": "n: " + "9" * 20_000 + "\nf: 1e999999999\ns: 1" + ":59" * 2000,
    "tag": f"a: !!python/object/apply:os.system ['touch {MARK}']",
    "self": "a: &a\n  b: *a",
    "date": "created_at: 99999-99-99\nid: [1]\ntags: {a: b}\ntype: 3",
    "keys": "".join(f"k{number}: v\n" for number in range(500)),
}  # fmt: skip
SETTINGS = (
    "filter.evil.smudge", "filter.evil.clean", "filter.evil.process", "diff.evil.textconv", "diff.evil.command",
    "diff.external", "merge.evil.driver", "core.fsmonitor", "core.pager", "core.sshCommand", "gpg.program",
)  # fmt: skip


def files() -> dict[str, tuple[str, str]]:
    """Return the mode and text of each file of the pull request."""
    notes = {
        "huge.md": "# Huge\n\n" + "word " * 300_000,
        "lines.md": "# Lines\n\n" + "".join(f"line {n} of many\n" for n in range(4000)),
        "headings.md": "".join(f"## h{n}\n\n" for n in range(600)),
        "links.md": "".join(f"[[nowhere/{n}]] " for n in range(600)),
        "d/" * 200 + "deep.md": "# Deep\n",
        "config.toml": f'[memory]\nembedder = "evil"\ninclude = ["/etc", "../.."]\n[embedders.evil]\ncommand = ["touch", "{MARK}"]\n',
        "queries.toml": '[[queries]]\ntext = "plain"\nfind = ["a"]\n' * 20,
    }
    notes |= {f"tiny/{n}.md": f"# T{n}\n\ntiny {n}\n" for n in range(100)}
    notes |= {f"names/{name}.md": "# N\n\nweird name\n" for name in NAMES}
    notes |= {f"text/{n}.md": f"# R\n\n{text * 800}\n" for n, text in enumerate(TEXTS)}
    notes |= {f"yaml/{name}.md": f"---\n{text}\n---\n# Y\n" for name, text in FRONT_MATTER.items()}
    found = {f".memories/{path}": ("100644", text) for path, text in notes.items()}
    found[".memories/link.md"] = ("120000", "/etc/passwd")
    found[".memories/folder"] = ("120000", "/etc")
    found[".gitattributes"] = ("100644", "* filter=evil diff=evil merge=evil\n")
    update = f'[submodule "x"]\n\tpath = .memories/sub\n\turl = ext::touch% {MARK}\n\tupdate = !touch {MARK}\n'
    found[".gitmodules"] = ("100644", update)
    return found


def commit(branch: str, changed: dict[str, tuple[str, str]], mark: int, above: str = "") -> bytes:
    """Return a commit as `git fast-import` reads it; no file system sees its names."""
    head = f"commit refs/heads/{branch}\nmark :{mark}\ncommitter a <a@b> 1767225600 +0000\ndata 1\nx\n{above}"
    parts = [head.encode()]
    for path, (mode, text) in changed.items():
        name = "".join(f"\\{byte:03o}" for byte in path.encode("utf-8", "surrogateescape"))
        data = text.encode("utf-8", "surrogateescape")
        parts.append(f'M {mode} inline "{name}"\ndata {len(data)}\n'.encode() + data + b"\n")
    return b"".join(parts)


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    root = tmp_path / "hostile"
    root.mkdir()
    run_git(root, "init", "-qb", "main")
    base = commit("main", {".memories/a.md": ("100644", "# A\n\nplain\n")}, 1)
    change = commit("change", files(), 2, "from :1\n")
    submodule = f"M 160000 {'1' * 40} .memories/sub\n".encode()
    subprocess.run(
        ["git", "fast-import", "--quiet"], cwd=root, input=base + change + submodule, check=True
    )
    run_git(root, "reset", "-q", "--hard", "main")
    for name in SETTINGS:
        run_git(root, "config", name, f"touch {root / MARK}")
    return root


@pytest.mark.skipif(sys.platform == "win32", reason="the limits are those of POSIX")
def test_a_review_is_bounded_and_starts_nothing(repository: Path) -> None:
    program = (
        "import json, resource, subprocess, sys\n"
        "code = subprocess.run(sys.argv[1:]).returncode\n"
        "used = resource.getrusage(resource.RUSAGE_CHILDREN)\n"
        "print(json.dumps([code, used.ru_maxrss, used.ru_utime + used.ru_stime]))\n"
    )
    asked = (
        "-m",
        "memory_bank",
        "review",
        "main..change",
        "--format",
        "json",
        "--output",
        "../out.json",
    )
    words = [sys.executable, "-c", program, sys.executable, *asked]
    ended = subprocess.run(words, cwd=repository, capture_output=True, check=True)
    code, size, seconds = json.loads(ended.stdout)
    megabytes = size / (1 << 20 if sys.platform == "darwin" else 1 << 10)
    assert code in {0, 1}, ended.stderr
    assert megabytes < MEGABYTES
    assert seconds < SECONDS
    assert not (repository / MARK).exists()
    shown = (repository.parent / "out.json").read_text()
    assert "root:" not in shown
    changes = {one["path"] for one in json.loads(shown)["changes"]}
    assert {"huge.md", "tiny/1.md", "text/0.md", "yaml/aliases.md"} <= changes
