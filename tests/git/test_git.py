import gc
import os
import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path

import pytest

from memory_bank.base.documents import Committed
from memory_bank.git import authorship, history, objects, process, repository
from memory_bank.git.file_commits import FileCommits
from memory_bank.git.history import History
from tests.code import hostile
from tests.git.history_builder import commit_all
from tests.support.waiting import until

Git = Callable[..., str]


def dates(project: Path, bank: Path) -> dict[str, Committed]:
    """Return when the files of a bank were committed."""
    commits = FileCommits(bank, History)
    commits.refresh()
    found = {path: commits.dates_of(path) for path in commits.paths}
    commits.close()
    return {path: one for path, one in found.items() if one is not None}


def moved(project: Path, paths: Sequence[str]) -> dict[str, str]:
    """Return the new names of files that were moved and exist."""
    commits = FileCommits(project, History)
    commits.refresh()
    found = commits.find_moves(paths, lambda path: os.path.lexists(project / path))
    commits.close()
    return found


def ask_everything(project: Path) -> bool:
    """Ask all that can be asked; return whether all was answered."""
    answers = (
        repository.read_head(project),
        repository.find_root_commit(project),
        dates(project, project / ".memories"),
        repository.list_files(project, ["*.log"]),
        repository.is_ignored(project, project / ".memories/sessions/a.md"),
        repository.list_trackable(project, [project / ".memories/facts/bm25.md"]),
        moved(project, ["src/index.py"]) == {},
    )
    return all(answers)


def test_the_work_tree_is_found_from_below(project: Path, tmp_path: Path, git: Git) -> None:
    assert repository.find_worktree(project / ".memories/decisions") == project
    assert repository.find_worktree(project) == project
    git(project, "worktree", "add", "-q", str(tmp_path / "tree"))
    assert repository.find_worktree(tmp_path / "tree" / ".memories") == tmp_path / "tree"
    assert repository.find_worktree(tmp_path) is None


def test_a_repository_is_known_by_its_first_commit(project: Path, tmp_path: Path, git: Git) -> None:
    first = git(project, "rev-parse", "HEAD").strip()
    git(project, "commit", "-q", "--allow-empty", "-m", "Second")
    assert repository.find_root_commit(project) == first
    git(tmp_path, "clone", "-q", "--depth", "1", f"file://{project}", str(tmp_path / "shallow"))
    assert repository.find_root_commit(tmp_path / "shallow") is None
    git(tmp_path, "init", "-q", "empty")
    assert repository.find_root_commit(tmp_path / "empty") is None
    assert repository.read_head(tmp_path / "empty") is None


def test_several_first_commits_give_one_answer(project: Path, git: Git) -> None:
    first = git(project, "rev-parse", "HEAD").strip()
    git(project, "checkout", "-q", "--orphan", "other")
    git(project, "commit", "-q", "--allow-empty", "-m", "Other")
    other = git(project, "rev-parse", "HEAD").strip()
    git(project, "merge", "-q", "--allow-unrelated-histories", "-m", "Both", "main")
    assert repository.find_root_commit(project) == min(first, other)


def test_head_moves_with_commits(project: Path, git: Git) -> None:
    before = repository.read_head(project)
    assert before == git(project, "rev-parse", "HEAD").strip()
    git(project, "commit", "-q", "--allow-empty", "-m", "Next")
    assert repository.read_head(project) not in {before, None}


def test_first_commits_follow_renames_and_know_odd_names(
    project: Path, git: Git, monkeypatch: pytest.MonkeyPatch
) -> None:
    bank = project / ".memories"
    monkeypatch.setenv("GIT_AUTHOR_DATE", "2026-01-01T00:00:00Z")
    for name in ("with space.md", "Ünï.md", 'quo"te.md', "-dash.md", ":colon.md", "R100"):
        (bank / name).write_text(f"the text of {name}, long enough\n" * 3)
    commit_all(project, "Add")
    monkeypatch.setenv("GIT_AUTHOR_DATE", "2026-02-02T00:00:00Z")
    (bank / "deep").mkdir()
    git(bank, "mv", "Ünï.md", "deep/ünï 2.md")
    git(project, "commit", "-q", "-m", "Move")
    found = {
        path: datetime.fromtimestamp(found.first, UTC).date().isoformat()
        for path, found in dates(project, bank).items()
    }
    for name in ("with space.md", 'quo"te.md', "-dash.md", ":colon.md", "R100", "deep/ünï 2.md"):
        assert found[name] == "2026-01-01", name
    assert "facts/bm25.md" in found
    assert not any(path.startswith(("src", ".memories")) for path in found)


def test_a_note_was_changed_last_when_its_bytes_were(
    project: Path, git: Git, monkeypatch: pytest.MonkeyPatch
) -> None:
    bank = project / ".memories"
    for month, change in enumerate(("kept", "moved", "changed", "gone"), 1):
        monkeypatch.setenv("GIT_AUTHOR_DATE", f"2026-0{month}-01T00:00:00Z")
        if change == "kept":
            (bank / "kept.md").write_text("words that stay\n" * 9)
            (bank / "gone.md").write_text("others\n")
            (bank / "old.md").write_text("words that move\n" * 9)
        elif change == "moved":
            git(bank, "mv", "old.md", "new.md")
        elif change == "changed":
            (bank / "new.md").write_text("words that move\n" * 9 + "and more\n")
        else:
            (bank / "gone.md").unlink()
        commit_all(project, change)
    found = dates(project, bank)
    months = {
        path: tuple(datetime.fromtimestamp(when, UTC).month for when in known[:2])
        for path, known in found.items()
        if path in {"kept.md", "new.md", "old.md", "gone.md"}
    }
    assert months == {"kept.md": (1, 1), "new.md": (1, 3), "old.md": (1, 1), "gone.md": (1, 1)}
    for name in ("kept.md", "new.md"):
        assert found[name].blob == repository.hash_blob((bank / name).read_bytes()).hex()
        assert found[name].blob == git(bank, "hash-object", name).strip()
    assert found["gone.md"].blob == ""


def test_a_bank_whose_name_is_magic_to_git_is_a_plain_name(project: Path, git: Git) -> None:
    bank = project / ":(top)"
    bank.mkdir()
    (bank / "a.md").write_text("x")
    git(project, "--literal-pathspecs", "add", "-A")
    git(project, "commit", "-q", "-m", "Add")
    assert set(dates(project, bank)) == {"a.md"}


def test_asking_changes_nothing(project: Path) -> None:
    def state() -> dict[str, bytes]:
        return {
            str(path): path.read_bytes() for path in (project / ".git").rglob("*") if path.is_file()
        }

    os.utime(project / "src/index.py")  # git would note the new stamp in its index
    before = state()
    repository.read_head(project)
    repository.find_root_commit(project)
    dates(project, project / ".memories")
    assert state() == before


def test_a_commit_in_a_year_that_no_calendar_has_dates_nothing(project: Path, git: Git) -> None:
    (project / ".memories/late.md").write_text("x")
    git(project, "add", "-A")
    tree = git(project, "write-tree").strip()
    raw = project / "commit"
    who = "A <a@example.org> 99999999999999 +0000"
    raw.write_text(f"tree {tree}\nauthor {who}\ncommitter {who}\n\nLate\n")
    commit = git(project, "hash-object", "-t", "commit", "-w", str(raw)).strip()
    git(project, "update-ref", "HEAD", commit)
    assert dates(project, project / ".memories") == {}


@pytest.mark.skipif(os.name == "nt", reason="the trap is a shell script")
@pytest.mark.parametrize("level", ["--local", "--global", "environment"])
def test_no_program_that_the_settings_name_is_started(
    project: Path, tmp_path: Path, git: Git, monkeypatch: pytest.MonkeyPatch, level: str
) -> None:
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(tmp_path / "global"))
    monkeypatch.setenv("HOME", str(tmp_path))
    program = hostile.trap(tmp_path)
    if level == "environment":
        hostile.sign(project, git)
        found = hostile.settings(program, tmp_path / "hooks")
        monkeypatch.setenv("GIT_CONFIG_COUNT", str(len(found)))
        for number, (name, value) in enumerate(found.items()):
            monkeypatch.setenv(f"GIT_CONFIG_KEY_{number}", name)
            monkeypatch.setenv(f"GIT_CONFIG_VALUE_{number}", value)
        for name in hostile.VARIABLES:
            monkeypatch.setenv(name, str(program))
    else:
        hostile.plant(project, program, git, level)
    hostile.spring(project)
    assert (tmp_path / "sprung").exists(), "the traps work"
    (tmp_path / "sprung").unlink()
    assert ask_everything(project)
    head = objects.find_commit(project, "HEAD")
    files = {**objects.list_files_at(project, head), **objects.list_staged(project)}
    assert dict(objects.read_blobs(project, [file.id for file in files.values()], 10_000))
    assert authorship.blame_lines(project, head, ".memories/facts/bm25.md")
    assert repository.find_problem(project) == ""
    assert not (tmp_path / "sprung").exists(), (tmp_path / "sprung").read_text()


def test_variables_of_git_are_not_obeyed(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY"):
        monkeypatch.setenv(name, str(tmp_path / "nowhere"))
    monkeypatch.setenv("GIT_TRACE", str(tmp_path / "trace"))
    monkeypatch.setenv("GIT_TRACE2_EVENT", str(tmp_path / "trace"))
    monkeypatch.setenv("GIT_ALLOW_PROTOCOL", "ext:file")
    monkeypatch.setenv("git_config_parameters", "'core.bare'='nonsense'")
    assert ask_everything(project)
    assert not (tmp_path / "trace").exists()


@pytest.mark.skipif(os.name == "nt", reason="the helper is a shell script")
@pytest.mark.parametrize(
    "where", ["ext::{trap}", "ssh://host/x", "marker::x", "file://{trap}", "git://127.0.0.1:9/x"]
)
@pytest.mark.parametrize("old", [False, True], ids=["", "a git without GIT_NO_LAZY_FETCH"])
def test_missing_blobs_are_not_fetched(
    project: Path, tmp_path: Path, git: Git, monkeypatch: pytest.MonkeyPatch, where: str, old: bool
) -> None:
    """Renames are the reason to look into blobs: `git log -M` fetches them."""
    clone = blobless(project, tmp_path, git)
    program = hostile.trap(tmp_path)
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/git-remote-marker").symlink_to(program)
    monkeypatch.setenv("PATH", str(tmp_path / "bin"), prepend=os.pathsep)
    for name, value in {
        "remote.origin.url": where.format(trap=program),
        "protocol.allow": "always",
        "protocol.ext.allow": "always",
        "core.sshCommand": str(program),
        "core.gitProxy": str(program),
        "remote.origin.uploadpack": str(program),
    }.items():
        git(clone, "config", name, value)
    git(clone, "config", "--add", "remote.origin.promisor", "true")
    if old:
        monkeypatch.delitem(process.ALLOWED, "GIT_NO_LAZY_FETCH")
    found = dates(clone, clone / ".memories")
    assert {"facts/bm25.md", "facts/moved.md"} <= set(found)
    gone = [".memories/facts/old.md", ".memories/facts/whole.md"]
    (clone / ".memories/facts").mkdir(parents=True)
    (clone / ".memories/facts/same.md").touch()
    assert moved(clone, gone) == {gone[1]: ".memories/facts/same.md"}
    assert not (tmp_path / "sprung").exists()
    monkeypatch.setattr(history, "read_extent", lambda _: (False, "", ""))
    assert dates(clone, clone / ".memories") == found  # where nobody says that blobs are missing
    moved(clone, gone)
    assert not (tmp_path / "sprung").exists()


def test_what_was_moved_is_followed_to_its_name_in_the_work_tree(
    project: Path, tmp_path: Path, git: Git
) -> None:
    for name in ("a é", "b", "staged", "deleted", "back", "changed"):
        (project / f"{name}.txt").write_text("".join(f"{name} {number}\n" for number in range(20)))
    commit_all(project, "Add")
    (project / "to").mkdir()
    for moves in ([("a é", "to/a"), ("b", "c"), ("back", "x")], [("to/a", "last"), ("x", "back")]):
        for old, new in moves:
            git(project, "mv", f"{old}.txt", f"{new}.txt")
        git(project, "commit", "-q", "-m", "Move")
    with (project / "changed.txt").open("a") as file:
        file.write("one more line\n")
    git(project, "mv", "changed.txt", "new name.txt")
    git(project, "rm", "-q", "deleted.txt")
    git(project, "commit", "-q", "-am", "Move, change and delete")
    git(project, "mv", "staged.txt", "now.txt")
    names = ["a é", "b", "to/a", "staged", "deleted", "x", "changed", "never"]
    odd = ["", ".", "../x", "/x", "*", ":(glob)*", "--all", "-", "x\0y", "x" * 5000, "y/" * 300]
    assert moved(project, [*(f"{name}.txt" for name in names), *odd]) == {
        "a é.txt": "last.txt",
        "b.txt": "c.txt",
        "to/a.txt": "last.txt",
        "staged.txt": "now.txt",
        "x.txt": "back.txt",
        "changed.txt": "new name.txt",
    }
    assert moved(project, []) == {}


@pytest.mark.slow
def test_many_paths_and_many_commits_are_asked_for_at_once(project: Path) -> None:
    for number in range(250):
        (project / f"{number}.txt").write_text(f"text {number}\n")
    commit_all(project, "Add")
    (project / "to").mkdir()
    for number in range(250):
        (project / f"{number}.txt").rename(project / f"to/{number}.txt")
        if number % 2:
            commit_all(project, "Move")
    found = moved(project, [f"{number}.txt" for number in range(250)])
    assert found == {f"{number}.txt": f"to/{number}.txt" for number in range(250)}


def test_the_files_that_would_be_tracked_are_told_from_those_left_out(
    project: Path, git: Git
) -> None:
    (project / ".gitignore").write_text("*.tmp\n")
    for name in ("new.py", "a.tmp", "forced.tmp"):
        (project / name).write_text("x")
    git(project, "add", "-f", "forced.tmp")
    files = [project / name for name in ("src/index.py", "new.py", "a.tmp", "forced.tmp", "gone")]
    assert repository.list_trackable(project, files) == {files[0], files[1], files[3]}


def blobless(project: Path, folder: Path, git: Git) -> Path:
    """Clone a project, with a note that was moved and changed, without its blobs."""
    note = project / ".memories/facts/old.md"
    note.write_text("a text that is long enough to be known again\n" * 5)
    (project / ".memories/facts/whole.md").write_text("a text that stays as it is\n" * 5)
    commit_all(project, "Old")
    git(project, "mv", ".memories/facts/old.md", ".memories/facts/moved.md")
    git(project, "mv", ".memories/facts/whole.md", ".memories/facts/same.md")
    (project / ".memories/facts/moved.md").write_text(
        f"{note.name}\n" + "a text that is long\n" * 5
    )
    commit_all(project, "Moved")
    git(project, "config", "uploadpack.allowFilter", "true")
    clone = folder / "clone"
    git(folder, "clone", "-q", "--no-checkout", "--filter=blob:none", f"file://{project}", clone)
    return clone


def test_without_git_there_is_no_answer(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    assert repository.read_head(project) is None
    assert repository.find_root_commit(project) is None
    assert dates(project, project / ".memories") == {}
    assert repository.find_problem(project) == "git is not installed"


def test_outside_git_nothing_is_wrong(tmp_path: Path) -> None:
    assert repository.find_problem(tmp_path) == ""


def test_a_repository_that_git_refuses_is_named(project: Path) -> None:
    (project / ".git/config").write_text("[broken")
    assert "git status" in repository.find_problem(project)


@pytest.mark.skipif(os.name == "nt", reason="the stand-in is a shell script")
def test_a_git_of_the_working_directory_is_not_started(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hostile.trap(tmp_path).rename(project / "git")
    monkeypatch.chdir(project)
    monkeypatch.setenv("PATH", os.pathsep.join([".", "", os.environ["PATH"]]))
    assert ask_everything(project)
    assert not (tmp_path / "sprung").exists()


@pytest.mark.skipif(os.name == "nt", reason="the stand-in is a shell script")
def test_git_that_hangs_is_waited_for_once_and_ended_with_its_children(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hanging = tmp_path / "bin" / "git"
    hanging.parent.mkdir()
    hanging.write_text(f"#!/bin/sh\nsleep 300 &\necho $! >> {tmp_path}/child\nwait\n")
    hanging.chmod(0o755)
    with monkeypatch.context() as patch:
        patch.setenv("PATH", str(hanging.parent), prepend=os.pathsep)
        patch.setattr(process, "LIMIT", 0.5)
        assert not ask_everything(project)
        assert "did not answer within 0.5 seconds" in repository.find_problem(project)
    (child,) = map(int, (tmp_path / "child").read_text().split())
    until(lambda: not alive(child))
    monkeypatch.setattr(process.TimeoutState, "until", time.monotonic())  # a minute later
    assert ask_everything(project)


@pytest.mark.parametrize("given", ["", "words\n"])
def test_pipes_are_closed_if_git_ends_as_the_time_limit_does(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, given: str
) -> None:
    ended = tmp_path / "bin" / "git"  # its child keeps the output open
    ended.parent.mkdir()
    ended.write_text("#!/bin/sh\nsleep 3 &\n")
    ended.chmod(0o755)
    monkeypatch.setenv("PATH", str(ended.parent), prepend=os.pathsep)
    gc.collect()  # what tests before left open
    open_files = len(os.listdir("/proc/self/fd")) if Path("/proc/self/fd").exists() else 0
    assert process.run(project, "log", given=given, seconds=0.3) is None
    gc.collect()  # an open pipe would be a warning here, and an error
    assert open_files in {0, len(os.listdir("/proc/self/fd"))}


def alive(process: int) -> bool:
    try:
        return "Z" not in Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False


def test_files_are_those_that_are_tracked_or_would_be(project: Path) -> None:
    (project / ".gitignore").write_text("*.log\n")
    (project / "a.log").write_text("")
    (project / "new file.py").write_text("")
    found = repository.list_files(project)
    assert found is not None
    assert {"src/index.py", "new file.py", ".gitignore"} <= set(found)
    assert "a.log" not in found
    assert len(found) == len(set(found))
    left = repository.list_files(project, ["src/", "new*"])
    assert left is not None
    assert set(found) - set(left) == {"src/index.py", "new file.py"}
    assert repository.list_files(project, ["--output=x", "-z", "!"]) is not None


def test_files_that_differ_from_head_are_found_without_a_filter(
    tmp_path: Path, git: Callable[..., str]
) -> None:
    root = tmp_path / "project"
    for name in ("same.md", "sub/changed.md", "sub/staged.md", "gone.md", "odd\nname.md"):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text("one\n")
    git(root, "init", "-q")
    commit_all(root, "Begin")
    program = hostile.trap(tmp_path)
    (root / ".gitattributes").write_text("* filter=trap\n")
    git(root, "config", "filter.trap.clean", str(program))
    assert repository.list_uncommitted(root) == frozenset()
    (root / "sub/changed.md").write_text("two\n")
    (root / "gone.md").unlink()
    (root / "new.md").write_text("three\n")
    git(root, "-c", "filter.trap.clean=cat", "rm", "-q", "--cached", "sub/staged.md")
    (tmp_path / "sprung").unlink(missing_ok=True)
    assert repository.list_uncommitted(root) == {"gone.md", "sub/changed.md", "sub/staged.md"}
    assert repository.list_uncommitted(root / "sub") == {"changed.md", "staged.md"}
    assert repository.list_untracked(root) == {".gitattributes", "new.md", "sub/staged.md"}
    assert not (tmp_path / "sprung").exists()
