"""One question finds notes, documents, symbols, tests and files that change together."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from memory_bank.bank.bank import Bank, open_bank
from memory_bank.code.index.codebase import Codebase, open_codebase
from memory_bank.memory.remember import remember
from memory_bank.memory.retrieval import answers
from memory_bank.memory.retrieval.ask import ask, asks_for_commits, explain_answer
from tests.git.history_builder import Made, commit_all, make, run

CHARGE = '''"""Payments by card."""


class Gateway:
    """The door of the bank."""

    def charge(self, amount):
        """Charge a card. Retries three times after a timeout."""
        return amount
'''
TEST = """from shop.payments import Gateway


def test_a_timeout_is_retried_three_times():
    assert Gateway().charge(3) == 3
"""
GUIDE = "# Guide\n\n## Refunds\n\nA refund goes back to the card within a week.\n"


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make a repository with code, tests, documents and a bank."""
    texts = {
        "shop/__init__.py": "",
        "tests/test_payments.py": TEST,
        "docs/guide.md": GUIDE,
        "deploy/limits.yaml": "payments:\n  timeout: 5\n",
        "uv.lock": "payments timeout\n",
    }
    both = [
        Made({"shop/payments.py": f"{CHARGE}\nDAY = {day}\n", "shop/ledger.py": f"TOTAL = {day}\n"})
        for day in range(6)
    ]
    root = make(tmp_path_factory.mktemp("ask").resolve() / "shop", [Made(texts), *both])
    (root / ".memories").mkdir()
    (root / ".memories/config.toml").touch()
    return root


@pytest.fixture
def bank(shop: Path) -> Iterator[Bank]:
    with open_bank(shop / ".memories") as opened:
        remember(
            opened,
            "# Charges are retried\n\nA charge is retried three times after a timeout: cards failed.",
            type="decision",
            tags=["payments"],
        )
        yield opened


@pytest.fixture
def code(shop: Path) -> Iterator[Codebase]:
    with open_codebase(shop, bank=shop / ".memories") as opened:
        opened.catch_up(seconds=30)
        yield opened


def test_each_kind_has_its_own_fields(bank: Bank, code: Codebase) -> None:
    found = ask(bank, code, "charge a card, retried after a timeout")
    assert (found.schema_version, found.mode_used, found.problem) == ("1.0", "hybrid", None)
    assert found.result_count == len(found.results) <= 10
    by_kind = {one.kind: one for one in reversed(found.results)}
    note, symbol, test = by_kind["note"], by_kind["symbol"], by_kind["test_guard"]
    assert note.kind == "note"
    assert (note.title, note.tags, note.path) == (
        *("Charges are retried", ("payments",)),
        "decisions/charges-are-retried.md",
    )
    assert symbol.kind == "symbol"
    assert (symbol.title, symbol.file) == ("Gateway.charge", "shop/payments.py")
    assert (symbol.snippet, symbol.language) == ("Charge a card.", "python")
    assert test.kind == "test_guard"
    assert (test.title, test.line) == ("a timeout is retried three times", 4)
    assert test.snippet == "def test_a_timeout_is_retried_three_times():"
    scores = [one.relevance_score for one in found.results]
    assert scores == sorted(scores, reverse=True)
    assert all(0 < score <= 1 for score in scores)


def test_a_short_answer_is_the_start_of_a_long_one(bank: Bank, code: Codebase) -> None:
    def places(limit: int) -> list[tuple[str, object]]:
        found = ask(bank, code, "timeout of payments", limit, count_access=False)
        return [(one.kind, getattr(one, "path", "")) for one in found.results]

    whole = places(10)
    assert [places(limit) for limit in (1, 2, 3)] == [whole[:1], whole[:2], whole[:3]]


def test_a_coupled_file_comes_with_the_symbols(bank: Bank, code: Codebase) -> None:
    found = ask(bank, code, "Gateway.charge", include=["symbols", "coupling"])
    first, *others = found.results
    assert first.kind == "symbol"
    assert (first.title, first.relevance_score) == ("Gateway.charge", 1.0)
    coupled = {one.title: one for one in others if one.kind == "coupled_file"}
    ledger = coupled["shop/ledger.py"]
    assert ledger.snippet.startswith("Co-changes with payments.py in 100% of commits")
    assert 0 < ledger.fused_score < 1
    alone = ask(bank, code, "Gateway.charge", include=["coupling"])
    assert {one.kind for one in alone.results} == {"coupled_file"}
    for one in alone.results:
        assert one.kind == "coupled_file"
        assert one.id is None
        assert one.snippet.endswith(f", type: {one.coupling_type})")
        assert one.coupling_type in {"temporal", "static", "semantic", "multi"}
    assert alone.results[0].snippet.startswith("Co-changes with payments.py in ")


def test_documents_are_found_but_no_lock_files(bank: Bank, code: Codebase) -> None:
    found = ask(bank, code, "when does a refund go back", include=["docs"])
    first = found.results[0]
    assert first.kind == "doc"
    assert (first.path, first.line, first.title) == ("docs/guide.md", 3, "Guide > Refunds")
    paths = {
        answers.result_file(one) for one in ask(bank, code, "timeout", include=["docs"]).results
    }
    assert "deploy/limits.yaml" in paths
    assert "uv.lock" not in paths


def test_a_place_is_in_an_answer_once(shop: Path, code: Codebase) -> None:
    (shop / "docs").mkdir(exist_ok=True)
    (shop / "docs/ant.md").write_text("# Echidna\n\nThe echidna page.\n", encoding="utf-8")
    commit_all(shop, "Describe the echidna")
    found = ask(None, code, "echidna", include=["docs"], limit=20).results
    places = [(answers.result_file(one), answers.result_line(one), one.title) for one in found]
    assert ("docs/ant.md", 1, "Echidna") in places
    assert len(set(places)) == len(places)


def test_a_file_is_found_by_the_subjects_of_its_commits(shop: Path, code: Codebase) -> None:
    run(shop, "add", "-A")
    (shop / "shop/ledger.py").write_text("TOTAL = 7\n", encoding="utf-8")
    run(shop, "commit", "-qam", "Balance the quarterly accruals")
    found = ask(None, code, "quarterly accruals", include=["symbols"])
    assert answers.result_file(found.results[0]) == "shop/ledger.py"
    assert found.results[0].snippet == "TOTAL = 7"


def test_what_can_not_be_searched_is_named(bank: Bank, code: Codebase) -> None:
    found = ask(None, code, "charge")
    assert found.problem == "notes not searched: there is no bank here"
    assert {one.kind for one in found.results} >= {"symbol"}
    found = ask(bank, None, "charge")
    assert (
        found.problem
        == "symbols, tests, docs, commits not searched: there is no git repository here"
    )
    assert {one.kind for one in found.results} == {"note"}


def test_notes_and_symbols_in_the_answer_count_one_access(bank: Bank, code: Codebase) -> None:
    found = ask(bank, code, "charge", 100, count_access=False)
    symbols = [one.id for one in found.results if one.kind == "symbol" and one.id != one.file]
    assert symbols
    before = {name: one.times for name, one in code.accesses(symbols).items()}
    ask(bank, code, "charge", 100)
    after = {name: one.times for name, one in code.accesses(symbols).items()}
    assert after == {name: before.get(name, 0) + 1 for name in symbols}


def test_reciprocal_ranks_are_a_setting(shop: Path, code: Codebase) -> None:
    with open_bank(shop / ".memories", settings={"search.fusion": "rrf"}) as ranked:
        found = ask(ranked, code, "charge a card after a timeout")
    assert [one.relevance_score for one in found.results[:2]] == [1.0, 1.0]
    assert found.results[0].kind != found.results[1].kind


@pytest.fixture
def reasons(tmp_path: Path) -> Iterator[tuple[Bank, Codebase]]:
    """Give a repository whose reasons are in the messages of its commits."""
    said = (
        "Wait longer for the bank\n\nCustomers in Norway could not pay on Mondays, since the"
        " acquirer answers slowly then.\nSo the gateway waits for 40 seconds.\n\n"
        "Signed-off-by: Ann <ann@example.org>"
    )
    root = make(tmp_path.resolve() / "reasons", [Made({"a.py": "A = 1\n"})])
    run(root, "commit", "-q", "--allow-empty", "-m", said)
    (root / ".memories").mkdir()
    with open_bank(root / ".memories") as bank, open_codebase(root) as code:
        yield bank, code


def test_the_reason_in_a_commit_is_found(reasons: tuple[Bank, Codebase]) -> None:
    (found,) = ask(*reasons, "who could not pay in Norway", include=["commits"]).results
    assert found.kind == "commit"
    assert found.title == "Wait longer for the bank"
    assert "the acquirer answers slowly" in found.snippet
    assert "Signed-off-by" not in found.snippet
    assert answers.result_file(found).startswith(f"commit {found.id[:8]} {found.created_at[:10]} ")


def test_a_note_that_answers_comes_before_a_commit(reasons: tuple[Bank, Codebase]) -> None:
    bank, code = reasons
    text = "Customers in Norway could not pay on Mondays: the gateway waits for 40 seconds."
    remember(bank, text)
    first = ask(bank, code, "customers in Norway could not pay", limit=5).results[0]
    assert first.kind == "note"


def test_a_commit_stands_after_each_three_other_results(tmp_path: Path) -> None:
    said = (
        "Keep the ledger {}\n\nA holiday of the acquirer left entries without a partner there,"
        " for each of some days."
    )
    code = 'def wait_for_slow_bank_{}():\n    """Wait for the slow bank after a holiday."""\n'
    root = tmp_path.resolve() / "reasons"
    make(root, [Made({f"bank_{name}.py": code.format(name) for name in "abcdefgh"})])
    for number in range(4):
        run(root, "commit", "-q", "--allow-empty", "-m", said.format(number))
    with open_codebase(root) as codebase:
        question = "wait for the slow bank after a holiday of the acquirer"
        found = ask(None, codebase, question, count_access=False).results
    kinds = [one.kind for one in found]
    assert [place for place, kind in enumerate(kinds) if kind == "commit"] == [3, 7]
    scores = [one.relevance_score for one in found]
    assert scores == sorted(scores, reverse=True)


def test_a_note_that_cites_a_file_in_the_answer_has_a_share_of_its_score(
    bank: Bank, code: Codebase
) -> None:
    remember(bank, "# Acquirer\n\nA card has its limits, see [[shop/payments.py]].\n")
    answer = explain_answer(bank, code, "charge of a card, retried after a timeout")
    (name,) = [key for key, note in answer.notes.items() if note.title == "Acquirer"]
    assert "cites shop/payments.py" in [one.detail for one in answer.notes[name].reasons]
    assert name in [one.id for one in answer.answer.results]


@pytest.mark.parametrize(
    ("question", "asks"),
    [
        ("who changed the timeout", True),
        ("when was the ledger added", True),
        ("which commit broke refunds", True),
        ("commits that touch the gateway", True),
        ("enqueue a job after the transaction commits", False),
        ("who may open an account", False),
        ("history of a job", False),
        ("what happens to the committed offset", False),
    ],
)
def test_commits_come_first_only_if_a_question_asks_for_them(question: str, *, asks: bool) -> None:
    assert bool(asks_for_commits(question)) == asks
