from pathlib import Path

import pytest

from memory_bank.frontends.serving.path_redaction import PathRedaction
from memory_bank.frontends.serving.shared_bank import SharedBank


@pytest.fixture
def hiding(project: Path) -> PathRedaction:
    return PathRedaction(SharedBank(str(project)))


def test_what_is_in_the_bank_is_named_from_there(hiding: PathRedaction, project: Path) -> None:
    root = project.resolve() / ".memories"
    assert hiding(f"can't read {root}/facts/bm25.md: denied") == (
        "can't read facts/bm25.md: denied"
    )
    assert hiding(f"the folder {root} is gone") == "the folder the bank is gone"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("/etc/passwd: denied", "…/passwd: denied"),
        ('{"message": "/srv/a b/c is gone"}', '{"message": "…/a b/c is gone"}'),
        ("see '/usr/lib/x.so', then (/opt/y)", "see '…/x.so', then (…/y)"),
        (r"C:\Users\ann\notes is gone", "…/notes is gone"),
        ("src/api.py and and/or stay", "src/api.py and and/or stay"),
        ("http://localhost:11434/api/embed stays", "http://localhost:11434/api/embed stays"),
        ("memory://note/facts/a stays", "memory://note/facts/a stays"),
        ("a / b, /", "a / b, /"),
    ],
)
def test_what_is_elsewhere_has_only_its_name(hiding: PathRedaction, text: str, shown: str) -> None:
    assert hiding(text) == shown


def test_the_home_folder_may_have_a_space_in_it(
    hiding: PathRedaction, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Path, "home", lambda: tmp_path / "Ann Lee")
    shown = hiding(f"{tmp_path / 'Ann Lee' / '.config' / 'config.toml'}: bad")
    assert shown == "…/config.toml: bad"
