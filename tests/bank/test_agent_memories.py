"""What agents' programs remember themselves is found by its user alone, and only where asked for."""

from collections.abc import Callable
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from memory_bank.agents.clients import claude_code, codex
from memory_bank.bank.bank import Bank
from memory_bank.base.errors import BadInput
from memory_bank.frontends.serving.shared_bank import SharedBank
from memory_bank.frontends.web.app import build_application
from memory_bank.frontends.web.site import Site
from memory_bank.memory.confirm import promote
from memory_bank.memory.retrieval.recall import recall
from memory_bank.review.review import review
from memory_bank.shared.export import collect_bank
from tests.frontends.cli.conftest import Run
from tests.frontends.cli.conftest import mb as mb  # noqa: PLC0414  (a fixture)
from tests.frontends.mcp.conftest import Agent
from tests.frontends.mcp.conftest import agent as agent  # noqa: PLC0414
from tests.frontends.mcp.conftest import serving as serving  # noqa: PLC0414
from tests.frontends.mcp.over_http import served

Git = Callable[..., str]
MEMORY = (
    "---\nname: testing\ndescription: Tests run with make zebra\nmetadata:\n  type: feedback\n---\n"
    "Always run the tests with make zebra.\n"
)
SUMMARY = (
    "thread_id: t1\nupdated_at: 2026-11-01T00:00:00Z\ncwd: {}\n\nThe okapi queue was drained.\n"
)


@pytest.fixture
def memories(project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the folder of what Claude Code remembers of the project; Codex remembers, too."""
    claude, others = tmp_path / "claude", tmp_path / "codex"
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(claude))
    monkeypatch.setenv("CODEX_HOME", str(others))
    slug = "".join(char if char.isascii() and char.isalnum() else "-" for char in str(project))
    folder = claude / "projects" / slug / "memory"
    folder.mkdir(parents=True)
    (folder / "testing.md").write_text(MEMORY)
    summaries = others / "memories/rollout_summaries"
    summaries.mkdir(parents=True)
    (summaries / "ours.md").write_text(SUMMARY.format(project / "src"))
    (summaries / "theirs.md").write_text(SUMMARY.format(tmp_path / "other"))
    (others / "memories/MEMORY.md").write_text("All okapis of all projects.\n")
    return folder


def found(mb: Run, *words: str) -> list[tuple[str, str]]:
    # by words alone: vectors find notes near any words
    answer = mb("recall", "--mode", "lexical", "--json", *words)
    return [
        ((one.get("origin") or {}).get("bank", ""), one["path"]) for one in answer.json["notes"]
    ]


def test_copies_are_left_out_and_what_the_program_will_not_read_is_remarked(
    mb: Run, memories: Path
) -> None:
    for copy in ("raw_memories.md", "skills/x.md", "extensions/external_agent_import/x.md"):
        (memories.parents[3] / "codex/memories" / copy).parent.mkdir(parents=True, exist_ok=True)
        (memories.parents[3] / "codex/memories" / copy).write_text("The okapi copy.\n")
    assert set(found(mb, "--include", "global", "okapi copy")) == {
        ("codex", "rollout_summaries/ours.md"), ("codex-global", "MEMORY.md"),
    }  # fmt: skip
    for text, remarked in (("x\n" * 200, False), ("x\n" * 201, True), ("x" * 25_001, True)):
        (memories / "MEMORY.md").write_text(text)
        notices = mb("recall", "--include", "agents", "--json", "zebra").json.get("notices", ())
        said = "claude-code reads the first 200 lines or 25,000 bytes"
        assert any(said in notice for notice in notices) == remarked


def test_they_reach_nothing_that_others_see(
    mb: Run, project: Path, memories: Path, opening: Callable[..., Bank], git: Git, agent: Agent
) -> None:
    assert found(mb, "--include", "agents", "make zebra")
    assert ("claude-code", "testing.md") not in found(mb, "make zebra")
    bank = opening(project)
    bank.catch_up()
    assert not [one for one in recall(bank, "zebra").notes if "zebra" in one.content]
    assert "zebra" not in agent("recall", query="make zebra").text
    assert agent("recall", query="make zebra", include=["agents"]).wrong
    assert "zebra" not in repr(collect_bank(bank, {}))
    git(project, "commit", "-q", "--allow-empty", "-m", "Nothing")
    assert "zebra" not in repr(review(bank, "HEAD~1..HEAD"))
    pages = TestClient(build_application(Site(SharedBank(str(project))), ["testserver"], None))
    for page in ("/", "/search?q=make+zebra", "/notes", "/search?q=x&include=agents"):
        assert "run the tests with make" not in pages.get(page).text
    assert git(project, "status", "--porcelain") == ""


REGISTRY = (
    "# Task Group: The shop\n\nscope: deliveries\napplies_to: cwd={}; reuse_rule=here\n\n"
    "## Reusable knowledge\n\n- The ibex lane is slow. [Task 1]\n"
)


def test_codex_tells_of_each_group_where_it_applies(
    mb: Run, project: Path, memories: Path, tmp_path: Path
) -> None:
    del memories
    file = tmp_path / "codex/memories/MEMORY.md"
    file.write_text(REGISTRY.format(project) + REGISTRY.format(project / "src"))
    assert found(mb, "--include", "agents", "ibex") == [("codex", "MEMORY.md")]
    for other in (
        *(tmp_path / "other", f"{project}-two", f"{project}/../other", "unknown"),
        *(f"{project}/src and {tmp_path}/other", f"{project}/src, ~/other"),
    ):
        file.write_text(REGISTRY.format(project) + REGISTRY.format(other))
        assert found(mb, "--include", "agents", "ibex") == [], other
    file.write_text(REGISTRY.format(project) + "# Task Group: One that does not say where\n")
    assert found(mb, "--include", "agents", "ibex") == []


def test_no_server_over_http_answers_them(mb: Run, project: Path, memories: Path) -> None:
    del memories
    assert found(mb, "--include", "global", "make zebra okapi")
    asked = {"query": "make zebra okapi"}
    with served(project) as server:
        session = server.open()
        for more in ({}, {"include": ["agents"]}, {"include": ["global"]}):
            call = {"name": "recall", "arguments": {**asked, **more}}
            message = {"jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": call}
            answer = server.post(message, session)
            assert answer.status_code == 200
            assert '"id":3' in answer.text.replace(" ", "")
            assert ('isError":true' in answer.text.replace(" ", "")) == ("include" in more)
            for secret in ("run the tests with make", "okapi queue", "okapis of all"):
                assert secret not in answer.text


def test_a_page_can_promote_none(
    project: Path, memories: Path, opening: Callable[..., Bank]
) -> None:
    del memories
    with pytest.raises(BadInput):
        promote(opening(project), "claude-code:testing.md")


def test_the_folders_are_those_of_the_programs(tmp_path: Path) -> None:
    home = {"HOME": str(tmp_path)}
    place = claude_code.memories(Path("/srv/My_app.v2"), home)
    assert place == (tmp_path / ".claude/projects/-srv-My-app-v2/memory", None)
    moved = claude_code.memories(Path("/a"), {"CLAUDE_CONFIG_DIR": "/c", **home})
    assert moved == (Path("/c/projects/-a/memory"), None)
    long = Path("/" + "a" * 300)
    assert claude_code.memories(long, home) is None
    cut = tmp_path / ".claude/projects" / ("-" + "a" * 199 + "-1x2y3z") / "memory"
    cut.mkdir(parents=True)
    assert claude_code.memories(long, home) == (cut, None)
    assert codex.memories(Path("/a"), home) is None
