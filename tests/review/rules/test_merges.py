"""What a merge left in a note is found."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.git.history_builder import commit_all
from tests.review.rules.conftest import Lint

LONG = "We chose tantivy because its index is small and fast."
NOTE = "---\nid: {id}\ntype: fact\n---\n# Port\n\n{text}\n"


@pytest.fixture
def merged(project: Path, git: Callable[..., str]) -> Callable[..., str]:
    """Return what git makes with `merge=union` of two versions of a note."""
    file = project / ".memories/facts/port.md"

    def commit(text: str) -> None:
        file.write_text(text)
        commit_all(project, "Change it")

    def run(base: str, theirs: str, ours: str) -> str:
        (project / ".gitattributes").write_text("*.md merge=union\n")
        if base:
            commit(base)
        else:
            commit_all(project, "Start")
        git(project, "checkout", "-q", "-b", "other")
        commit(theirs)
        git(project, "checkout", "-q", "main")
        commit(ours)
        git(project, "merge", "-q", "-m", "Both", "other")
        return file.read_text()

    return run


def test_two_new_notes_of_one_name_are_found(
    project: Path, merged: Callable[..., str], lint: Lint
) -> None:
    merged("", NOTE.format(id="aaa", text=LONG), NOTE.format(id="bbb", text=LONG))
    found = lint(project, "bad-union-merge")
    assert [(one.path, one.line, one.message) for one in found] == [
        ("facts/port.md", 3, "the key 'id' is also on line 2")
    ]


def test_steps_columns_and_items_below_other_items_repeat_on_purpose(
    project: Path, lint: Lint
) -> None:
    step = "1. In the file explorer, select the note you want to restore."
    row = "| name of the note | date of the note | size of the note |\n|---|---|---|\n| a | b | c |"
    item = "  - see the decision on the index for more about this"
    (project / ".memories/facts/port.md").write_text(
        f"**Desktop**\n{step}\n\n**Mobile**\n{step}\n\n{row}\n\nThe next\n\n{row}\n\n"
        f"- one\n{item}\n- two\n{item}\n\n"
        "![[The server#Port|The page on the server and its ports]]\n"
        "![[The server#Host|The page on the server and its ports]]\n"
    )
    assert lint(project, "bad-union-merge") == []


def test_repeated_texts_and_a_second_front_matter_are_found(project: Path, lint: Lint) -> None:
    file = project / ".memories/facts/port.md"
    note = NOTE.format(id="a", text=f"{LONG}\n\n{LONG}\n")
    file.write_text(note + NOTE.format(id="b", text="Other"))
    found = lint(project, "bad-union-merge")
    assert [(one.line, one.message) for one in found] == [
        (9, "this text is also on line 7"),
        (11, "a second front matter in the text"),
    ]


def test_a_second_front_matter_with_a_list_of_tags_is_found(project: Path, lint: Lint) -> None:
    head = "---\nid: b\n# mine\ntags:\n- a\n  - b\nabout: >\n  words\n---\n"
    (project / ".memories/facts/port.md").write_text(f"---\nid: a\n---\nx\n{head}y\n")
    assert [one.line for one in lint(project, "bad-union-merge")] == [5]


def test_repeated_texts_elsewhere_rows_of_code_and_quoted_front_matter_are_fine(
    project: Path, lint: Lint
) -> None:
    file = project / ".memories/facts/port.md"
    quoted = NOTE.format(id="a", text="x")
    fence = f"```\n{quoted}```\n"
    file.write_text(f"# A\n\n{LONG}\n\n## B\n\n{LONG}\n\n- a\n- a\n\n---\n\n{fence}\n---\n\nend\n")
    assert lint(project, "bad-union-merge") == []


def test_a_conflict_in_a_body_and_one_in_front_matter_are_errors(
    conflict: Callable[..., Path], project: Path, lint: Lint
) -> None:
    texts = (
        "---\ntags: [{}]\n---\nkept\n\nkept\n\nkept\n\n{}\n".format(*(word, word)) for word in "abc"
    )
    base, ours, theirs = texts
    conflict(ours, theirs, base=base)
    found = lint(project, "merge-conflict")
    assert [(one.severity, one.path, one.line) for one in found] == [
        ("error", "facts/port.md", 2),
        ("error", "facts/port.md", 14),
    ]
    assert found[0].message == "unresolved merge conflict"
    assert "keep the right lines" in (found[0].fix or "")


def test_it_is_no_fault_besides(conflict: Callable[..., Path], project: Path, lint: Lint) -> None:
    conflict("---\na: 1\n---\n", "---\na: 2\n---\n", base="---\na: 3\n---\n")
    assert lint(project, "fault") == []
    assert len(lint(project, "merge-conflict")) == 1


def test_a_block_id_and_a_footnote_that_a_note_has_twice_are_found(
    project: Path, lint: Lint
) -> None:
    (project / ".memories/both.md").write_text(
        "# A\n\nText[^1] of A ^part\n\n[^1]: One.\n[^b]: Two.\n\n"
        "# B\n\n- an item ^Part\n\nText[^1] and x ^2 y\n\n> [^1]: Three.\n\n"
        "```\nText ^part\n[^b]: code\n```\n\nIt costs `x ^part`\n",
        newline="\r\n",
    )
    assert [(one.line, one.message) for one in lint(project, "same-anchor")] == [
        (10, "the block id ^Part is also on line 3"),
        (14, "the footnote [^1] is also on line 5"),
    ]
