import asyncio
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from memory_bank.base.errors import BadInput
from memory_bank.frontends.serving.serving_background import Background
from memory_bank.frontends.serving.shared_bank import SharedBank
from memory_bank.frontends.web.pages.review import Range, Reviews
from memory_bank.memory import maintenance
from memory_bank.review import review
from memory_bank.review.records import Review
from tests.git.history_builder import commit_all

from .conftest import Look, Serve

Git = Callable[..., str]
LONG = "The queue keeps events in a table, with synchronous writes, so that no event is ever lost."


@pytest.fixture
def changed(project: Path, git: Git) -> Path:
    """Change notes and cited code of the project on a branch."""
    notes = project / ".memories"
    (notes / "facts").mkdir(exist_ok=True)
    (notes / "facts/queue.md").write_text(f"# Queue\n\n{LONG}\n")
    (notes / "facts/size.md").write_text(
        "# Size\n\nThe queue is small.\n\n## Old part\n\nGone soon.\n"
    )
    (notes / "facts/moved.md").write_text("# Moved\n\nIt has been here for long, [[facts/size]].\n")
    (notes / "facts/broken.md").write_text("# Broken\n\nSee [[facts/moved]].\n")
    commit_all(project, "Base")
    git(project, "switch", "-qc", "topic")
    (notes / "facts/copy.md").write_text(f"# Copy\n\n{LONG} Truly. [[facts/nowhere]]\n")
    (notes / "facts/size.md").write_text("---\ntags: [queue]\n---\n# Size\n\nThe queue is large.\n")
    (notes / "facts/moved.md").rename(notes / "facts/there.md")
    (project / "src/index.py").write_text("def build_index(notes):\n    return 1\n")
    commit_all(project, "Topic")
    return project


def test_the_report_loads_by_itself(changed: Path, serve: Serve, look: Look) -> None:
    page = look(f"{serve().url}/review")
    page.get_by_role("heading", name="Changed 2 notes").wait_for()
    text = " ".join(page.locator("main").inner_text().split())
    assert "3 notes changed: 1 added, 1 changed, 1 renamed" in text
    size = page.locator("details.change", has_text="Size").first
    assert size.locator("del").first.inner_text() == "small."
    assert size.locator("ins", has_text="large.").count() == 1
    assert "queue" in size.inner_text()
    assert "Old part" in size.inner_text()
    side = page.locator("aside")
    assert "% of the words in common → Queue" in " ".join(side.inner_text().split())
    assert "src/index.py" in side.inner_text()
    frame, report = (page.locator(one).bounding_box() for one in ("main .frame", "#report"))
    assert frame["width"] - report["width"] < 100, "the report has the whole width"
    link = side.get_by_role("link", name="Tantivy over Whoosh").first
    assert link.get_attribute("href") == "/notes/decisions/tantivy"
    assert "facts/moved" in text


def test_without_javascript_a_link_leads_to_the_report(
    changed: Path, serve: Serve, look: Look
) -> None:
    page = look(f"{serve().url}/review?range=main..topic", java_script_enabled=False)
    page.get_by_role("link", name="Show the report").click()
    assert page.get_by_role("heading", name="Changed 2 notes").count() == 1
    page.locator(".standing > summary").click()
    assert page.get_by_label("Compare").input_value() == "main..topic"


def test_two_who_ask_for_the_same_get_one_review(
    changed: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real, going, may_go = review.review, threading.Event(), threading.Event()

    def slow(*words: object, **settings: object) -> Review:
        going.set()
        assert may_go.wait(60)
        return real(*words, **settings)  # type: ignore[arg-type]

    monkeypatch.setattr(review, "review", slow)
    shared = SharedBank(str(changed))
    background = Background(shared)
    reviews = Reviews(shared, background)

    async def work() -> None:
        first, second = (asyncio.ensure_future(reviews.of(Range("main..topic"))) for _ in "ab")
        await asyncio.to_thread(going.wait, 60)
        second.cancel()
        third = asyncio.ensure_future(reviews.of(Range("main..topic")))
        await asyncio.sleep(0.2)
        may_go.set()
        assert await first is await third
        assert await reviews.of(Range("main..topic")) is await first
        assert reviews.begun == 1
        background.tell(maintenance.ChangedPaths(changed=("facts/size.md",)))
        await reviews.of(Range("main..topic"))
        assert reviews.begun == 2
        await reviews.of(Range(worktree=True))
        await reviews.of(Range(worktree=True))
        assert reviews.begun == 4
        with pytest.raises(BadInput):
            await reviews.of(Range("-x"))

    asyncio.run(work())
    shared.close()
