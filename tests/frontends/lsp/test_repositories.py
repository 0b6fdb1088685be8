"""The server in repositories of all kinds: it starts, answers, and ends without a fault."""

from collections.abc import Callable
from pathlib import Path

import pytest
from lsprotocol import types

from tests.frontends.lsp.client import Editor, position, uri
from tests.git.history_builder import commit_all, run
from tests.support.files import write_files
from tests.support.waiting import until

pytestmark = pytest.mark.slow

CODE = 'def charge(amount):\n    """Charge an amount."""\n    return retry(amount)\n\n\ndef retry(amount):\n    return amount\n'
NOTE = "# Charging\n\nSee [[pay.py#charge]] and [[other]].\n"
FILES = {"pay.py": CODE, ".memories/note.md": NOTE, ".memories/other.md": "# Other note\n"}
PLAIN = "## `charge`\n\n**Purpose:** Charge an amount.\n\n**Dependencies:** calls, by name: `retry`"

Git = Callable[..., str]


def write(root: Path) -> Path:
    write_files(root, FILES)
    return root


def commit(git: Git, root: Path) -> Path:
    git(root.parent, "init", "-q", "-b", "main", str(root))
    for number in range(3):
        write(root)
        (root / "pay.py").write_text(f"{CODE}# {number}\n")
        commit_all(root, f"Change {number}")
    return root


def shallow(git: Git, folder: Path) -> Path:
    origin = commit(git, folder / "origin")
    git(folder, "clone", "-q", "--depth", "1", origin.as_uri(), "clone")
    return folder / "clone"


def bare(git: Git, folder: Path) -> Path:
    git(folder, "init", "-q", "--bare", "bare.git")
    return write(folder / "bare.git")


def without_commits(git: Git, folder: Path) -> Path:
    git(folder, "init", "-q", "new")
    return write(folder / "new")


def submodule(git: Git, folder: Path) -> Path:
    inner, outer = commit(git, folder / "inner"), commit(git, folder / "outer")
    git(outer, "-c", "protocol.file.allow=always", "submodule", "add", "-q", str(inner), "part")
    return outer / "part"


def work_tree(git: Git, folder: Path) -> Path:
    main = commit(git, folder / "main")
    git(main, "worktree", "add", "-q", str(folder / "second"))
    return folder / "second"


def detached(git: Git, folder: Path) -> Path:
    root = commit(git, folder / "detached")
    git(root, "checkout", "-q", "--detach", "HEAD~1")
    return root


def no_repository(_: Git, folder: Path) -> Path:
    return write(folder / "plain")


def broken(git: Git, folder: Path) -> Path:
    root = commit(git, folder / "broken")
    (root / ".git/HEAD").write_text("nonsense\n")
    return root


KINDS = [shallow, bare, without_commits, submodule, work_tree, detached, no_repository, broken]
HAVE_CODE = {shallow, without_commits, submodule, work_tree, detached}


@pytest.mark.parametrize("make", KINDS, ids=lambda one: one.__name__)
def test_it_serves_notes_and_code_as_far_as_there_are_any(
    make: Callable[[Git, Path], Path], git: Git, tmp_path: Path
) -> None:
    root = make(git, tmp_path.resolve())
    with Editor(root, home=tmp_path / "home") as editor:
        assert editor.welcome.capabilities.hover_provider

        def hover(file: Path, mark: str) -> str:
            params = types.HoverParams(document[file], position(file.read_text(), mark, 5))
            found = editor.ask(editor.client.text_document_hover_async, params)
            return str(found.contents.value) if found else ""

        code, note = root / "pay.py", root / ".memories/note.md"
        document = {file: editor.open(file) for file in (code, note)}
        assert "Other note" in until(lambda: hover(note, "[[other"))
        if make in HAVE_CODE:
            shown = until(lambda: hover(code, "def charge"))
            assert shown.startswith(PLAIN)
            # what the code has to do with notes comes when it has been read
            assert "📝" in until(
                lambda: (found := hover(code, "def charge")) and "📝" in found and found
            )
        else:
            assert hover(code, "def charge") == ""
        assert editor.leave() == 0
        assert editor.stderr == ""
    if (root / ".git").exists() and make is not broken:
        assert (run(root, "diff"), uri(code) in editor.diagnostics) == ("", False)
