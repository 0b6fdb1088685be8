from collections.abc import Callable
from pathlib import Path

import pytest

from memory_bank.bank import setup
from memory_bank.bank.bank import open_bank
from memory_bank.bank.setup import init
from memory_bank.base import settings
from memory_bank.base.errors import BadInput, BadName, BadSetting, StorageFailed
from memory_bank.memory.remember import remember
from tests.support.files import write_files


@pytest.mark.usefixtures("default_embedder")
def test_a_bank_is_made_in_a_project(tmp_path: Path) -> None:
    made = init(tmp_path)
    root = tmp_path.resolve() / ".memories"
    assert made.bank == str(root)
    assert {Path(file).name for file in made.created} == {".gitignore", "config.toml"}
    ignored = (root / ".gitignore").read_text().splitlines()
    assert {".index/", ".trash/", "sessions/"} <= set(ignored)
    assert settings.load(root) == settings.Settings()


def test_what_is_there_stays(tmp_path: Path) -> None:
    root = tmp_path / ".memories"
    root.mkdir()
    (root / "config.toml").write_text("[search]\nlimit = 3\n")
    (root / "a.md").write_text("x")
    made = init(tmp_path)
    assert [Path(file).name for file in made.created] == [".gitignore"]
    assert (root / "config.toml").read_text() == "[search]\nlimit = 3\n"
    assert init(tmp_path).created == ()


def test_a_users_own_bank_is_in_the_data_folder(private_folders: Path) -> None:
    made = init(user="work")
    assert Path(made.bank) == private_folders / "data/memory-bank/work"
    with open_bank(made.bank, settings={"memory.embedder": "none"}) as bank:
        remember(bank, "text")
    for name in ("../x", ""):
        if name:
            with pytest.raises(BadName):
                init(user=name)


def test_a_place_that_can_not_be_made_is_a_clear_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(StorageFailed):
        init(tmp_path / "file")


def test_git_sees_the_two_files_and_nothing_derived(
    tmp_path: Path, git: Callable[..., str]
) -> None:
    git(tmp_path, "init", "-q")
    made = init(tmp_path)
    with open_bank(made.bank, settings={"memory.embedder": "none"}) as bank:
        remember(bank, "text", name="a")
        remember(bank, "other", name="sessions/b")
        remember(bank, "third", name="gone")
        bank.store.delete("gone.md")
        (tmp_path / ".memories/.mb-left").write_text("half")
    shown = git(tmp_path, "status", "--porcelain", "--untracked-files=all").split()[1::2]
    assert sorted(shown) == [
        ".memories/.gitignore", ".memories/a.md", ".memories/config.toml",
    ]  # fmt: skip


ADOPTED = {
    "docs/adr/0001.md": "# A\n", "docs/adr/more/0002.md": "# B\n", "CLAUDE.md": "x\n",
    "memory-bank/a.md": "x\n", ".serena/memories/b.md": "x\n", "wiki/.obsidian/app.json": "{}",
    "wiki/c.md": "x\n", "adr/empty.txt": "x\n", "AGENTS.md": "ignored\n", ".gitignore": "AGENTS.md\n",
}  # fmt: skip


@pytest.fixture
def adopted(tmp_path: Path, git: Callable[..., str]) -> Path:
    root = tmp_path.resolve() / "shop"
    write_files(root, ADOPTED)
    (root / "GEMINI.md").symlink_to(tmp_path / "elsewhere.md")
    (tmp_path / "elsewhere.md").write_text("x")
    git(tmp_path, "init", "-q", str(root))
    return root


def test_what_a_project_has_is_found_and_included(adopted: Path) -> None:
    made = init(adopted)
    assert {(one.path, one.notes) for one in made.found} == {
        ("wiki", 1), ("CLAUDE.md", 1), ("docs/adr", 2), ("memory-bank", 1), (".serena/memories", 1),
    }  # fmt: skip
    assert made.included == ()
    whole = str(adopted / "docs/adr")
    made = init(adopted, include=["CLAUDE.md", whole, "./memory-bank/"])
    assert made.included == ("CLAUDE.md", "docs/adr", "memory-bank")
    made = init(adopted, include=["wiki", "CLAUDE.md"])
    assert made.included == ("CLAUDE.md", "docs/adr", "memory-bank", "wiki")
    assert [one.path for one in made.found] == [".serena/memories"]
    text = Path(made.bank, "config.toml").read_text()
    assert "# exclude = " in text
    with open_bank(adopted, settings={"memory.embedder": "none"}) as bank:
        assert bank.find("docs/adr/more/0002") == "docs/adr/more/0002.md"


def test_a_vault_at_the_root_covers_the_rest_but_hidden_folders(adopted: Path) -> None:
    (adopted / ".obsidian").mkdir()
    assert "." in {one.path for one in init(adopted).found}
    assert [one.path for one in init(adopted, include=["."]).found] == [".serena/memories"]


@pytest.mark.parametrize(
    "path", ["../x", "/etc", "no", ".memories", ".memories/a", "adr/empty.txt", "a\\b", ""]
)
def test_what_can_not_be_included_is_refused_and_nothing_is_made(adopted: Path, path: str) -> None:
    with pytest.raises(BadInput) as caught:
        init(adopted, include=["CLAUDE.md", path])
    assert caught.value.hint
    assert not (adopted / ".memories").exists()
    with pytest.raises(BadInput):
        init(user="recipes", include=["CLAUDE.md"])


@pytest.mark.parametrize("text", ["[memory\n", "x = 1\n"])
def test_settings_that_can_not_be_changed_stay(adopted: Path, text: str) -> None:
    (adopted / ".memories").mkdir()
    (adopted / ".memories/config.toml").write_text(text)
    with pytest.raises(BadSetting):
        init(adopted, include=["CLAUDE.md"])
    assert (adopted / ".memories/config.toml").read_text() == text


def test_the_bank_of_the_project_is_found_from_inside(
    adopted: Path, git: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert setup.find_enclosing_bank(adopted / "docs") == ""
    init(adopted)
    assert setup.find_enclosing_bank(adopted) == ""
    assert setup.find_enclosing_bank(adopted / "docs/adr") == str(adopted / ".memories")
    git(adopted, "init", "-q", "vendor")
    assert setup.find_enclosing_bank(adopted / "vendor") == ""
    monkeypatch.chdir(adopted / "docs")
    monkeypatch.setenv("MEMORY_BANK_STORAGE_STRATEGY", "user")
    assert setup.find_enclosing_bank() == ""
