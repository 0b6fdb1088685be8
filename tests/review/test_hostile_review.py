"""A pull request of a stranger neither runs a program nor takes much time and memory in a review.

docs/benchmarks.md has the figures of a larger one.
"""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from memory_bank.bank.bank import open_bank
from memory_bank.review.review import review
from tests.code import hostile
from tests.conftest import run_git

pytestmark = [
    pytest.mark.skipif(sys.platform == "win32", reason="limits and programs are those of POSIX"),
    pytest.mark.slow,
]

MEGABYTES, SECONDS = 400, 40
"""Limits of the whole command, on a busy machine."""
MARK = "started-by-the-repository"
NAMES = (
    "new\nline", "quo\"te'`$(touch x)`", "%0A::error::x", "a\n::error::x", "\u202eevil", "\U0001f600", "-rf", "--output=x",
    "a:b,c", ":(glob)x", "con", "`id`\x1b[31m", "<img src=x>", "@alice #12", "Case", "case", "caf\u00e9", "cafe\u0301", "tab\there", " ", "x]](y)", "\udcff",
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
LONG = {
    "huge": "# Huge\n\n" + "word " * 300_000,
    "lines": "# Lines\n\n" + "".join(f"line {n} of many\n" for n in range(4000)),
    "headings": "".join(f"## h{n}\n\n" for n in range(600)),
    "links": "".join(f"[[nowhere/{n}]] " for n in range(600)),
    "brackets": "[" * 100_000 + "](x)" * 10_000,
    "stars": "*a **b " * 20_000,
    "quotes": "> " * 5000 + "x\n",
    "claims": "".join(f"- a{n % 7} b{n % 5}\n" for n in range(15_000)),
    "d/" * 200 + "deep": "# Deep\n",
}


def files() -> dict[str, tuple[str, str]]:
    """Return the mode and text of each file of the pull request."""
    notes = {
        "config.toml": f'[memory]\nembedder = "evil"\ninclude = ["/etc", "../.."]\n[embedders.evil]\ncommand = ["touch", "{MARK}"]\n',
    }
    notes |= {f"{name}.md": text for name, text in LONG.items()}
    notes |= {f"tiny/{n}.md": f"# T{n}\n\ntiny {n}\n" for n in range(100)}
    notes |= {f"names/{name}.md": "# N\n\nweird name\n" for name in NAMES}
    notes |= {f"text/{n}.md": f"# R\n\n{text * 800}\n" for n, text in enumerate(TEXTS)}
    notes |= {f"yaml/{name}.md": f"---\n{text}\n---\n# Y\n" for name, text in FRONT_MATTER.items()}
    found = {f".memories/{path}": ("100644", text) for path, text in notes.items()}
    found[".memories/link.md"] = ("120000", "/etc/passwd")
    found[".memories/folder"] = ("120000", "/etc")
    found[".gitattributes"] = ("100644", "* filter=trap diff=trap merge=trap\n")
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
    claims = "".join(f"- b{n % 5} a{n % 7}\n" for n in range(15_000))
    before = {"a.md": "# A\n\nplain\n", "claims.md": claims}
    base = commit("main", {f".memories/{name}": ("100644", before[name]) for name in before}, 1)
    change = commit("change", files(), 2, "from :1\n")
    submodule = f"M 160000 {'1' * 40} .memories/sub\n".encode()
    subprocess.run(
        ["git", "fast-import", "--quiet"], cwd=root, input=base + change + submodule, check=True
    )
    run_git(root, "reset", "-q", "--hard", "main")
    hostile.plant(root, hostile.trap(tmp_path), run_git, "--local")
    return root


def test_trees_that_git_did_not_make_lead_nowhere(repository: Path, tmp_path: Path) -> None:
    def made(*words: str, data: bytes) -> str:
        return run_git(repository, *words, given=data).strip()

    def tree(kind: str, *entries: tuple[str, str]) -> str:
        mode = {"blob": "100644", "tree": "040000"}[kind]
        rows = "".join(f"{mode} {kind} {name}\t{path}\0" for name, path in entries)
        return made("mktree", "-z", "--missing", data=rows.encode())

    inner = tree("blob", (made("hash-object", "-w", "--stdin", data=b"# Out\n"), "x.md"))
    top = tree("tree", (tree("tree", (inner, ".."), (inner, ".git")), ".memories"))
    evil = made("commit-tree", "-m", "Evil", "-p", "main", top, data=b"")
    before = {file for file in tmp_path.rglob("*") if ".git" not in file.parts}
    with open_bank(repository / ".memories", settings={"memory.embedder": "none"}) as bank:
        found = review(bank, f"main..{evil}")
    assert found.changes
    assert all(one.kind == "removed" for one in found.changes)
    after = {file for file in tmp_path.rglob("*") if ".git" not in file.parts}
    assert {file for file in after - before if ".index" not in file.parts} == set()


def test_a_review_is_bounded_and_starts_nothing(repository: Path) -> None:
    program = (
        "import json, resource, subprocess, sys\n"
        "code = subprocess.run(sys.argv[1:]).returncode\n"
        "used = resource.getrusage(resource.RUSAGE_CHILDREN)\n"
        "print(json.dumps([code, used.ru_maxrss, used.ru_utime + used.ru_stime]))\n"
    )
    asked = [
        "-m", "memory_bank", "review", "main..change", "--format", "json", "--output",
        "../out.json",
    ]  # fmt: skip
    words = [sys.executable, "-c", program, sys.executable, *asked]
    ended = subprocess.run(words, cwd=repository, capture_output=True, check=True)
    code, size, seconds = json.loads(ended.stdout)
    megabytes = size / (1 << 20 if sys.platform == "darwin" else 1 << 10)
    assert code in {0, 1}, ended.stderr
    assert megabytes < MEGABYTES
    assert seconds < SECONDS
    assert not (repository / MARK).exists()
    assert not (repository.parent / "sprung").exists()
    shown = (repository.parent / "out.json").read_text()
    assert "root:" not in shown
    changes = {one["path"]: one["compared"] for one in json.loads(shown)["changes"]}
    assert {"claims.md", "tiny/1.md", "text/0.md", "yaml/aliases.md"} <= set(changes)
    assert not changes["huge.md"]
