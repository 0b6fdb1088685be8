"""Whatever is included, each note is one plain file inside of the project, and found once."""

import os
import posixpath
from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import given
from hypothesis import strategies as st

from memory_bank.base.documents import Document
from memory_bank.base.filenames import why_outside
from memory_bank.notes.roots import IncludedRoot, NoteRoot, Roots
from memory_bank.notes.source import NotesSource

FOLDERS = (
    "", "a/", "a/b/", ".h/", ".h/a/", "a/.h/", ".memories/", ".memories/a/", "out/", "a/out/",
)  # fmt: skip
NAMES = ("x.md", "y.markdown", "z.txt", "W.MD", ".v.md", "a", "b", "out", "gone.md")
paths = st.lists(
    st.sampled_from(["", ".", "./", "..", "a", "b", ".h", "out", ".memories", "/", "x.md", "z.txt"]),
    min_size=1, max_size=4,
).map("/".join)  # fmt: skip
files = st.sets(st.tuples(st.sampled_from(FOLDERS), st.sampled_from(NAMES)), max_size=12)


@given(files, st.lists(paths, max_size=5))
def test_what_is_included(made: set[tuple[str, str]], included: list[str]) -> None:
    wanted = [posixpath.normpath(path) for path in included if not why_outside(path)]
    with TemporaryDirectory() as folder:
        top = Path(folder).resolve()
        project = top / "project"
        (project / ".memories").mkdir(parents=True)
        (top / "outside/a").mkdir(parents=True)
        (top / "outside/x.md").write_text("theirs")
        (top / "outside/a/x.md").write_text("theirs")
        for link in ("out", "a/out"):
            (project / link).parent.mkdir(exist_ok=True)
            os.symlink(top / "outside", project / link)
        for below, name in sorted(made):
            file = project / below / name
            inside_file = any(above.is_file() for above in file.parents)
            if not (os.path.lexists(file) or inside_file or "out" in below.split("/")):
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text("ours")
        root = IncludedRoot(project, wanted, bank=".memories")
        roots = Roots(NoteRoot(project / ".memories"), ".memories/", root)
        source = NotesSource(roots, max_bytes=1000)
        found = source.scan().signatures
        assert {roots.file(key) for key in found} == expected(project, wanted)
        assert len({roots.file(key).resolve() for key in found}) == len(found)
        for key in found:
            read = source.read(key)
            assert isinstance(read, Document)
            assert [passage.text for passage in read.passages] == ["ours"]
        source.close()


def expected(project: Path, included: list[str]) -> set[Path]:
    """Return the files that are notes, found the slow way."""
    own = markdown(project / ".memories", ".")
    keys = {file.relative_to(project / ".memories") for file in own}
    theirs = {
        file for path in map(posixpath.normpath, included) for file in markdown(project, path)
    }
    bank = project / ".memories"
    others = {
        f for f in theirs if not f.is_relative_to(bank) and f.relative_to(project) not in keys
    }
    return own | others


def markdown(root: Path, path: str) -> set[Path]:
    start = root / path
    linked = any((root / above).is_symlink() for above in [path, *map(str, Path(path).parents)])
    if linked or not start.exists():
        return set()
    if start.is_file():
        return {start} if start.suffix in {".md", ".markdown"} else set()
    found = set()
    for folder, below, names in os.walk(start):
        below[:] = [name for name in below if name[0] != "."]
        found |= {
            Path(folder, n) for n in names if n[0] != "." and n.endswith((".md", ".markdown"))
        }
    return found
