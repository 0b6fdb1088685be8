"""A bank that is exported as a bundle: what it has, what it leaves out, and that it is read back."""

import shutil
from pathlib import Path

import pytest

from memory_bank.bank.bank import Bank, open_bank
from memory_bank.base.errors import BadInput
from memory_bank.frontends.cli.main import run as run_cli
from memory_bank.memory.export_bundle import export_okf
from memory_bank.memory.links import links_of
from memory_bank.memory.retrieval.recall import recall
from memory_bank.review.lint import lint
from tests.git.history_builder import commit_all, run
from tests.support.files import write_files

OWN = Path(__file__).parents[2] / ".memories"

KEY = "ghp_" + "x7Kq2mN9pR4tV8wZ1bD6fH3jL5sG0yC7aE2u"

NOTES = {
    "decisions/queue.md": (
        "---\nid: 4f1c9be07a52\ntype: decision\ntags: [jobs]\ncreated_at: 2026-01-02T03:04:05Z\n"
        "file_refs: [src/queue.py]\nowner: Ada\nimported_from: claude:/home/ada/x.md\n---\n"
        "# One queue\n\n- supersedes:: [[two-queues]]\n\nWe have **one** queue, see [[facts/limits#Of jobs|its"
        " limits]], [[src/queue.py]], [code](../../src/queue.py#L1), [[person:ada]] and `[[x]]`. Second.\n\n"
        "- learned_in:: [[sessions/2026-01-02#^obs-1a2b3c4d5e6f]]\n"
    ),
    "decisions/two-queues.md": "# Two queues\n\nA queue for each kind.\n",
    "facts/limits.md": (
        "---\ntype: fact\nstatus: archived\n---\n# Limits\n\n## Of jobs\n\nTen jobs.\n"
        "<private>The pager is 555.</private>\n"
    ),
    "facts/index.md": "# Facts that matter\n\nSee [[limits]] and [other](limits.md), [[sessions/2026-01-02]].\n",
    "facts/key.md": f"# A key\n\nThe token is {KEY}.\n",
    "drafts/idea.md": "# An idea that git ignores\n\nWords.\n",
    "sessions/2026-01-02.md": "---\ntype: session\nsession_id: s1\nproject: x\n---\n# A session\n\nWords.\n",
}


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make a project with notes, some of which are private."""
    root = tmp_path / "shop"
    (root / "src").mkdir(parents=True)
    (root / "src/queue.py").write_text("limit = 10\n")
    monkeypatch.chdir(root)
    monkeypatch.setenv("MEMORY_BANK_EMBEDDER", "none")
    run(root, "init", "-q")
    assert run_cli(["init", "--no-agents"]) == 0
    write_files(root / ".memories", NOTES)
    (root / ".gitignore").write_text("drafts/\n")
    commit_all(root, "Add notes")
    return root


def texts(folder: Path) -> dict[str, str]:
    files = (file for file in folder.rglob("*") if file.is_file())
    return {file.relative_to(folder).as_posix(): file.read_text("utf-8") for file in files}


def test_notes_are_written_with_converted_keys_and_links(project: Path) -> None:
    with open_bank(project / ".memories") as bank:
        exported = export_okf(bank, str(project.parent / "out"))
    found = texts(project.parent / "out")
    assert found["decisions/queue.md"].replace(bank_date(found), "DATE") == (
        "---\ntype: decision\ntitle: One queue\ndescription: We have one queue, see its limits,"
        " src/queue.py, code, person:ada and x.\n"
        'generated: {by: "human:Test", at: "DATE"}\nsources: [{resource: /src/queue.py}]\n'
        'id: 4f1c9be07a52\ntags: [jobs]\ncreated_at: "DATE"\nowner: Ada\n---\n'
        "# One queue\n\n- supersedes:: [two-queues](/decisions/two-queues.md)\n\n"
        "We have **one** queue, see [its limits](/facts/limits.md#of-jobs), [src/queue.py](/src/queue.py),"
        " [code](/src/queue.py#L1), [[person:ada]] and `[[x]]`. Second.\n"
    )
    old = found["decisions/two-queues.md"]
    assert "\nstatus: deprecated\nsuperseded_by: /decisions/queue.md\n" in old
    assert "\nstatus: deprecated\narchived: true\n" in found["facts/limits.md"]
    assert (
        "See [limits](/facts/limits.md) and [other](/facts/limits.md), sessions/2026-01-02."
        in (found["facts/index-note.md"])
    )
    assert set(exported.files) == found.keys() == {
        "index.md", "decisions/index.md", "decisions/queue.md", "decisions/two-queues.md",
        "facts/index.md", "facts/limits.md", "facts/index-note.md",
    }  # fmt: skip
    assert found["index.md"] == (
        '---\nokf_version: "0.2"\n---\n# Folders\n\n'
        "* [decisions](decisions/index.md) - 2 concepts\n* [facts](facts/index.md) - 2 concepts\n"
    )
    assert "* [Two queues](two-queues.md) - A queue for each kind.\n" in found["decisions/index.md"]


def bank_date(found: dict[str, str]) -> str:
    return found["decisions/queue.md"].partition('at: "')[2].partition('"')[0]


def test_nothing_private_is_written(project: Path) -> None:
    with open_bank(project / ".memories") as bank:
        exported = export_okf(bank, str(project.parent / "out"), log=True)
    assert [path for path, _ in exported.left_out] == ["drafts/idea.md", "facts/key.md"]
    written = "".join(texts(project.parent / "out").values())
    for private in ("ghp_", "555", "session_id", "obs-", "ignores", "/home/ada", "[[sessions"):
        assert private not in written


def test_the_bundle_conforms_and_the_same_notes_give_the_same_bytes(project: Path) -> None:
    out = project.parent / "out"
    assert run_cli(["export", "okf", str(out), "--log"]) == 0
    first = texts(out)
    assert first["log.md"].startswith("# Log\n\n## 20")
    assert "* **Creation**: [One queue](/decisions/queue.md): Add notes\n" in first["log.md"]
    assert run_cli(["export", "okf", str(out), "--log"]) == 0
    assert run_cli(["export", "okf", str(project.parent / "other"), "--log"]) == 0
    assert first == texts(out) == texts(project.parent / "other")
    with open_bank(out, settings={"memory.embedder": "none"}) as bundle:
        assert not list(lint(bundle, rules=["okf"]))
        assert {link.target for link in links_of(bundle, "decisions/queue.md").outgoing} >= {
            "decisions/two-queues.md", "facts/limits.md",
        }  # fmt: skip


def test_another_folder_is_left_alone(project: Path) -> None:
    (project / "docs").mkdir()
    (project / "docs/a.md").write_text("Words.\n")
    with open_bank(project / ".memories") as bank:
        for folder in (project / "docs", project / ".memories/out"):
            with pytest.raises(BadInput):
                export_okf(bank, str(folder))


QUESTIONS = (
    "why is the lock on a folder and not on a file?", "estimate how many tokens a text takes",
    "where are secrets removed before an event is stored?", "reciprocal rank fusion of lists",
    "set a front matter key without changing other bytes", "how is a session kept",
    "may a setting in a repository start a program?", "may a note be a symbolic link",
    "how are links rewritten when a note moves?", "what happens when the index is damaged",
    "why are vectors stored by the hash of their text", "do observations rank below notes",
    "who may change included files", "why does the embedder have a fingerprint",
    "what is a misspelled word searched as", "when is a cold query too slow",
    "what does lint do with schema", "are access counts in git", "which traps has tomlkit",
    "how are merge conflicts in notes handled",
)  # fmt: skip


def first_hits(bank: Bank) -> list[str]:
    return [recall(bank, question, limit=3).notes[0].path for question in QUESTIONS]


@pytest.mark.slow
def test_our_own_notes_are_read_back_with_the_same_answers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEMORY_BANK_EMBEDDER", "none")
    places = tmp_path / "own", tmp_path / "reader"
    shutil.copytree(
        OWN, places[0] / ".memories", ignore=shutil.ignore_patterns(".index", "sessions")
    )
    for place in places:
        place.mkdir(exist_ok=True)
        monkeypatch.chdir(place)
        run(place, "init", "-q")
    monkeypatch.chdir(places[0])
    commit_all(places[0], "Start")
    assert run_cli(["export", "okf", str(places[1] / "bundle")]) == 0
    monkeypatch.chdir(places[1])
    assert run_cli(["init", "--no-agents", "--include", "bundle"]) == 0
    opened = [
        open_bank(place / ".memories", settings={"memory.recency_boost_factor": 1})  # not by today
        for place in places
    ]
    with opened[0] as own, opened[1] as reader:
        assert [f"bundle/{path}" for path in first_hits(own)] == first_hits(reader)
        assert not list(lint(reader, rules=["okf"]))
