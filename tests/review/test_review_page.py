"""What docs/review.md shows is what the example's pull request gives.

After a change that is meant, write it anew with UPDATE_TRANSCRIPTS=1 and read the difference.
"""

import os
from pathlib import Path

import pytest

from tests.support.command_lines import typed
from tests.support.review_example import Example, build

PAGE = Path(__file__).parents[2] / "docs" / "review.md"


@pytest.fixture
def example(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Example:
    found = build(tmp_path / "shop")
    monkeypatch.chdir(found.folder)
    monkeypatch.setenv("MEMORY_BANK_EMBEDDER", "none")
    return found


def test_the_commits_of_the_example_are_the_same_each_time(
    example: Example, tmp_path: Path
) -> None:
    again = build(tmp_path / "again")
    assert (again.base, again.head) == (example.base, example.head)


def test_the_page_shows_what_the_command_prints(example: Example) -> None:
    found, code = typed(f"memory-bank review {example.base}..{example.head} --format markdown")
    assert code in {0, 1}, found
    page = PAGE.read_text(encoding="utf-8")
    start = "<!-- example markdown -->\n"
    before, _, rest = page.partition(start)
    told, end, after = rest.partition("<!-- /example -->\n")
    if os.environ.get("UPDATE_TRANSCRIPTS"):
        PAGE.write_text(f"{before}{start}{found}{end}{after}", encoding="utf-8")
    assert found == told
