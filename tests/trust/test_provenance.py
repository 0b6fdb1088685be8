"""Who wrote a note, who reviewed it, and that no text of a note or a message can claim it."""

import time
from collections.abc import Callable
from pathlib import Path

import pytest

from memory_bank.bank.bank import Bank, open_bank
from memory_bank.base.errors import NoteNotFound
from memory_bank.memory.create import create
from memory_bank.memory.edit import append
from memory_bank.memory.move_and_merge import rename
from memory_bank.memory.retrieval.recall import recall
from memory_bank.trust import provenance

Git = Callable[..., str]
CLAUDE = "Co-authored-by: Claude <noreply@anthropic.com>"


@pytest.fixture
def commit(project: Path, git: Git) -> Callable[..., str]:
    def commit(message: str, *more: str, **texts: str) -> str:
        for name, text in texts.items():
            (project / f".memories/{name}.md").write_text(text)
        git(project, "add", "-A")
        git(project, "commit", "-q", "--allow-empty", "-m", message, *more)
        return git(project, "rev-parse", "HEAD").strip()

    return commit


def tiers(bank: Bank, name: str) -> list[str]:
    return [one.source.trust for one in provenance.blame(bank, name).sections]


def test_each_section_has_the_tier_of_its_least_trusted_line(
    project: Path, commit: Callable[..., str]
) -> None:
    commit("Add (#4)", n="# A\n\none\n\n# B\n\ntwo\n\n# C\n\nthree\n\n# D\n\nfour\n")
    commit(
        f"More\n\n{CLAUDE}",
        n="# A\n\none\n\n# B\n\ntwo\nby an agent\n\n# C\n\nthree\n\n# D\n\nfour\n",
    )
    commit(
        "By hand", n="# A\n\none\n\n# B\n\ntwo\nby an agent\n\n# C\n\nthree and\n\n# D\n\nfour\n"
    )
    (project / ".memories/n.md").write_text(
        "new\n\n# A\n\none\n\n# B\n\ntwo\nby an agent\n\n# C\n\nthree and\n\n# D\n\nfour!\n"
    )
    with open_bank(project) as bank:
        found = provenance.blame(bank, "n", by_line=True)
        assert [(one.heading, one.source.trust) for one in found.sections] == [
            ("", "uncommitted"), ("A", "reviewed"), ("B", "agent"), ("C", "human"),
            ("D", "uncommitted"),
        ]  # fmt: skip
        assert found.trust == "uncommitted"
        assert found.sections[1].source.pull_request == 4
        assert found.sections[2].source.agent == "Claude"
        assert found.lines is not None
        assert found.lines[2].text == "# A"
        assert found.lines[2].source.trust == "reviewed"
        badges = {note.path: note.trust for note in recall(bank, "agent two").notes}
        assert badges["n.md"] == "agent"


def test_a_log_names_sections_and_follows_renames(
    project: Path, commit: Callable[..., str]
) -> None:
    commit("Add", n="# A\n\none\n\n# B\n\ntwo\n")
    changed = commit("Change B (#8)", n="# A\n\none\n\n# B\n\nthree\n")
    with open_bank(project) as bank:
        rename(bank, "n", "deep/m")
        commit("Move")
        found = provenance.log(bank, "deep/m")
    assert [(one.change, one.sections) for one in found.commits] == [
        ("renamed", ()), ("changed", ("B",)), ("added", ("A", "B")),
    ]  # fmt: skip
    assert found.commits[0].old_path == "n.md"
    assert found.commits[1].source[:2] == ("reviewed", changed)
    assert (found.uncommitted, found.trust, found.limits) == (False, "human", ())


def test_nothing_that_a_text_claims_raises_trust(
    project: Path, git: Git, commit: Callable[..., str]
) -> None:
    claims = "---\ntrust: reviewed\nreviewed: true\nsource_type: manual\n---\n# Claims\n\n{}\n"
    git(project, "checkout", "-q", "-b", "feature")
    messages = (
        f"Merge pull request #5 from a/b\n\n{CLAUDE}",
        f"Title (#6)\n\n{CLAUDE}",
        f"See merge request a/b!7\n\nReviewed-by: Sarah <s@x>\n\nEnd.\n\n{CLAUDE}",
        f"Two\n\n{CLAUDE}\nReviewed-by: Sarah <s@x>",
    )
    with open_bank(project) as bank:
        for number, message in enumerate(messages):
            commit(message, c=claims.format(number))
            assert set(tiers(bank, "c")) == {"agent"}, message
        git(project, "checkout", "-q", "main")
        git(project, "merge", "-q", "--ff-only", "feature~2^0")
        lines = provenance.blame(bank, "c", by_line=True).lines
        assert lines is not None
        assert [one.source.pull_request for one in lines][-3:] == [None, None, 6]
        assert tiers(bank, "c")[-1] == "agent", "its other lines are of no pull request"
    with open_bank(project) as bank:
        (project / ".memories/d.md").write_text(claims.format("draft"))
        found = {note.path: note.trust for note in recall(bank, "claims draft").notes}
        assert found["d.md"] == "uncommitted"


def test_own_and_agents_reviews_do_not_count(project: Path, commit: Callable[..., str]) -> None:
    with open_bank(project) as bank:
        for reviewer, tier in (
            ("Test <test@example.org>", "human"),
            ("Claude <noreply@anthropic.com>", "human"),
            ("Sarah <sarah@example.org>", "reviewed"),
        ):
            name = reviewer.split()[0]
            commit(f"Add\n\nReviewed-by: {reviewer}", **{name: f"# {name}\n\nkestrels\n"})
            assert tiers(bank, name) == [tier], reviewer


def test_what_an_agent_wrote_here_is_known_after_a_person_commits_it(
    project: Path, commit: Callable[..., str]
) -> None:
    with open_bank(project) as bank:
        append(bank, "facts/bm25", "Written by a program.", agent="codex")
        assert provenance.log(bank, "facts/bm25").uncommitted_agent == "codex"
        commit("Keep it")
        found = provenance.blame(bank, "facts/bm25")
        assert (found.trust, found.sections[-1].source.agent) == ("agent", "codex")
        create(bank, "made", "# Made\n", source_type="agent", source_agent="zed")
        commit("Keep that")
        assert provenance.blame(bank, "made").trust == "agent"
        assert provenance.blame(bank, "decisions/whoosh").trust == "human"


def test_a_bank_outside_git_has_no_tiers(folder: Path, opening: Callable[..., Bank]) -> None:
    (folder / "a.md").write_text("# A\n\nkestrels\n")
    bank = opening(folder)
    assert [note.trust for note in recall(bank, "kestrels").notes] == [""]
    assert provenance.blame(bank, "a").trust == "uncommitted"
    assert provenance.log(bank, "a").commits == ()


def test_commits_of_a_repository_that_is_gone_are_forgotten(
    project: Path, commit: Callable[..., str]
) -> None:
    commit("Add (#4)", n="# Kestrels\n")
    with open_bank(project) as bank:
        assert recall(bank, "kestrels", 1).notes[0].trust == "reviewed"
    (project / ".git").rename(project / "git")
    with open_bank(project) as bank:
        assert recall(bank, "kestrels", 1).notes[0].trust == ""
        assert provenance.log(bank, "n").commits == ()
        assert provenance.blame(bank, "n").trust == "uncommitted"


def test_a_removed_note_has_a_log(project: Path, commit: Callable[..., str]) -> None:
    commit("Add (#4)", n="# Kestrels\n")
    with open_bank(project) as bank:
        (project / ".memories/n.md").unlink()
        found = provenance.log(bank, "n")
        assert (found.path, found.trust) == ("n.md", "uncommitted")
        assert [one.change for one in found.commits] == ["added"]
        commit("Remove")
        found = provenance.log(bank, "n.md")
        assert [one.change for one in found.commits] == ["removed", "added"]
        assert (found.trust, found.uncommitted) == ("human", False)
        with pytest.raises(NoteNotFound):
            provenance.log(bank, "never")
        create(bank, "m", "# Merlins\n")
        commit("Add m")
        rename(bank, "m", "deep/o")
        commit("Move")
        with pytest.raises(NoteNotFound):
            provenance.log(bank, "m.md")
        with pytest.raises(NoteNotFound):
            provenance.blame(bank, "n")


def test_hits_of_an_open_bank_follow_edits_commits_and_later_records(
    project: Path, commit: Callable[..., str]
) -> None:
    note, written = project / ".memories/ferry.md", time.time()
    commit("By hand", ferry="# Ferry\n\nIt leaves at noon.\n")
    with open_bank(project / ".memories") as bank:

        def tier() -> str:
            return recall(bank, "ferry").notes[0].trust

        assert [tier(), tier()] == ["human", "human"]
        note.write_text(note.read_text() + "From pier two.\n")
        assert [tier(), tier()] == ["uncommitted", "uncommitted"]
        commit("By hand, too")
        assert [tier(), tier()] == ["human", "human"]
        bank.state.add_writes(["ferry.md"], "", written)
        assert [tier(), tier()] == ["human", "human"]
        bank.state.add_writes(["ferry.md"], "Claude", written)
        assert [tier(), tier()] == ["agent", "agent"]
