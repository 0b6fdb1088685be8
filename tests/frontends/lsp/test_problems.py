import tarfile
from collections.abc import Callable
from pathlib import Path

import pytest

from memory_bank.bank.bank import Bank
from memory_bank.frontends.lsp.open_texts import Texts, list_goals
from memory_bank.frontends.lsp.problems import all_findings, list_fixes, list_problems
from memory_bank.review.doctor import doctor
from tests.conftest import SHARED
from tests.frontends.lsp.conftest import Make
from tests.git.history_builder import commit_all, run

NOTES = {"facts/bm25.md": "# BM25\n\n## Ranking\n", "a/x.md": "x\n", "b/x.md": "x\n"}


def fixed(make: Make, text: str, at: str) -> list[str]:
    texts = make(NOTES, new=text)
    offset = text.index(at)
    return [
        text[: one.start] + one.text + text[one.end :]
        for one in list_fixes(texts, "new.md", offset, offset)
    ]


def test_broken_links_and_faults_of_unsaved_text_are_problems(make: Make) -> None:
    text = "---\ntype: [\n---\n[[x]] [[bm25#Rankin]] [[bm25#Ranking]]\n"
    found = list_problems(make(NOTES, new=text), "new.md")
    assert {one.rule for one in found} == {"bad-front-matter", "ambiguous-link", "broken-link"}
    marked = {one.rule: text[one.start : one.end] for one in found}
    assert marked["ambiguous-link"] == "[[x]]"
    assert marked["broken-link"] == "[[bm25#Rankin]]"


def test_severities_and_rules_that_are_off_count_for_faults_and_links(make: Make) -> None:
    text = "---\ncreated_at: soon\n---\n[[x]] [[bm25#Rankin]]\n"
    lint = '[lint.severity]\nambiguous-link = "off"\nfault = "info"\n'
    texts = make({**NOTES, "config.toml": f'{lint}broken-link = "error"\n'}, new=text)
    found = {(one.rule, one.severity) for one in list_problems(texts, "new.md")}
    assert found == {("fault", "info"), ("broken-link", "error")}
    ambiguous, broken = text.index("[[x]]"), text.index("Rankin")
    assert list_fixes(texts, "new.md", ambiguous, ambiguous + 1) == []
    assert list_fixes(texts, "new.md", broken, broken)


def test_what_a_note_accepts_is_no_problem(make: Make) -> None:
    text = "---\nlint_allow: [ambiguous-link]\n---\n[[x]] [[bm25#Rankin]]\n"
    found = list_problems(make(NOTES, new=text), "new.md")
    assert {one.rule for one in found} == {"broken-link"}


def test_invisible_characters_are_removed_by_a_fix(make: Make) -> None:
    assert fixed(make, "Two\u200b words", "\u200b") == ["Two words"]
    assert fixed(make, "Two\u200b words", "Two") == []


def test_a_binary_text_is_a_problem(make: Make) -> None:
    (found,) = list_problems(make(NOTES, new="a\0b"), "new.md")
    assert "NUL" in found.message


def test_an_ambiguous_link_is_fixed_by_each_note(make: Make) -> None:
    assert fixed(make, "See [[x|it]].", "[[x") == ["See [[a/x|it]].", "See [[b/x|it]]."]
    assert fixed(make, "See [[x|it]].", "See") == []


def test_a_heading_is_fixed_by_a_similar_one(make: Make) -> None:
    assert fixed(make, "See [[bm25#Rankin|it]].", "bm25") == ["See [[bm25#Ranking|it]]."]


def test_findings_of_files_are_fixed_where_a_name_is_known(make: Make) -> None:
    texts = make(
        {**NOTES, "old.md": "# Something\n\nText of some length, so that git sees the move.\n"}
    )
    root, project = texts.bank.layout.root, texts.bank.layout.project
    (project / "gone.py").write_text("a = 1\nb = 2\nc = 3\n")
    note = "---\nfile_refs: [gone.py]\n---\nSee [[old#Old|it]] and [o](old.md).\n"
    (root / "new.md").write_text(note)

    run(project, "init", "-q")
    commit_all(project, "Start")
    run(project, "mv", "gone.py", "kept.py")
    run(project, "mv", ".memories/old.md", ".memories/moved.md")
    run(project, "commit", "-qm", "Move")
    texts.bank.catch_up()
    saved = all_findings(texts.bank)["new.md"]
    assert {one.rule for one in saved} == {"missing-file-ref", "moved-link"}
    # two links on one line lead to the old name: which of them is meant is not guessed
    found = list_fixes(texts, "new.md", 0, len(note), saved)
    assert [(one.rule, one.text) for one in found] == [("missing-file-ref", "kept.py")]
    assert note[found[0].start : found[0].end] == "gone.py"
    (root / "new.md").write_text("See [[old#Old|it]].\n")
    texts.bank.catch_up()
    (one,) = list_fixes(texts, "new.md", 0, 20, all_findings(texts.bank)["new.md"])
    assert (one.text, one.start, one.end) == ("moved", 6, 9)


@pytest.mark.slow
def test_the_links_of_a_vault_have_the_problems_that_doctor_finds(
    tmp_path: Path, opening: Callable[..., Bank]
) -> None:
    packed = SHARED / "bench" / "obsidian-help.tar.gz"
    if not packed.exists():
        pytest.skip("the shared vault is not here")
    root = tmp_path / "vault" / ".memories"
    with tarfile.open(packed) as vault:
        english = [one for one in vault.getmembers() if one.name.split("/")[1:2] == ["en"]]
        vault.extractall(root, members=english, filter="data")
    bank = opening(tmp_path / "vault")
    bank.catch_up()
    texts = Texts(bank)
    notes = [texts.read(path) for path in bank.store.paths()]
    found = {
        (note.path, goal.problem, 1 if written.link.kind == "reference" else written.link.line)
        for note in notes
        for written, goal in list_goals(texts, note.path, note)
        if goal.problem
    }
    rules = {"broken-link", "ambiguous-link"}
    listed = {
        (one.path, one.message, one.line) for one in doctor(bank).findings if one.rule in rules
    }
    assert found == listed
    assert len(notes) > 100
