"""One server of one project for the tests of a module, and texts with a cursor in them."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from lsprotocol import types

from memory_bank.bank.bank import Bank
from memory_bank.frontends.lsp.open_texts import Texts
from tests.frontends.lsp.client import Editor, position, uri
from tests.git.history_builder import commit_all, run
from tests.support.files import write_files
from tests.support.waiting import until

Make = Callable[..., Texts]

NOTES = {
    "src/index.py": "def build_index():\n    ...\n",
    ".memories/.gitignore": ".index/\n.trash/\n.mb-*\nsessions/\n",
    ".memories/decisions/tantivy.md": (
        "---\nid: 4f1c9be07a52\ntype: decision\ntags: [architecture, search]\n"
        "created_at: 2026-01-10T10:00:00Z\nfile_refs: [src/index.py]\n---\n"
        "# Tantivy over Whoosh\n\n😀 日本 Whoosh is no longer maintained. See [[src/index.py]].\n\n"
        "## Consequences\n\n- supersedes:: [[decisions/whoosh]]\n- BM25: [[facts/bm25#Ranks]]\n"
    ),
    ".memories/decisions/whoosh.md": (
        "---\r\ntype: decision\r\ntags: [search]\r\n---\r\n"
        "# Whoosh as the keyword index\r\n\r\nPure Python 😀: [[facts/bm25]]\r\n"
    ),
    ".memories/facts/bm25.md": (
        "# BM25\n\nBM25 scores a word by its rarity. <script>alert(1)</script> ```\n\n## Ranks\n\n"
        "Rare words first. ^rare\n"
    ),
}


def make_project(root: Path) -> Path:
    write_files(root, NOTES)
    run(root, "init", "-q")
    commit_all(root, "Start")
    return root


@pytest.fixture(scope="module")
def editor(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Editor]:
    """Start an editor in a project whose notes are indexed."""
    root = make_project(tmp_path_factory.mktemp("lsp").resolve() / "project")
    with Editor(root, home=tmp_path_factory.mktemp("home")) as made:

        def indexed() -> bool:
            text = NOTES[".memories/decisions/tantivy.md"]
            document = types.TextDocumentIdentifier(uri(root / ".memories/decisions/tantivy.md"))
            params = types.DefinitionParams(document, position(text, "[[facts/bm25", 3))
            return bool(made.ask(made.client.text_document_definition_async, params))

        until(indexed)
        yield made
        assert made.leave() == 0
        assert made.stderr == ""


@pytest.fixture
def notes(editor: Editor) -> Path:
    """The bank's folder."""
    return editor.folders[0] / ".memories"


def cursor(text: str) -> tuple[str, int]:
    """Return a text without its cursor, `‸`, and the offset where it was."""
    return text.replace("‸", ""), text.index("‸")


@pytest.fixture
def make(tmp_path: Path, opening: Callable[..., Bank]) -> Make:
    """Write the notes of a project's bank, index them, and return their texts with unsaved ones."""

    def made(notes: dict[str, str], **unsaved: str) -> Texts:
        root = tmp_path / "project" / ".memories"
        write_files(root, notes)
        bank = opening(tmp_path / "project")
        bank.catch_up()
        return Texts(bank, {f"{name}.md": text for name, text in unsaved.items()})

    return made
