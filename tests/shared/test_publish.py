"""A commit's notes are published whole; what is private stays on this machine."""

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from memory_bank.bank.bank import Bank, open_bank
from memory_bank.base.errors import BadInput, Conflict, SharedUnavailable
from memory_bank.memory.remember import session_note
from memory_bank.memory.retrieval.recall import recall
from memory_bank.sessions.sessions import start_session
from memory_bank.shared import export
from memory_bank.shared import publish as publishing
from memory_bank.shared.addresses import line_address
from memory_bank.shared.engines.base import AskedWord, Where
from memory_bank.shared.publish import make, publish, unpublish
from memory_bank.shared.word_weights import number_word
from tests.conftest import run_git as git
from tests.shared.conftest import every_row, opened, run_sql, settings
from tests.support.files import write_files

REPO = "github.com/acme/shop"
SECRET = "ghp_" + "R4nd0mT0k3nV4lu3F0rT3st1ngPurp0s3sX"[:36].ljust(36, "q")


@pytest.fixture
def index(empty_database: str, folder: Path) -> str:
    """The URL of a shared index of the embedder `static`."""
    with opened(empty_database) as engine:
        engine.drop()
    with open_bank(folder, settings=settings(empty_database)) as bank:
        make(bank.settings)
    return empty_database


@pytest.fixture
def bank(shop: Path, index: str) -> Iterator[Bank]:
    with open_bank(shop, settings=settings(index)) as found:
        yield found


def commit(project: Path, message: str = "More", **texts: str) -> str:
    """Write notes, given by names with `__` for slashes, and commit all; return the commit."""
    for name, text in texts.items():
        file = project / ".memories" / f"{name.replace('__', '/')}.md"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    git(project, "add", "-A")
    git(project, "commit", "-q", "--allow-empty", "-m", message)
    return git(project, "rev-parse", "HEAD").strip()


def shared_texts(url: str) -> dict[str, str]:
    """Return the texts of all that is published, by path."""
    with opened(url) as engine:
        rows = every_row(url)
        found: dict[str, str] = {}
        for one in sorted(engine.passages(rows).values(), key=lambda one: one.position.line):
            found[one.note.path] = f"{found.get(one.note.path, '')}\n{one.text}".strip()
        return found


def test_a_commit_is_published_with_what_an_answer_needs(bank: Bank, index: str) -> None:
    done = publish(bank)
    assert (done.state, done.repository, done.bank, done.notes) == (
        "published",
        REPO,
        ".memories",
        3,
    )
    with opened(index) as engine:
        (match,) = engine.words(
            [AskedWord(number_word("consequ"), 1.0, 1)], 1, Where(types=("decision",))
        )
        hit = engine.passages([match.row])[match.row]
        (head,) = engine.heads()
    assert (hit.note.path, hit.note.file) == (
        "decisions/tantivy.md",
        ".memories/decisions/tantivy.md",
    )
    assert (hit.note.tags, hit.note.type, hit.note.title) == (
        ("architecture", "search"),
        "decision",
        "Tantivy over Whoosh",
    )
    assert hit.headings[-1] == "Consequences"
    assert ["supersedes", "decisions/whoosh.md"] in hit.note.rest["links"]
    assert hit.note.rest["file_refs"] == ["src/index.py"]
    assert line_address(head.web, hit.head.commit, hit.note.file, hit.position.line) == (
        f"https://github.com/acme/shop/blob/{done.commit}/.memories/decisions/tantivy.md?plain=1#L{hit.position.line}"
    )
    assert "hunter2" not in repr(head)


def test_meaning_is_published_as_the_bank_has_it(bank: Bank, index: str) -> None:
    publish(bank)
    from memory_bank.search.embedders import static

    embedder = static.load(bank.settings)
    vector = embedder.embed(["Whoosh is pure Python and easy to install."], "query")[0].tolist()
    with opened(index) as engine:
        (best, *_) = engine.nearest(vector, 3, Where())
        assert engine.passages([best.row])[best.row].note.path == "decisions/whoosh.md"


def test_the_same_commit_again_sends_nothing(bank: Bank) -> None:
    first = publish(bank)
    again = publish(bank)
    assert again.state == "unchanged"
    assert (again.commit, again.sent_passages) == (first.commit, 0)


def test_only_changed_passages_are_sent(bank: Bank, shop: Path, index: str) -> None:
    publish(bank)
    text = (shop / ".memories/decisions/tantivy.md").read_text()
    new = commit(
        shop,
        decisions__tantivy=text.replace(
            "See [[src/index.py]], `build_index`.", "It grew.\n\nSee it."
        ),
        facts__new="# New\n\nfresh\n",
    )
    git(shop, "rm", "-q", ".memories/decisions/whoosh.md")
    new = commit(shop)
    done = publish(bank)
    assert done.commit == new
    assert done.removed_notes == ("decisions/whoosh.md",)
    assert done.changed_notes == ("decisions/tantivy.md", "facts/new.md")
    assert done.sent_passages == 2
    texts = shared_texts(index)
    assert sorted(texts) == ["decisions/tantivy.md", "facts/bm25.md", "facts/new.md"]
    assert "It grew." in texts["decisions/tantivy.md"]


def test_what_is_published_by_steps_is_what_is_published_at_once(
    bank: Bank, shop: Path, index: str
) -> None:
    publish(bank)
    for step in range(3):
        commit(
            shop,
            facts__steps=f"# Steps\n\nline {step}\n\n## Deep\n\n{'text ' * step}\n",
            **{f"facts__n{step}": f"# N{step}\n\nsee [[facts/steps]]\n"},
        )
        publish(bank)
    by_steps = whole(index)
    unpublish(bank)
    assert shared_texts(index) == {}
    publish(bank)
    assert whole(index) == by_steps


def whole(url: str) -> set[str]:
    """Return all that is published but its numbers."""
    with opened(url) as engine:
        found = engine.passages(every_row(url)).values()
        counts = engine.frequencies(
            [number_word(word) for word in ("line", "step", "text", "bm25")]
        )
        return {repr(one._replace(row=0, head=one.head._replace(published=0))) for one in found} | {
            repr(sorted(counts.items()))
        }


def test_uncommitted_and_ignored_notes_and_sessions_stay(
    bank: Bank, shop: Path, index: str
) -> None:
    (shop / ".gitignore").write_text("ignored.md\n")
    session = (
        "---\ntype: session\nsession_id: abc\nproject: shop\n---\n# A session\n\nprivate talk\n"
    )
    (shop / ".memories/sessions").mkdir()
    (shop / ".memories/sessions/a.md").write_text(session)
    git(shop, "add", "-f", ".memories/sessions/a.md")
    commit(shop, moved__session=session)
    (shop / ".memories/facts/ignored.md").write_text("# I\n\nignored\n")
    (shop / ".memories/facts/draft.md").write_text("# D\n\nnot committed\n")
    (shop / ".memories/facts/bm25.md").write_text("# BM25\n\nnot committed either\n")
    done = publish(bank)
    assert done.left_out_sessions == 2
    texts = shared_texts(index)
    assert sorted(texts) == ["decisions/tantivy.md", "decisions/whoosh.md", "facts/bm25.md"]
    assert "not committed" not in repr(texts)


def test_the_same_commit_is_sent_again_where_its_texts_are_read_otherwise(
    bank: Bank, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = publish(bank)
    monkeypatch.setattr(export, "TEXT_VERSION", export.TEXT_VERSION + 1)
    again = publish(bank)
    assert (again.state, again.sent_passages) == ("published", first.passages)
    assert publish(bank).state == "unchanged"


def test_a_note_with_a_secret_is_left_out_and_named(bank: Bank, shop: Path, index: str) -> None:
    publish(bank)
    commit(shop, facts__bm25=f"# BM25\n\ntoken = {SECRET}\n")
    done = publish(bank)
    assert [(one.path, one.file) for one in done.refused] == [
        ("facts/bm25.md", ".memories/facts/bm25.md")
    ]
    assert "line 3" in done.refused[0].reason
    assert SECRET not in repr(done)
    assert "facts/bm25.md" not in shared_texts(index)
    again = publish(bank)
    assert (again.state, again.refused, again.sent_passages) == ("unchanged", done.refused, 0)


def test_a_commit_that_does_not_follow_is_refused_unless_forced(
    bank: Bank, shop: Path, index: str
) -> None:
    base = git(shop, "rev-parse", "HEAD").strip()
    commit(shop, facts__later="# Later\n\nlater\n")
    publish(bank)
    with pytest.raises(BadInput, match="is published already"):
        publish(bank, base)
    git(shop, "checkout", "-q", "-b", "side", base)
    side = commit(shop, facts__side="# Side\n\nside\n")
    with pytest.raises(BadInput, match="does not follow"):
        publish(bank)
    done = publish(bank, force=True)
    assert (done.state, done.commit) == ("published", side)
    assert "facts/side.md" in shared_texts(index)
    assert "facts/later.md" not in shared_texts(index)


def test_a_published_commit_that_this_clone_does_not_know_is_not_replaced(
    bank: Bank, shop: Path, index: str, tmp_path: Path
) -> None:
    commit(shop)
    publish(bank)
    git(tmp_path, "clone", "-q", "--depth", "1", f"file://{shop}", "shallow")
    shallow = tmp_path / "shallow"
    commit(shop)
    publish(bank)
    git(shallow, "remote", "set-url", "origin", "git@github.com:acme/shop")
    commit(shallow, "Aside")
    with open_bank(shallow, settings=settings(index)) as other, pytest.raises(BadInput) as caught:
        publish(other)
    assert "--unshallow" in caught.value.hint


def test_a_dry_run_changes_nothing(bank: Bank, index: str) -> None:
    done = publish(bank, dry_run=True)
    assert (done.state, done.notes, len(done.changed_notes)) == ("planned", 3, 3)
    with opened(index) as engine:
        assert engine.heads() == []
    publish(bank)
    assert unpublish(bank, dry_run=True).state == "planned"
    assert len(shared_texts(index)) == 3
    assert unpublish(bank).state == "dropped"
    assert unpublish(bank).state == "absent"


def test_a_publisher_that_loses_repeats(
    bank: Bank, shop: Path, index: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    later = commit(shop, facts__later="# Later\n\nlater\n")
    real = export.collect_bank
    first = [True]

    def meanwhile(*args: Any, **kwargs: Any) -> Any:
        found = real(*args, **kwargs)
        if first.pop() if first else False:
            with open_bank(shop, settings=settings(index)) as other:
                publish(other, "HEAD~1")
        return found

    monkeypatch.setattr(publishing, "collect_bank", meanwhile)
    done = publish(bank)
    assert (done.commit, done.state) == (later, "published")
    assert done.replaced == git(shop, "rev-parse", "HEAD~1").strip()
    assert "facts/later.md" in shared_texts(index)


def test_publishers_at_once_leave_the_last_commit_whole(shop: Path, index: str) -> None:
    commits = [commit(shop, **{f"facts__n{n}": f"# N{n}\n\nnumber {n}\n"}) for n in range(4)]
    outcomes: list[str] = []

    def run(rev: str) -> None:
        with open_bank(shop, settings=settings(index)) as one:
            try:
                outcomes.append(publish(one, rev).state)
            except BadInput as error:
                outcomes.append(error.message)

    threads = [threading.Thread(target=run, args=[rev]) for rev in commits]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(outcomes) == 4
    for one in outcomes:
        assert one in {"published", "unchanged"} or "is published already" in one
    with opened(index) as engine:
        assert [head.commit for head in engine.heads()] == [commits[-1]]
    assert len(shared_texts(index)) == 3 + 4


def test_another_embedder_is_refused_clearly(shop: Path, index: str) -> None:
    with (
        open_bank(shop, settings=settings(index, memory__embedder="none")) as bank,
        pytest.raises(SharedUnavailable) as caught,
    ):
        publish(bank)
    assert caught.value.reason == "shared_other_embedder"
    assert 'embedder = "static"' in caught.value.hint


def test_a_repository_without_a_remote_needs_a_name(project: Path, index: str) -> None:
    with open_bank(project, settings=settings(index)) as bank:
        with pytest.raises(BadInput, match="no remote"):
            publish(bank)
        assert publish(bank, repo="internal/shop").repository == "internal/shop"
        with pytest.raises(BadInput, match="can't name"):
            publish(bank, repo="a b")


def test_a_repository_of_many_banks_publishes_each(shop: Path, index: str) -> None:
    other = shop / "packages/x/.memories"
    other.mkdir(parents=True)
    (other / "a.md").write_text("# A\n\nof package x\n")
    commit(shop)
    for place in (shop, shop / "packages/x"):
        with open_bank(place, settings=settings(index)) as bank:
            publish(bank)
    with opened(index) as engine:
        assert [(head.bank, head.notes) for head in engine.heads()] == [
            (".memories", 3), ("packages/x/.memories", 1),
        ]  # fmt: skip
    with open_bank(shop / "packages/x", settings=settings(index)) as bank:
        unpublish(bank)
    assert len(shared_texts(index)) == 3


def test_included_files_are_published_with_their_place(shop: Path, index: str) -> None:
    (shop / "docs").mkdir()
    (shop / "docs/guide.md").write_text("# Guide\n\nhow to\n")
    (shop / ".memories/config.toml").write_text('[memory]\ninclude = ["docs"]\n')
    commit(shop)
    with open_bank(shop, settings=settings(index)) as bank:
        publish(bank)
    with opened(index) as engine:
        files = {one.note.file for one in engine.passages(every_row(index)).values()}
    assert "docs/guide.md" in files


def test_publishing_leaves_the_bank_and_git_as_they_are(bank: Bank, shop: Path) -> None:
    publish(bank)
    assert git(shop, "status", "--short") == ""


def test_a_conflict_that_stays_is_named(bank: Bank, monkeypatch: pytest.MonkeyPatch) -> None:
    from memory_bank.shared.engines.postgres.postgres import Postgres

    def refuse(self: Postgres, publication: object) -> None:
        raise Conflict("another commit was published meanwhile")

    monkeypatch.setattr(Postgres, "publish", refuse)
    monkeypatch.setattr(publishing, "_PAUSE", 0.0)
    with pytest.raises(Conflict):
        publish(bank)


def test_a_repository_may_not_name_the_server(shop: Path) -> None:
    (shop / ".memories/config.toml").write_text(
        '[shared]\nurl = "postgresql://evil.example.org/x"\n'
    )
    with open_bank(shop) as bank:
        assert bank.settings.shared.url == ""
        assert "shared.url may not be set by a project" in bank.take_notices()[0]


def test_a_commit_without_notes_empties_nothing(bank: Bank, shop: Path, index: str) -> None:
    publish(bank)
    git(shop, "rm", "-q", "-r", ".memories")
    commit(shop, "Remove")
    with pytest.raises(BadInput, match="no note was in it"):
        publish(bank)
    assert len(shared_texts(index)) == 3


def test_a_bank_outside_of_git_has_no_commit_to_publish(folder: Path, index: str) -> None:
    (folder / "a.md").write_text("# A\n")
    with (
        open_bank(folder, settings=settings(index)) as bank,
        pytest.raises(BadInput, match="in no git repository"),
    ):
        publish(bank, repo="a/b/c")


def everything(url: str) -> str:
    """Return all rows of all tables of a database as text."""
    tables = run_sql(
        url, "SELECT format('%I.%I', schemaname, tablename) FROM pg_tables"
        " WHERE schemaname NOT IN ('pg_catalog', 'information_schema')",
    )  # fmt: skip
    return "\n".join(
        str(row) for (table,) in tables for row in run_sql(url, f"SELECT t::text FROM {table} t")
    )


def test_no_byte_of_what_is_private_arrives(
    bank: Bank, index: str, shop: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / "claude"))
    monkeypatch.setenv("CODEX_HOME", str(tmp_path / "codex"))
    slug = "".join(char if char.isascii() and char.isalnum() else "-" for char in str(shop))
    texts = {
        f"claude/projects/{slug}/memory/testing.md": "Run the tests with make zebra.\n",
        "codex/memories/rollout_summaries/a.md": f"cwd: {shop}\n\nThe okapi queue drained.\n",
        "codex/memories/MEMORY.md": "All ibexes of all projects.\n",
    }
    write_files(tmp_path, texts)
    start_session(bank, "s1")
    session_note(bank, "For this session the quagga key holds.", session_id="s1")
    (shop / ".memories/loose.md").write_text("# Loose\n\nNot committed: the tapir list.\n")
    for words in ("make zebra", "okapi queue", "ibexes", "quagga", "tapir"):
        assert recall(bank, words, include=["agents", "global"]).notes, words
    commit_of = git(shop, "rev-parse", "HEAD").strip()
    assert publish(bank).commit == commit_of
    arrived = everything(index)
    assert "tantivy" in arrived
    for word in ("zebra", "okapi", "ibex", "quagga", "tapir", "testing.md", "rollout_summaries"):
        assert word not in arrived.lower(), word
