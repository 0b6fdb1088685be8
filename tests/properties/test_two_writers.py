"""Writers at the same time lose nothing: processes, threads, and those that name a version."""

import subprocess
import sys
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

import pytest

from memory_bank.bank.bank import Bank, open_bank
from memory_bank.base.errors import Conflict, NoteNotFound
from memory_bank.memory.edit import append
from memory_bank.memory.maintenance import compare
from memory_bank.memory.show import show
from tests.support import forked

pytestmark = pytest.mark.slow


START = """
import sys
from memory_bank.bank.bank import open_bank
from memory_bank import append
from memory_bank import delete
from memory_bank import recall
from memory_bank import rename
from memory_bank import restore
from memory_bank import show
from memory_bank import update
from memory_bank.base.errors import Busy
from memory_bank.base.errors import Conflict
from memory_bank.base.errors import NoteExists
from memory_bank.base.errors import NoteNotFound
with open_bank(sys.argv[1], settings={"memory.embedder": "none"}) as bank:
    who, count = sys.argv[2], int(sys.argv[3])
    bank.catch_up()
    print("ready", flush=True)
    sys.stdin.readline()
    for number in range(count):
        line = f"line {who}-{number}."
"""
APPENDING = (
    START
    + """\
        append(bank, "facts/bm25", line)
"""
)
REPLACING = (
    START
    + """\
        while True:
            seen = show(bank, "facts/bm25")
            try:
                update(bank, "facts/bm25", f"{seen.body}{line}\\n", if_match=seen.etag)
                break
            except Conflict:
                continue
"""
)
CHASING = (
    START
    + """\
        for _ in range(200):
            try:
                append(bank, "BM25", line)
                break
            except (Conflict, NoteNotFound):
                continue
        else:
            sys.exit("the note was never there")
"""
)
MOVING = (
    START
    + """\
        new = f"facts/{who}-{number % 3}"
        try:
            rename(bank, "BM25", new)
        except (Conflict, NoteNotFound, NoteExists):
            continue
"""
)
REBUILDING = (
    START
    + """\
        bank.rebuild()
"""
)
ASKING = (
    START
    + """\
        found = recall(bank, "whoosh")
        assert found.notes, "the notes hid"
"""
)


def run(project: Path, *scripts: tuple[str, int]) -> None:
    """Run scripts at the same time; each must end well."""
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with ExitStack() as stack:
        started = []
        for who, (script, count) in enumerate(scripts):
            words = [sys.executable, "-P", "-c", script, str(project), str(who), str(count)]
            started.append(stack.enter_context(forked.Popen(words, text=True, **pipes)))
            stack.callback(started[-1].kill)
        for process in started:
            assert process.stdout.readline() == "ready\n", process.stderr.read()
        for process in started:
            process.stdin.write("go\n")
            process.stdin.flush()
        ended = [(one.communicate(timeout=300)[1], one.returncode) for one in started]
    assert [code for _, code in ended] == [0] * len(scripts), [said for said, _ in ended if said]


def lines(text: str) -> list[str]:
    return sorted(line for line in text.splitlines() if line.startswith("line "))


def expected(*counts: int) -> list[str]:
    return sorted(f"line {who}-{n}." for who, count in enumerate(counts) for n in range(count))


def whole(project: Path) -> None:
    with open_bank(project, settings={"memory.embedder": "none"}) as bank:
        assert compare(bank)[1] == ()
    assert not list(project.rglob(".mb-*"))
    assert not list(project.rglob(".journal-*"))


@pytest.mark.parametrize("script", [APPENDING, REPLACING], ids=["append", "read and replace"])
def test_processes_lose_no_line(project: Path, script: str) -> None:
    run(project, *[(script, 8)] * 3)
    text = (project / ".memories/facts/bm25.md").read_text(encoding="utf-8")
    assert lines(text) == expected(8, 8, 8)
    whole(project)


def test_a_note_that_moves_while_it_grows_loses_no_line_and_no_link(project: Path) -> None:
    run(project, (CHASING, 8), (CHASING, 8), (MOVING, 8))
    (note,) = [
        path
        for path in (project / ".memories").rglob("*.md")
        if path.read_text(encoding="utf-8").startswith("# BM25")
    ]
    assert lines(note.read_text(encoding="utf-8")) == expected(8, 8)
    with open_bank(project, settings={"memory.embedder": "none"}) as bank:
        assert show(bank, note.stem).backlinks_count == 1
    whole(project)


def test_rebuilding_disturbs_neither_readers_nor_writers(project: Path) -> None:
    run(project, (REBUILDING, 10), (ASKING, 60), (APPENDING, 10), (REBUILDING, 10))
    text = (project / ".memories/facts/bm25.md").read_text(encoding="utf-8")
    assert lines(text) == sorted(f"line 2-{n}." for n in range(10))
    whole(project)


def test_processes_that_index_a_new_bank_at_once_agree(project: Path) -> None:
    for number in range(40):
        (project / f".memories/{number}.md").write_text(f"kestrel {number}")
    run(project, *[(ASKING, 2)] * 4)
    whole(project)


def test_a_person_who_saves_meanwhile_is_not_overwritten(
    bank: Bank, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The editor saves between our read and our rename."""
    file = project / ".memories/facts/bm25.md"
    change = bank.store.change

    def saving(
        path: str, edit: Callable[[str], str], if_match: str | None = None, **more: object
    ) -> str:
        def edited(text: str) -> str:
            new = edit(text)
            file.write_text("# Saved in vim\n", encoding="utf-8")
            return new

        return change(path, edited, if_match, **more)  # type: ignore[arg-type]

    monkeypatch.setattr(bank.store, "change", saving)
    with pytest.raises(Conflict):
        append(bank, "facts/bm25", "mine")
    assert file.read_text(encoding="utf-8") == "# Saved in vim\n"
    file.unlink()
    with pytest.raises(NoteNotFound):
        append(bank, "facts/bm25", "mine")
