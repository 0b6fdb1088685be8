"""A newer note that may amend an older one: found, said, asked, and put first."""

from pathlib import Path

import pytest

from memory_bank.bank.bank import Bank, open_bank
from memory_bank.base.text import Quotes
from memory_bank.base.view import write_agent
from memory_bank.memory import views
from memory_bank.memory.edit import append
from memory_bank.memory.remember import remember
from memory_bank.memory.retrieval.recall import recall
from memory_bank.review.lint import lint
from tests.memory.answer_texts import recall_text

OLD = "Access logs are kept for thirty days, then the nightly job deletes them."
NEW = "Legal decided: access logs are no longer kept for thirty days, the job deletes them weekly."
QUESTION = "for how many days are access logs kept"


def write(folder: Path, name: str, day: str, body: str) -> None:
    created = f"---\ncreated_at: {day}\n---\n" if day else ""
    (folder / f"{name}.md").write_text(f"{created}{body}\n")


@pytest.fixture
def logs(project: Path) -> Path:
    """Give a bank with an older and a newer note, and one of another subject."""
    folder = project / ".memories"
    write(folder, "old", "2026-01-05", OLD)
    write(folder, "new", "2026-03-05", NEW)
    write(
        folder, "mails", "2026-02-05", "Mails are sent through postfix now; the queue is on mail1."
    )
    return folder


def paths(bank: Bank, question: str = QUESTION) -> list[str]:
    found = recall(bank, question, mode="lexical", count_access=False).notes
    return [note.path for note in found if note.path in {"old.md", "new.md"}]


def test_the_newer_note_comes_first_and_the_older_one_names_it(logs: Path) -> None:
    with open_bank(logs) as bank:
        assert paths(bank) == ["new.md", "old.md"]
        found = {note.path: note for note in recall(bank, QUESTION, count_access=False).notes}
        assert found["old.md"].newer == "new.md"
        assert found["new.md"].newer is None
        shown = recall_text(recall(bank, QUESTION, tokens=500, count_access=False), Quotes())
        assert 'newer="new.md"' in shown


def test_a_limit_of_one_gives_the_newer_note(logs: Path) -> None:
    with open_bank(logs) as bank:
        (note,) = recall(bank, QUESTION, 1, count_access=False).notes
        assert note.path == "new.md"


@pytest.mark.parametrize(
    ("title", "day", "is_first"),
    [
        ("Sign-in length: second decision", "2026-09-05", True),
        ("Sign-in length, revised", "2026-09-05", True),
        ("Sign-in length", "2026-09-05", True),
        ("Sign-in length, revised", "2026-01-25", False),
        ("Sign-in length 2026-09", "2026-09-05", False),
        ("Length of the sign-in page", "2026-09-05", False),
    ],
)
def test_a_note_of_months_later_whose_title_begins_so_comes_first(
    logs: Path, title: str, day: str, *, is_first: bool
) -> None:
    write(logs, "old", "2026-01-05", "# Sign-in length\n\nPeople stay for thirty days.")
    write(logs, "new", day, f"# {title}\n\nTwelve hours after the audit, each morning anew.")
    with open_bank(logs) as bank:
        hits = recall(bank, "how long does a sign-in last for people", count_access=False).notes
        assert (hits[0].path == "new.md") == is_first


def test_a_question_about_the_past_keeps_its_order(logs: Path) -> None:
    write(logs, "old", "2026-01-05", f"{OLD} {OLD}")
    with open_bank(logs) as bank:
        asked = "for how many days were access logs kept originally, thirty days in the nightly job"
        assert paths(bank, asked) == ["old.md", "new.md"]


def test_a_date_that_only_the_file_has_tells_nothing(logs: Path) -> None:
    write(logs, "old", "", OLD)
    with open_bank(logs) as bank:
        assert all(note.newer is None for note in recall(bank, QUESTION, count_access=False).notes)
        assert "may-amend" not in {one.rule for one in lint(bank)}


def test_lint_lists_a_pair_until_a_link_answers_it(logs: Path) -> None:
    with open_bank(logs) as bank:
        (found,) = lint(bank, rules=["may-amend"])
        assert (found.path, found.message) == ("new.md", "may amend old.md")
        append(bank, "new", "- related_to:: [[old]]")
        assert lint(bank, rules=["may-amend"]) == ()
        assert all(note.newer is None for note in recall(bank, QUESTION, count_access=False).notes)


def test_a_new_note_is_told_what_it_may_amend(logs: Path) -> None:
    (logs / "new.md").unlink()
    with open_bank(logs) as bank:
        done = remember(bank, NEW)
        assert done.may_amend == "old.md"
        assert "supersedes:: [[name]]" in write_agent(views.view_remembered(done), Quotes())
        assert remember(bank, "The office is closed in August.").may_amend is None


def test_a_change_may_amend_too(logs: Path) -> None:
    write(logs, "new", "2026-03-05", "Access logs are read by support.")
    with open_bank(logs) as bank:
        assert append(bank, "new", NEW).may_amend == "old.md"
