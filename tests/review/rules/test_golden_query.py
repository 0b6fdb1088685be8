from pathlib import Path

import pytest

from tests.review.rules.conftest import Lint

RULE = "golden-query"
GOOD = '[[queries]]\ntext = "cats?"\nfind = ["cats", "facts/cats.md#Cats", "cats:1"]\n'


@pytest.fixture
def cats(folder: Path) -> Path:
    (folder / "facts").mkdir()
    (folder / "facts/cats.md").write_text("# Cats\n\nThey sleep.\n")
    return folder


def test_queries_that_name_notes_are_in_order(cats: Path, lint: Lint) -> None:
    assert lint(cats, RULE) == []
    (cats / "queries.toml").write_text(GOOD)
    assert lint(cats, RULE) == []


def test_a_query_for_a_missing_note_is_reported_with_its_line(cats: Path, lint: Lint) -> None:
    (cats / "queries.toml").write_text(f'{GOOD}\n[[queries]]\ntext = "dogs?"\nfind = ["dogs"]\n')
    (one,) = lint(cats, RULE)
    assert (one.path, one.line, one.severity) == ("queries.toml", 7, "error")
    assert one.message == "'dogs?' must find it, but there is no note 'dogs'"


@pytest.mark.parametrize(
    ("text", "line", "said"),
    [
        ("[[queries]]\ntext = \n", 2, "Invalid value"),
        ("[[queries]]\ntext = 'a'\n", 1, "names no relevant note"),
        (f"{GOOD}[[queries]]\nfind = ['cats']\n", 4, "has no text"),
        ("other = 1\n", 1, "unknown key"),
        ("", 1, "no query"),
    ],
)
def test_a_broken_file_is_reported(cats: Path, lint: Lint, text: str, line: int, said: str) -> None:
    (cats / "queries.toml").write_text(text)
    (one,) = lint(cats, RULE)
    assert (one.path, one.line) == ("queries.toml", line)
    assert said in one.message
    assert one.fix


def test_a_link_is_not_followed(cats: Path, lint: Lint) -> None:
    (cats / "queries.toml").symlink_to("/etc/passwd")
    (one,) = lint(cats, RULE)
    assert "symbolic link" in one.message
