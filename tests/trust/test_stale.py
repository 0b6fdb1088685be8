"""Which citations are stale, in repositories with real histories."""

import subprocess
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest

from memory_bank.bank.bank import open_bank
from memory_bank.base.errors import BadInput, NoRepository
from memory_bank.frontends.cli.main import run as run_cli
from memory_bank.memory.remember import remember
from memory_bank.trust import stale
from memory_bank.trust.records import Citation, StaleReport
from tests.git.history_builder import Made, commit_all, extend, make, run

MakeProject = Callable[..., Path]

CHARGE = '''def charge(order, tries=3):
    """Charge it."""
    for _ in range(tries):
        if order.pay():
            return True
    return False
'''
REFUND = "def refund(order):\n    order.paid = False\n    order.keep()\n    return order\n"
ORDERS = f"import os\n\n\n{CHARGE}\n\n{REFUND}\n\nLIMIT = 10\n"
NOTE = "# Orders\n\nTried `tries` times, see [[src/orders.py#charge]].\n\n## Limits\n\nTen: [[src/orders.py#LIMIT]].\n"
FIRST = Made({"src/orders.py": ORDERS, "README": "hello\n", ".memories/orders.md": NOTE})
EDITED = ORDERS.replace("range(tries)", "range(tries + 1)")


@pytest.fixture
def project(homes: Iterator[Path]) -> MakeProject:
    def made(*commits: Made) -> Path:
        return make(next(homes), commits)

    return made


def found(root: Path, range_: str | None = None, **options: object) -> StaleReport:
    with open_bank(root / ".memories", settings={"memory.embedder": "none"}) as bank:
        return stale.stale(bank, range_, **options)  # type: ignore[arg-type]


def by_target(report: StaleReport) -> dict[str, Citation]:
    return {one.target: one for one in report.citations}


def states(root: Path, range_: str | None = None, **options: object) -> dict[str, str]:
    return {one.target: one.state for one in found(root, range_, **options).citations}


CHARGED, LIMITED = "src/orders.py#charge", "src/orders.py#LIMIT"


def test_nothing_is_stale_before_the_code_changes(project: MakeProject) -> None:
    root = project(FIRST, Made({"README": "other\n"}))
    assert states(root) == {CHARGED: "fresh", LIMITED: "fresh"}


def test_a_changed_symbol_is_named_with_the_commit_that_did_it(project: MakeProject) -> None:
    root = project(
        FIRST, Made({"README": "x"}), Made({"src/orders.py": EDITED}), Made({"README": "y"})
    )
    report = by_target(found(root))
    charged = report[CHARGED]
    assert (charged.state, charged.path, charged.line, charged.fix) == (
        "changed",
        "orders.md",
        3,
        None,
    )
    assert [one.id for one in charged.commits] == [run(root, "rev-parse", "HEAD~1").strip()]
    assert charged.commits[0].author == "Test"
    assert charged.since == run(root, "rev-parse", "HEAD~3").strip()
    assert report[LIMITED].state == "fresh"


def test_a_document_outside_of_the_bank_is_tracked_as_any_other_file(project: MakeProject) -> None:
    head = "---\nfile_refs: [docs/guide.md, docs/old.md, facts/gone.md]\n---\n"
    note = f"{head}# Docs\n\n`Guide`: see [the plan](../../PLAN.md) and [[facts/never.md]].\n"
    docs = {"docs/guide.md": "# Guide\n", "docs/old.md": "# Old\n", "PLAN.md": "# Plan\n"}
    notes = {".memories/facts/a.md": note, ".memories/facts/gone.md": "# Gone\n"}
    gone = ["docs/old.md", ".memories/facts/gone.md"]
    root = project(
        Made({**docs, **notes}), Made({"docs/guide.md": "# More\n\nMore.\n"}, removed=gone)
    )
    tracked = states(root)
    assert {tracked.pop("docs/guide.md"), tracked.pop("../../PLAN.md")} == {"changed", "fresh"}
    assert tracked == {
        "docs/old.md": "gone",
        "facts/gone.md": "unknown",
        "facts/never.md": "unknown",
    }


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('    """Charge it."""\n', '    """Charge an order."""\n    # as often as it takes\n'),
        ("range(tries):\n", "range(\n        tries,\n    ):\n\n"),
        ("import os\n", "import os\nimport sys\n\nOTHER = 1\n"),
        ("    return False\n", "    return False  # never paid\n"),
    ],
    ids=["comment", "reformat", "moved down", "comment behind"],
)
def test_layout_comments_and_place_do_not_count(project: MakeProject, old: str, new: str) -> None:
    changed = ORDERS.replace(old, new)
    assert changed != ORDERS
    assert states(project(FIRST, Made({"src/orders.py": changed}))) == {
        CHARGED: "fresh",
        LIMITED: "fresh",
    }


def test_a_method_that_is_no_longer_the_first_or_last_is_the_same(project: MakeProject) -> None:
    one = "    def one(self):\n        if self:\n            return 1\n"
    two = "    def two(self):\n        return 2\n"
    note = "[[a.py#A.one]]\n"
    root = project(Made({"a.py": f"class A:\n{one}\n{two}", ".memories/n.md": note}))
    for text in (
        f"class A:\n{two}\n{one}",
        f"class A:\n{two}\n{one}\n    # end\n",
        f"class A:\n{one}",
    ):
        extend(root, [Made({"a.py": text})], int(run(root, "rev-list", "--count", "HEAD")))
        assert states(root) == {"a.py#A.one": "fresh"}


def test_only_the_section_that_was_edited_is_fresh_again(project: MakeProject) -> None:
    code = EDITED.replace("LIMIT = 10", "LIMIT = 12")
    root = project(
        FIRST,
        Made({"src/orders.py": code}),
        Made({".memories/orders.md": NOTE.replace("Ten", "Twelve")}),
    )
    assert states(root) == {CHARGED: "changed", LIMITED: "fresh"}


def test_an_edit_that_is_not_committed_counts_as_of_now(project: MakeProject) -> None:
    root = project(FIRST, Made({"src/orders.py": EDITED}))
    note = root / ".memories" / "orders.md"
    note.write_text(NOTE.replace("Tried", "Charged"))
    (root / ".memories" / "new.md").write_text("See [[src/orders.py#refund]].\n")
    report = by_target(found(root))
    assert report[CHARGED].state == "fresh"
    assert report[CHARGED].since == ""
    assert report["src/orders.py#refund"].state == "fresh"


def test_uncommitted_code_counts_with_worktree_only(project: MakeProject) -> None:
    root = project(FIRST)
    (root / "src/orders.py").write_text(EDITED)
    assert states(root)[CHARGED] == "fresh"
    charged = by_target(found(root, worktree=True))[CHARGED]
    assert charged.state == "changed"
    assert [one.id for one in charged.commits] == ["uncommitted"]
    (root / "src/orders.py").rename(root / "src/shop.py")
    assert by_target(found(root, worktree=True))[LIMITED].fix == "src/shop.py#LIMIT"


def test_a_part_of_a_file_that_is_no_code_stands_for_the_file(project: MakeProject) -> None:
    note = "[[conf.yml#port]] [[data.csv#two]] [[src/orders.py#L3]]\n"
    first = Made(
        {**FIRST.texts, "conf.yml": "port: 1\n", "data.csv": "1\n", ".memories/n.md": note}
    )
    root = project(
        first,
        Made(
            {"conf.yml": "port: 2\n"},
            renames=[("data.csv", "other/data.csv"), ("src/orders.py", "shop/orders.py")],
        ),
    )
    report = by_target(found(root))
    assert (report["conf.yml#port"].state, report["conf.yml#port"].kind) == ("changed", "file")
    assert report["data.csv#two"].fix == "other/data.csv#two"
    assert report["src/orders.py#L3"].fix == "shop/orders.py#L3"


def test_a_symbolic_link_is_compared_by_its_target(project: MakeProject) -> None:
    root = project(FIRST)
    (root / "link.py").symlink_to("src/orders.py")
    (root / ".memories/n.md").write_text("[[link.py]]\n")
    commit_all(root, "link")
    assert states(root, worktree=True)["link.py"] == "fresh"
    (root / "link.py").unlink()
    (root / "link.py").symlink_to("README")
    assert states(root, worktree=True)["link.py"] == "touched"


def test_a_renamed_file_is_followed(project: MakeProject) -> None:
    root = project(FIRST, Made(renames=[("src/orders.py", "shop/sales.py")]))
    report = by_target(found(root))
    assert (report[CHARGED].state, report[CHARGED].fix) == ("moved", "shop/sales.py#charge")
    assert (found(root).stale, len(found(root).listed)) == ((), 2)
    assert [one.id for one in report[CHARGED].commits] == [run(root, "rev-parse", "HEAD").strip()]


def test_a_file_that_was_renamed_twice_and_then_changed_is_changed(project: MakeProject) -> None:
    root = project(
        FIRST,
        Made(renames=[("src/orders.py", "src/sales.py")]),
        Made(renames=[("src/sales.py", "shop/sales.py")]),
        Made({"shop/sales.py": EDITED}),
    )
    report = by_target(found(root))
    assert (report[CHARGED].state, report[CHARGED].fix) == ("changed", "shop/sales.py#charge")
    assert run(root, "rev-parse", "HEAD").strip() in [one.id for one in report[CHARGED].commits]
    assert (report[LIMITED].state, report[LIMITED].fix) == ("moved", "shop/sales.py#LIMIT")


def test_a_symbol_that_moved_between_files_is_followed(project: MakeProject) -> None:
    without = ORDERS.replace(CHARGE, "from src.paying import charge\n")
    root = project(
        FIRST, Made({"src/orders.py": without, "src/paying.py": f"import time\n\n\n{CHARGE}"})
    )
    charged = by_target(found(root))[CHARGED]
    assert (charged.state, charged.fix) == ("moved", "src/paying.py#charge")
    assert len(charged.commits) == 1


def test_code_that_left_a_file_before_its_rename_is_followed(project: MakeProject) -> None:
    other = CHARGE.replace("order.pay()", "order.pay(tries)")
    root = project(
        FIRST,
        Made(renames=[("src/orders.py", "shop/sales.py")]),
        Made(
            {
                "shop/sales.py": ORDERS.replace(CHARGE, other),
                "shop/paying.py": f"import time\n\n\n{CHARGE}",
            }
        ),
    )
    charged = by_target(found(root))[CHARGED]
    assert (charged.state, charged.fix) == ("moved", "shop/paying.py#charge")


def test_the_new_target_is_written_as_the_old_one_was(project: MakeProject) -> None:
    note = (
        "---\nfile_refs: [../lib/k.py, src/orders.py]\n---\n"
        "[[src/orders.py#charge]] [a](../src/orders.py#LIMIT) [b](../../lib/k.py#refund)\n"
    )
    root = project(
        Made({"app/src/orders.py": ORDERS, "lib/k.py": REFUND, "app/.memories/n.md": note}),
        Made(renames=[("app/src/orders.py", "app/shop/orders.py"), ("lib/k.py", "other/k.py")]),
    )
    assert {one.target: one.fix for one in found(root / "app").citations} == {
        "../lib/k.py": "../other/k.py",
        "src/orders.py": "shop/orders.py",
        "src/orders.py#charge": "shop/orders.py#charge",
        "../src/orders.py#LIMIT": "../shop/orders.py#LIMIT",
        "../../lib/k.py#refund": "../../other/k.py#refund",
    }


def test_a_repository_without_commits_says_so(project: MakeProject) -> None:
    root = project()
    (root / ".memories").mkdir()
    with pytest.raises(BadInput, match="no commits yet"):
        found(root)


def test_a_renamed_symbol_is_followed(project: MakeProject) -> None:
    recursive = ORDERS.replace("    return False\n", "    return charge(order, tries - 1)\n")
    root = project(
        Made({**FIRST.texts, "src/orders.py": recursive}),
        Made({"src/orders.py": recursive.replace("charge(", "collect(")}),
    )
    charged = by_target(found(root))[CHARGED]
    assert (charged.state, charged.fix) == ("renamed", "src/orders.py#collect")


def test_a_function_that_moves_to_another_class_or_name_is_followed_if_it_calls_something(
    project: MakeProject,
) -> None:
    route = "    def route(self):\n        def inner(f):\n            return self.add(f)\n        return inner\n"
    plain = "    def plain(self):\n        return self\n"
    note = "[[a.py#A.route]] [[a.py#A.plain]] [[a.py#has]]\n"
    has = "def has(name):\n    return find(name) is not None\n"
    root = project(
        Made({"a.py": f"class A:\n{route}\n{plain}\n{has}", ".memories/n.md": note}),
        Made(
            {
                "a.py": "class A:\n    pass\n",
                "b.py": f"class B:\n{route}\n{plain}",
                "c.py": has.replace("has", "_has"),
            }
        ),
    )
    report = by_target(found(root))
    assert (report["a.py#A.route"].state, report["a.py#A.route"].fix) == ("renamed", "b.py#B.route")
    assert (report["a.py#has"].state, report["a.py#has"].fix) == ("renamed", "c.py#_has")
    assert report["a.py#A.plain"].state == "gone"


def test_a_function_inside_another_follows_that(project: MakeProject) -> None:
    test = "def test_get({self}):\n    def index():\n        return 'one'\n    run({self}index)\n"
    inside = "".join(f"    {line}\n" for line in test.format(self="self, ").splitlines())
    note = "[[a.py#Case.test_get.index]]\n"
    root = project(
        Made({"a.py": f"class Case:\n{inside}", ".memories/n.md": note}),
        Made({"b.py": test.format(self="")}, removed=["a.py"]),
    )
    (one,) = found(root).citations
    assert (one.state, one.fix) == ("renamed", "b.py#test_get.index")


def test_a_symbol_that_is_deleted_is_gone(project: MakeProject) -> None:
    root = project(
        FIRST, Made({"src/orders.py": ORDERS.replace(CHARGE, "")}), Made({"README": "z"})
    )
    charged = by_target(found(root))[CHARGED]
    assert (charged.state, charged.fix) == ("gone", None)
    assert [one.id for one in charged.commits] == [run(root, "rev-parse", "HEAD~1").strip()]


def test_a_deleted_file_is_gone(project: MakeProject) -> None:
    root = project(FIRST, Made({}, removed=["src/orders.py"]))
    assert states(root) == {CHARGED: "gone", LIMITED: "gone"}


def test_files_are_cited_by_links_and_references(project: MakeProject) -> None:
    note = (
        "---\nfile_refs: [./src/orders.py, data.csv]\nsymbol_refs: [refund]\n---\n"
        "[[src/]] [[README]] [x](../src/orders.py#L3) [[symbol:charge]] [[person:ann]] [[planned.py]]"
        " `charge` with `tries`\n"
    )
    first = Made(
        {"src/orders.py": ORDERS, "README": "a\nb\n", "data.csv": "1,2\n", ".memories/n.md": note}
    )
    reformatted = ORDERS.replace("range(tries)", "range( tries )")
    root = project(first, Made({"src/orders.py": reformatted, "README": "a  \nb\n\n"}))
    assert set(states(root).values()) == {"fresh", "unknown"}
    assert states(root)["planned.py"] == "unknown"
    extend(root, [Made({"src/orders.py": EDITED, "data.csv": "1,3\n"}, removed=["README"])], 2)
    assert states(root) == {
        "./src/orders.py": "changed",
        "../src/orders.py#L3": "changed",
        "data.csv": "touched",
        "refund": "fresh",
        "symbol:charge": "changed",
        "README": "gone",
        "src/": "fresh",
        "planned.py": "unknown",
    }


def test_a_symbol_cited_by_name_is_fresh_in_any_file(project: MakeProject) -> None:
    first = Made({"a.py": CHARGE, ".memories/n.md": "`pay`: [[symbol:charge]]\n"})
    root = project(first, Made(renames=[("a.py", "b.py")]))
    assert states(root) == {"symbol:charge": "fresh"}
    extend(root, [Made({"b.py": CHARGE.replace("charge", "collect")})], 2)
    named = by_target(found(root))["symbol:charge"]
    assert (named.state, named.fix) == ("renamed", "symbol:collect")


def test_of_a_symbol_cited_by_name_that_moved_and_changed_nothing_is_to_be_written(
    project: MakeProject,
) -> None:
    first = Made({"a.py": CHARGE, ".memories/n.md": "`pay`: [[symbol:charge]]\n"})
    changed = Made({"b.py": CHARGE.replace("order.pay()", "order.settle()")})
    root = project(first, Made(renames=[("a.py", "b.py")]), changed)
    (named,) = found(root).citations
    assert (named.state, named.fix) == ("changed", None)


def test_code_that_changed_on_the_other_side_of_a_merge_makes_a_note_stale(
    project: MakeProject,
) -> None:
    changed = NOTE.replace("Tried", "Charged")
    root = project(
        FIRST,
        Made({"src/orders.py": EDITED}, parents=[1]),
        Made({".memories/orders.md": changed}, parents=[1]),
        Made({"src/orders.py": EDITED, ".memories/orders.md": changed}, parents=[2, 3]),
    )
    charged = by_target(found(root))[CHARGED]
    assert charged.state == "changed"
    assert [one.id for one in charged.commits] == [run(root, "rev-parse", "HEAD^1").strip()]


def test_a_change_that_only_a_merge_made_names_the_merge(project: MakeProject) -> None:
    root = project(
        FIRST,
        Made({"README": "one"}, parents=[1]),
        Made({"data": "two"}, parents=[1]),
        Made({"src/orders.py": EDITED, "data": "two"}, parents=[2, 3]),
    )
    charged = by_target(found(root))[CHARGED]
    assert charged.state == "changed"
    assert [one.id for one in charged.commits] == [run(root, "rev-parse", "HEAD").strip()]


def test_a_text_that_only_a_merge_wrote_is_as_new_as_the_merge(project: MakeProject) -> None:
    root = project(
        FIRST,
        Made({"src/orders.py": EDITED}, parents=[1]),
        Made({".memories/orders.md": NOTE.replace("Tried", "Asked")}, parents=[1]),
        Made(
            {"src/orders.py": EDITED, ".memories/orders.md": NOTE.replace("Tried", "Charged")},
            parents=[2, 3],
        ),
    )
    assert states(root) == {CHARGED: "fresh", LIMITED: "fresh"}


def test_a_renamed_note_keeps_its_date(project: MakeProject) -> None:
    root = project(
        FIRST,
        Made({"src/orders.py": EDITED}),
        Made(renames=[(".memories/orders.md", ".memories/facts/orders.md")]),
    )
    charged = by_target(found(root))[CHARGED]
    assert (charged.path, charged.state) == ("facts/orders.md", "changed")


@pytest.mark.parametrize(
    ("old", "new"),
    [("# Orders", "# All orders"), ("## Limits", "## Bounds"), ("# Orders", "## Orders")],
)
@pytest.mark.parametrize("committed", [True, False])
def test_another_heading_does_not_make_a_section_fresh(
    project: MakeProject, old: str, new: str, *, committed: bool
) -> None:
    changed = EDITED.replace("LIMIT = 10", "LIMIT = 11")
    renamed = Made({".memories/orders.md": NOTE.replace(old, new, 1)})
    root = project(FIRST, Made({"src/orders.py": changed}), *([renamed] if committed else []))
    if not committed:
        (root / ".memories/orders.md").write_text(renamed.texts[".memories/orders.md"])
    assert states(root) == {CHARGED: "changed", LIMITED: "changed"}


def test_another_text_below_another_heading_is_a_change(project: MakeProject) -> None:
    text = NOTE.replace("# Orders\n\nTried", "# All\n\nCharged")
    root = project(FIRST, Made({"src/orders.py": EDITED}), Made({".memories/orders.md": text}))
    assert states(root)[CHARGED] == "fresh"


def test_tags_do_not_make_a_note_fresh(project: MakeProject) -> None:
    note = "---\ntags: [a]\nfile_refs: [src/orders.py]\n---\nText on `tries`.\n"
    root = project(
        Made({"src/orders.py": ORDERS, ".memories/n.md": note}),
        Made({"src/orders.py": EDITED}),
        Made({".memories/n.md": note.replace("[a]", "[a, b]")}),
    )
    assert states(root) == {"src/orders.py": "changed"}
    extend(root, [Made({".memories/n.md": note.replace("Text", "New text")})], 3)
    assert states(root) == {"src/orders.py": "fresh"}


def verified(commit: str) -> str:
    return f"---\nverified_commit: {commit}\n---\n{NOTE}"


def test_a_confirmed_note_is_fresh_until_the_code_changes_again(project: MakeProject) -> None:
    root = project(FIRST, Made({"src/orders.py": EDITED}))
    head = run(root, "rev-parse", "HEAD").strip()
    (root / ".memories/orders.md").write_text(verified(head))
    assert states(root)[CHARGED] == "fresh"
    extend(root, [Made({".memories/orders.md": verified(head)})], 2)
    charged = by_target(found(root))[CHARGED]
    assert (charged.state, charged.since, charged.remark) == ("fresh", head, "")
    extend(root, [Made({"src/orders.py": EDITED.replace("tries + 1", "tries + 2")})], 3)
    charged = by_target(found(root))[CHARGED]
    assert (charged.state, charged.since, len(charged.commits)) == ("changed", head, 1)


def test_a_verified_commit_that_a_squash_dropped_falls_back_and_says_so(
    project: MakeProject,
) -> None:
    root = project(FIRST, Made({"src/orders.py": EDITED}, parents=[1]))
    dropped = run(root, "rev-parse", "HEAD").strip()
    run(root, "checkout", "-q", "-B", "main", "HEAD~1")
    (root / "src/orders.py").write_text(EDITED)
    (root / ".memories/orders.md").write_text(verified(dropped))
    run(root, "commit", "-qam", "squashed")
    squashed = run(root, "rev-parse", "HEAD").strip()
    charged = by_target(found(root))[CHARGED]
    assert (charged.state, charged.since) == ("fresh", squashed)
    assert dropped[:12] in charged.remark
    (root / "src/orders.py").write_text(ORDERS)
    run(root, "commit", "-qam", "later")
    charged = by_target(found(root))[CHARGED]
    assert (charged.state, charged.since) == ("changed", squashed)
    assert charged.remark


def test_a_verified_commit_may_be_anything(project: MakeProject) -> None:
    for odd in ("--help", "12", "HEAD", "'{}'", "0" * 40):
        root = project(
            Made({**FIRST.texts, ".memories/orders.md": verified(odd)}),
            Made({"src/orders.py": EDITED}),
        )
        charged = by_target(found(root))[CHARGED]
        assert charged.state == "changed"
        assert charged.remark


def test_a_range_lists_citations_of_what_it_changes(project: MakeProject) -> None:
    root = project(
        FIRST,
        Made({"src/orders.py": EDITED}),
        Made({"README": "b"}),
        Made({"src/orders.py": EDITED.replace("LIMIT = 10", "LIMIT = 11")}),
    )
    assert states(root, "HEAD~1..HEAD") == {CHARGED: "fresh", LIMITED: "changed"}
    assert states(root, "HEAD~2..HEAD~1") == {}
    assert {one.target for one in found(root, "HEAD~3").stale} == {CHARGED, LIMITED}
    assert found(root, "HEAD~1..").base == run(root, "rev-parse", "HEAD~1").strip()


def test_a_range_starts_where_the_branches_part(project: MakeProject) -> None:
    root = project(FIRST, Made({"src/orders.py": ORDERS.replace("LIMIT = 10", "LIMIT = 11")}))
    limit = run(root, "rev-parse", "main").strip()
    run(root, "branch", "-m", "main", "topic")
    run(root, "checkout", "-q", "-b", "main", "topic~1")
    (root / "src/orders.py").write_text(EDITED)
    run(root, "commit", "-qam", "edit")
    assert [one.target for one in found(root, f"main..{limit}").stale] == [LIMITED]
    assert [one.target for one in found(root, "topic..main").stale] == [CHARGED]


def test_a_note_that_the_range_itself_updates_is_not_listed_as_stale(project: MakeProject) -> None:
    root = project(
        FIRST,
        Made({"src/orders.py": EDITED, ".memories/orders.md": NOTE.replace("Tried", "Charged")}),
    )
    assert found(root, "HEAD~1..HEAD").stale == ()


@pytest.mark.parametrize("odd", ["--output=x", "nothing..HEAD", "HEAD..--all", "a\nb"])
def test_a_range_is_no_option(project: MakeProject, odd: str) -> None:
    with pytest.raises(BadInput):
        found(project(FIRST), odd)


def test_a_shallow_clone_says_what_it_cannot_know(
    project: MakeProject, homes: Iterator[Path]
) -> None:
    root = project(FIRST, Made({"src/orders.py": EDITED}), Made({"README": "n"}))
    clone = next(homes)
    subprocess.run(
        ["git", "clone", "-q", "--depth=1", f"file://{root}", str(clone)],
        check=True,
        capture_output=True,
    )
    report = found(clone)
    assert "shallow" in report.notices[0]
    assert {one.state for one in report.citations} == {"fresh"}
    assert all("shallow" in one.remark for one in report.citations)


def test_outside_git_it_says_so(homes: Iterator[Path]) -> None:
    place = next(homes) / ".memories"
    place.mkdir(parents=True)
    (place / "a.md").write_text(NOTE)
    with pytest.raises(NoRepository):
        found(place.parent)


def test_other_languages_are_followed_too(project: MakeProject) -> None:
    code = "export function send(to) {\n  return post(to, 1);\n}\n"
    texts: Mapping[str, str] = {
        "lib/mail.js": code,
        ".memories/n.md": "`post(to, 1)`: [[lib/mail.js#send]]\n",
    }
    root = project(
        Made(texts),
        Made({"lib/mail.js": "// mail\nexport function send( to ) { return post(to, 1) }\n"}),
    )
    assert states(root) == {"lib/mail.js#send": "fresh"}
    extend(root, [Made({"lib/mail.js": code.replace("1", "2")})], 2)
    assert states(root) == {"lib/mail.js#send": "changed"}


SYMBOL_CODE = '''MAX_BYTES = 16 << 20


def charge(order, tries=3):
    """Charge it."""
    log.info(order)
    for _ in range(tries):
        if order.pay(timeout=30):
            return True
    return False


def refund(order):
    order.keep()
'''
SYMBOL_NOTE = (
    "Calls `order.pay` at most `tries` times: [[shop.py#charge]].\n\n"
    "## Size\n\nA body has at most 16 MB, see [[shop.py#MAX_BYTES]].\n"
)


CART = "class Cart {\n  _rows = 9;\n  _sum(row) {\n    return row.price * this._rows;\n  }\n}\n"


def test_a_method_with_the_sign_of_private_names_is_renamed(project: MakeProject) -> None:
    note = "The sum is `row.price` times `_rows`, see [[cart.js#Cart._sum]].\n"
    root = project(Made({"cart.js": CART, ".memories/n.md": note}))
    extend(root, [Made({"cart.js": CART.replace("_", "#").replace("row)", "row, log)")})], 1)
    [citation] = found(root).citations
    assert (citation.state, citation.fix) == ("renamed", "cart.js#Cart.#sum")
    extend(root, [Made({"cart.js": CART.replace("_", "#").replace("price", "cents")})], 2)
    assert states(root) == {"cart.js#Cart._sum": "changed"}


GO_CODE = """package shop

var DefaultLimits = Limits{
	Rows: 20,
}

type Limits struct {
	Rows int
	Pages int
}
"""


CART_NOTE = "`_sum` multiplies with `_rows`, see [[cart.js#Cart]] and [[cart.js]].\n"
GO_NOTE = "Without a config [[shop.go#DefaultLimits]] counts.\n"
TRIED_CODE = """import pay

RETRIED = frozenset(["GET", "HEAD", "PUT"])


def send(order, tries=3):
    return pay.post(order.total, tries)


def notify(order, user, mail, text, title, sender, channel, signature, footer, header, image):
    return save(order, user)
"""


NAMED = {  # a file with its code, a note, the target that it cites, and what changes of code make of that
    "a cited symbol": ("shop.py", SYMBOL_CODE, SYMBOL_NOTE, "shop.py#charge", [
        ("charge(order, tries=3)", "charge(order: Order, tries: int = 3) -> bool", "touched"),
        ("log.info(order)", "journal.write(order)", "touched"),
        ("charge(order, tries=3)", "charge(order, tries=3, log=None)", "touched"),
        ("order.pay(timeout=30)", "order.settle(timeout=30)", "changed"),
        ("order.pay(timeout=30)", "order.pay(timeout=60)", "changed"),
        ("order.pay(timeout=30)", "paid(order)", "changed"),
        ("tries", "attempts", "changed"),
        ("16 << 20", "17 << 20", "fresh"),
    ]),
    "a constant by its value": ("shop.py", SYMBOL_CODE, SYMBOL_NOTE, "shop.py#MAX_BYTES", [
        ("16 << 20", "1024 * 16", "changed"),
        ("16 << 20", "16 << 10", "changed"),
        ("16 << 20", "17 << 20", "changed"),
        ("16 << 20", "16 * MB", "touched"),
        ("16 << 20", "16 * 1024 * 1024", "touched"),
        ("16 << 20", "16_777_216", "touched"),
        ("log.info(order)", "journal.write(order)", "fresh"),
        ("order.pay(timeout=30)", "order.pay(timeout=60)", "fresh"),
    ]),
    "a name that is no symbol": ("shop.go", GO_CODE, GO_NOTE, "shop.go#DefaultLimits", [
        ("20", "30", "touched"),
        ("DefaultLimits = ", "Defaults = ", "changed"),
        ("package shop", "package shops", "touched"),
    ]),
    **{f"a private name of JavaScript in {target}": ("cart.js", CART, CART_NOTE, target, [
        (CART, CART.replace("_", "#"), "touched"),
        (CART, CART.replace("_", "#").replace("price", "cents"), "touched"),
        (CART, CART.replace("_", "#").replace("9", "8"), "changed"),
        (CART, CART.replace("_rows", "lines"), "changed"),
    ]) for target in ("cart.js#Cart", "cart.js")},
    **{text: ("shop.py", TRIED_CODE, f"---\nfile_refs: [shop.py]\n---\n{text}\n", "shop.py", rows) for text, rows in {
        "`RETRIED` has `GET`, `HEAD` and `PUT`.": [
            ('"PUT"]', '"PUT",\n    "QUERY",\n]', "changed"),
            ('["GET", ', '[\n    "GET", ', "touched"),
        ],
        "`RETRIED` has no `POST`.": [('"PUT"]', '"PUT", "QUERY"]', "touched")],
        "Call `send`, not `post`.": [
            ("tries=3", "tries=3, log=None", "touched"),
            ("order, tries=3", "order, money, tries=3", "changed"),
        ],
        "`send(order, tries)` sends.": [("tries=3", "tries=3, log=None", "changed")],
        "`notify` sends `mail`.": [("footer, header", "footer", "changed")],
        "It does `save(order, user)`.": [
            ("save(order, user)", "save(user, order)", "changed"),
            ("save(order, user)", "save(\n order,\n user)", "touched"),
        ],
    }.items()},
}  # fmt: skip


@pytest.mark.parametrize(
    ("name", "old", "new", "state"),
    [(name, *change) for name, (*_, changes) in NAMED.items() for change in changes],
)
def test_a_citation_is_stale_if_what_the_note_names_in_it_changed(
    project: MakeProject, name: str, old: str, new: str, state: str
) -> None:
    file, code, note, target, _ = NAMED[name]
    root = project(Made({file: code, ".memories/n.md": note}))
    extend(root, [Made({file: f"{code.replace(old, new)}\nA = 1\n"})], 1)
    assert states(root)[target] == state


def test_what_left_a_symbol_for_a_new_one_of_its_file_is_still_its_own(
    project: MakeProject,
) -> None:
    root = project(Made({"shop.py": SYMBOL_CODE, ".memories/n.md": SYMBOL_NOTE}))
    code = SYMBOL_CODE.replace("if order.pay(timeout=30)", "if paid(order)")
    extend(root, [Made({"shop.py": f"{code}\n\ndef paid(order):\n    order.pay(timeout=30)\n"})], 1)
    assert states(root)["shop.py#charge"] == "touched"


def test_a_symbol_that_moved_and_was_rewritten_is_moved(project: MakeProject) -> None:
    root = project(Made({"shop.py": SYMBOL_CODE, ".memories/n.md": SYMBOL_NOTE}))
    charge = SYMBOL_CODE[SYMBOL_CODE.index("def charge") : SYMBOL_CODE.index("def refund")]
    rewritten = charge.replace("log.info(order)", "journal.write(order, 1)")
    rest = SYMBOL_CODE.replace(charge, "")
    extend(root, [Made({"shop.py": rest, "pay.py": rewritten})], 1)
    citation = by_target(found(root))["shop.py#charge"]
    assert (citation.state, citation.fix) == ("moved", "pay.py#charge")
    extend(root, [Made({"pay.py": rewritten, "card.py": charge})], 2)
    assert by_target(found(root))["shop.py#charge"].fix == "card.py#charge", "it is as it was"
    extend(root, [Made({"pay.py": rewritten, "card.py": rewritten})], 3)
    assert states(root)["shop.py#charge"] == "gone", "it may be either of two"


def test_files_that_changed_elsewhere_are_counted_and_listed(
    project: MakeProject, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    root = project(WHOLE, Made({"src/orders.py": "def pay():\n    return 1\n"}))
    note = "---\nfile_refs: [src/orders.py]\n---\nOrders are never deleted.\n"
    extend(root, [Made({".memories/n.md": note}), Made({"src/orders.py": "A = 2\n"})], 2)
    monkeypatch.chdir(root)
    assert run_cli(["stale"]) == 0
    printed = capsys.readouterr()
    assert "nothing is stale" in printed.out
    assert "1 cited file changed elsewhere: --touched lists them" in printed.err
    assert run_cli(["stale", "--touched"]) == 0
    assert "src/orders.py touched" in capsys.readouterr().out
    with open_bank(root / ".memories", settings={"memory.embedder": "none"}) as bank:
        assert stale._report_for_agents(bank).notices == ("1 cited file changed elsewhere",)


FILE_NOTE = "---\nfile_refs: [src/orders.py]\n---\n# Orders\n\n`charge` stops at `LIMIT`.\n"
WHOLE = Made({"src/orders.py": ORDERS, ".memories/n.md": FILE_NOTE})


@pytest.mark.parametrize(
    ("code", "state", "names"),
    [
        (ORDERS.replace("LIMIT = 10", "LIMIT = 20"), "changed", ("LIMIT",)),
        (ORDERS.replace("def charge", "def collect"), "changed", ("charge",)),
        (ORDERS.replace("import os", "import sys").replace("Charge it", "Pay"), "touched", ()),
        (ORDERS.replace("order.keep()", "order.drop()"), "touched", ()),
        (f"LIMIT = 10\n\n\n{REFUND}\n\n{CHARGE}", "touched", ()),
    ],
)
def test_a_cited_file_is_stale_if_what_the_note_names_in_it_changed(
    project: MakeProject, code: str, state: str, names: tuple[str, ...]
) -> None:
    root = project(WHOLE, Made({"src/orders.py": f"{ORDERS}\nOTHER = 1\n"}))
    extend(root, [Made({"src/orders.py": code})], 2)
    report = found(root)
    (one,) = report.citations
    assert (one.state, one.names) == (state, names)
    assert (one in report.stale, one in report.listed) == (bool(names), bool(names))
    last = [run(root, "rev-parse", "HEAD").strip()]
    assert [commit.id for commit in one.commits][:1] == last
    assert len(one.commits) == (1 if names else 2), "those that changed what is named"
    ranged = found(root, "HEAD~1..HEAD").citations
    assert [one.state for one in ranged] == [state]


def test_a_cited_file_that_moved_and_changed_elsewhere_is_moved(project: MakeProject) -> None:
    root = project(WHOLE, Made(renames=[("src/orders.py", "shop/orders.py")]))
    extend(root, [Made({"shop/orders.py": ORDERS.replace("order.keep()", "order.drop()")})], 2)
    (one,) = found(root).citations
    assert (one.state, one.fix, one.stale) == ("moved", "shop/orders.py", False)
    extend(root, [Made({"shop/orders.py": ORDERS.replace("10", "20")})], 3)
    assert found(root).citations[0].names == ("LIMIT",)


def test_the_section_of_a_link_says_what_is_named_of_the_file(project: MakeProject) -> None:
    note = "# Orders\n\n`LIMIT`\n\n## One\n\n`charge`: [[src/orders.py]]\n\n## Two\n\n[[src/orders.py#L3]]\n"
    root = project(Made({"src/orders.py": ORDERS, ".memories/n.md": note}))
    extend(root, [Made({"src/orders.py": ORDERS.replace("10", "20")})], 1)
    assert states(root) == {"src/orders.py": "touched", "src/orders.py#L3": "changed"}


def test_a_note_that_a_tool_wrote_can_become_stale_before_it_is_committed(
    project: MakeProject,
) -> None:
    root = project(FIRST)
    with open_bank(root / ".memories", settings={"memory.embedder": "none"}) as bank:
        done = remember(bank, "The `LIMIT` is ten.", file_refs=["src/orders.py"])
    assert run(root, "status", "--porcelain").split() == [
        "??",
        f".memories/{done.path.split('/')[0]}/",
    ]
    assert "verified_commit" not in (root / ".memories" / done.path).read_text()
    assert by_target(found(root))["src/orders.py"].state == "fresh"
    run(root, "commit", "-q", "--allow-empty", "-m", "other")
    (root / "src/orders.py").write_text(ORDERS.replace("10", "20"))
    run(root, "commit", "-qm", "Twenty", "src/orders.py")
    one = by_target(found(root))["src/orders.py"]
    assert (one.state, one.since) == ("changed", run(root, "rev-parse", "HEAD~2").strip())
    note = root / ".memories" / done.path
    note.write_text(note.read_text().replace("ten", "twenty"))
    assert by_target(found(root))["src/orders.py"].state == "fresh", "nobody knows since when"


def test_a_note_that_git_does_not_know_is_compared_with_its_confirmation(
    project: MakeProject,
) -> None:
    root = project(FIRST, Made({"src/orders.py": ORDERS.replace("10", "20")}))
    head = run(root, "rev-parse", "HEAD~1").strip()
    note = FILE_NOTE.replace("---\nfile", f"---\nverified_commit: {head}\nfile", 1)
    (root / ".memories/n.md").write_text(note)
    assert by_target(found(root))["src/orders.py"].state == "changed"
