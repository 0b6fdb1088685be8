"""Which commits changed each file, by one call of git, and which pull requests brought them."""

from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory_bank.git import authorship
from memory_bank.git.authorship import clean_line
from memory_bank.git.file_commits import FileCommits
from memory_bank.git.history import History
from tests.git import history_builder
from tests.git.history_builder import Made

Git = Callable[..., str]


def commit(git: Git, root: Path, message: str, *more: str, **texts: str) -> str:
    for name, text in texts.items():
        (root / "notes" / f"{name}.md").parent.mkdir(exist_ok=True)
        (root / "notes" / f"{name}.md").write_text(text)
    git(root, "add", "-A")
    git(root, "commit", "-q", "--allow-empty", "-m", message, *more)
    return git(root, "rev-parse", "HEAD").strip()


@pytest.fixture
def root(tmp_path: Path, git: Git) -> Path:
    root = tmp_path.resolve() / "r"
    git(tmp_path, "init", "-q", "-b", "main", str(root))
    return root


def opened(root: Path, cache: str = "cache.db", **more: str) -> FileCommits:
    return FileCommits(root / "notes", lambda tree: History(tree, file=root.parent / cache), **more)


def read(root: Path, cache: str = "cache.db", **more: str) -> FileCommits:
    found = opened(root, cache, **more)
    found.refresh()
    found.refresh_requests()
    return found


def subjects(found: FileCommits, path: str) -> list[str]:
    return [change.commit.subject for change in found.changes(path)]


def request(found: FileCommits, commit: str) -> int | None:
    brought = found.find_request(commit)
    return brought[0] if brought else None


def test_renames_merges_and_pull_requests(root: Path, git: Git) -> None:
    commit(git, root, "Start", a="one\ntwo\nthree\n", other="o")
    git(root, "checkout", "-qb", "f")
    spoof = commit(git, root, "Merge pull request #5 from x/y", a="one\ntwo\nthree\nfour\n")
    git(root, "mv", "notes/a.md", "notes/b.md")
    moved = commit(
        git, root, "Move (#6)\n\nText.\n\nCo-authored-by: Claude <noreply@anthropic.com>"
    )
    branch = read(root)
    assert {request(branch, one) for one in (spoof, moved)} == {None}, "not in the default branch"
    git(root, "checkout", "-q", "main")
    side = commit(git, root, "Beside", other="p")
    git(root, "merge", "-q", "--no-ff", "f", "-m", "Merge pull request #7 from x/f")
    squash = commit(git, root, "Add z (#9)", b="one\ntwo\nthree\nfour\nz\n")
    found = read(root)
    assert subjects(found, "b.md") == [
        "Add z (#9)", "Move (#6)", "Merge pull request #5 from x/y", "Start",
    ]  # fmt: skip
    assert [request(found, one) for one in (spoof, moved, side, squash)] == [7, 7, 0, 9]
    assert found.changes("b.md")[1].commit.co_authors == (("Claude", "noreply@anthropic.com"),)
    assert found.changes("b.md")[0].commit.id == squash
    assert found.changes("gone.md") == ()
    again = opened(root)
    assert not again.refresh()
    again.refresh_requests()
    assert again.changes("b.md") == found.changes("b.md")
    assert [request(again, one) for one in (spoof, moved, side, squash)] == [7, 7, 0, 9]
    lines = authorship.blame_lines(root, squash, "notes/b.md")
    assert lines is not None
    assert lines[3:] == [spoof, squash]


def test_a_merge_that_changes_a_file_itself_is_one_of_its_commits(root: Path, git: Git) -> None:
    commit(git, root, "Start", a="1\n2\n3\n4\n5\n")
    git(root, "checkout", "-qb", "f")
    commit(git, root, "Ours", a="x\n2\n3\n4\n5\n")
    git(root, "checkout", "-q", "main")
    commit(git, root, "Theirs", a="1\n2\n3\n4\ny\n")
    git(root, "merge", "-q", "--no-ff", "--no-commit", "f")
    merge = commit(git, root, "Merge it", a="x\n2\nevil\n4\ny\n")
    found = read(root)
    assert subjects(found, "a.md")[0] == "Merge it"
    assert len(found.changes("a.md")[0].commit.parents) == 2
    assert found.changes("a.md")[0].commit.id == merge


def test_no_text_of_a_commit_passes_for_another(root: Path, git: Git) -> None:
    message = (
        "Subject \x1b[31m\x1e\x1f\n\nReviewed-by: Middle <m@x>\n\nA paragraph.\nReviewed-by: inside"
        " a line of text\nthat goes on for long enough\nto be no block of trailers\n"
    )
    commit(git, root, message, "--author", "Eve\x1e\x1b[2J <e@x>", a="one\n")
    (change,) = read(root).changes("a.md")
    assert change.commit.reviewers == change.commit.co_authors == ()
    assert change.commit.author.isprintable()
    assert change.commit.subject.isprintable()


def test_authors_that_are_no_utf8_and_odd_names(root: Path, git: Git) -> None:
    commit(git, root, "Start", a="one\n")
    odd = b"notes/n\nM\n\xff.md"
    stream = (
        b"commit refs/heads/main\nauthor \xe9\xff <\xff@x> 1700000000 +0000\n"
        b"committer \xe9 <c@x> 1700000000 +0000\ndata 4\n\xe9\xff\n\n\nfrom refs/heads/main^0\n"
        b'M 100644 inline "' + odd.replace(b"\n", b"\\n") + b'"\ndata 1\nx\n'
        b"M 100644 inline notes/a.md\ndata 1\ny\n"
    )
    history_builder.run(root, "fast-import", "--quiet", given=stream)
    found = read(root)
    assert found.changes("a.md")[0].commit.author == "\ufffd\ufffd"
    assert len(found.changes("a.md")) == 2


@pytest.mark.parametrize("kind", ["none", "empty", "shallow", "no git"])
def test_what_git_can_not_say_is_no_error(
    root: Path, git: Git, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if kind == "none":
        none = FileCommits(root.parent, History)
        assert (none.refresh(), none.changes("a.md"), none.is_empty) == (False, (), True)
        return
    if kind == "empty":
        assert (read(root).changes("a.md"), read(root).is_empty) == ((), True)
        return
    commit(git, root, "One", a="1")
    commit(git, root, "Two", a="2")
    if kind == "no git":
        monkeypatch.setenv("PATH", "")
        assert read(root).changes("a.md") == ()
        return
    clone = root.parent / "clone"
    git(root, "clone", "-q", "--depth", "1", root.as_uri(), str(clone))
    found = read(clone, "other.db")
    assert subjects(found, "a.md") == ["Two"]
    assert {change.commit.id for change in found.changes("a.md")} == found.ends
    assert "shallow clone" in found.limits[0]


@settings(max_examples=12, deadline=None)
@given(st.data())
def test_read_in_steps_equals_read_at_once(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    names = [f"notes/{one}" for one in "abc"]
    made = [Made({names[0]: "start\n"})]
    for number in range(2, data.draw(st.integers(3, 7)) + 1):
        parents = [number - 1]
        if number > 2 and data.draw(st.booleans()):
            parents = [data.draw(st.integers(1, number - 1)) for _ in range(2)]
        texts = {data.draw(st.sampled_from(names)): f"text {number}\n"}
        made.append(Made(texts, parents=list(dict.fromkeys(parents))))
    root = history_builder.make(tmp_path_factory.mktemp("steps").resolve() / "r", made)
    top = history_builder.run(root, "rev-parse", "HEAD").strip()
    steps = opened(root, "steps.db")
    for one in history_builder.run(root, "rev-list", "--topo-order", "--reverse", top).split():
        history_builder.run(root, "update-ref", "refs/heads/main", one)
        steps.refresh()
        steps.refresh_requests()
    once = read(root, "once.db")
    for name in "abc":
        assert steps.changes(name) == once.changes(name)
        assert steps.dates_of(name) == once.dates_of(name)
    for one in history_builder.run(root, "rev-list", top).split():
        assert steps.find_request(one) == once.find_request(one)


@pytest.mark.parametrize(
    ("subject", "body", "merge", "number"),
    [
        ("Merge pull request #5 from x/y", "", True, 5),
        ("Merge pull request #5 from x/y", "", False, 0),
        ("Merge pull request #5 in P/r from x to main", "", True, 5),
        ("Pull request #5: Title", "Merge in P/r from x to main", True, 5),
        ("Merge pull request 5 from x into main", "", True, 5),
        ("Merge pull request 'A title' (#5) from x into main", "", True, 5),
        ("Merge pull request 'A title' (#5) from x into main", "", False, 0),
        ("Auto merge of #5 - x:y, r=z", "", True, 5),
        ("Merge branch 'f'", "See merge request https://x.org/g/-/merge_requests/6", True, 6),
        ("Merge branch 'f'", "We See merge request g/it!6 there", True, 0),
        ("Merge branch 'f' into 'main'", "Title\n\nSee merge request group/it!12", True, 12),
        ("Merge branch 'f' into 'main'", "See merge request group/it!12", False, 0),
        ("Title (#8)", "", False, 8),
        ('Revert "Title (#8)"', "", False, 0),
        ("See #8 (#9) today", "", False, 0),
        ("Merged in f (pull request #3)", "", True, 3),
        ("Merged PR 4: title", "", False, 4),
        (f"Title (#{'9' * 5000})", "", False, 0),
    ],
)
def test_numbers_of_pull_requests(subject: str, body: str, merge: bool, number: int) -> None:
    assert authorship.find_request_number(subject, body, merge=merge) == number


def test_the_default_branch_is_the_remotes(root: Path, git: Git) -> None:
    first = commit(git, root, "One", a="1")
    assert authorship.find_default_branch(root) == first
    git(root, "update-ref", "refs/remotes/origin/trunk", first)
    git(root, "symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/trunk")
    second = commit(git, root, "Two (#2)", a="2")
    assert authorship.find_default_branch(root) == first
    assert request(read(root), second) is None, "it was not pushed"


def test_the_default_branch_without_a_remote_has_a_usual_name(root: Path, git: Git) -> None:
    first = commit(git, root, "One", a="1")
    git(root, "branch", "-m", "main", "work")
    assert authorship.find_default_branch(root) == first, "it is the only one"
    git(root, "branch", "stable")
    commit(git, root, "Two (#2)", a="2")
    assert authorship.find_default_branch(root) == ""
    assert any("init.defaultBranch" in one for one in read(root).limits)
    git(root, "config", "init.defaultBranch", "stable")
    assert authorship.find_default_branch(root) == first
    git(root, "branch", "main")
    assert authorship.find_default_branch(root) == first, "what is set comes before usual names"


@pytest.mark.parametrize(
    ("mail", "agent"),
    [
        ("noreply@anthropic.com", "Claude"),
        ("198982749+Copilot@users.noreply.github.com", "Copilot"),
        ("cursoragent@cursor.com", "Cursor"),
        ("158243242+devin-ai-integration[bot]@users.noreply.github.com", "Devin"),
        ("noreply@aider.chat", "aider"),
        ("175728472+Copilot@users.noreply.github.com", "Copilot"),
        ("199175422+chatgpt-codex-connector[bot]@users.noreply.github.com", "Codex"),
        ("176961590+gemini-code-assist[bot]@users.noreply.github.com", "Gemini"),
        ("1+other[bot]@users.noreply.github.example.org", "Other"),
        ("project_12_bot_0a9f@noreply.gitlab.com", "Other"),
        ("codex@openai.com", "Codex"),
        ("218195315+gemini-cli@users.noreply.github.com", "Gemini"),
        ("1+other[bot]@users.noreply.github.com", "Other"),
        ("claude@example.org", ""),
        ("noreply@anthropic.com.example.org", ""),
        ("sarah@users.noreply.github.com", ""),
    ],
)
def test_agents_are_known_by_their_addresses(mail: str, agent: str) -> None:
    assert authorship.name_agent(mail, "Other") == agent


@pytest.mark.parametrize(
    ("name", "agent"),
    [
        ("Claude Code", "Claude"),
        ("Claude Opus 4.5", "Claude"),
        ("GitHub Copilot", "Copilot"),
        ("Cursor Agent", "Cursor"),
        ("OpenAI Codex", "Codex"),
        ("Ann (aider)", "aider"),
        ("aider (gpt-4o)", "aider"),
        ("Gemini CLI", "Gemini"),
        ("Claude", ""),
        ("Claude Monet", ""),
        ("Devin Cursor", ""),
        ("Jules", ""),
    ],
)
def test_agents_are_known_by_names_that_no_person_has(name: str, agent: str) -> None:
    assert authorship.name_agent("somebody@example.org", name) == agent


def test_co_authors_are_named_in_any_paragraph_and_reviewers_in_the_last(
    root: Path, git: Git
) -> None:
    message = (
        "Subject\n\nText.\n\nCo-Authored-By: Claude <noreply@anthropic.com>\nReviewed-by: A <a@x>"
        "\n\nAn end that a forge added.\n\nSee merge request a/b!3\n"
    )
    commit(git, root, message, a="one\n")
    (change,) = read(root).changes("a.md")
    assert change.commit.co_authors == (("Claude", "noreply@anthropic.com"),)
    assert change.commit.reviewers == ()


def test_a_damaged_cache_is_read_again(root: Path, git: Git) -> None:
    commit(git, root, "One", a="1")
    read(root)
    (root.parent / "cache.db").write_bytes(b"no database")
    assert subjects(read(root), "a.md") == ["One"]
    assert clean_line("a\nb\u202e") == "a b"
