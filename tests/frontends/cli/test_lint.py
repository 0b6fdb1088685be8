"""`lint`: findings, exit codes and fixes."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.frontends.cli.conftest import Run


@pytest.fixture
def notes(project: Path) -> Path:
    return project / ".memories"


def test_a_clean_bank_has_exit_code_0(mb: Run) -> None:
    answer = mb("lint")
    assert (answer.code, answer.out) == (0, "no findings\n")
    assert mb("lint", "--json").json == {
        "findings": [],
        "counts": {"error": 0, "warning": 0, "info": 0},
    }


@pytest.mark.parametrize(
    ("fail_on", "warned", "wrong"),
    [("error", 0, 1), ("warning", 1, 1), ("info", 1, 1), ("never", 0, 0)],
)
def test_the_exit_code_is_that_of_the_severity(
    mb: Run, notes: Path, fail_on: str, warned: int, wrong: int
) -> None:
    (notes / "a.md").write_text("a\u200bb\n")
    assert mb("lint", "--no-index", "--fail-on", fail_on).code == warned
    (notes / "a.md").write_text("a\u202eb\n")
    assert mb("lint", "--no-index", "--fail-on", fail_on).code == wrong


@pytest.mark.parametrize(
    "words", [("--rule", "nope"), ("--fail-on", "worst"), ("nowhere.md",), ("--fxi",)]
)
def test_wrong_use_has_exit_code_2(mb: Run, words: tuple[str, ...]) -> None:
    assert mb("lint", *words).code == 2


def test_named_files_have_their_own_findings_only(mb: Run, notes: Path, project: Path) -> None:
    (notes / "a.md").write_text("a\u202eb [[facts/bm25#Nowhere]]\n")
    (notes / "b.md").write_text("a\u202eb\n")
    (project / "readme.md").write_text("a\u200bb\n")
    found = mb("lint", ".memories/a.md", "readme.md", "--json").json["findings"]
    assert [(one["rule"], one["path"]) for one in found] == [
        ("bidi-control", "a.md"),
        ("broken-link", "a.md"),
        ("invisible-character", "readme.md"),
    ]
    found = mb("lint", "--no-index", ".memories/a.md", "--json").json["findings"]
    assert [one["rule"] for one in found] == ["bidi-control"]


def test_no_index_is_made_where_none_is_wanted(mb: Run, notes: Path) -> None:
    (notes / "a.md").write_text("a\u202eb\n")
    shutil.rmtree(notes / ".index", ignore_errors=True)
    assert mb("lint", "--no-index").code == 1
    assert not (notes / ".index/manifest.db").exists()


def test_fixes_change_only_what_they_mean_to(
    mb: Run, notes: Path, project: Path, git: Callable[..., str]
) -> None:
    odd = "\ufeff---\r\ntags: [ a,b ]  # mine\r\n---\r\na\u200bb \u202ec  \r\n"
    (notes / "odd.md").write_bytes(odd.encode())
    (notes / "one.md").write_text("---\nid: oldest\ncreated_at: 2026-01-01\n---\nThe same.\n")
    (notes / "two.md").write_text("---\nid: newest\ncreated_at: 2026-02-01\n---\nThe same.\n")
    (notes / "from.md").write_text("[[two]] and [[facts/bm25|it]]\n")
    git(project, "add", "-A")
    git(project, "commit", "-qm", "Notes")
    git(project, "mv", ".memories/facts/bm25.md", ".memories/facts/ranking.md")
    git(project, "mv", "src/index.py", "src/main.py")
    git(project, "commit", "-qm", "Move")
    answer = mb("lint", "--fix")
    assert answer.code == 0
    assert answer.out.endswith("no findings\n")
    fixed = odd.replace("\u200b", "").replace("\u202e", "")
    assert (notes / "odd.md").read_bytes() == fixed.encode()
    assert not (notes / "two.md").exists()
    assert "id: oldest" in (notes / "one.md").read_text()
    assert (notes / "from.md").read_text() == "[[one]] and [[facts/ranking|it]]\n"
    assert "src/main.py" in (notes / "decisions/tantivy.md").read_text()


def test_settings_and_notes_turn_rules_off(mb: Run, notes: Path) -> None:
    (notes / "a.md").write_text(
        "---\nlint_allow: [html-comment, secret]\n---\n<!-- x --> a\u200bb\n"
    )
    (notes / "config.toml").write_text(
        '[lint]\ndisable = ["invisible-character"]\n[lint.severity]\nhtml-comment = "error"\n'
    )
    assert mb("lint").code == 0
    (notes / "b.md").write_text("<!-- x -->y\n")
    assert mb("lint").code == 1
    assert mb("lint", "--rule", "invisible-character", "--json").json["counts"]["warning"] == 1


def test_a_schema_names_key_and_line(mb: Run, notes: Path) -> None:
    (notes / "config.toml").write_text(
        '[schema]\nstrict = true\n[schema.plan]\nrequired = ["status", "due"]\noptional = ["who"]\n'
    )
    (notes / "p.md").write_text("---\nwho: me\ntype: plan\ndue:\nstatsu: x\n---\nText.\n")
    found = mb("lint", "--json", ".memories/p.md").json["findings"]
    assert [(one["rule"], one["line"], one.get("fix")) for one in found] == [
        ("schema", 3, "add status: …"),
        ("schema", 4, "add due: …"),
        ("unknown-key", 5, "write status, if that is meant"),
    ]
    (notes / "config.toml").write_text('[schema.plan]\nrequired = "status"\n')
    answer = mb("lint")
    assert answer.code == 2
    assert "config.toml:2: schema.plan.required: 'status' is not a list of texts" in answer.err


def test_rules_are_listed(mb: Run) -> None:
    assert re.search(r"^invisible-character +warning +yes ", mb("lint", "--list").out, re.MULTILINE)
    assert {"rule", "severity", "summary"} < set(mb("lint", "--list", "--json").json["rules"][0])


@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="the system has no endless device")
def test_a_link_to_an_endless_device_is_a_finding(mb: Run, project: Path) -> None:
    (project / "docs").mkdir(exist_ok=True)
    (project / "docs/endless.md").symlink_to("/dev/zero")
    answer = mb("lint", "--no-index", "docs")
    assert answer.code == 1
    assert "no plain file" in answer.out
