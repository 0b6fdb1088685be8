"""A symbol is explained by its calls, tests, coupled files, notes and commits."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from memory_bank.bank.bank import Bank, open_bank
from memory_bank.base.errors import SymbolNotFound
from memory_bank.base.text import Quotes
from memory_bank.base.view import write_agent
from memory_bank.code.explain_symbol import explain_symbol
from memory_bank.code.index.codebase import Codebase, open_codebase
from memory_bank.code.symbols import coupling
from memory_bank.code.views import view_explained
from memory_bank.git.history import History
from tests.git.history_builder import Made, make, run
from tests.support.cited_shop import make_shop
from tests.support.files import write_files
from tests.support.shop import FILES

NO_MODEL = {"memory.embedder": "none"}


def test_a_symbol_has_all_that_has_to_do_with_it(code: Codebase, shop_bank: Bank) -> None:
    found = explain_symbol(code, "Order.place", shop_bank)
    assert found.schema_version == "1.0"
    assert found.details.symbol.path == "shop/orders.py"
    assert found.details.doc == "Charge the customer, and retry on a timeout."
    assert [one.name for one in found.details.called_by] == ["describe"]
    assert "charge_with_retry" in {one.name for one in found.details.calls}
    first = found.coupled[0]
    assert (first.file, first.support) == ("shop/payments.py", 4)
    assert [(one.committed_at[:10], one.subject, one.files) for one in found.commits][:2] == [
        ("2020-09-19", "x", 1), ("2020-09-18", "x", 2),
    ]  # fmt: skip
    assert len(found.commits) == 5
    assert found.notices == ()


def test_what_may_call_a_method_is_listed_on_request(code: Codebase) -> None:
    plain = explain_symbol(code, "Gateway.charge").details
    assert (plain.called_by, plain.unclear_callers, plain.may_call) == ((), 1, ())
    (caller,) = explain_symbol(code, "Gateway.charge", may_call=True).details.may_call
    assert (caller.name, caller.written, caller.how) == (
        "charge_with_retry", "gateway.charge", "may call it",
    )  # fmt: skip
    assert (caller.path, caller.line) == ("shop/orders.py", plain_line(code, "charge_with_retry"))


def plain_line(code: Codebase, name: str) -> int:
    return explain_symbol(code, name, count_access=False).details.symbol.line


def test_one_commit_alone_couples_no_file_with_a_symbol(code: Codebase, shop_bank: Bank) -> None:
    known = {one.file: one for one in coupling(code, "shop/orders.py", 100).files}
    alone = {
        file for file, one in known.items() if one.support == 1 and one.coupling_type == "temporal"
    }
    shown = {one.file for one in explain_symbol(code, "Order.place", shop_bank, limit=100).coupled}
    assert alone
    assert not shown & alone


def test_the_tests_of_a_symbol_are_named(code: Codebase) -> None:
    (one,) = explain_symbol(code, "Order.check").tests
    assert (one.title, one.test_file, one.how) == (
        "an empty order is refused", "tests/test_orders.py", "calls it",
    )  # fmt: skip
    assert one.snippet == "def test_an_empty_order_is_refused():"


@pytest.mark.parametrize(
    ("name", "note", "kind", "sentence"),
    [
        ("Order.place", "refs.md", "reference", "An order is charged once."),
        (
            "charge_with_retry",
            "link.md",
            "wiki",
            "Three walrus retries in symbol:charge_with_retry are enough.",
        ),
    ],
)
def test_a_note_belongs_to_the_symbol_that_it_names(
    code: Codebase, shop_bank: Bank, name: str, note: str, kind: str, sentence: str
) -> None:
    found = explain_symbol(code, name, shop_bank)
    (one,) = found.notes
    assert (one.path, one.sentence) == (note, sentence)
    assert one.created_at.startswith("2026-01-0")
    (link,) = one.links
    assert link.row.kind == kind


def test_a_note_may_name_a_symbol_by_its_id(
    cited_shop: Path, code: Codebase, shop_bank: Bank
) -> None:
    name = explain_symbol(code, "Order").details.symbol.id
    note = cited_shop / ".memories/by-id.md"
    note.write_text(f"---\nsymbol_refs: [{name}]\n---\n# By id\n\nBy id.\n")
    try:
        assert [one.path for one in explain_symbol(code, "Order", shop_bank).notes] == ["by-id.md"]
    finally:
        note.unlink()


def test_links_into_a_file_belong_to_the_symbol_after_the_sign(
    code: Codebase, shop_bank: Bank
) -> None:
    found = explain_symbol(code, "Order.check", shop_bank)
    (one,) = found.notes
    assert one.path == "inside.md"
    assert [link.row.kind for link in one.links] == ["wiki", "markdown"]
    assert "See [shop/orders.py#Order.check]" in one.links[0].context
    assert explain_symbol(code, "Order", shop_bank).notes == ()


def test_notes_of_the_file_are_apart_and_the_newest_come_first(
    code: Codebase, shop_bank: Bank
) -> None:
    found = explain_symbol(code, "Order.place", shop_bank)
    assert [one.path for one in found.file_notes] == ["heading.md", "file.md"]
    assert found.file_notes[1].sentence == "Orders are never deleted."


def test_an_ambiguous_name_belongs_to_the_symbols_of_exactly_that_name(
    code: Codebase, shop_bank: Bank
) -> None:
    for file in ("payments", "reports"):
        found = explain_symbol(code, f"shop/{file}.py#describe", shop_bank)
        assert [one.path for one in found.notes] == ["unknown.md"]
    assert explain_symbol(code, "Gateway.send", shop_bank).notes == ()


def test_explaining_counts_one_access_of_the_symbol(code: Codebase, shop_bank: Bank) -> None:
    assert explain_symbol(code, "Gateway", shop_bank).details.access_count == 0
    assert explain_symbol(code, "Gateway", shop_bank, count_access=False).details.access_count == 1
    again = explain_symbol(code, "Gateway", shop_bank).details
    assert (again.access_count, again.last_accessed_at[-1]) == (1, "Z")
    assert explain_symbol(code, "Gateway.send", shop_bank).details.access_count == 0


def test_what_a_limit_leaves_out_is_said(code: Codebase, shop_bank: Bank) -> None:
    found = explain_symbol(code, "Order.place", shop_bank, limit=1)
    assert len(found.details.calls) == len(found.coupled) == len(found.commits) == 1
    assert "1 more notes of the file are left out" in found.notices


def test_without_a_readable_history_the_rest_is_explained(
    code: Codebase, shop_bank: Bank, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(History, "at", lambda *_, **__: None)
    found = explain_symbol(code, "Order.place", shop_bank)
    assert found.commits == ()
    assert {one.support for one in found.coupled} == {0}
    assert "no history is used" in found.notices[0]
    assert [one.path for one in found.notes] == ["refs.md"]


def test_an_unknown_symbol_is_an_error(code: Codebase, shop_bank: Bank) -> None:
    with pytest.raises(SymbolNotFound, match="did you mean Gateway"):
        explain_symbol(code, "Gatway", shop_bank)


def test_no_bank_is_needed(cited_shop: Path, tmp_path: Path) -> None:
    run(tmp_path, "clone", "-q", str(cited_shop), "clone")
    run(tmp_path / "clone", "rm", "-rq", ".memories")
    with open_codebase(tmp_path / "clone") as code:
        assert code.layout is None
        for _ in range(2):
            found = explain_symbol(code, "Order.place")
            assert (found.notes, found.file_notes, found.details.access_count) == ((), (), 0)
        assert found.commits


def test_a_bank_below_the_root_of_the_work_tree_names_files_from_its_project(
    tmp_path: Path,
) -> None:
    note = "---\nfile_refs: [shop/orders.py]\n---\n# Orders\n\nIn a folder.\n"
    root = make_shop(tmp_path / "root")
    write_files(root / "part", {**FILES, ".memories/note.md": note})
    with open_codebase(root / "part") as code, open_bank(root / "part") as shop_bank:
        found = explain_symbol(code, "part/shop/orders.py#Order", shop_bank)
        assert [one.path for one in found.file_notes] == ["note.md"]
        assert explain_symbol(code, "shop/orders.py#Order", shop_bank).file_notes == ()


def test_commits_that_wrote_it_say_why_and_rules_for_its_file_are_named(
    homes: Iterator[Path],
) -> None:
    code = "def retry(send):\n    for _ in range({}):\n        send()\n"
    rule = (
        "---\ntype: rule\napplies_to: [lib/*.py]\n---\n# Networks\n\nNever wait without a limit.\n"
    )
    other = rule.replace("lib/*", "bin/*")
    files = {"lib/a.py": code.format(1), ".memories/net.md": rule, ".memories/bin.md": other}
    root = make(next(homes), [Made(files)])
    (root / "lib/a.py").write_text(code.format(3))
    message = "Retry three times\n\nThe bank's network loses one packet of ten. More."
    run(root, "commit", "-q", "-am", message)
    (root / "notes.txt").write_text("x")
    run(root, "add", "notes.txt")
    run(root, "commit", "-q", "-m", "Add notes\n\nNo reason for the code.")
    with open_codebase(root) as code_of, open_bank(root, settings=NO_MODEL) as bank:
        found = explain_symbol(code_of, "retry", bank)
        shown = write_agent(view_explained(found), Quotes())
    first = found.commits[0]
    assert (first.subject, first.lines) == ("Retry three times", 1)
    assert [(one.path, one.sentence) for one in found.rules] == [
        ("net.md", "Never wait without a limit.")
    ]
    assert "Retry three times: The bank's network loses one packet of ten." in shown
    assert "No reason for the code" not in shown
