"""What a change does to the notes is reviewed, from git."""

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from memory_bank.bank.bank import open_bank
from memory_bank.bank.records import ReviewFinding
from memory_bank.base.errors import BadInput, NoRepository
from memory_bank.base.rendering import render_document
from memory_bank.base.text import Quotes
from memory_bank.base.view import write_agent
from memory_bank.frontends.cli.main import run
from memory_bank.notes import note_comparison as note_diff
from memory_bank.review import compared_banks, findings
from memory_bank.review.records import Review
from memory_bank.review.review import review
from memory_bank.review.revision_range import resolve_sides
from memory_bank.review.views import view_review
from tests.benchmarks.review_bounds import MOST_MEGABYTES, MOST_SECONDS, measure
from tests.conftest import run_git
from tests.git.history_builder import commit_all
from tests.support.homes import live_at

SETTINGS = {"memory.embedder": "none"}
QUEUE = (
    "The queue keeps events in a table of SQLite, with synchronous writes, so that nothing is lost"
    " when the machine loses its power between two batches."
)
BASE = {
    "facts/queue.md": f"---\nid: aaaaaaaaaaaa\ntags: [queue]\n---\n# Queue\n\n{QUEUE}\n\n## Size\n\nIt is small.\n",
    "facts/index.md": "# Index\n\nSee [[facts/queue#Size]] and [[facts/old]] and [[facts/lonely]].\n",
    "facts/old.md": "# Old\n\nThis is to be moved elsewhere, with all of its words and sentences.\n",
    "facts/gone.md": "# Gone\n\nNobody needs this any longer.\n",
    "facts/uses.md": "# Uses\n\nIt needs [the gone](gone.md) and [[nowhere]].\n",
    "facts/lonely.md": "# Lonely\n\nOnly one note knows this one.\n",
    "decisions/first.md": "# First\n\nWe take pickles.\n",
    "decisions/second.md": "# Second\n\n- supersedes:: [[decisions/first]]\n",
    "facts/broken.md": "# Broken\n\nSee [[facts/queue#Nothing]].\n",
}
HEAD = {
    "facts/queue.md": (
        f"---\nid: aaaaaaaaaaaa\ntags: [queue, sqlite]\n---\n# Queue\n\n{QUEUE}\n\n## Bytes on disk\n\n"
        "It is very small.\n"
    ),
    "facts/old.md": None,
    "facts/new.md": "# Old\n\nThis is to be moved elsewhere, with all of its words and sentences.\n",
    "facts/gone.md": None,
    "facts/copy.md": f"# Copy\n\n{QUEUE}\n\n[[facts/missing]] [[src/a.py]] [[decisions/first]]\n",
    "facts/index.md": "# Index\n\nSee [[facts/queue]].\n",
    "facts/keeper.md": "# Keeper\n\nSee [[facts/queue#Size]] or [[facts/old]].\n",
    "facts/broken.md": "# Broken\n\nSee [[facts/queue#Nothing]]. Or not.\n",
}


def write(root: Path, notes: dict[str, str | None]) -> None:
    for path, text in notes.items():
        file = root / ".memories" / path
        if text is None:
            file.unlink()
        else:
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)


@pytest.fixture(scope="module")
def history(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make a repository whose branch `topic` changes notes of `main`, which goes on."""
    root = tmp_path_factory.mktemp("history")
    run_git(root, "init", "-qb", "main")
    (root / "src").mkdir()
    (root / "src/a.py").write_text("A = 1\n")
    keeper = "# Keeper\n\nSee [[facts/queue#Size]] or [[facts/old]].\n"
    write(root, {**BASE, "facts/keeper.md": keeper})
    commit_all(root, "Base")
    run_git(root, "switch", "-qc", "topic")
    write(root, HEAD)
    commit_all(root, "Topic")
    run_git(root, "switch", "-q", "main")
    write(root, {"facts/later.md": "# Later\n\nThe main branch went on.\n"})
    commit_all(root, "Later")
    run_git(root, "switch", "-q", "topic")
    return root


@pytest.fixture(scope="module")
def found(history: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Review]:
    """Review the branch, once for all tests that only look at it."""
    home = tmp_path_factory.mktemp("home")
    with pytest.MonkeyPatch.context() as patch:
        live_at(home, patch)
        with open_bank(history / ".memories", settings=SETTINGS) as bank:
            yield review(bank)


@pytest.fixture
def clone(history: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(history, tmp_path / "clone"))


def reviewed(root: Path, *args: str, **options: bool) -> Review:
    with open_bank(root / ".memories", settings=SETTINGS) as bank:
        return review(bank, *args, **options)


def of(found: Review, *rules: str) -> list[ReviewFinding]:
    return [one for one in found.findings if one.rule in rules]


def test_by_default_it_is_the_branch_since_the_merge_base(found: Review, history: Path) -> None:
    base = run_git(history, "merge-base", "main", "topic").strip()
    assert (found.base.commit, found.head.name) == (base, "HEAD")
    assert [(one.path, one.kind) for one in found.changes] == [
        ("facts/broken.md", "changed"),
        ("facts/copy.md", "added"),
        ("facts/gone.md", "removed"),
        ("facts/index.md", "changed"),
        ("facts/new.md", "renamed"),
        ("facts/queue.md", "changed"),
    ]


def test_changes_are_by_section(found: Review) -> None:
    queue = found.changes[-1]
    (section,) = queue.sections
    assert section.old_headings == ("Queue", "Size")
    assert [key.gained for key in queue.front_matter] == [("sqlite",)]
    assert queue.file == ".memories/facts/queue.md"


@pytest.mark.parametrize(
    ("rule", "places"),
    [
        (
            "ghost-made",
            [("facts/copy.md", 5, "links to facts/missing, which does not exist", None)],
        ),
        (
            "broken-backlink",
            [
                (
                    "facts/keeper.md",
                    3,
                    "the link to facts/old is broken: facts/old.md was moved to facts/new.md",
                    "facts/new",
                ),
                (
                    "facts/keeper.md",
                    3,
                    "the link to facts/queue#Size is broken: facts/queue.md has no heading 'Size'",
                    "facts/queue#Bytes on disk",
                ),
                ("facts/uses.md", 3, "the link to gone.md is broken: facts/gone.md is gone", None),
            ],
        ),
        (
            "orphan-made",
            [
                (
                    "facts/lonely.md",
                    1,
                    "no note links to it any longer, as facts/index.md did",
                    None,
                ),
                (
                    "facts/new.md",
                    1,
                    "no note links to it any longer, as facts/index.md, facts/keeper.md did",
                    None,
                ),
            ],
        ),
        (
            "similar-note",
            [
                (
                    "facts/copy.md",
                    1,
                    "similar to .memories/facts/queue.md: 80% of the words in common",
                    None,
                )
            ],
        ),
        (
            "superseded-neighbour",
            [
                (
                    "facts/copy.md",
                    5,
                    "links to .memories/decisions/first.md: superseded by .memories/decisions/second.md",
                    None,
                )
            ],
        ),
    ],
)
def test_what_a_change_does_to_other_notes_is_a_new_finding(
    found: Review, rule: str, places: list[tuple[object, ...]]
) -> None:
    listed = of(found, rule)
    assert [(one.path, one.line, one.message, one.fix) for one in listed] == places
    assert all(one.new for one in listed)


def test_a_picture_beside_a_note_is_no_ghost(clone: Path) -> None:
    folder = clone / ".memories/facts/pictures"
    folder.mkdir()
    (folder / "queue.png").write_bytes(b"PNG")
    write(clone, {"facts/seen.md": "# Seen\n\n![it](pictures/queue.png) ![no](pictures/x.png)\n"})
    commit_all(clone, "Picture")
    (made,) = of(reviewed(clone, "HEAD~1..HEAD"), "ghost-made")
    assert made.words == "pictures/x.png"


def test_a_link_to_a_symbol_is_looked_up_and_other_kinds_are_the_users(clone: Path) -> None:
    (clone / "pay.py").write_text("def pay(order):\n    return order\n")
    (clone / "limits.go").write_text("package pay\n\nvar Limits = []int{3}\n")
    links = "[[symbol:pay]] [[symbol:pay.py#pay]] [[symbol:pay()]] [[symbol:Limits]]"
    links += (
        " [[symbol:repay]] [[symbol:pay.py#repaid]] [[person:Ada]] [[clause:7.2]] [[facts/none]]"
    )
    write(clone, {"facts/kinds.md": f"# Kinds\n\n{links}\n"})
    commit_all(clone, "Kinds")
    messages = [one.message for one in of(reviewed(clone, "HEAD~1..HEAD"), "ghost-made")]
    assert sorted(messages) == [
        f"links to {target}, which does not exist"
        for target in ("facts/none", "symbol:pay.py#repaid", "symbol:repay")
    ]


@pytest.mark.parametrize("form", [[], ["--format", "markdown"], ["--json"]])
def test_a_secret_in_a_new_note_is_named_by_its_path(
    clone: Path,
    form: list[str],
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    texts = ["One.", "Two is a sentence.", 'password: "hJ8#kQ2!vZx9LmP4"', "The last is kept."]
    write(clone, {"facts/keys.md": "# How we pay\n\n" + "\n\n".join(texts) + "\n"})
    commit_all(clone, "Keys")
    monkeypatch.chdir(clone)
    assert run(["review", "HEAD~1..HEAD", *form]) == 1
    printed = capsys.readouterr().out
    finding = next(line for line in printed.splitlines() if "facts/keys.md" in line)
    assert "hJ8#kQ2" not in printed
    assert all(text in printed for text in ("One.", "Two is a sentence.", "The last is kept."))
    if form != ["--json"]:
        assert "error" in finding
        assert "password" in finding


def test_findings_are_new_or_known(found: Review) -> None:
    broken = [one for one in found.findings if one.rule == "broken-link"]
    assert [(one.path, one.new) for one in broken] == [("facts/broken.md", False)]
    assert {rule.name for rule in found.rules} == {one.rule for one in found.findings}


def test_one_cause_is_one_finding(clone: Path) -> None:
    text = "# Index\n\nSee [[facts/old]] and [[facts/older]].\n"
    write(clone, {"facts/index.md": text, "facts/twin.md": HEAD["facts/new.md"]})
    commit_all(clone, "Later")
    found = reviewed(clone)
    rules = [(one.rule, one.path) for one in found.findings]
    assert ("moved-link", "facts/index.md") in rules
    made = of(found, "ghost-made")
    assert [one.words for one in made if one.path == "facts/index.md"] == ["facts/older"]
    assert len([one for one in rules if one[0] in {"same-content", "similar-note"}]) == 2


def test_a_similar_note_has_its_name_at_head_and_one_finding(clone: Path) -> None:
    text = "The importer reads each archive in blocks of sixteen records, and a journal is kept. "
    write(clone, {"facts/blocks.md": f"# Blocks\n\n{text * 3}\n"})
    commit_all(clone, "Blocks")
    copy = text.replace("sixteen", "twenty") * 3
    write(
        clone,
        {
            "facts/blocks.md": None,
            "facts/moved.md": f"# Blocks\n\n{text * 3}\n",
            "facts/copy.md": f"# Copy\n\n{copy}\n",
        },
    )
    commit_all(clone, "Move and copy")
    found = [one for one in reviewed(clone, "HEAD~1..HEAD").findings if one.other]
    (one,) = [one for one in found if one.path == "facts/copy.md"]
    assert (one.rule, one.other and one.other.path) == ("similar-note", "facts/moved.md")


def test_files_are_named_below_the_work_tree(clone: Path) -> None:
    (clone / "part").mkdir()
    run_git(clone, "mv", ".memories", "src", "part")
    commit_all(clone, "Into a subfolder")
    home = clone / "part"
    copy = f"# Copy\n\n{QUEUE} [[decisions/first]]\n"
    write(
        home,
        {"facts/copy.md": None, "facts/other.md": copy, "facts/moved.md": HEAD["facts/new.md"]},
    )
    write(home, {"facts/new.md": None})
    commit_all(clone, "More")
    found = reviewed(home, "HEAD~..HEAD")
    assert [one.old_file for one in found.changes if one.old_file] == [
        "part/.memories/facts/new.md", "part/.memories/facts/copy.md"
    ]  # fmt: skip
    others = [one.other for one in of(found, "similar-note", "superseded-neighbour")]
    assert [one.file for one in others if one] == [
        "part/.memories/facts/queue.md", "part/.memories/decisions/first.md"
    ]  # fmt: skip


def test_the_next_command_is_right_in_a_folder_below_the_work_tree(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    run_git(tmp_path, "init", "-qb", "main")
    part = tmp_path / "part"
    part.mkdir()
    write(part, {"a.md": "# A\n\nSee [[b]].\n", "b.md": "# B\n"})
    commit_all(tmp_path, "Bank")
    write(part, {"b.md": None})
    commit_all(tmp_path, "Remove a note")
    monkeypatch.chdir(part)
    assert run(["review", "HEAD~1..HEAD"]) == 0
    printed = capsys.readouterr()
    assert "part/.memories/a.md:3" in printed.out
    assert printed.err.endswith("next: memory-bank edit .memories/a.md\n")


def test_tokens_are_those_of_the_changed_notes(found: Review) -> None:
    assert found.tokens.before == sum(one.tokens_before for one in found.changes)
    assert found.tokens.after > 0


def test_no_change_gives_nothing(clone: Path) -> None:
    found = reviewed(clone, "HEAD..HEAD")
    assert (found.changes, found.findings, found.notices) == ((), (), ())


def test_it_is_the_same_on_each_machine_and_leaves_no_trace(
    clone: Path, found: Review, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for file in (clone / ".memories").rglob("*.md"):
        file.touch()
    monkeypatch.setenv("LC_ALL", "tr_TR.UTF-8")
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    again = reviewed(clone)
    assert render_document(again) == render_document(found)
    assert run_git(clone, "status", "--porcelain") == ""


def test_the_work_tree_has_what_is_not_committed(clone: Path) -> None:
    write(clone, {"facts/draft.md": "# Draft\n\nNot yet added.\n", "facts/lonely.md": None})
    (clone / ".gitignore").write_text("secret*\n")
    write(clone, {"facts/secret.md": "# Private\n\nIgnored by git.\n"})
    found = reviewed(clone, "HEAD")
    assert [(one.path, one.kind) for one in found.changes] == [
        ("facts/draft.md", "added"),
        ("facts/lonely.md", "removed"),
    ]
    assert (found.head.name, found.head.commit) == ("worktree", None)
    every = reviewed(clone, worktree=True)
    assert {"facts/draft.md", "facts/new.md"} <= {one.path for one in every.changes}


@pytest.mark.parametrize(
    ("autocrlf", "attributes", "changed"),
    [
        ("true", "", []),
        ("input", "", []),
        ("false", "* text=auto eol=crlf\n", []),
        ("false", "*.md text\n", []),
        ("false", "", ["decisions/first.md"]),
        ("true", "*.md -text\n", ["decisions/first.md"]),
    ],
)
def test_line_ends_that_git_converts_are_no_change(
    clone: Path, autocrlf: str, attributes: str, changed: list[str]
) -> None:
    (clone / ".gitattributes").write_text(attributes)
    commit_all(clone, "Attributes")
    run_git(clone, "config", "core.autocrlf", autocrlf)
    file = clone / ".memories/decisions/first.md"
    file.write_bytes(file.read_bytes().replace(b"\n", b"\r\n"))
    status = run_git(clone, "diff", "--name-only", "--", ".memories")
    assert bool(status.strip()) is bool(changed)  # what git itself says
    found = reviewed(clone, "HEAD")
    assert [change.path for change in found.changes] == changed
    file.write_bytes(file.read_bytes() + b"more\r\n")
    assert [change.path for change in reviewed(clone, "HEAD").changes] == ["decisions/first.md"]


def test_what_is_staged_is_compared_with_head(clone: Path) -> None:
    write(clone, {"facts/draft.md": "# Draft\n\nStaged.\n"})
    run_git(clone, "add", ".memories/facts/draft.md")
    write(clone, {"facts/draft.md": "# Draft\n\nChanged again.\n", "facts/other.md": "# Other\n"})
    found = reviewed(clone, staged=True)
    assert [one.path for one in found.changes] == ["facts/draft.md"]
    assert found.changes[0].sections[0].claims[0].spans[0].text == "Staged.\n"


def test_a_range_compares_with_the_merge_base(history: Path) -> None:
    merge_base = run_git(history, "merge-base", "main", "topic").strip()
    topic = run_git(history, "rev-parse", "topic").strip()
    for given in ("main..topic", "main...topic", "main.."):
        base, head = resolve_sides(history, given)
        assert (base.commit, head.commit) == (merge_base, topic)
    assert resolve_sides(history, "main")[0].commit != merge_base


def test_the_default_branch_is_that_of_trust(clone: Path) -> None:
    tip = run_git(clone, "rev-parse", "main").strip()
    run_git(clone, "branch", "-m", "main", "trunk")
    assert resolve_sides(clone)[0] == resolve_sides(clone, "trunk..")[0]
    run_git(clone, "branch", "release", tip)
    run_git(clone, "config", "init.defaultBranch", "release")
    assert resolve_sides(clone)[0].name == "release"


def test_a_change_of_what_is_found_is_said(clone: Path) -> None:
    before = reviewed(clone, worktree=True).notices
    write(clone, {"config.toml": '[lint.severity]\nsecret = "off"\n'})
    (said,) = set(reviewed(clone, worktree=True).notices) - set(before)
    assert said.endswith("which hold here: [lint] of .memories/config.toml")


@pytest.mark.parametrize(
    "given",
    ["nothing..HEAD", "HEAD..nothing", "--output=x..HEAD", "-p", "a..b..c", "HEAD..\n", "\0..HEAD"],
)
def test_unknown_revisions_are_errors(history: Path, given: str) -> None:
    with pytest.raises(BadInput):
        resolve_sides(history, given)


def test_contradictory_options_are_errors(history: Path) -> None:
    with pytest.raises(BadInput, match="not of both"):
        resolve_sides(history, staged=True, worktree=True)
    with pytest.raises(BadInput, match="says already"):
        resolve_sides(history, "main..topic", worktree=True)


def test_outside_git_it_says_so(tmp_path: Path) -> None:
    with pytest.raises(NoRepository, match="not in a git repository"):
        resolve_sides(tmp_path)


def test_a_shallow_clone_says_how_to_get_the_history(history: Path, tmp_path: Path) -> None:
    run_git(tmp_path, "clone", "-q", "--depth=1", "--no-single-branch", f"file://{history}", "new")
    with pytest.raises(BadInput, match="no common commit in this shallow clone") as error:
        resolve_sides(tmp_path / "new", "origin/main..HEAD")
    assert "fetch-depth: 0" in error.value.hint


def test_a_base_without_a_bank_has_no_notes(tmp_path: Path) -> None:
    run_git(tmp_path, "init", "-qb", "main")
    run_git(tmp_path, "commit", "-q", "--allow-empty", "-m", "Start")
    write(tmp_path, {"facts/a.md": "# A\n\nOne.\n"})
    commit_all(tmp_path, "Bank")
    found = reviewed(tmp_path, "HEAD~1..HEAD")
    assert [(one.path, one.kind) for one in found.changes] == [("facts/a.md", "added")]


def test_of_a_hostile_change_the_first_findings_and_the_smallest_notes_are_shown(
    clone: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(findings, "MOST_OF_RULE", 2)
    monkeypatch.setattr(note_diff, "MAX_TOTAL", 400)
    links = " ".join(f"[[facts/none-{number}]]" for number in range(7))
    hidden = "\n\n".join(["a\u200bb"] * 3 + ["<<<<<<< ours", "x", "=======", "y", ">>>>>>> theirs"])
    notes: dict[str, str | None] = {
        "facts/links.md": f"# Links\n\n{links}\n",
        "facts/padded.md": f"# Padded\n\n{hidden}\n\n{'word ' * 100}\n",
    }
    write(clone, notes)
    commit_all(clone, "Attack")
    made = reviewed(clone, "HEAD~1..HEAD")
    compared = {one.path: one.compared for one in made.changes}
    assert compared == {"facts/links.md": True, "facts/padded.md": False}
    rules = [one.rule for one in made.findings]
    assert max(map(rules.count, rules)) == 3
    (more,) = [one for one in made.findings if "5 findings of this rule" in one.message]
    assert (more.rule, more.path, more.new) == ("ghost-made", "facts/links.md", True)
    (missed,) = [one for one in made.findings if one.rule == "not-compared"]
    assert (missed.path, missed.severity) == ("facts/padded.md", "warning")
    assert "more than 400 bytes" in missed.message
    assert "not-compared" in {one.name for one in made.rules}
    assert "merge-conflict" in rules, "the rules check also what is not compared"


def test_an_agent_is_shown_the_first_words_of_long_changes(clone: Path) -> None:
    words = [f"word{number}" for number in range(4000)]
    write(clone, {"facts/long.md": f"# Long\n\n{' '.join(words)}.\n"})
    commit_all(clone, "Long")
    write(clone, {"facts/long.md": f"# Long\n\n{' '.join(reversed(words))}.\n"})
    commit_all(clone, "Reversed")
    said = write_agent(view_review(reviewed(clone, "HEAD~1..HEAD")), Quotes())
    assert "word3999" in said
    assert max(map(len, said.splitlines())) < 700


@pytest.fixture
def bounded(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Set limits of a review."""

    def bound(**limits: int) -> None:
        limited = {**compared_banks.LIMITS, **limits}
        monkeypatch.setattr(compared_banks, "LIMITS", limited)

    return bound


@pytest.mark.parametrize(
    ("limits", "text", "reason"),
    [
        ({"bytes": 2000}, "word " * 500, "2,000 bytes"),
        ({"sections": 10}, "# H\n\n" * 9, "10 sections"),
        ({"links": 10}, "[[a]] " * 9 + "[b](b.md) " * 2, "10 links"),
    ],
)
def test_notes_beyond_the_limits_of_a_review_are_not_read_and_named(
    clone: Path, bounded: Callable[..., None], limits: dict[str, int], text: str, reason: str
) -> None:
    bounded(**limits)
    attack = f"# Big\n\n{text}\n\n[[facts/queue#Nothing]] a\u200bb\n"
    write(clone, {"facts/big.md": attack, "facts/small.md": "# Small\n\nSee [[Big]]. a\u200bb\n"})
    commit_all(clone, "Attack")
    made = reviewed(clone, "HEAD~1..HEAD")
    big, small = made.changes
    assert (big.path, big.kind, big.compared, big.checked) == (
        "facts/big.md",
        "added",
        False,
        False,
    )
    assert big.tokens_after > 0
    assert (small.compared, small.checked) == (True, True)
    (missed,) = [one for one in made.findings if one.path == "facts/big.md"]
    assert (missed.rule, missed.severity, missed.new) == ("not-checked", "error", True)
    assert f"more than {reason}" in missed.message
    assert "invisible-character" in {one.rule for one in made.findings if one.path != big.path}
    assert not of(made, "ghost-made"), "the note that was not read may have the title"
    assert any("1 changed notes are beyond the limits" in one for one in made.notices)


def test_both_versions_of_a_note_count_and_neither_is_read(
    clone: Path, bounded: Callable[..., None]
) -> None:
    write(clone, {"facts/big.md": "# Big\n\n[[facts/lonely]]\n\n" + "word " * 500})
    commit_all(clone, "Before")
    write(clone, {"facts/big.md": "# Big\n\nLess.\n", "facts/small.md": "# Small\n\nText.\n"})
    commit_all(clone, "Attack")
    bounded(bytes=2000)
    made = reviewed(clone, "HEAD~1..HEAD")
    assert [(one.path, one.kind, one.checked) for one in made.changes] == [
        ("facts/big.md", "changed", False),
        ("facts/small.md", "added", True),
    ]
    assert not of(made, "orphan-made", "broken-backlink")
    bounded(bytes=2_000_000)
    made = reviewed(clone, "HEAD~1..HEAD")
    assert all(one.checked for one in made.changes), "copies for later reviews are whole"
    assert [one.path for one in of(made, "orphan-made")] == ["facts/lonely.md"]


def test_removed_notes_beyond_the_limits_break_no_links_that_were_not_read(
    clone: Path, bounded: Callable[..., None]
) -> None:
    bounded(bytes=10)
    write(clone, {"facts/lonely.md": None, "facts/queue.md": None})
    commit_all(clone, "Remove")
    made = reviewed(clone, "HEAD~1..HEAD")
    assert [(one.kind, one.checked) for one in made.changes] == [("removed", False)] * 2
    assert not [one for one in made.findings if one.new]
    assert any("2 changed notes are beyond the limits" in one for one in made.notices)


@pytest.mark.slow
def test_no_change_makes_a_review_take_more_than_30_seconds_or_400_megabytes() -> None:
    cost = measure(None, "linked", 6_500_000, both=False)
    assert cost.code == 1
    assert cost.changes == 500
    assert cost.cpu < MOST_SECONDS
    assert cost.megabytes < MOST_MEGABYTES


def test_no_access_is_counted(clone: Path) -> None:
    with open_bank(clone / ".memories", settings=SETTINGS) as bank:
        review(bank, "main..topic")
        assert not list(bank.layout.state(bank.id).glob("access*"))


def test_notes_that_cite_changed_code_are_listed(tmp_path: Path) -> None:
    run_git(tmp_path, "init", "-q", "-b", "main")
    code = tmp_path / "jobs.py"
    code.write_text("def retry(job):\n    return job.run(3)\n\n\ndef stop():\n    pass\n")
    write(
        tmp_path,
        {
            "facts/retry.md": "# Retries\n\n`run(3)`: [[jobs.py#retry]].\n",
            "facts/stop.md": "# Stops\n\nAt once: [[jobs.py#stop]].\n",
        },
    )
    commit_all(tmp_path, "base")
    run_git(tmp_path, "checkout", "-q", "-b", "topic")
    code.write_text(code.read_text().replace("run(3)", "run(4)"))
    for options in ({"worktree": True}, {"staged": True}, {}):
        if options == {"staged": True}:
            assert not of(reviewed(tmp_path, **options), "stale-citation")
            run_git(tmp_path, "add", "-A")
        elif not options:
            commit_all(tmp_path, "four")
        (one,) = of(reviewed(tmp_path, **options), "stale-citation")
        by = "uncommitted" if options else run_git(tmp_path, "rev-parse", "HEAD")[:12]
        assert one[1:5] == (
            "warning", "facts/retry.md", 3,
            f"cites jobs.py#retry, which is changed by {by}: confirm, edit or archive the note",
        )  # fmt: skip
        assert (one.words, one.new) == ("jobs.py#retry", True)
    write(tmp_path, {"facts/retry.md": "# Retries\n\nFour: [[jobs.py#retry]].\n"})
    commit_all(tmp_path, "say so")
    assert not of(reviewed(tmp_path), "stale-citation")


def test_files_that_are_only_included_now_are_one_line(clone: Path) -> None:
    records = clone / "docs/adr"
    records.mkdir(parents=True)
    for number in (1, 2):
        (records / f"{number}.md").write_text(f"# Record {number}\n\nWe decided so.\n")
    commit_all(clone, "Decide")
    write(clone, {"config.toml": '[memory]\ninclude = ["docs/adr"]\n'})
    (records / "2.md").write_text("# Record 2\n\nWe decided otherwise.\n")
    commit_all(clone, "Include records")
    found = reviewed(clone, "HEAD~1..HEAD")
    assert [one.path for one in found.changes] == ["docs/adr/2.md"]
    said = "the settings include docs/adr now: 1 unchanged file became notes, not listed here"
    assert said in found.notices
