"""What is behind a file or a line: commits with reasons, notes, rules, the definition and tests."""

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from memory_bank.bank.bank import Bank, open_bank
from memory_bank.base.errors import BadInput, MemoryBankError, StorageFailed
from memory_bank.base.text import Quotes
from memory_bank.base.view import write_agent
from memory_bank.code.index.codebase import open_codebase
from memory_bank.git import process
from memory_bank.git.history import History
from memory_bank.memory.remember import remember
from memory_bank.memory.retrieval.ask import ask
from memory_bank.memory.retrieval.recall import recall, recall_at
from memory_bank.memory.show import show
from memory_bank.memory.why import promote_commit, view_why, why
from memory_bank.search.embedders.static import count_tokens
from tests.git.history_builder import Made, commit_all, make, run
from tests.memory.answer_texts import recall_text

SAID = """Wait longer for the bank (#12)

The acquirer answers slowly on Mondays.

Signed-off-by: Ann <ann@example.org>"""


@pytest.fixture
def bank(tmp_path: Path) -> Iterator[Bank]:
    """Give a bank in a repository of two commits, of which the second tells why."""
    root = make(tmp_path.resolve() / "shop", [Made({"pay.py": "WAIT = 5\nTRIES = 3\n"})])
    (root / "pay.py").write_text("WAIT = 40\nTRIES = 3\n")
    run(root, "commit", "-q", "-a", "-m", SAID)
    (root / ".memories").mkdir()
    with open_bank(root / ".memories") as opened:
        yield opened


def test_the_commits_and_notes_behind_a_file_are_listed(bank: Bank) -> None:
    remember(bank, "Payments wait as [[pay.py]] says.", name="facts/payments")
    found = why(bank, "pay.py")
    assert {(one.kind, one.id) for one in found.behind if one.kind == "note"} == {
        ("note", "facts/payments.md")
    }
    (told, *_) = [one for one in found.behind if one.pull_request]
    assert told.pull_request == 12
    assert told.reason == "The acquirer answers slowly on Mondays."
    assert [one.date for one in found.behind] == sorted(
        (one.date for one in found.behind), reverse=True
    )


def test_nothing_is_quoted_of_commits_that_git_refuses_to_read(
    bank: Bank, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = "The acquirer answers slowly on Mondays, which is why all of our shops wait longer then."
    (bank.layout.project / "pay.py").write_text("WAIT = 60\nTRIES = 3\n")
    run(bank.layout.project, "commit", "-q", "-a", "-m", f"Wait for the acquirer\n\n{told}")
    variables = {**process.ALLOWED, "GIT_TEST_ASSUME_DIFFERENT_OWNER": "1"}
    question = "why do shops wait for the acquirer"
    with monkeypatch.context() as patch:
        patch.setattr(process, "ALLOWED", variables)  # as in a folder of another user
        found = recall(bank, question, include=["commits"], count_access=False)
        assert "git can't read" in str(found.problem)
        assert "Mondays" not in repr((found, why(bank, "pay.py")))
        with open_codebase(bank.layout.project) as code, suppress(MemoryBankError):
            assert "Mondays" not in repr(ask(bank, code, question, count_access=False))
    found = recall(bank, question, include=["commits"], count_access=False)
    assert "Mondays" in repr(found.commits)


def test_behind_a_line_are_the_commits_that_changed_it(bank: Bank) -> None:
    remember(bank, "Payments wait as [[pay.py]] says.", name="facts/payments")
    wait, first, note = (
        *[one for one in why(bank, "pay.py:1").behind if one.kind == "commit"],
        *[one for one in why(bank, "pay.py:1").behind if one.kind == "note"],
    )
    assert wait.title.startswith("Wait longer")
    assert wait.date >= first.date
    assert note.id == "facts/payments.md"
    (tries,) = [one for one in why(bank, "pay.py:2").behind if one.kind == "commit"]
    assert tries.id == first.id


def test_a_line_keeps_its_commits_when_it_moves_and_its_file_is_renamed(tmp_path: Path) -> None:
    root = make(tmp_path.resolve() / "shop", [Made({"pay.py": "WAIT = 5\nTRIES = 3\n"})])
    texts = [
        ("pay.py", "# Times\nWAIT = 5\nTRIES = 3\n", "Head the times"),
        ("pay.py", "# Times\nWAIT = 5\nTRIES = 4\n", "Try once more"),
    ]
    for name, text, said in texts:
        (root / name).write_text(text)
        run(root, "commit", "-q", "-a", "-m", said)
    run(root, "mv", "pay.py", "money.py")
    run(root, "commit", "-q", "-m", "Name it after money")
    (root / ".memories").mkdir()
    with open_bank(root / ".memories") as bank:
        found = why(bank, "money.py:3").behind
        assert [one.title for one in found][:1] == ["Try once more"]
        assert len(found) == 2
        assert [one.title for one in why(bank, "money.py:3", limit=1).behind] == ["Try once more"]


def test_a_commit_has_the_pull_request_that_brought_it(tmp_path: Path) -> None:
    root = make(tmp_path.resolve() / "shop", [Made({"pay.py": "WAIT = 5\n"})])
    run(root, "checkout", "-q", "-b", "slow")
    (root / "pay.py").write_text("WAIT = 40\n")
    run(root, "commit", "-q", "-a", "-m", "Wait longer")
    run(root, "checkout", "-q", "main")
    said = "Merge pull request #7 from ann/slow"
    run(root, "merge", "-q", "--no-ff", "-m", said, "slow")
    (root / ".memories").mkdir()
    with open_bank(root / ".memories") as bank:
        newest = why(bank, "pay.py:1").behind[0]
        assert (newest.title, newest.pull_request) == ("Wait longer", 7)


@pytest.mark.parametrize("target", ["pay.py:99", "nothing.py", "../elsewhere.py"])
def test_what_no_commit_has_is_refused(bank: Bank, target: str) -> None:
    with pytest.raises(BadInput):
        why(bank, target)


CODE = """class Till:
    def charge(self, amount):
        fee = 2
        return amount + fee


def bill():
    return Till().charge(3)
"""

TESTS = """from pay import Till


def test_a_charge_has_a_fee():
    assert Till().charge(1) == 3
"""


def test_a_line_is_told_with_its_definition_rules_and_tests(bank: Bank) -> None:
    root = bank.layout.project
    (root / "pay.py").write_text(CODE)
    (root / "test_pay.py").write_text(TESTS)
    commit_all(root, "Charge a fee\n\nThe bank takes two for each call.")
    rule = "---\napplies_to: '*.py'\n---\n# Cents\n\nAmounts are whole cents.\n"
    (root / ".memories/cents.md").write_text(rule)
    with open_codebase(root, bank=bank.layout.root) as code:
        found = why(bank, "pay.py:3", code=code)
        assert found.definition
        assert (found.definition.name, found.definition.kind) == ("Till.charge", "method")
        assert [one.sentence for one in found.rules] == ["Amounts are whole cents."]
        assert [one.title for one in found.tests] == ["a charge has a fee"]
        assert [one.name for one in found.called_by][:1] == ["bill"]
        assert [one.file for one in found.coupled] == ["test_pay.py"]
        text = write_agent(view_why(found), Quotes())
        for part in (
            "Till.charge  method  pay.py:2-4", "def charge(self, amount)",
            "Charge a fee\n   The bank takes two", "| Cents: Amounts are whole cents.",
            "- test_pay.py:4 | a charge has a fee", "called by:\n- pay.py:7 | bill",
            "may change with it:\n- test_pay.py | imports it",
        ):  # fmt: skip
            assert part in text
        assert why(bank, "pay.py", code=code).definition is None
        assert [one.title for one in why(bank, "pay.py", code=code).tests]
        (root / "pay.py").write_text(f"# Times\n{CODE}")
        assert why(bank, "pay.py:3", code=code).definition is None  # HEAD has it elsewhere


@pytest.mark.parametrize(
    "said",
    [
        "The acquirer bills each call and answers slowly on Mondays. ",
        "retry(job, times=3) -> queue.take[job_id]; ",
        "Банк отвечает медленно, поэтому мы ждём дольше. ",
    ],
)
def test_what_agents_are_told_is_below_800_tokens(bank: Bank, said: str) -> None:
    root = bank.layout.project
    long = said * 200
    many = "".join(
        f"def test_charge_{one}_{'x' * 300}():\n    Till().charge(1)\n" for one in "abcdefgh"
    )
    for number in range(8):
        (root / "pay.py").write_text(CODE.replace("2", str(number)))
        (root / "test_pay.py").write_text(f"from pay import Till\n{many}")
        (root / f".memories/rule-{number}.md").write_text(
            f"---\napplies_to: '*.py'\n---\n# Rule {number}\n\n{long}\n"
        )
        commit_all(root, f"Charge {number}\n\n{long}")
    with open_codebase(root, bank=bank.layout.root) as code:
        text = write_agent(view_why(why(bank, "pay.py:3", code=code)), Quotes())
    assert count_tokens([text])[0] < 800
    assert "left out" in text
    assert "Till.charge  method" in text


def test_a_commit_becomes_a_decision_in_one_step(
    bank: Bank, monkeypatch: pytest.MonkeyPatch
) -> None:
    commit = why(bank, "pay.py:1").behind[0].id
    done = promote_commit(bank, commit[:8])
    note = show(bank, done.path)
    assert (note.meta.type, note.meta.file_refs) == ("decision", ("pay.py",))
    assert "answers slowly on Mondays" in note.body
    assert f"Commit {commit[:12]}" in note.body
    assert promote_commit(bank, commit).action == "updated_existing"
    with pytest.raises(BadInput):
        promote_commit(bank, "0000000")
    monkeypatch.setattr(History, "at", lambda *_, **__: None)
    with pytest.raises(StorageFailed, match="can't say yet"):
        promote_commit(bank, commit)


def test_recall_finds_the_messages_of_commits_if_they_are_included(bank: Bank) -> None:
    remember(bank, "The shop opens at nine.", name="facts/hours")
    said = (
        "Batch refunds\n\nThe acquirer bills each call, and answers slowly on Mondays, so refunds"
    )
    said += " of a night are sent together at six in the morning."
    run(bank.layout.project, "commit", "-q", "--allow-empty", "-m", said)
    question = "why does the acquirer answer slowly"
    assert recall(bank, question).commits is None
    (found, *_) = recall(bank, question, include=["commits"]).commits or ()
    assert found.title == "Batch refunds"
    assert "slowly on Mondays" in found.snippet
    shown = recall_text(recall(bank, question, include=["commits"]), Quotes())
    assert f"commit {found.id[:8]} {found.created_at[:10]} {found.author}" in shown


def test_what_recall_cannot_include_is_refused(bank: Bank) -> None:
    with pytest.raises(BadInput):
        recall(bank, "slowly", include=["code"])
    with pytest.raises(BadInput):
        recall_at(bank, "HEAD", "slowly", include=["commits"])


def test_outside_git_recall_says_that_no_commit_was_searched(tmp_path: Path) -> None:
    (tmp_path / ".memories").mkdir()
    with open_bank(tmp_path / ".memories") as alone:
        found = recall(alone, "slowly", include=["commits"])
    assert found.commits == ()
    assert "commits not searched" in (found.problem or "")
