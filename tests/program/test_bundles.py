"""A folder of the Open Knowledge Format that is included, or is the bank: its notes work as ours."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from memory_bank.bank.bank import Bank, open_bank
from memory_bank.base.text import Quotes
from memory_bank.base.view import write_agent
from memory_bank.frontends.cli.main import run as run_cli
from memory_bank.memory.links import links_of
from memory_bank.memory.retrieval.recall import recall
from memory_bank.memory.retrieval.views import view_recall
from memory_bank.memory.show import list_notes, show
from memory_bank.memory.views import view_listing
from memory_bank.review.lint import lint
from memory_bank.trust.stale import stale
from tests.git.history_builder import commit_all, run
from tests.support.files import write_files

LISTED = (
    "# Metrics\n\n* [Margin](metrics/margin.md) - How margin is computed.\n* [Tables](tables/)\n"
)
DECLARED = f'---\nokf_version: "0.2"\n---\n{LISTED}'
OLD = """---
type: Metric
title: Margin (legacy)
description: Retired margin definition.
status: deprecated
generated: { by: human:ada, at: 2024-01-15T10:00:00Z }
verified: { by: human:bob, at: 2023-01-15T10:00:00Z }
---
# Deprecated

Which margin definition is current? This margin definition is not. The current margin definition is
[margin](./margin.md).
"""
NEW = """---
type: Metric
title: Margin
description: Net amount less the cost of goods.
status: stable
stale_after: 2025-12-31T00:00:00Z
generated: { by: agent/1, at: 2026-01-15T10:00:00Z }
resource: /src/margin.py
sources:
  - id: standard
    resource: policies/standard.md
  - resource: all queries in project X
  - resource: https://example.org/a.md
---
# Definition

The margin definition of a period: revenue less `cost`. See [orders](/tables/orders.md) and [all](/tables/).
"""
FILES = {
    "metrics/margin-legacy.md": OLD,
    "metrics/margin.md": NEW,
    "metrics/index.md": "# Metric\n\n* [Margin](margin.md) - The margin definition that is current.\n",
    "policies/standard.md": "---\ntype: Policy\nresource: https://example.org\nstale_after: soon\n---\nCosts.\n",
    "tables/orders.md": "---\ntype: BigQuery Table\ngenerated: {by: agent/1}\nstatus: draft\n---\nOrders.\n",
    "tables/index.md": "# Tables\n\n* [Orders](orders.md)\n",
    "log.md": "# Log\n\n## 2026-01-01\n* **Update**: the current margin definition.\n",
}


def write(folder: Path, index: str, **more: str) -> None:
    write_files(folder, {**FILES, "index.md": index, **more})


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make a project with a bundle that is included, and code that it cites."""
    root = tmp_path / "shop"
    write(root / "docs/okf", DECLARED)
    (root / "src").mkdir()
    (root / "src/margin.py").write_text("cost = 1\n")
    monkeypatch.chdir(root)
    monkeypatch.setenv("MEMORY_BANK_EMBEDDER", "none")
    run(Path.cwd(), "init", "-q")
    assert run_cli(["init", "--no-agents", "--include", "docs/okf"]) == 0
    commit_all(Path.cwd(), "Start")
    return root


@pytest.fixture
def bank(project: Path) -> Iterator[Bank]:
    with open_bank(project / ".memories") as opened:
        yield opened


def paths(bank: Bank) -> set[str]:
    return {note.path for note in list_notes(bank, limit=100).notes}


def test_lists_and_logs_are_no_notes(bank: Bank) -> None:
    concepts = {f"docs/okf/{name}" for name in FILES if "index" not in name and "log" not in name}
    assert paths(bank) == concepts


@pytest.mark.parametrize(("index", "notes"), [(DECLARED, 4), (LISTED, 4), ("# Us\n\nWords.\n", 8)])
def test_a_folder_is_a_bundle_if_its_list_says_so_or_is_one(
    tmp_path: Path, index: str, notes: int
) -> None:
    root = tmp_path / "bank"
    write(root, index)
    with open_bank(root, settings={"memory.embedder": "none"}) as bank:
        assert len(paths(bank)) == notes
        (root / "index.md").write_text(DECLARED, encoding="utf-8")
        assert len(paths(bank)) == 4


def test_a_list_of_links_among_ordinary_notes_is_a_note(tmp_path: Path) -> None:
    write(tmp_path / "bank", LISTED, **{"metrics/plain.md": "---\ntype: fact\n---\nWords.\n"})
    for name in FILES:
        (tmp_path / "bank" / name).write_text("# A\n\nWords.\n", encoding="utf-8")
    with open_bank(tmp_path / "bank", settings={"memory.embedder": "none"}) as bank:
        assert {"index.md", "log.md"} <= paths(bank)


def test_the_current_definition_answers(bank: Bank) -> None:
    hits = recall(bank, "which definition of margin is current").notes
    assert [hit.path for hit in hits][:2] == [
        "docs/okf/metrics/margin.md", "docs/okf/metrics/margin-legacy.md",
    ]  # fmt: skip
    assert hits[1].superseded_by == "docs/okf/metrics/margin.md"
    assert hits[1].meta.status == "deprecated"
    assert hits[0].stale == "past its review date: 2025-12-31"
    assert [hit.path for hit in recall(bank, "net amount less goods").notes][:1] == [hits[0].path]


def test_a_description_stands_below_the_title(
    bank: Bank, capsys: pytest.CaptureFixture[str]
) -> None:
    (hit,) = [hit for hit in recall(bank, "orders cost").notes if hit.title == "Margin"]
    (row,) = [row for row in list_notes(bank).notes if row.title == "Margin"]
    assert hit.description == row.description == "Net amount less the cost of goods."
    quotes = Quotes()
    for view in (view_recall(recall(bank, "margin")), view_listing(list_notes(bank))):
        assert "Net amount less the cost of goods." in write_agent(view, quotes)
    for command in ("recall margin", "notes", "ask margin"):
        capsys.readouterr()
        run_cli(command.split())
        assert re.search(r"\n {3,4}Net amount less the cost of goods\.\n", capsys.readouterr().out)


def test_sources_are_shown_with_what_is_known_of_them(project: Path, bank: Bank) -> None:
    assert [source.resource for source in show(bank, "docs/okf/metrics/margin.md").sources or ()] == [
        "/src/margin.py", "policies/standard.md", "all queries in project X",
        "https://example.org/a.md",
    ]  # fmt: skip
    (project / "docs/okf/tables/refunds.md").write_text(
        "---\ntype: Table\nsources:\n- {resource: a.sql, title: A, author: human:ada, usage_count:"
        " 1200}\nusage_window: {from: 2026-01-01, to: 2026-02-01}\n---\nRefunds.\n"
    )
    (source,) = show(bank, "docs/okf/tables/refunds.md").sources or ()
    assert source.about == "by ada, used 1,200 times from 2026-01-01 to 2026-02-01"


@pytest.mark.parametrize(
    "key", ["timestamp: '2024-05-01'", "generated: {at: 2024-05-01T00:00:00Z}"]
)
def test_a_note_is_as_old_as_it_says(project: Path, bank: Bank, key: str) -> None:
    (project / "docs/okf/tables/old.md").write_text(f"---\ntype: Table\n{key}\n---\nOld.\n")
    commit_all(Path.cwd(), "Add a table")
    assert show(bank, "docs/okf/tables/old.md").created_at == "2024-05-01T00:00:00Z"


def test_the_setting_declares_a_bundle(tmp_path: Path) -> None:
    write(tmp_path, "# Ours\n\nWords.\n")
    (tmp_path / "README.md").write_text("# Words\n")
    settings = {"memory.embedder": "none", "memory.format": "okf"}
    with open_bank(tmp_path, settings=settings) as bank:
        assert len(paths(bank)) == 4


def test_links_and_paths_are_resolved_from_the_bundle_then_from_the_project(bank: Bank) -> None:
    found = links_of(bank, "docs/okf/metrics/margin.md").outgoing
    goals = {(one.target, one.row.type) for one in found}
    assert goals == {
        ("docs/okf/tables/orders.md", "mentions"),
        ("ghost:docs/okf/tables/index.md", "mentions"),
        ("docs/okf/policies/standard.md", "mentions"),
        ("ghost:src/margin.py", "mentions"),
    }


@pytest.mark.parametrize("key", ["superseded_by: /metrics/margin.md", "superseded_by: ./margin.md"])
def test_a_path_in_superseded_by_is_the_successor(project: Path, bank: Bank, key: str) -> None:
    old = project / "docs/okf/metrics/older.md"
    old.write_text(f"---\ntype: Metric\n{key}\n---\nThe margin definition of margin, margin.\n")
    hits = recall(bank, "margin definition").notes
    (found,) = [hit for hit in hits if hit.path.endswith("older.md")]
    assert found.superseded_by == "docs/okf/metrics/margin.md"


def test_what_a_note_says_of_itself_is_a_claim(bank: Bank) -> None:
    note = show(bank, "docs/okf/metrics/margin-legacy.md")
    assert note.claims == (
        "says it was written by ada on 2024-01-15",
        "says it was reviewed by bob on 2023-01-15, before its last change",
    )
    assert show(bank, "docs/okf/tables/orders.md").meta.status == "draft"


def test_cited_code_that_changed_and_passed_dates_are_stale(
    project: Path, bank: Bank, capsys: pytest.CaptureFixture[str]
) -> None:
    report = stale(bank)
    assert [(note.path.rpartition("/")[2], note.reason) for note in report.overdue] == [
        ("margin.md", "past its review date: 2025-12-31"),
        ("standard.md", "past its review date: 'soon' is no date"),
    ]
    assert report.stale == ()
    (project / "src/margin.py").write_text("cost = 2\n")
    run(Path.cwd(), "commit", "-qam", "Raise costs")
    (citation,) = stale(bank).stale
    assert (citation.path, citation.names) == ("docs/okf/metrics/margin.md", ("cost",))
    capsys.readouterr()
    assert run_cli(["stale", "--fail-on", "warning"]) == 1
    assert "past the review date: 2" in capsys.readouterr().out


CONCEPT = "---\ntype: Metric\ntitle: A\ndescription: B.\n---\nText.\n"


def with_key(line: str) -> str:
    return CONCEPT.replace("description", f"{line}\ndescription")


COMPUTED = with_key(
    "runtime: sql\nparameters: [{name: n, type: date}]\nexecutor: {resource: run.md}"
).replace("Metric", "Attested Computation")


@pytest.mark.parametrize(
    ("path", "text", "severity"),
    [
        ("a.md", CONCEPT, ""),
        ("a.md", "Text.\n", "error"),
        ("a.md", CONCEPT.replace("type: Metric\n", ""), "error"),
        ("a.md", CONCEPT.replace("Metric", "''"), "error"),
        ("a.md", CONCEPT.replace("Metric", "[a]"), "error"),
        ("a.md", "---\ntype: [\n---\nText.\n", "error"),
        ("tables/index.md", "---\ntype: x\n---\n* [A](a.md)\n", "error"),
        ("log.md", "# Log\n\n## Yesterday\n* A\n", "error"),
        ("log.md", "---\ntype: x\n---\n## 2026-01-01\n", "info"),
        ("log.md", "# Log\n\n## 2026-01-01\n* A\n", ""),
        ("log.md", "# Log\n\n## 2026-13-45\n* A\n", "error"),
        ("log.md", "# Log\n\n## 2026-01-01\n* A\n\n## 2026-01-02\n* B\n", "error"),
        ("log.md", "# Log\n\n## 2026-01-02: two\n* A\n\n## 2026-01-01\n* B\n", ""),
        ("a.md", "---\n- a\n---\nText.\n", "error"),
        ("a.md", CONCEPT.replace("title: A", "title: [A]"), "info"),
        ("a.md", with_key("tags: a, b"), "info"),
        ("a.md", with_key("timestamp: 2026-01-01T00:00:00Z"), "info"),
        ("a.md", with_key("verified: {by: human:ada}"), "info"),
        ("a.md", with_key("sources: [{id: a, resource: b}, {id: a, resource: c}]"), "info"),
        ("a.md", with_key("sources: [{resource: b, author: Ada}]"), "info"),
        ("a.md", with_key("sources: [{resource: b, last_modified: May}]"), "info"),
        ("a.md", with_key("sources: [{resource: b, usage_count: many}]"), "info"),
        ("a.md", with_key("usage_window: {from: 2026-01-01T00:00:00Z}"), "info"),
        ("a.md", CONCEPT.replace("Metric", "Attested Computation"), "info"),
        ("a.md", COMPUTED.replace("name: n, ", ""), "info"),
        ("a.md", COMPUTED.replace("resource: run.md", "receipt: []"), "info"),
        ("a.md", COMPUTED, ""),
        ("a.md", CONCEPT.replace("title: A\n", ""), "info"),
        ("a.md", CONCEPT.replace("description: B.\n", ""), "info"),
        ("a.md", with_key("status: finished"), "info"),
        ("a.md", with_key("stale_after: soon"), "info"),
        ("a.md", with_key("stale_after: 2026-01-01"), "info"),
        ("a.md", with_key("stale_after: 2026-01-01T00:00:00Z"), ""),
        ("a.md", with_key("generated: {at: 2026-01-01T00:00:00Z}"), "info"),
        ("a.md", with_key("generated: {by: Ada}"), "info"),
        ("a.md", with_key("verified: [{by: human:ada, at: 2026-01-01}]"), "info"),
        ("a.md", with_key("verified: {by: human:ada, at: '2026-01-01T00:00:00+02:00'}"), ""),
        ("a.md", with_key("sources: [{id: a}]"), "info"),
        ("a.md", with_key("sources: [{id: a, resource: b}]") + "A[^a] `[^b]`.\n\n[^a]: A\n", ""),
        ("a.md", with_key("sources: [{id: a, resource: b}]") + "A[^b].\n", "info"),
    ],
)
def test_what_is_against_the_format_is_found(
    tmp_path: Path, path: str, text: str, severity: str
) -> None:
    root = tmp_path / "bank"
    (root / "tables").mkdir(parents=True)
    (root / "index.md").write_text(DECLARED, encoding="utf-8")
    (root / path).write_text(text, encoding="utf-8")
    with open_bank(root, settings={"memory.embedder": "none"}) as bank:
        found = lint(bank, rules=["okf"])
    assert [(one.path, one.severity) for one in found] == ([(path, severity)] if severity else [])


def test_a_file_without_a_type_is_only_skipped_since_version_3(tmp_path: Path) -> None:
    write(tmp_path / "bank", DECLARED.replace("0.2", "0.3"), **{"README.md": "Words.\n"})
    with open_bank(tmp_path / "bank", settings={"memory.embedder": "none"}) as bank:
        (found,) = [one for one in lint(bank, rules=["okf"]) if one.path == "README.md"]
        assert found.severity == "info"


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make a project whose bank is a bundle."""
    root = tmp_path / "shop"
    root.mkdir()
    monkeypatch.chdir(root)
    monkeypatch.setenv("MEMORY_BANK_EMBEDDER", "none")
    (root / "app.py").write_text("tax = 1\n")
    run(Path.cwd(), "init", "-q")
    run(Path.cwd(), "config", "user.name", "Ada Lovelace")
    run(Path.cwd(), "config", "user.email", "ada@example.org")
    assert run_cli(["init", "--no-agents"]) == 0
    write(root / ".memories", DECLARED)
    commit_all(Path.cwd(), "Start")
    return root


def test_an_edit_keeps_all_other_bytes_and_writes_links_of_the_format(own: Path) -> None:
    file = own / ".memories/metrics/margin.md"
    before = (
        file.read_bytes().replace(b"\n", b"\r\n").replace(b"type:", b"x-own:  'k'  # c\r\ntype:")
    )
    file.write_bytes(before)
    assert (
        run_cli(["edit", "metrics/margin", "--old", "revenue less", "--new", "[[orders]] less"])
        == 0
    )
    assert file.read_bytes() == before.replace(b"revenue less", b"[orders](/tables/orders.md) less")
