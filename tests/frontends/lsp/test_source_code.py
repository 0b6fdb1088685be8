"""Hovers in source files: of a real server, and each part of the text."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from lsprotocol import types

from memory_bank.bank.records import ShownNote
from memory_bank.code.coupled import CoupledFile
from memory_bank.code.index.codebase import open_codebase
from memory_bank.frontends.lsp.buffers import Clock
from memory_bank.frontends.lsp.open_texts import parse_text
from memory_bank.frontends.lsp.source_code import (
    SymbolContext,
    describe_symbol,
    format_age,
    symbols_around,
    word_at,
)
from memory_bank.notes.note import Meta
from tests.frontends.lsp.client import Editor, position, uri
from tests.frontends.lsp.conftest import cursor
from tests.git.history_builder import commit_all, run
from tests.support.files import write_files
from tests.support.homes import live_at
from tests.support.shop import FILES
from tests.support.waiting import until

NOW = 1_800_000_000.0
NOTE = ShownNote(
    note_id="x",
    path="facts/x.md",
    title="X",
    meta=Meta(type="fact"),
    created_at="2027-01-13T08:00:00Z",
    sentence='Charged "once" *only*',
)
COUPLED = CoupledFile("src/gateway.rs", 0.89, 8, 1_700_000_000, 0.7, "multi")
FULL = SymbolContext(
    name="process_payment",
    id="sym-0",
    purpose="Processes payments.",
    calls=("validate_order", "gateway.charge"),
    note=NOTE,
    coupled=COUPLED,
    guards=("retries on timeout", "handles negative balance", "logs audit trail"),
)
BASE = (
    "## `process_payment`\n\n**Purpose:** Processes payments.\n\n"
    "**Dependencies:** calls, by name: `validate_order`, `gateway.charge`"
)
LINES = {
    "note": '📝 *"Charged "once" \\*only\\*"* (2d ago)',
    "coupled": "⚠️ *Co-changes with gateway.rs (89%, Critical)*",
    "guards": "🧪 *3 test guards: retries on timeout, handles negative balance, logs audit trail*",
}
EMPTY = {"note": None, "coupled": None, "guards": ()}


def test_a_hover_has_a_line_for_each_part_of_the_context() -> None:
    text = describe_symbol(FULL, NOW)
    assert text == f"{BASE}\n\n---\n" + "  \n".join(LINES.values())


@pytest.mark.parametrize("missing", list(LINES))
def test_what_is_not_known_has_no_line(missing: str) -> None:
    rest = [line for part, line in LINES.items() if part != missing]
    text = describe_symbol(FULL._replace(**{missing: EMPTY[missing]}), NOW)
    assert text == f"{BASE}\n\n---\n" + "  \n".join(rest)


def test_without_context_a_hover_is_byte_for_byte_the_plain_one() -> None:
    assert describe_symbol(FULL._replace(**EMPTY), NOW) == BASE
    bare = FULL._replace(**EMPTY, purpose="", calls=())
    assert describe_symbol(bare, NOW) == "## `process_payment`"


def test_three_tests_are_named_and_all_are_counted() -> None:
    guards = tuple(f"test {number}" for number in range(7))
    assert describe_symbol(FULL._replace(guards=guards), NOW).endswith(
        "🧪 *7 test guards: test 0, test 1, test 2*"
    )
    assert describe_symbol(FULL._replace(guards=("a",)), NOW).endswith("🧪 *1 test guard: a*")


@pytest.mark.parametrize(
    ("seconds", "said"),
    [(-5, "just now"), (90, "1m ago"), (7_200, "2h ago"), (200_000, "2d ago"), (10**7, "3mo ago"), (10**8, "3y ago")],
)  # fmt: skip
def test_ages_are_short(seconds: float, said: str) -> None:
    assert format_age(seconds) == said


def test_hovers_count_at_most_one_access_of_a_symbol_in_a_minute() -> None:
    now = [0.0]
    clock = Clock(now=lambda: now[0])
    assert [clock.due("a"), clock.due("a"), clock.due("b")] == [True, False, True]
    now[0] = 59.9
    assert not clock.due("a")
    now[0] = 60.0
    assert clock.due("a")


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make a repository whose orders and payments change together, with notes on them."""
    root = tmp_path_factory.mktemp("code").resolve() / "shop"
    root.mkdir()
    run(root, "init", "-q")
    notes = {
        ".memories/.gitignore": ".index/\n.trash/\n.mb-*\nsessions/\n",
        ".memories/facts/retry.md": (
            "# Retries\n\nThe bank's network is slow. We retry in [[shop/orders.py#charge_with_retry]]"
            " since a timeout is no refusal. More.\n"
        ),
        ".memories/facts/orders.md": "---\nfile_refs: [shop/orders.py]\n---\n# Orders\n\nOrders are small.\n",
    }
    for number in range(6):
        for name, text in {**FILES, **notes}.items():
            file = root / name
            file.parent.mkdir(parents=True, exist_ok=True)
            mark = f"# {number}\n" if name in {"shop/orders.py", "shop/payments.py"} else ""
            file.write_text(text + mark)
        commit_all(root, f"Change {number}")
    return root


@pytest.fixture(scope="module")
def editor(shop: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Editor]:
    with Editor(shop, home=tmp_path_factory.mktemp("home")) as made:
        file = shop / "shop/orders.py"

        def ready() -> bool:
            found = hover(made, file, "def charge_with_retry", 6)
            return "📝" in found and "⚠️" in found

        until(ready)
        yield made
        assert made.leave() == 0
        assert made.stderr == ""


def hover(editor: Editor, file: Path, mark: str, inside: int, text: str | None = None) -> str:
    document = editor.open(file, text)
    at = position(editor.texts[file][1], mark, inside)
    found = editor.ask(editor.client.text_document_hover_async, types.HoverParams(document, at))
    return str(found.contents.value) if found else ""


def test_a_hover_on_a_definition_shows_its_context(editor: Editor, shop: Path) -> None:
    head, _, context = hover(editor, shop / "shop/orders.py", "def charge_with_retry", 6).partition(
        "\n\n---\n"
    )
    assert head == (
        "## `charge_with_retry`\n\n**Purpose:** Charge up to three times.\n\n"
        "**Dependencies:** calls, by name: `gateway.charge`"
    )
    note, coupled, guards = context.split("  \n")
    assert note.startswith('📝 *"We retry in ')
    assert re.search(r'since a timeout is no refusal\."\* \((just now|\dm ago)\)$', note)
    assert coupled == "⚠️ *Co-changes with payments.py (100%, Critical)*"
    assert guards.startswith("🧪 *")


def test_a_hover_on_a_call_shows_what_is_called(editor: Editor, shop: Path) -> None:
    found = hover(editor, shop / "shop/orders.py", "return charge_with_retry(", 9)
    assert found.startswith("## `charge_with_retry`")
    found = hover(editor, shop / "shop/reports.py", "Order().place", 9)
    assert found.startswith("## `Order.place`")
    assert "**Dependencies:** calls, by name: `self.check`, `charge_with_retry`, `Gateway`" in found


def test_other_words_have_no_hover(editor: Editor, shop: Path) -> None:
    assert hover(editor, shop / "shop/orders.py", "What a customer", 1) == ""
    assert hover(editor, shop / "shop/orders.py", "raise ValueError", 8) == ""
    assert hover(editor, shop / "shop/orders.py", "gateway.charge(", 10) == ""  # of what type?


def test_a_text_that_is_not_saved_counts(editor: Editor, shop: Path) -> None:
    file = shop / "shop/payments.py"
    text = "# 😀 one more line\n\n" + FILES["shop/payments.py"].replace(
        "Send an amount over", "Send it by"
    )
    assert "Send it by the wire" in hover(editor, file, "def send", 5, text)


def test_a_link_to_a_symbol_leads_to_its_line_and_is_completed(editor: Editor, shop: Path) -> None:
    file = shop / ".memories/facts/new.md"
    document = editor.open(file, "[[shop/orders.py#charge_with_retry]] [[shop/orders.py#Ord")
    at = types.Position(0, 5)
    found = editor.ask(
        editor.client.text_document_definition_async, types.DefinitionParams(document, at)
    )
    text = FILES["shop/orders.py"]
    assert found[0].range.start.line == position(text, "def charge_with_retry").line
    at = types.Position(0, len(editor.texts[file][1]))
    found = editor.ask(
        editor.client.text_document_completion_async, types.CompletionParams(document, at)
    )
    assert {one.label for one in found.items} >= {"Order", "Order.place"}


def test_references_in_front_matter_are_completed(editor: Editor, shop: Path) -> None:
    file = shop / ".memories/facts/refs.md"
    text = "---\nfile_refs: [ord]\nsymbol_refs:\n- charge_\n---\n# Refs\n"
    document = editor.open(file, text)

    def labels(mark: str) -> list[str]:
        at = position(text, mark, len(mark))
        found = editor.ask(
            editor.client.text_document_completion_async, types.CompletionParams(document, at)
        )
        return [one.label for one in found.items]

    assert labels("[ord")[0] == "shop/orders.py"
    assert until(lambda: labels("- charge_")) == ["charge_with_retry"]


def test_files_of_unknown_languages_and_outside_git_have_nothing(
    editor: Editor, tmp_path: Path, shop: Path
) -> None:
    for file in (tmp_path / "a.py", shop / "a.unknown"):
        assert hover(editor, file, "def", 1, "def f():\n    pass\n") == ""


def test_hovers_count_one_access(
    editor: Editor, shop: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for _ in range(5):
        assert hover(editor, shop / "shop/payments.py", "def describe", 6)
    live_at(editor.home, monkeypatch)

    def times() -> int:
        with open_codebase(shop) as code:
            (row,) = code.table.symbols("s.qualified = 'describe' AND f.path = 'shop/payments.py'")
            found = code.accesses([row.id]).get(row.id)
        return found.times if found else 0

    assert until(times) == 1


@pytest.fixture
def alone(tmp_path: Path) -> Iterator[tuple[Editor, Path]]:
    """Start an editor in a repository without a bank, in which the first file is read."""
    root = tmp_path / "shop"
    write_files(root, FILES)
    run(root, "init", "-q")
    with Editor(root, home=tmp_path / "home") as editor:
        yield editor, root
        assert editor.leave() == 0
        assert editor.stderr == ""


def test_without_a_bank_there_are_hovers_but_no_notes(alone: tuple[Editor, Path]) -> None:
    editor, root = alone
    file = root / "shop/orders.py"
    until(lambda: "🧪" in hover(editor, file, "def check", 5))
    assert "📝" not in hover(editor, file, "def charge_with_retry", 5)


def test_code_that_the_settings_turn_off_is_not_read(tmp_path: Path) -> None:
    config = tmp_path / "home" / "config" / "memory-bank"
    config.mkdir(parents=True)
    (config / "config.toml").write_text("[code]\nenabled = false\n")
    root = tmp_path / "shop"
    root.mkdir()
    run(root, "init", "-q")
    with Editor(root, home=tmp_path / "home") as editor:
        assert hover(editor, root / "a.py", "def f", 4, "def f():\n    pass\n") == ""
        assert editor.leave() == 0
        assert editor.stderr == ""


def test_a_link_to_a_symbol_leads_to_its_definition(editor: Editor, shop: Path) -> None:
    file = shop / ".memories/facts/retry.md"
    text = "Retried by [[symbol:charge_with_retry]], not [[symbol:nothing_of_this]].\n"
    document = editor.open(file, text)

    def lines(mark: str) -> list[tuple[str, int]]:
        params = types.DefinitionParams(document, position(text, mark, 3))
        found = editor.ask(editor.client.text_document_definition_async, params)
        return [(one.uri, one.range.start.line) for one in found]

    code = (shop / "shop/orders.py").read_text().splitlines()
    defined = next(at for at, line in enumerate(code) if "def charge_with_retry" in line)
    found = until(lambda: lines("[[symbol:charge_with_retry"))
    assert found == [(uri(shop / "shop/orders.py"), defined)]
    assert lines("[[symbol:nothing") == []


PYTHON = '@charge\ndef charge(a):\n    """Charge."""\n\n\nclass Gate:\n    # send it\n    def send(self):\n        return 1\n'


@pytest.mark.parametrize(
    ("text", "word"),
    [("a ‸bc d", "bc"), ("a bc‸ d", "bc"), ("x = ‸ 1", ""), ("日本‸語(x)", "日本語"), ("‸", "")],
)
def test_the_word_at_a_cursor(text: str, word: str) -> None:
    plain, offset = cursor(text)
    found, start, end = word_at(plain, offset)
    assert (found, plain[start:end]) == (word, word)


def test_symbols_around_a_line_come_innermost_first() -> None:
    file = parse_text("a.py", PYTHON)
    assert file is not None
    assert [one.qualified for one in symbols_around(file, 9)] == ["Gate.send", "Gate"]


def test_other_files_are_not_parsed() -> None:
    assert parse_text("a.unknown", "x") is None
    assert parse_text("a.py", "x" * 1_000_001) is None
