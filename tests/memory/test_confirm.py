"""A note is confirmed by one line of its front matter."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from memory_bank.bank.bank import open_bank
from memory_bank.base.errors import BadInput, Conflict, NoRepository, NoteNotFound, NoteReadOnly
from memory_bank.memory.confirm import confirm
from memory_bank.memory.records import Confirmation
from memory_bank.trust.stale import stale
from tests.git.history_builder import Made, commit_all, extend, make, run

CODE = "def charge(order):\n    return order.pay(3)\n"
SETTINGS = {"memory.embedder": "none"}


@pytest.fixture
def root(homes: Iterator[Path]) -> Path:
    note = "---\n# mine\ntags: [b,   a]\n---\nIt is `order.pay(3)`: [[pay.py#charge]].\n"
    first = Made(
        {
            "pay.py": CODE,
            ".memories/n.md": note,
            ".memories/plain.md": "`order.pay()` in [[pay.py]]\r\n",
        }
    )
    return make(next(homes), [first, Made({"pay.py": CODE.replace("3", "4")})])


def done(root: Path, *names: str, **options: str) -> Confirmation:
    with open_bank(root / ".memories", settings=SETTINGS) as bank:
        return confirm(bank, names, **options)  # type: ignore[arg-type]


def stale_targets(root: Path) -> list[str]:
    with open_bank(root / ".memories", settings=SETTINGS) as bank:
        return [one.target for one in stale(bank).stale]


def test_only_one_line_is_written(root: Path) -> None:
    head = run(root, "rev-parse", "HEAD").strip()
    assert stale_targets(root) == ["pay.py#charge", "pay.py"]
    answer = done(root, "n", "plain")
    assert (answer.commit, [one.changed for one in answer.notes]) == (head, [True, True])
    assert [one.warning for one in answer.notes] == [None, None]
    before = "---\n# mine\ntags: [b,   a]\n"
    assert (root / ".memories/n.md").read_text() == (
        f"{before}verified_commit: {head}\n---\nIt is `order.pay(3)`: [[pay.py#charge]].\n"
    )
    assert (root / ".memories/plain.md").read_bytes().endswith(b"[[pay.py]]\r\n")
    assert stale_targets(root) == []
    assert [one.changed for one in done(root, "n").notes] == [False]


def test_a_later_confirmation_replaces_the_line(root: Path) -> None:
    done(root, "n")
    commit_all(root, "confirmed")
    (root / "pay.py").write_text(CODE.replace("3", "5"))
    run(root, "commit", "-qam", "five")
    assert "pay.py#charge" in stale_targets(root)
    done(root, "n")
    text = (root / ".memories/n.md").read_text()
    assert text.count("verified_commit") == 1
    assert run(root, "rev-parse", "HEAD").strip() in text
    assert "pay.py#charge" not in stale_targets(root)


def test_uncommitted_code_is_not_confirmed(root: Path) -> None:
    (root / "pay.py").write_text(CODE.replace("3", "6"))
    (note,) = done(root, "n").notes
    assert (
        note.warning == "uncommitted changes of pay.py#charge are not confirmed: commit them first"
    )


def test_code_that_is_not_there_is_named(root: Path) -> None:
    (root / ".memories/n.md").write_text("[[pay.py#charge]] [[old/pay.py#charge]]\n")
    (note,) = done(root, "n").notes
    assert note.warning == "old/pay.py#charge can't be found: write where it is now"


def test_the_etag_guards_it_and_unknown_notes_are_errors(root: Path) -> None:
    with pytest.raises(Conflict):
        done(root, "n", if_match="0" * 64)
    with pytest.raises(NoteNotFound):
        done(root, "n", "nothing")
    assert "verified_commit" not in (root / ".memories/n.md").read_text(), (
        "all names are checked first"
    )


def test_included_files_are_read_only(root: Path) -> None:
    extend(
        root,
        [
            Made(
                {
                    "docs/a.md": "[[pay.py]]\n",
                    ".memories/config.toml": '[memory]\ninclude = ["docs"]\n',
                }
            )
        ],
        2,
    )
    with pytest.raises(NoteReadOnly):
        done(root, "../docs/a.md")


def test_without_a_commit_there_is_nothing_to_confirm(homes: Iterator[Path]) -> None:
    empty = make(next(homes), [])
    (empty / ".memories").mkdir()
    (empty / ".memories/n.md").write_text("[[a.py]]\n")
    with pytest.raises(BadInput):
        done(empty, "n")
    outside = next(homes) / ".memories"
    outside.mkdir(parents=True)
    (outside / "n.md").write_text("[[a.py]]\n")
    with pytest.raises(NoRepository):
        done(outside.parent, "n")


def test_a_confirmation_of_an_agent_is_recorded(root: Path) -> None:
    with open_bank(root / ".memories", settings=SETTINGS) as bank:
        confirm(bank, ["n"], agent="codex")
        assert bank.edits is not None
    assert "codex" in repr(_recorded(root))


def _recorded(root: Path) -> object:
    from memory_bank.memory.retrieval.recall import recall

    with open_bank(root / ".memories", settings=SETTINGS) as bank:
        return recall(bank, "charge").notes


def test_code_that_moved_gets_its_new_name(root: Path) -> None:
    run(root, "mv", "pay.py", "shop.py")
    run(root, "commit", "-q", "-m", "Move")
    head = run(root, "rev-parse", "HEAD").strip()
    (one,) = done(root, "n").notes
    assert one.targets == ("shop.py#charge",)
    assert (root / ".memories/n.md").read_text() == (
        f"---\n# mine\ntags: [b,   a]\nverified_commit: {head}\n---\nIt is `order.pay(3)`: [[shop.py#charge]].\n"
    )
