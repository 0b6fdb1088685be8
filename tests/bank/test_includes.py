"""Folders and files of a project that its settings include are notes of its bank."""

import os
import queue
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from memory_bank.bank.bank import Bank
from memory_bank.base.errors import BadSetting, NoteNotFound, NoteReadOnly
from memory_bank.memory.change import set_status
from memory_bank.memory.edit import append, edit, update
from memory_bank.memory.import_notes import import_notes
from memory_bank.memory.links import links_of
from memory_bank.memory.maintenance import ChangedPaths, compare, follow_changes
from memory_bank.memory.move_and_merge import merge, rename
from memory_bank.memory.remember import remember
from memory_bank.memory.retrieval.recall import recall
from memory_bank.memory.show import known_names, list_notes, show
from memory_bank.memory.trash import delete
from memory_bank.review.doctor import doctor
from tests.git.history_builder import commit_all
from tests.support.files import write_files as write

Git = Callable[..., str]
Opening = Callable[..., Bank]
FILES = {
    "docs/adr/0001-postgres.md": "# Postgres\n\nJobs wait in a table. See [two](0002-redis.md) and "
    "[bm25](../../.memories/facts/bm25.md).\n",
    "docs/adr/0002-redis.md": "# Redis\n\nA kestrel cache. See [[tantivy]].\n",
    "CLAUDE.md": "# Guide\n\nRun the osprey tests. See [one](docs/adr/0001-postgres.md).\n",
    ".serena/memories/style.md": "Write plain heron words.\n",
}
INCLUDE = ["docs/adr", "CLAUDE.md", "./.serena/memories/"]


def setting(project: Path, *paths: str) -> None:
    shown = ", ".join(f'"{path}"' for path in paths)
    (project / ".memories/config.toml").write_text(f"[memory]\ninclude = [{shown}]\n")


@pytest.fixture
def repository(project: Path, git: Git) -> Path:
    write(project, FILES)
    setting(project, *INCLUDE)
    git(project, "add", "-A")
    git(project, "commit", "-q", "-m", "Decide", "--date", "2024-05-06T07:08:09Z")
    return project.resolve()


@pytest.fixture
def bank(repository: Path, opening: Opening) -> Bank:
    return opening(repository)


def found(bank: Bank, query: str) -> list[str]:
    return [note.path for note in recall(bank, query, mode="lexical").notes]


def paths(bank: Bank) -> set[str]:
    return {note.path for note in list_notes(bank, 100).notes}


def reasons(bank: Bank) -> dict[str, str]:
    return {one.path: one.message for one in doctor(bank).findings if one.rule == "unindexed"}


def test_changes_are_found_at_once(bank: Bank, repository: Path) -> None:
    for _ in range(3):  # the second query begins to watch
        assert found(bank, "merlin") == []
    write(repository, {"docs/adr/sub/0003.md": "# Merlin\n"})
    assert found(bank, "merlin") == ["docs/adr/sub/0003.md"]
    write(repository, {"CLAUDE.md": "# Merlin and more\n", "docs/adr/sub/0003.md": "gone\n"})
    assert found(bank, "merlin") == ["CLAUDE.md"]
    (repository / "CLAUDE.md").unlink()
    assert found(bank, "merlin") == []
    write(repository, {"CLAUDE.md": "# Merlin\n"})
    assert found(bank, "merlin") == ["CLAUDE.md"]


def test_an_open_bank_notices_another_setting(bank: Bank, repository: Path) -> None:
    assert found(bank, "osprey") == ["CLAUDE.md"]
    for _ in range(3):
        found(bank, "osprey")
    setting(repository, "docs")
    assert found(bank, "osprey") == []
    assert found(bank, "kestrel") == ["docs/adr/0002-redis.md"]
    (repository / ".memories/config.toml").write_text("[memory\n")
    assert found(bank, "kestrel") == ["docs/adr/0002-redis.md"]
    (repository / ".memories/config.toml").unlink()
    assert found(bank, "kestrel") == []


CHANGES: dict[str, Callable[[Bank], object]] = {
    "append": lambda bank: append(bank, "CLAUDE", "more"),
    "update": lambda bank: update(bank, "docs/adr/0001-postgres", "other"),
    "edit": lambda bank: edit(bank, "CLAUDE", "x", old="Guide", agent="codex"),
    "archive": lambda bank: set_status(bank, "CLAUDE", "archived"),
    "rm": lambda bank: delete(bank, "CLAUDE"),
    "mv": lambda bank: rename(bank, "CLAUDE", "guide"),
    "merge": lambda bank: merge(bank, ["facts/bm25", "CLAUDE"], "facts/bm25", "both"),
}


@pytest.mark.parametrize("change", CHANGES)
def test_no_tool_changes_them(bank: Bank, repository: Path, git: Git, change: str) -> None:
    with pytest.raises(NoteReadOnly) as caught:
        CHANGES[change](bank)
    assert "included by the setting memory.include (.memories/config.toml:2)" in str(caught.value)
    assert "in an editor" in caught.value.hint
    assert git(repository, "status", "--porcelain") == ""


def test_they_are_no_duplicates(bank: Bank, repository: Path) -> None:
    text = (repository / "CLAUDE.md").read_text()
    done = remember(bank, text, name="guide")
    assert (done.action, done.path, done.same_as) == ("created", "guide.md", None)
    assert not [one for one in doctor(bank).findings if one.rule == "same-content"]
    long = "The quick brown kestrel jumps over every lazy osprey of the northern marsh at noon."
    write(repository, {"docs/adr/long.md": f"{long}\n"})
    assert remember(bank, f"{long} Twice.", name="long").similar_to is None
    assert remember(bank, f"{long} Thrice.", name="longer").similar_to == "long.md"
    imported = import_notes(bank, "markdown", repository / "docs/adr", into="adr")
    assert imported.counts == {"created": 3}


@pytest.mark.parametrize(
    "path",
    ["..", "docs/../../x", "/etc", "~/x", "C:/x", "docs\\\\adr", "", " ", "a\\u0000b", "é" * 128],
)
def test_a_path_out_of_the_project_is_refused(
    repository: Path, opening: Opening, path: str
) -> None:
    setting(repository, path)
    with pytest.raises(BadSetting, match=r"config\.toml:2: memory\.include") as caught:
        opening(repository)
    assert caught.value.hint


def test_links_out_missing_and_special_files_are_listed_not_read(
    repository: Path, opening: Opening, tmp_path: Path
) -> None:
    write(tmp_path, {"outside/x.md": "kestrel outside\n", "outside/adr/y.md": "kestrel\n"})
    os.symlink(tmp_path / "outside", repository / "linked")
    os.symlink(tmp_path / "outside/x.md", repository / "LINK.md")
    os.symlink(tmp_path / "outside/x.md", repository / "docs/adr/link.md")
    os.symlink(tmp_path / "outside", repository / "docs/adr/more")
    os.mkfifo(repository / "pipe.md")
    setting(
        repository, "linked", "linked/adr", "LINK.md", "docs/adr", "pipe.md", "no", "src/index.py"
    )
    bank = opening(repository)
    assert found(bank, "kestrel") == ["docs/adr/0002-redis.md"]
    link, missing = "symbolic link: not followed", "there is no such file or folder"
    assert reasons(bank) == {
        "linked": link, "linked/adr": link, "LINK.md": link, "docs/adr/link.md": link,
        "docs/adr/more/": link, "pipe.md": "neither a plain file nor a folder", "no": missing,
        "src/index.py": "its name ends in none of .md, .markdown and .mdc: mind the case",
    }  # fmt: skip
    for _ in range(3):
        found(bank, "kestrel")
    (repository / "docs").rename(repository / "was")
    os.symlink(tmp_path / "outside", repository / "docs")
    assert found(bank, "kestrel") == []
    with pytest.raises(NoteNotFound):
        show(bank, "docs/adr/y")


def test_ignored_files_are_never_notes(repository: Path, opening: Opening, git: Git) -> None:
    rules = "secret*.md\n/private/\nnode_modules/\n/GEMINI.md\n"
    write(repository, {
        ".gitignore": rules, "docs/adr/e\u0301te\u0301/n.md": "heron\n",
        "docs/adr/secret-plan.md": "kestrel\n", "private/a.md": "kestrel\n",
        "node_modules/x/README.md": "kestrel\n", "GEMINI.md": "kestrel\n",
        "nested/b.md": "kestrel\n", "docs/adr/secret-tracked.md": "merlin\n",
    })  # fmt: skip
    git(repository, "init", "-q", "nested")
    git(repository, "add", "-f", "docs/adr/secret-tracked.md")
    setting(repository, ".", "private", "GEMINI.md", "nested", "docs/adr")
    bank = opening(repository)
    assert found(bank, "kestrel") == ["docs/adr/0002-redis.md"]
    assert found(bank, "merlin") == ["docs/adr/secret-tracked.md"]
    assert found(bank, "heron") == ["docs/adr/e\u0301te\u0301/n.md"]
    reason = "git knows no file of it: it is ignored, empty, or part of another repository"
    assert reasons(bank) == dict.fromkeys(("private", "GEMINI.md", "nested"), reason)
    for _ in range(3):
        found(bank, "kestrel")
    write(repository, {"docs/adr/secret-2.md": "kestrel\n", "docs/adr/new.md": "kestrel\n"})
    assert set(found(bank, "kestrel")) == {"docs/adr/0002-redis.md", "docs/adr/new.md"}
    write(repository, {f"docs/adr/many{n}.md": "many\n" for n in range(150)})
    write(repository, {f"docs/adr/secret{n}.md": "many\n" for n in range(150)})
    assert recall(bank, "many", 100, "lexical").result_count == 100
    secret = [name for name in known_names(bank) if "secret" in name]
    assert secret == ["docs/adr/secret-tracked"]


def test_without_an_answer_of_git_nothing_is_included(
    repository: Path, opening: Opening, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "")
    bank = opening(repository)
    assert found(bank, "osprey") == []
    assert "git can't say" in reasons(bank)["CLAUDE.md"]


def test_the_project_may_be_a_folder_of_a_repository(
    repository: Path, opening: Opening, git: Git
) -> None:
    part = repository / "services/pay"
    write(
        part,
        {".memories/a.md": "a\n", "docs/b.md": "kestrel [x](../README.md)\n", "README.md": "x\n"},
    )
    write(part, {".gitignore": "no.md\n", "docs/no.md": "kestrel\n"})
    setting(part, "docs/", "./README.md")
    commit_all(repository, "Pay")
    bank = opening(part)
    assert found(bank, "kestrel") == ["docs/b.md"]
    moment = int(git(repository, "log", "-1", "--format=%at"))
    shown = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(moment))
    assert {show(bank, name).created_at for name in ("docs/b", "README")} == {shown}
    assert [link.target for link in links_of(bank, "docs/b").outgoing] == ["README.md"]


def test_outside_git_all_are_included_but_what_a_repository_inside_ignores(
    tmp_path: Path, opening: Opening, git: Git
) -> None:
    root = tmp_path / "plain"
    write(root, {".memories/a.md": "a\n", **FILES})
    hidden = {"shop/.gitignore": "/private.md\n", "shop/private.md": "x\n", "shop/open.md": "x\n"}
    write(root, {**hidden, "all/in/nested/a.md": "x\n", "all/b.md": "x\n", "all/.h/c.md": "x\n"})
    os.symlink(root / "shop", root / "all/linked")
    git(root, "init", "-q", "shop")
    git(root, "init", "-q", "all/in/nested")
    setting(root, *INCLUDE, "shop", "all")
    bank = opening(root)
    assert paths(bank) == {"a.md", *FILES, "shop/open.md", "all/b.md"}
    assert set(reasons(bank)) == {"all/linked/"}


@pytest.mark.parametrize(
    "include",
    [
        ["docs", "docs/adr", "docs/adr/", "docs//adr/./0001-postgres.md", "docs/adr"],
        [".", "docs", ".memories", ".memories/facts", ".memories/.index", "./.memories/.trash"],
    ],
)
def test_each_file_is_one_note(repository: Path, opening: Opening, include: list[str]) -> None:
    setting(repository, *include)
    bank = opening(repository)
    bank.sync()
    delete(bank, "facts/bm25")
    listed = [note.path for note in list_notes(bank, 100).notes]
    assert len(listed) == len(set(listed))
    assert {name for name in listed if name.startswith((".", "facts"))} == set()
    assert sum("postgres" in name for name in listed) == 1
    assert reasons(bank) == {}
    assert compare(bank)[1] == ()


def test_a_setting_of_the_user_names_files_that_some_projects_have(
    project: Path, opening: Opening
) -> None:
    bank = opening(project, memory__include=["CLAUDE.md"])
    assert reasons(bank) == {}
    write(project, {"CLAUDE.md": "osprey\n"})
    assert found(bank, "osprey") == ["CLAUDE.md"]


def test_a_server_is_told_of_their_changes(repository: Path, opening: Opening, bank: Bank) -> None:
    setting(repository, "docs/adr", "CLAUDE.md", "later")
    told: queue.Queue[ChangedPaths] = queue.Queue()
    stop = threading.Event()
    thread = threading.Thread(target=follow_changes, args=(opening(repository), told.put, stop))
    thread.start()
    try:
        assert told.get(timeout=60) == ChangedPaths()
        write(repository, {"CLAUDE.md": "# Merlin\n"})
        assert told.get(timeout=60) == ChangedPaths(changed=("CLAUDE.md",))
        write(repository, {"later/a.md": "new\n"})
        assert told.get(timeout=60) == ChangedPaths(added=("later/a.md",))
        write(repository, {"later/b.md": "new\n"})
        assert told.get(timeout=60) == ChangedPaths(added=("later/b.md",))
        setting(repository, "CLAUDE.md", "later", ".serena/memories")
        gone = ("docs/adr/0001-postgres.md", "docs/adr/0002-redis.md")
        changed = told.get(timeout=60)
        assert (changed.added, sorted(changed.removed)) == ((".serena/memories/style.md",), [*gone])
        write(repository, {".serena/memories/style.md": "other\n"})
        assert told.get(timeout=60) == ChangedPaths(changed=(".serena/memories/style.md",))
    finally:
        stop.set()
        thread.join(60)
