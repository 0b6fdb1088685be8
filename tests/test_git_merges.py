"""Real git merges notes with the driver: merge, rebase, cherry-pick, stash pop; and finishes conflicts."""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from memory_bank.frontends import merge_driver
from tests.frontends.cli.conftest import Run
from tests.frontends.cli.conftest import mb as mb  # noqa: PLC0414  (a fixture)

Git = Callable[..., str]
NOTE = "---\nid: a\ntags: [one]\n---\n# Port\n\nfirst\n"
KEY = "merge.memory-bank.driver"

pytestmark = pytest.mark.skipif(os.name == "nt", reason="the driver's command is of a shell")


@pytest.fixture
def installed(mb: Run, project: Path, git: Git) -> Path:
    """Return a note of a project whose clone has the driver."""
    assert mb("git", "check").code == 1
    assert mb("git", "install", "--yes").code == 0
    assert mb("git", "check").code == 0
    note = project / ".memories/facts/port.md"
    note.write_text(NOTE)
    commit(git, project, "Base")
    git(project, "branch", "other")
    return note


def commit(git: Git, project: Path, subject: str) -> None:
    git(project, "add", "-A")
    git(project, "commit", "-q", "-m", subject)


def diverge(git: Git, note: Path, ours: str, theirs: str) -> None:
    """Commit one text on `other` and another one on `main`."""
    project = note.parents[2]
    for branch, text in (("other", theirs), ("main", ours)):
        git(project, "checkout", "-q", branch)
        note.parent.mkdir(exist_ok=True)
        note.write_text(text)
        commit(git, project, f"Of {branch}")


OURS = NOTE.replace("[one]", "[one, two]") + "\nours\n"
THEIRS = NOTE.replace("[one]", "[one, three]") + "\ntheirs\n"


@pytest.mark.parametrize(
    "command", ["merge -q --no-edit other", "rebase -q other", "cherry-pick other"]
)
def test_git_merges_a_note_that_it_could_not_merge_by_lines(
    installed: Path, project: Path, git: Git, command: str
) -> None:
    diverge(git, installed, OURS, THEIRS)
    git(project, *command.split())
    text = installed.read_text()
    assert "<<<" not in text
    assert {"two", "three"} <= set(text.split("[")[1].split("]")[0].split(", "))
    assert text.count("\nours\n") == text.count("\ntheirs\n") == text.count("first") == 1
    assert git(project, "status", "--porcelain") == ""


def test_a_stash_is_merged_too_and_in_a_linked_work_tree(
    installed: Path, project: Path, git: Git, tmp_path: Path
) -> None:
    linked = tmp_path / "linked"
    git(project, "worktree", "add", "-q", str(linked), "other")
    note = linked / installed.relative_to(project)
    note.write_text(THEIRS)
    git(linked, "stash", "-q")
    note.write_text(OURS)
    commit(git, linked, "Ours")
    git(linked, "stash", "pop", "-q")
    assert "ours\n\ntheirs" in note.read_text()


def test_two_notes_of_one_name_become_two_notes(
    installed: Path, project: Path, git: Git, mb: Run
) -> None:
    new = project / ".memories/facts/new.md"
    ours, theirs = (f"---\nid: {one}\n---\n{one}\n" for one in ("aaaa11", "bbbb22"))
    diverge(git, new, ours, theirs)
    with suppress(subprocess.CalledProcessError):
        git(project, "merge", "-q", "other")
    assert all(text in new.read_text() for text in (ours, theirs, "<<<<<<< ", "=======\n"))
    assert mb("lint").out.count("bad-union-merge") == 0, "a conflict is one finding"
    (project / ".memories/index.md").write_text("See [[new]]\n")
    answer = mb("git", "resolve")
    assert answer.code == 0
    one, two = ".memories/facts/new.md", ".memories/facts/new-bbbb.md"
    assert answer.out == (
        f"two notes  {one} and {two}: links by this name lead to the first one\nnext: git add {one} {two}\n"
    )
    assert "facts/new.md" in mb("links", "index").out
    assert new.read_text() == ours
    assert new.with_name("new-bbbb.md").read_text() == theirs
    assert mb("git", "resolve").code == 1, "git is not told"


def test_conflicts_that_git_left_without_the_driver_are_finished_others_stay(
    installed: Path, project: Path, git: Git, mb: Run
) -> None:
    assert mb("git", "uninstall").code == 0
    assert mb("git", "check").code == 1
    commit(git, project, "Without")
    git(project, "branch", "-f", "other")
    diverge(git, installed, OURS, THEIRS)
    with suppress(subprocess.CalledProcessError):
        git(project, "merge", "-q", "other")
    left = installed.read_text()
    assert "<<<<<<<" in left
    installed.write_text(left.replace("first", "edited"))
    found = mb("git", "resolve", "--json").json["notes"]
    assert [(one["outcome"], one["path"]) for one in found] == [("left", "facts/port.md")]
    assert "edited" in installed.read_text()
    installed.write_text(left)
    assert mb("git", "resolve").code == 0
    assert (
        installed.read_text() == NOTE.replace("[one]", "[one, two, three]") + "\nours\n\ntheirs\n"
    )


def test_a_driver_that_is_gone_or_killed_loses_nothing(
    installed: Path, project: Path, git: Git
) -> None:
    diverge(git, installed, OURS, THEIRS)
    before = git(project, "config", KEY)
    git(project, "config", KEY, before.replace(shlex.split(before)[0], "/nowhere/memory-bank"))
    with suppress(subprocess.CalledProcessError):
        git(project, "merge", "-q", "other")
    assert "<<<<<<< ours" in installed.read_text(), "as git merges"
    git(project, "merge", "--abort")
    git(project, "config", KEY, "kill -9 $$ # %A")
    with suppress(subprocess.CalledProcessError):
        git(project, "merge", "-q", "other")
    assert git(project, "show", "other:.memories/facts/port.md").strip() == THEIRS.strip()
    git(project, "reset", "-q", "--hard", "main")
    assert installed.read_text() == OURS
    assert not [name for name in os.listdir(project) if name.startswith(".merge_file")]


def test_a_killed_driver_leaves_our_file_or_the_result(tmp_path: Path) -> None:
    names = [tmp_path / name for name in ("base", "ours", "theirs")]
    for delay in (0.02, 0.05, 0.08, 0.1):
        for name, text in zip(names, (NOTE, OURS, THEIRS), strict=True):
            name.write_text(text)
        process = subprocess.Popen(
            [*shlex.split("python3 -P -m memory_bank merge-driver"), *map(str, names)],
            executable=sys.executable,
        )
        with suppress(subprocess.TimeoutExpired):
            process.wait(delay)
        process.send_signal(signal.SIGKILL)
        process.wait()
        text = names[1].read_text()
        assert text == OURS or "ours\n\ntheirs\n" in text


def test_a_failure_leaves_what_git_would(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    from memory_bank.notes.merging import note_merge

    def fail(*_: object) -> None:
        raise RecursionError

    monkeypatch.setattr(note_merge, "merge", fail)
    names = [tmp_path / name for name in ("base", "ours", "theirs")]
    for name, text in zip(names, (NOTE, OURS, THEIRS), strict=True):
        name.write_text(text)
    wanted = subprocess.run(
        ["git", "merge-file", "-p", "-L", "ours", "-L", "base", "-L", "theirs",
         str(names[1]), str(names[0]), str(names[2])],
        capture_output=True, check=False,
    ).stdout  # fmt: skip
    assert merge_driver.run([*map(str, names), "facts/port.md"]) == 1
    assert names[1].read_bytes() == wanted
    assert "facts/port.md: not merged as a note: RecursionError" in capfd.readouterr().err


def test_a_file_that_is_no_note_is_merged_as_git_does(tmp_path: Path) -> None:
    names = [tmp_path / name for name in ("base", "ours", "theirs")]
    broken = "---\nid: [\n---\na\n\nb\n\nc\n"
    for name, text in zip(
        names, (broken, broken.replace("a\n", "A\n"), broken.replace("c\n", "C\n")), strict=True
    ):
        name.write_text(text)
    assert merge_driver.run([*map(str, names)]) == 0
    assert names[1].read_text() == "---\nid: [\n---\nA\n\nb\n\nC\n"


def test_other_attributes_stay(mb: Run, project: Path) -> None:
    file = project / ".memories/.gitattributes"
    file.write_text("*.png binary\n*.md merge=union\n")
    assert mb("git", "install").code == 0
    assert file.read_text().startswith("*.png binary\n*.md merge=union\n*.md merge=memory-bank")
    assert mb("git", "check").code == 0
    assert mb("git", "install").out == "all of it was set before\n"
    assert mb("git", "uninstall").code == 0
    assert file.read_text() == "*.png binary\n*.md merge=union\n"


@pytest.mark.parametrize("style", ["merge", "diff3", "zdiff3"])
def test_conflicts_have_the_style_that_git_is_set_to(
    installed: Path, project: Path, git: Git, mb: Run, style: str
) -> None:
    git(project, "config", "merge.conflictStyle", style)
    one, two = NOTE.replace("first", "ours"), NOTE.replace("first", "theirs")
    diverge(git, installed, one.replace("[one]", "[a, one]"), two)
    with suppress(subprocess.CalledProcessError):
        git(project, "merge", "-q", "other")
    text = installed.read_text()
    assert text.startswith("---\nid: a\ntags: [a, one]\n")
    assert ("\n||||||| base\nfirst\n=======\n" in text) == (style != "merge")
    answer = mb("git", "resolve", "--json")
    assert answer.json["notes"][0]["reason"] == "both sides changed the same place"


@pytest.mark.parametrize("more", ["\n- new", "\n\nnew"])
def test_git_alone_merges_what_tools_append_to_neighbouring_sections(
    project: Path, git: Git, mb: Run, more: str
) -> None:
    note = project / ".memories/facts/port.md"
    note.write_text("# T\n\n## A\n\n- a\n\n## B\n\n- b\n")
    commit(git, project, "Base")
    git(project, "branch", "other")
    for branch, head in (("other", "B"), ("main", "A")):
        git(project, "checkout", "-q", branch)
        old = f"- {head.lower()}"
        assert mb("edit", "port", "--section", head, "--new", f"{old}{more} {head}").code == 0
        commit(git, project, branch)
    git(project, "merge", "-q", "--no-edit", "other")
    assert f"{more} A\n\n## B" in note.read_text()
    assert note.read_text().endswith(f"{more} B\n")


@pytest.mark.parametrize("mine", [b"*.png binary\r\n*.md text", b"# a\x0bb\n\n", b"\n"])
def test_other_attributes_and_settings_stay_to_the_byte(
    mb: Run, project: Path, git: Git, mine: bytes
) -> None:
    file = project / ".memories/.gitattributes"
    file.write_bytes(mine)
    git(project, "config", "merge.memory-bank.recursive", "binary")
    before = (project / ".git/config").read_bytes()
    assert mb("git", "install").code == 0
    assert file.read_bytes() != mine
    assert mb("git", "uninstall").code == 0
    assert file.read_bytes() == mine
    assert (project / ".git/config").read_bytes() == before


def test_new_notes_with_the_same_words_are_two_files_where_there_are_branches(
    mb: Run, project: Path, git: Git
) -> None:
    alone = mb("remember", "Retry on timeout", "--json").json["path"]
    assert alone == "facts/retry-on-timeout.md"
    commit(git, project, "One")
    git(project, "branch", "other")
    made = mb("remember", "Retry on timeout. Twice", "--json").json
    assert made["path"] == f"facts/retry-on-timeout-{made['note_id'][:4]}.md"
    assert mb("remember", "x", "--name", "facts/x", "--json").json["path"] == "facts/x.md"


def test_hunks_are_headed_by_headings(installed: Path, project: Path, git: Git) -> None:
    installed.write_text(NOTE + "\n" * 8 + "## Why\n\n" + "line\n" * 8 + "end\n")
    commit(git, project, "Longer")
    installed.write_text(installed.read_text().replace("end", "END"))
    assert " ## Why" in git(project, "diff", "--", str(installed))


@pytest.mark.parametrize("command", ["merge -q --no-edit other", "rebase -q other"])
def test_both_sides_write_the_block_of_rules(
    installed: Path, project: Path, git: Git, mb: Run, command: str
) -> None:
    del installed
    for branch in ("other", "main"):
        git(project, "checkout", "-q", branch)
        rule = project / f".memories/rules/of-{branch}.md"
        rule.parent.mkdir(exist_ok=True)
        rule.write_text(f"---\ntype: rule\n---\n# Of {branch}\n\nDo what {branch} says.\n")
        commit(git, project, "Rule")
        assert mb("rules", "--write").code == 0
        commit(git, project, "Block")
    assert mb("lint").code == 0
    git(project, *command.split())
    text = (project / "AGENTS.md").read_text()
    assert text.count("<!-- memory-bank rules") == 2
    assert text.index("[of-main]") < text.index("[of-other]")
    assert mb("rules", "--check").code == 0


def test_a_block_that_one_side_edited_is_left_to_people(
    installed: Path, project: Path, git: Git, mb: Run
) -> None:
    del installed
    rule = project / ".memories/rules/one.md"
    rule.parent.mkdir()
    rule.write_text("---\ntype: rule\n---\n# One\n\nDo it.\n")
    commit(git, project, "Rule")
    assert mb("rules", "--write").code == 0
    commit(git, project, "Block")
    git(project, "branch", "-f", "other")
    file, text = project / "AGENTS.md", (project / "AGENTS.md").read_text()
    for branch, said in (("other", "Do that."), ("main", "Do this.")):
        git(project, "checkout", "-q", branch)
        file.write_text(text.replace("Do it.", said))
        commit(git, project, f"Of {branch}")
    with pytest.raises(subprocess.CalledProcessError):
        git(project, "merge", "-q", "--no-edit", "other")
    assert "Do this." in file.read_text()
    assert "Do that." in file.read_text()
    assert mb("rules", "--check").code == 1


def test_a_clone_of_before_rules_were_merged_is_told_to_install_again(
    installed: Path, project: Path, mb: Run
) -> None:
    del installed
    (project / ".git/info/attributes").unlink()
    answer = mb("git", "check")
    assert answer.code == 1
    assert "not for AGENTS.md: merge=unspecified: run git install again" in answer.out
    assert mb("git", "install").code == 0
    assert mb("git", "check").code == 0
