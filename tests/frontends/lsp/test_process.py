"""Servers that start, wait, are refused and end."""

import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from lsprotocol import types

from memory_bank.base.locks import WAIT, hold_lock
from memory_bank.base.paths import private_folder
from tests.frontends.cli.conftest import command, environment
from tests.frontends.lsp.client import Editor, position, uri
from tests.frontends.lsp.conftest import NOTES, make_project
from tests.git.history_builder import run
from tests.support.waiting import until

pytestmark = pytest.mark.slow

Start = Callable[..., Editor]


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    """Start editors; those that a failed test left are ended."""
    with ExitStack() as started:
        yield lambda *folders, **more: started.enter_context(
            Editor(*folders, home=tmp_path / "home", **more)
        )


def defined(editor: Editor, notes: Path) -> list[types.Location]:
    text = NOTES[".memories/decisions/tantivy.md"]
    document = editor.open(notes / "decisions/tantivy.md", text)
    params = types.DefinitionParams(document, position(text, "[[decisions/whoosh", 4))
    found: list[types.Location] = editor.ask(editor.client.text_document_definition_async, params)
    return found


def test_a_bank_that_is_made_later_is_served(start: Start, tmp_path: Path) -> None:
    root = make_project(tmp_path / "project")
    (root / ".memories").rename(root / "notes")
    editor = start(root)
    assert not defined(editor, root / ".memories")
    (root / "notes").rename(root / ".memories")
    found = until(lambda: defined(editor, root / ".memories"))
    assert found[0].uri == uri(root / ".memories/decisions/whoosh.md")
    assert editor.leave() == 0
    assert (editor.messages, editor.stderr) == ([], "")


def test_each_folder_has_its_bank(start: Start, tmp_path: Path) -> None:
    roots = [make_project(tmp_path / name) for name in ("one", "two")]
    (roots[1] / ".memories/facts/bm25.md").write_text("# Only in two\n")
    editor = start(*roots)
    for root in roots:
        places = until(lambda root=root: defined(editor, root / ".memories"))
        assert places[0].uri == uri(root / ".memories/decisions/whoosh.md")
    assert editor.leave() == 0


def test_no_request_waits_while_a_bank_is_indexed(start: Start, tmp_path: Path) -> None:
    root = make_project(tmp_path / "project")
    with hold_lock(private_folder(root / ".memories/.index")):  # as another process that indexes
        editor = start(root)
        began = time.monotonic()
        assert not defined(editor, root / ".memories")
        assert time.monotonic() - began < WAIT / 2
    assert until(lambda: defined(editor, root / ".memories"))
    assert editor.leave() == 0


@pytest.mark.parametrize(("politely", "hang_up", "code"), [(True, False, 0), (False, False, 1), (False, True, 0)])  # fmt: skip
def test_it_ends_with_the_editor(start: Start, tmp_path: Path, politely: bool, hang_up: bool, code: int) -> None:  # fmt: skip
    editor = start(tmp_path)
    assert editor.leave(politely=politely, hang_up=hang_up) == code
    assert editor.stderr == ""


def test_what_is_no_message_ends_nothing(tmp_path: Path) -> None:
    broken = b"not json at all"
    hello = b'{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"capabilities":{},"processId":null,"rootUri":null}}'
    sent = b"".join(b"Content-Length: %d\r\n\r\n%s" % (len(one), one) for one in (broken, hello))
    done = subprocess.run(
        command(["serve", "lsp"]), cwd=tmp_path, env=environment(), input=sent,
        capture_output=True, timeout=60, check=True,
    )  # fmt: skip
    assert b'"name": "memory-bank"' in done.stdout


def test_a_client_without_moves_of_files_is_told_so(start: Start, tmp_path: Path) -> None:
    root = make_project(tmp_path / "project")
    editor = start(root, capabilities=types.ClientCapabilities(), words=())
    until(lambda: defined(editor, root / ".memories"))
    text = NOTES[".memories/facts/bm25.md"]
    document = editor.open(root / ".memories/facts/bm25.md", text)
    params = types.RenameParams(
        position=position(text, "## Ranks", 4), new_name="Scores", text_document=document
    )
    found = editor.ask(editor.client.text_document_rename_async, params)
    assert set(found.changes) == {
        uri(root / one) for one in (".memories/facts/bm25.md", ".memories/decisions/tantivy.md")
    }
    other = root / ".memories/decisions/tantivy.md"
    params = types.RenameParams(
        position=position(editor.texts[other][1], "[[decisions/whoosh", 4),
        new_name="decisions/new",
        text_document=types.TextDocumentIdentifier(uri(other)),
    )
    with pytest.raises(Exception, match="memory-bank mv"):
        editor.ask(editor.client.text_document_rename_async, params)
    assert editor.leave() == 0


def test_a_workspace_behind_a_symbolic_link_keeps_its_name(start: Start, tmp_path: Path) -> None:
    root = make_project(tmp_path / "real")
    link = tmp_path / "link"
    link.symlink_to(root)
    editor = start(link)
    found = until(lambda: defined(editor, link / ".memories"))
    assert found[0].uri == uri(link / ".memories/decisions/whoosh.md")
    file = link / ".memories/decisions/tantivy.md"
    params = types.RenameParams(
        position=position(editor.texts[file][1], "[[decisions/whoosh", 4),
        new_name="decisions/new",
        text_document=types.TextDocumentIdentifier(uri(file)),
    )
    edit, move = editor.ask(editor.client.text_document_rename_async, params).document_changes
    assert edit.text_document.uri == uri(file)
    assert edit.text_document.version == editor.texts[file][0]
    assert move.new_uri == uri(link / ".memories/decisions/new.md")
    assert editor.leave() == 0


def test_one_bank_may_serve_all_files(start: Start, tmp_path: Path) -> None:
    bank, other = make_project(tmp_path / "project"), tmp_path / "other"
    other.mkdir()
    editor = start(other, before=("--bank", str(bank)))
    assert until(lambda: defined(editor, bank / ".memories"))
    assert editor.leave() == 0
    assert run(bank, "status", "--porcelain") == ""
