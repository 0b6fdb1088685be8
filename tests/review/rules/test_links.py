"""Links and references that lead nowhere, or to a former name, are found, with the name to write."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from memory_bank.bank.bank import Bank, open_bank
from memory_bank.memory.links import links_of
from memory_bank.review.lint import fix_all, lint
from tests.git.history_builder import Made, commit_all, make
from tests.review.rules.conftest import Lint

Git = Callable[..., str]

MISTYPED = "mistyped-link"
NOTES = (
    "facts/retries.md", "facts/the-cidr-script-bd92.md", "part-a.md", "release-1.md", "ann.md",
    "model-o.md", "facts/spec-10 one index.md",
)  # fmt: skip


@pytest.fixture
def bank(folder: Path) -> Path:
    (folder / "facts").mkdir()
    for path in NOTES:
        (folder / path).write_text("# Title of its own\n", encoding="utf-8")
    return folder


@pytest.mark.parametrize(
    ("link", "note"),
    [
        ("[[facts/retires]]", "facts/retries"),
        ("[[retrys]]", ""),
        ("[[retrie]]", "facts/retries"),
        ("[[Retriess|shown]]", "facts/retries"),
        ("[[facts/the-cidr-script]]", "facts/the-cidr-script-bd92"),
        ("[[the-cidr-script]]", "facts/the-cidr-script-bd92"),
        ("[x](facts/retriez.md)", "facts/retries.md"),
        ("[[model-0]]", "model-o"),
        ("[[facts/spec-10]]", "facts/spec-10 one index"),
        ("[[facts/spec-1]]", ""),
        ("[[retries]]", ""),
        ("[[part-b]]", ""),
        ("[[release-2]]", ""),
        ("[[anna]]", ""),
        ("[[person:retrie]]", ""),
        ("[[src/retries.py]]", ""),
    ],
)
def test_a_link_that_is_nearly_the_name_of_a_note_names_it(
    bank: Path, lint: Lint, link: str, note: str
) -> None:
    (bank / "a.md").write_text(f"Words.\n\nSee {link}.\n", encoding="utf-8")
    found = lint(bank, MISTYPED)
    assert [(one.path, one.line, one.fix) for one in found] == ([("a.md", 3, note)] if note else [])


@pytest.mark.parametrize("link", ["![](retrie.png)", "![[retrie.png]]", "[x](retrie.png)"])
def test_a_picture_beside_a_note_is_no_mistyped_link(bank: Path, lint: Lint, link: str) -> None:
    (bank / "facts/retries.png.md").write_text("x\n", encoding="utf-8")
    (bank / "facts/a.md").write_text(f"{link}\n", encoding="utf-8")
    assert len(lint(bank, MISTYPED)) == 1
    (bank / "facts/retrie.png").write_bytes(b"x")
    assert lint(bank, MISTYPED) == []


def test_of_several_notes_all_are_named_and_none_is_chosen(bank: Path, lint: Lint) -> None:
    (bank / "retriex.md").write_text("x\n", encoding="utf-8")
    (bank / "a.md").write_text("[[retrie]]\n", encoding="utf-8")
    (found,) = lint(bank, MISTYPED)
    assert found.message == (
        "'retrie' leads to no note; did you mean facts/retries.md or retriex.md?"
    )
    assert found.fix is None


MOVED = "moved-link"


@pytest.fixture
def moved(project: Path, git: Git) -> Path:
    """Move a note in git, without our knowing."""
    bank = project / ".memories"
    (bank / "ideas").mkdir()
    git(project, "mv", ".memories/decisions/whoosh.md", ".memories/ideas/old whoosh.md")
    git(project, "commit", "-q", "-m", "Move")
    return bank


@pytest.mark.parametrize(
    ("link", "fix"),
    [
        ("[[decisions/whoosh]]", "ideas/old whoosh"),
        ("[[decisions/whoosh.md|text]]", "ideas/old whoosh"),
        ("![[Whoosh]]", "ideas/old whoosh"),
        ("- supersedes:: [[.memories/decisions/whoosh]]", "ideas/old whoosh"),
        ("[text](../decisions/whoosh.md)", "../ideas/old whoosh.md"),
    ],
)
def test_a_link_to_a_note_that_git_moved_is_told_the_new_name(
    moved: Path, lint: Lint, link: str, fix: str
) -> None:
    (moved / "facts/new.md").write_text(f"# New\n\n{link}\n")
    found = {one.path: one for one in lint(moved, MOVED)}
    assert set(found) == {"facts/new.md", "decisions/tantivy.md"}
    one = found["facts/new.md"]
    assert (one.severity, one.line, one.fix) == ("warning", 3, fix)
    assert one.message == "leads to decisions/whoosh.md, which git moved to ideas/old whoosh.md"


def test_the_fix_leads_to_the_note(moved: Path, lint: Lint, opening: Callable[..., Bank]) -> None:
    (moved / "facts/new.md").write_text("[a](../decisions/whoosh.md) [[decisions/whoosh]]")
    markdown, wiki = (one.fix for one in lint(moved, MOVED) if one.path == "facts/new.md")
    (moved / "facts/new.md").write_text(f"[a](<{markdown}>) [[{wiki}]]")
    links = links_of(opening(moved), "facts/new").outgoing
    assert {link.target for link in links} == {"ideas/old whoosh.md"}


def test_ghosts_that_never_were_notes_and_deleted_notes_are_fine(
    project: Path, lint: Lint, git: Git
) -> None:
    git(project, "rm", "-q", ".memories/facts/bm25.md")
    git(project, "commit", "-q", "-m", "Delete")
    (project / ".memories/new.md").write_text("[[sarah]] [[src/index.py]] [[facts/bm25]]")
    assert lint(project, MOVED) == []


def test_a_name_that_two_former_notes_had_is_not_guessed(
    project: Path, lint: Lint, git: Git
) -> None:
    bank = project / ".memories"
    (bank / "plans").mkdir()
    (bank / "plans/whoosh.md").write_text("# A plan of quite another kind\n")
    commit_all(project, "Add")
    for number, name in enumerate(("decisions/whoosh", "plans/whoosh")):
        git(project, "mv", f".memories/{name}.md", f".memories/moved{number}.md")
    git(project, "commit", "-q", "-m", "Move")
    (bank / "new.md").write_text("[[whoosh]] [[plans/whoosh]]")
    found = lint(project, MOVED)
    assert [one.fix for one in found if one.path == "new.md"] == ["moved1"]


def test_outside_git_there_is_nothing_to_know(folder: Path, lint: Lint) -> None:
    (folder / "a.md").write_text("[[gone]]")
    assert lint(folder, MOVED) == []


MISSING = "missing-file-ref"


def note(project: Path, *refs: str, status: str = "active") -> None:
    listed = "".join(f"  - {ref}\n" for ref in refs)
    text = f"---\nstatus: {status}\nfile_refs:\n{listed}---\nRefers.\n"
    (project / ".memories/refs.md").write_text(text)


def move(project: Path, git: Git, old: str, new: str) -> None:
    (project / new).parent.mkdir(exist_ok=True)
    git(project, "mv", old, new)
    git(project, "commit", "-q", "-m", "Move")


def test_what_is_there_is_fine(project: Path, lint: Lint) -> None:
    here = (
        "src/index.py",
        "./src/index.py:1",
        "'src/index.py#L1'",
        "src",
        ".memories/facts/bm25.md",
    )
    note(project, *here, "facts/bm25.md")
    assert lint(project, MISSING) == []


def test_a_file_that_git_moved_is_named_as_it_is_called_now(
    project: Path, lint: Lint, git: Git
) -> None:
    note(project, "src/other.py", "src/index.py")
    move(project, git, "src/index.py", "src/indexer.py")
    move(project, git, "src/indexer.py", "lib/indexer é.py")
    found = {(one.path, one.line): one for one in lint(project, MISSING)}
    assert set(found) == {("decisions/tantivy.md", 6), ("refs.md", 4), ("refs.md", 5)}
    assert found["refs.md", 4].message == "file_refs names src/other.py, which does not exist"
    assert found["refs.md", 4].fix is None
    assert found["refs.md", 5].message == "file_refs names src/index.py, which git moved"
    assert found["refs.md", 5].fix == "lib/indexer é.py"
    assert {one.severity for one in found.values()} == {"warning"}


def test_a_move_that_is_only_staged_counts(project: Path, lint: Lint, git: Git) -> None:
    git(project, "mv", "src/index.py", "src/main.py")
    assert [one.fix for one in lint(project, MISSING)] == ["src/main.py"]


def test_a_file_that_was_moved_and_then_deleted_is_gone(
    project: Path, lint: Lint, git: Git
) -> None:
    move(project, git, "src/index.py", "src/main.py")
    git(project, "rm", "-q", "src/main.py")
    git(project, "commit", "-q", "-m", "Delete")
    assert [one.fix for one in lint(project, MISSING)] == [None]


@pytest.mark.parametrize(
    "ref", ["https://example.org/a.py", "/etc/nothing", "../beside.py", "src/*.py", "C:\\a.py"]
)
def test_nothing_is_said_of_what_is_not_below_the_project(
    project: Path, lint: Lint, ref: str
) -> None:
    note(project, ref)
    assert lint(project, MISSING) == []


def test_an_archived_note_may_name_what_is_gone(project: Path, lint: Lint) -> None:
    note(project, "src/gone.py", status="archived")
    assert lint(project, MISSING) == []


def test_a_hostile_reference_spoils_no_other(project: Path, lint: Lint, git: Git) -> None:
    note(project, '"a\\0b"', "x" * 5000, "--output=x", ":(glob)*", "' '", "src/index.py")
    move(project, git, "src/index.py", "src/main.py")
    assert "src/main.py" in {one.fix for one in lint(project, MISSING)}
    assert not (project / "x").exists()


def test_a_bank_without_a_project_has_no_files_to_look_for(folder: Path, lint: Lint) -> None:
    (folder / "a.md").write_text("---\nfile_refs: [src/gone.py]\n---\n")
    assert lint(folder, MISSING) == []


def test_a_project_without_git_has_no_names_to_tell(tmp_path: Path, lint: Lint) -> None:
    (tmp_path / ".memories").mkdir()
    (tmp_path / ".memories/a.md").write_text("---\nfile_refs: [src/gone.py]\n---\n")
    assert [one.fix for one in lint(tmp_path / ".memories", MISSING)] == [None]


CODE = "def retry(send):\n    for _ in range(3):\n        send()\n"
REST = "\n\ndef other(send):\n    return send.later()\n"
CITING = "---\nfile_refs: [{0}]\n---\n# Retries\n\nSee [[{0}]] and [it](../{0}); `{0}` is text.\n"


@pytest.fixture
def root(homes: Iterator[Path]) -> Callable[..., Path]:
    def made(*commits: Made) -> Path:
        note = Made({"lib/a.py": CODE + REST, ".memories/n.md": CITING.format("lib/a.py#retry")})
        return make(next(homes), [note, *commits])

    return made


def fixed(root: Path) -> tuple[list[str], str]:
    with open_bank(root, settings={"memory.embedder": "none"}) as bank:
        found = [one.rule for one in lint(bank)]
        fix_all(bank, lambda: lint(bank))
        return found, bank.store.read("n.md").text


@pytest.mark.parametrize("stays", [True, False])
def test_a_symbol_in_another_file_is_written(root: Callable[..., Path], *, stays: bool) -> None:
    moved = Made(
        {"lib/b.py": CODE} | ({"lib/a.py": REST} if stays else {}),
        removed=[] if stays else ["lib/a.py"],
    )
    found, text = fixed(root(moved))
    first = "moved-code" if stays else "missing-file-ref"
    assert sorted(found) == sorted([first, "moved-code", "moved-code"])
    assert text == CITING.format("lib/b.py#retry").replace("`lib/b.py", "`lib/a.py")


def test_code_that_is_where_it_was_has_no_finding(root: Callable[..., Path]) -> None:
    found, text = fixed(root(Made({"lib/a.py": CODE.replace("3", "4") + REST})))
    assert (found, text) == ([], CITING.format("lib/a.py#retry"))


# Headings with their anchor on GitHub, and as Obsidian writes a link to them.
HEADINGS = (
    ("Added", "added", "Added"),
    ("Added", "added-1", "Added"),
    ("🚀 Launch", "-launch", "🚀 Launch"),
    ("Done ✅", "done-", "Done ✅"),
    ("A | B", "a--b", "A B"),
    ("Note: first", "note-first", "Note first"),
    ("x^2 grows", "x2-grows", "x 2 grows"),
    ("See [[other]] note", "see-other-note", "See other note"),
    ("See [[a note|an alias]] now", "see-an-alias-now", "See a note an alias now"),
    ("The [docs](http://x.y/z#a) page", "the-docs-page", "The docs page"),
    ("⚙️ Settings", "️-settings", "⚙️ Settings"),
    ("⚙️ Options", "-options", "⚙️ Options"),
    ("हिन्दी शीर्षक", "हिन्दी-शीर्षक", "हिन्दी शीर्षक"),
    ("ราคา 10²", "ราคา-10", "ราคา 10²"),
    ("Why?! (really...)", "why-really", "Why?! (really...)"),
    ("`code` and **bold**", "code-and-bold", "`code` and **bold**"),
    ("C++ & Go", "c--go", "C++ & Go"),
    ("What's new?", "whats-new", "What's new?"),
    ("1.2.3 (2024-01-02)", "123-2024-01-02", "1.2.3 (2024-01-02)"),
    ("snake_case_name", "snake_case_name", "snake_case_name"),
    ("Über Größe", "über-größe", "Über Größe"),
    ("日本語の見出し", "日本語の見出し", "日本語の見出し"),
    ("Wide   gap", "wide---gap", "Wide gap"),
    ("A link [text](http://x.y/z)", "a-link-text", "A link text"),
    ("Tab/Slash", "tabslash", "Tab/Slash"),
    ("100% sure", "100-sure", "100% sure"),
    ("Q: what | why ^ how", "q-what--why--how", "Q what why how"),
    ("a — dash", "a--dash", "a — dash"),
    ("Foo &amp; Bar", "foo--bar", "Foo &amp; Bar"),
    ("<b>html</b> tag", "html-tag", "<b>html</b> tag"),
)


def test_no_link_to_a_heading_as_github_and_obsidian_write_it_is_broken(
    folder: Path, lint: Lint
) -> None:
    text = "".join(f"## {heading}\n\nText.\n\n" for heading, _, _ in HEADINGS)
    (folder / "t.md").write_text(f"# T\n\n{text}", encoding="utf-8")
    links = "".join(f"- [x](t.md#{anchor}) [[t#{wiki}]]\n" for _, anchor, wiki in HEADINGS)
    bad = "[x](t.md#added-2) [[t#A C]] [[t#Adde]]\n"
    (folder / "a.md").write_text(f"# A\n\n{links}\n{bad}", encoding="utf-8")
    findings = lint(folder, "broken-link")
    assert {finding.message.rpartition("heading ")[2] for finding in findings} == {
        "'added-2'", "'A C'", "'Adde'",
    }  # fmt: skip
