import random
import string
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest

from memory_bank.bank.bank import open_bank
from memory_bank.base.errors import BadInput
from memory_bank.frontends.web import exporting
from memory_bank.memory import overview
from tests.session_builder import observation, session, write

Git = Callable[..., str]
SECRET = "gh" + "p_" + "".join(random.Random(3).choices(string.ascii_letters + string.digits, k=36))


def test_nothing_private_is_exported(project: Path, git: Git) -> None:
    bank = project / ".memories"
    (bank / ".gitignore").write_text(".index/\n.trash/\nmine.md\n")
    (bank / "mine.md").write_text("# Mine\n")
    (bank / "token.md").write_text(f"# Token\n\ntoken = {SECRET}\n")
    write(bank, session("s1", observation(1, "Fix login", created_at=datetime.now(UTC))))
    git(project, "add", "-A")
    git(project, "commit", "-qm", "Add")
    (bank / "later.md").write_text("# Later\n")
    with open_bank(project) as opened, exporting.exported(opened) as export:
        assert export.revision.commit == git(project, "rev-parse", "HEAD").strip()
        assert (export.notes, export.sessions) == (3, 1)
        (left,) = export.left_out
        assert left.what == "token.md"
        assert "has a secret: GitHub token, line 3" in left.reason
        found = [one.note.path for one in exporting.words(export.bank)]
        assert found == ["decisions/tantivy.md", "decisions/whoosh.md", "facts/bm25.md"]
        shown = overview.home(export.bank, now=export.revision.when)
        assert shown.notes == 3
        counts = overview.overview(export.bank)
        assert (counts.observations, counts.sessions) == (0, 0)
        assert {one.path for one in exporting.committed(shown.lately).changes} <= set(found)
        assert SECRET not in repr((export, shown, exporting.words(export.bank)))


def test_the_words_of_a_note_are_for_a_search(project: Path) -> None:
    with open_bank(project) as opened, exporting.exported(opened) as export:
        tantivy, whoosh, _ = exporting.words(export.bank)
    assert (tantivy.note.title, tantivy.note.type, tantivy.status) == (
        "Tantivy over Whoosh",
        "decision",
        "active",
    )
    assert (tantivy.note.tags, tantivy.headings) == (("architecture", "search"), ("Consequences",))
    assert "no longer maintained" in tantivy.text
    assert tantivy.note.created_at.startswith("2026-01-10")
    assert whoosh.status == "superseded"


def test_a_text_is_looked_at_for_secrets(project: Path) -> None:
    with open_bank(project) as bank:
        assert exporting.secret_in(bank, "nothing") == ""
        assert exporting.secret_in(bank, f"token {SECRET}").startswith("GitHub token (")


def test_a_commit_without_notes_has_no_export(tmp_path: Path, git: Git) -> None:
    bank = tmp_path / ".memories"
    bank.mkdir()
    git(tmp_path, "init", "-q")
    (tmp_path / "a.py").write_text("A = 1\n")
    git(tmp_path, "add", "-A")
    git(tmp_path, "commit", "-qm", "Start")
    (bank / "a.md").write_text("# A\n")
    with open_bank(tmp_path) as opened, pytest.raises(BadInput, match="no note at"):
        exporting.exported(opened).__enter__()
