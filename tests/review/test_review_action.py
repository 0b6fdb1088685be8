"""The steps of the review Action, run as GitHub's runner runs them."""

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from memory_bank.review.review_markdown import MARKER
from tests.conftest import run_git
from tests.git.history_builder import commit_all
from tests.review import issue_comments
from tests.review.action_runner import Runner
from tests.review.issue_comments import Comments

ROOT = Path(__file__).parents[2]
ACTION = ROOT / ".github/actions/review"
EVENT = Path(__file__).parent / "pull_request_event.json"
WORKFLOWS = sorted((ROOT / ".github/workflows").glob("*.yml"))
STEPS = yaml.safe_load((ACTION / "action.yml").read_text())["runs"]["steps"]

bash = pytest.mark.skipif(not shutil.which("bash") or os.name == "nt", reason="steps run in bash")
Make = Callable[..., Runner]


@pytest.fixture(scope="module")
def origin(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make a repository with a pull request that breaks a link, and a base that went on since."""
    work = tmp_path_factory.mktemp("origin") / "project"
    notes = work / ".memories/facts"
    notes.mkdir(parents=True)
    run_git(work, "init", "-q", "-b", "main")
    (notes / "bm25.md").write_text("# BM25\n\nRanks by words. See [[facts/okapi#Constants]].\n")
    (notes / "okapi.md").write_text("# Okapi\n\nFirst used it.\n\n## Constants\n\nk1 is 1.2.\n")
    commit_all(work, "base")
    run_git(work, "switch", "-q", "-c", "topic")
    (notes / "okapi.md").write_text(
        "# Okapi\n\nFirst used it; @octocat fixes #1.\n\n## Numbers\n\nk1 is 1.5.\n"
    )
    commit_all(work, "topic")
    run_git(work, "switch", "-q", "main")
    (notes / "later.md").write_text("# Later\n\nThe base went on.\n")
    commit_all(work, "later")
    return work


@pytest.fixture
def comments() -> Iterator[Comments]:
    with issue_comments.served() as found:
        yield found


@pytest.fixture
def runner(origin: Path, tmp_path: Path, comments: Comments) -> Make:
    """Make a runner with a shallow clone of the pull request's head."""

    def make(**inputs: str) -> Runner:
        workspace = tmp_path / "workspace"
        run_git(
            tmp_path, "clone", "-q", "--depth", "1", "-b", "topic", origin.as_uri(), str(workspace)
        )
        text = EVENT.read_text()
        for name, branch in (("BASE_SHA", "main"), ("HEAD_SHA", "topic")):
            text = text.replace(name, run_git(origin, "rev-parse", branch).strip())
        temporary = tmp_path / "temporary"
        temporary.mkdir()
        return Runner(
            ACTION, workspace, temporary, json.loads(text), inputs=inputs,
            environment={
                "GITHUB_API_URL": comments.url, "GITHUB_REPOSITORY": "shop/project",
                "GITHUB_SERVER_URL": "https://github.example", "MEMORY_BANK_EMBEDDER": "none",
            },
            outputs={"install": {"programs": str(Path(sys.executable).parent)}},
        )  # fmt: skip

    return make


@bash
def test_the_range_starts_where_the_pull_request_left_its_base(runner: Make, origin: Path) -> None:
    run = runner(comment="false")
    assert run.run("install", "review") == 2, "without a review there is no exit code to return"
    start = run_git(origin, "merge-base", "main", "topic").strip()
    head = run_git(origin, "rev-parse", "topic").strip()
    assert run.outputs["history"] == {"range": f"{start}..{head}"}


@bash
def test_an_event_that_is_no_pull_request_is_refused(runner: Make) -> None:
    run = runner()
    run.event["pull_request"]["base"]["sha"] = "--upload-pack=touch hacked"
    assert run.run("install") == 2
    assert "reviews pull requests only" in run.output
    assert not list(run.workspace.glob("*hacked*"))


@bash
@pytest.mark.slow
def test_a_pull_request_is_annotated_and_commented_on_once(
    runner: Make, comments: Comments
) -> None:
    comments.add(f"{MARKER}\n\nof somebody else", login="octocat")
    for _ in range(100):
        comments.add("a comment")
    run = runner(**{"fail-on": "warning"})
    assert run.run("install") == 1, run.output
    assert "::warning file=.memories/facts/bm25.md,line=3," in run.output
    first = comments.found[-1]
    assert first["user"]["login"] == issue_comments.BOT
    assert first["body"].startswith(f"{MARKER}\n")
    assert first["body"] == run.summary
    assert comments.tokens == {"Bearer token-of-the-job"}
    sarif = json.loads(Path(run.outputs["review"]["sarif"]).read_text())
    assert sarif["version"] == "2.1.0"
    shutil.rmtree(run.temporary)
    shutil.rmtree(run.workspace)
    again = runner()
    again.run("install")
    assert comments.asked[-1].startswith("PATCH")
    assert len(comments.found) == 102
    assert comments.found[0]["body"].endswith("of somebody else")


@bash
def test_a_pull_request_from_a_fork_gets_no_comment(runner: Make, comments: Comments) -> None:
    run = runner(**{"fail-on": "warning"})
    run.event["pull_request"]["head"]["repo"]["full_name"] = "stranger/project"
    assert run.run("install") == 1
    assert comments.asked == []
    assert "::warning" in run.output
    assert run.summary.startswith(MARKER)


@bash
def test_nothing_of_the_event_reaches_a_shell(runner: Make, tmp_path: Path) -> None:
    run = runner(**{"fail-on": "never"})
    assert run.run("install") == 0, run.output
    assert not list(tmp_path.rglob("hacked*"))
    assert "set-output" not in run.output


@bash
def test_a_failure_prints_no_command_of_the_repository(runner: Make) -> None:
    run = runner(bank="a\n::set-output name=a::b")
    assert run.run("install") in {2, 3}
    stopped = re.search(
        r"^::stop-commands::([0-9a-f]{32})\n.*^::\1::$", run.output, re.DOTALL | re.MULTILINE
    )
    assert stopped, run.output


def comment(comments: Comments, tmp_path: Path, text: str) -> subprocess.CompletedProcess[str]:
    file = tmp_path / "review.md"
    file.write_text(text, encoding="utf-8")
    given = {
        "COMMENT": str(file), "NUMBER": "7", "AUTHOR": issue_comments.BOT, "TOKEN": "secret-token",
        "GITHUB_API_URL": comments.url, "GITHUB_REPOSITORY": "shop/project",
    }  # fmt: skip
    return subprocess.run(
        [sys.executable, "-I", str(ACTION / "comment.py")],
        env={**os.environ, **given}, capture_output=True, encoding="utf-8", check=False,
    )  # fmt: skip


def test_the_comment_is_created_then_updated(comments: Comments, tmp_path: Path) -> None:
    assert comment(comments, tmp_path, f"{MARKER}\none ζ").stdout == "The comment was created.\n"
    assert comment(comments, tmp_path, f"{MARKER}\ntwo").stdout == "The comment was updated.\n"
    assert [one["body"] for one in comments.found] == [f"{MARKER}\ntwo"]


def test_an_old_comment_is_deleted_where_nothing_is_to_be_said(
    comments: Comments, tmp_path: Path
) -> None:
    assert comment(comments, tmp_path, f"{MARKER}\n").stdout == "The comment was not needed.\n"
    comments.add("of somebody else", login="octocat")
    comment(comments, tmp_path, f"{MARKER}\none")
    assert comment(comments, tmp_path, f"{MARKER}\n").stdout == "The comment was deleted.\n"
    assert [one["body"] for one in comments.found] == ["of somebody else"]


def test_comments_of_others_are_left_alone(comments: Comments, tmp_path: Path) -> None:
    comments.add(f"{MARKER}\nof somebody else", login="octocat")
    comments.add(f"quoted: {MARKER}")
    comment(comments, tmp_path, f"{MARKER}\nours")
    assert [one["body"] for one in comments.found][2:] == [f"{MARKER}\nours"]


def test_a_comment_behind_many_is_found(comments: Comments, tmp_path: Path) -> None:
    for _ in range(230):
        comments.add("a comment")
    comments.add(f"{MARKER}\r\nours")
    comment(comments, tmp_path, f"{MARKER}\nnew")
    assert comments.asked[-1] == "PATCH /repos/shop/project/issues/comments/231"


@pytest.mark.parametrize(("status", "code"), [(403, 0), (500, 1), (302, 1)])
def test_a_refused_comment_says_why(
    comments: Comments, tmp_path: Path, status: int, code: int
) -> None:
    comments.refused = status
    done = comment(comments, tmp_path, f"{MARKER}\none")
    assert done.returncode == code
    assert f"HTTP {status}" in done.stdout
    assert "secret-token" not in done.stdout + done.stderr


def test_a_connection_that_ends_early_says_why(comments: Comments, tmp_path: Path) -> None:
    comments.drops = True
    done = comment(comments, tmp_path, f"{MARKER}\none")
    assert (done.returncode, done.stderr) == (1, "")
    assert done.stdout.endswith("the comment was not written: RemoteDisconnected\n")


def scripts() -> list[tuple[str, str]]:
    found = [("action", step["run"]) for step in STEPS if "run" in step]
    for file in WORKFLOWS:
        for job in yaml.safe_load(file.read_text())["jobs"].values():
            found += [(file.stem, step["run"]) for step in job["steps"] if "run" in step]
    return found


@pytest.mark.parametrize(("place", "script"), scripts())
def test_no_script_has_an_expression_in_it(place: str, script: str) -> None:
    assert "${{" not in script


@bash
@pytest.mark.parametrize(("place", "script"), scripts())
def test_each_script_is_valid(place: str, script: str) -> None:
    done = subprocess.run(["bash", "-n", "-c", script], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("file", [ACTION / "action.yml", *WORKFLOWS], ids=lambda file: file.stem)
def test_other_actions_are_pinned_by_commit(file: Path) -> None:
    used = re.findall(r"uses: (\S+)(.*)", file.read_text())
    for name, remark in used:
        if not name.startswith("./"):
            assert re.fullmatch(r"[\w-]+/[\w/-]+@[0-9a-f]{40}", name), name
            assert re.fullmatch(r" # v\d+\.\d+\.\d+", remark), name


def test_the_action_uses_no_action_of_others() -> None:
    used = {step["uses"].partition("@")[0] for step in STEPS if "uses" in step}
    cache = {"actions/cache/restore", "actions/cache/save"}
    assert used <= cache | {"actions/checkout", "actions/setup-python"}


def test_what_is_installed_is_kept_before_findings_may_end_the_job() -> None:
    uses = [one.get("uses", one.get("id", "")).partition("@")[0] for one in STEPS]
    restored, saved = (STEPS[uses.index(f"actions/cache/{name}")] for name in ("restore", "save"))
    assert uses.index("install") + 1 == uses.index("actions/cache/save")
    assert restored["with"]["path"] == saved["with"]["path"]
    assert saved["with"]["key"] == "${{ steps.cache.outputs.cache-primary-key }}"
    assert saved["if"] == "steps.cache.outputs.cache-hit != 'true'"


@pytest.mark.parametrize("file", WORKFLOWS, ids=lambda file: file.stem)
def test_no_workflow_runs_a_strangers_code_with_rights(file: Path) -> None:
    workflow: dict[Any, Any] = yaml.safe_load(file.read_text())
    on = workflow[True]  # YAML 1.1 reads `on` so
    assert "pull_request_target" not in on
    assert "workflow_run" not in on
    assert workflow["permissions"].pop("contents") == "read"
    writes = {"pull-requests": "write"} if file.stem == "memory-review" else {}
    assert workflow["permissions"] == writes


def test_the_project_is_tested_on_every_system_and_python() -> None:
    matrix = yaml.safe_load((ROOT / ".github/workflows/ci.yml").read_text())["jobs"]["test"][
        "strategy"
    ]["matrix"]
    assert matrix["os"] == ["ubuntu-latest", "macos-latest", "windows-latest"]
    assert matrix["python"] == ["3.11", "3.12", "3.13", "3.14"]
