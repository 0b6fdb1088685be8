"""A shop in Rust and TypeScript is asked for its "payment processing retry logic"."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from memory_bank.bank.bank import open_bank
from memory_bank.base.errors import SymbolNotFound
from memory_bank.code.explain_symbol import explain_symbol
from memory_bank.code.index.codebase import Codebase, open_codebase
from memory_bank.memory.retrieval import answers
from memory_bank.memory.retrieval.ask import ask
from tests.git.history_builder import Made, make, run

QUESTION = "payment processing retry logic"

PROCESSOR = """//! Processing of payments.

use crate::payments::gateway::Gateway;

/// The most attempts of one payment.
pub const MAX_ATTEMPTS: u32 = 3;

/// Processes payment with exponential backoff retry on transient failures.
///
/// A declined card is not tried again.
pub fn process_payment_with_retry(gateway: &Gateway, amount: u64) -> Result<String, PaymentError> {
    let mut attempt = 0;
    loop {
        match gateway.charge(amount) {
            Err(PaymentError::Timeout) if attempt < MAX_ATTEMPTS => attempt = backoff(attempt),
            done => return done,
        }
    }
}

fn backoff(attempt: u32) -> u32 {
    std::thread::sleep(std::time::Duration::from_millis(100 << attempt));
    attempt + 1
}

#[test]
fn a_declined_card_is_not_tried_again() {
    assert!(process_payment_with_retry(&Gateway::declining(), 5).is_err());
}
"""
GATEWAY = """pub struct Gateway {
    url: String,
}

impl Gateway {
    /// Charges a card once.
    pub fn charge(&self, amount: u64) -> Result<String, PaymentError> {
        Ok(format!("{}:{}", self.url, amount))
    }
}
"""
TESTS = """import { processPayment } from "../../web/payments";

describe("payment processing", () => {
  it("should retry 3 times on timeout", async () => {
    const gateway = flaky({ timeouts: 3 });
    expect(await processPayment(gateway, 10)).toBe("ok");
  });

  it("handles negative balance", async () => {
    await expect(processPayment(solid(), -1)).rejects.toThrow("negative");
  });

  it("logs audit trail", async () => {
    expect(audit.lines).toHaveLength(1);
  });
});
"""
WEB = """export async function processPayment(gateway: Gateway, amount: number) {
  return gateway.post("/payments", { amount });
}
"""


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Codebase]:
    """Open a repository whose processor and gateway change together, all else once."""
    start = {
        "src/payments/mod.rs": "pub mod gateway;\npub mod processor;\n",
        "src/payments/processor.test.ts": TESTS,
        "src/main.rs": 'mod payments;\n\nfn main() {\n    println!("shop");\n}\n',
        "web/payments.ts": WEB,
        "README.md": "# Shop\n\nTakes payments by card and processes orders.\n",
    }
    both = [
        {
            "src/payments/processor.rs": f"{PROCESSOR}// {n}\n",
            "src/payments/gateway.rs": f"{GATEWAY}// {n}\n",
        }
        for n in range(9)
    ]
    commits = [
        Made(start | both[0]),
        *map(Made, both[1:]),
        Made({"src/payments/processor.rs": PROCESSOR}),
    ]
    root = make(tmp_path_factory.mktemp("payments").resolve() / "shop", commits)
    why = (
        "Leave a declined card alone: its bank counts each attempt, and blocks the card after five"
    )
    run(root, "commit", "-q", "--allow-empty", "-m", f"Keep attempts few\n\n{why}")
    with open_codebase(root) as opened:
        opened.catch_up(seconds=30)
        yield opened


def test_the_function_comes_first_and_the_test_first_among_tests(shop: Codebase) -> None:
    results = ask(None, shop, QUESTION, include=["symbols", "tests", "docs", "coupling"]).results
    symbols = [one for one in results if one.kind == "symbol"]
    assert results[0] == symbols[0]
    assert (symbols[0].title, symbols[0].file) == (
        "process_payment_with_retry",
        "src/payments/processor.rs",
    )
    assert symbols[0].snippet.startswith("Processes payment with exponential backoff retry")
    tests = [one for one in results if one.kind == "test_guard"]
    (alone, *_) = ask(None, shop, QUESTION, include=["tests"]).results
    for first in (tests[0], alone):
        assert first.snippet.startswith('it("should retry 3 times on timeout"')


def test_the_coupled_file_is_critical_and_one_joint_commit_couples_nothing(shop: Codebase) -> None:
    results = ask(None, shop, QUESTION).results
    coupled = [one for one in results if one.kind == "coupled_file"]
    assert [one.title for one in coupled] == ["src/payments/gateway.rs"]
    assert coupled[0].snippet == (
        "Co-changes with processor.rs in 90% of commits (Critical coupling, type: multi)"
    )


def test_each_id_of_an_answer_can_be_explained(shop: Codebase, tmp_path: Path) -> None:
    (tmp_path / "limits.md").write_text("# Payment limits\n\nA declined card is not charged.\n")
    questions = (QUESTION, "a declined card is not tried again", "modules of payments")
    with open_bank(tmp_path) as bank:
        results = {
            result.id: result
            for question in questions
            for kinds in ([], ["tests"], ["docs"], ["commits"])
            for result in ask(bank, shop, question, 50, kinds).results
            if result.id
        }
        explained = {key: explain_symbol(shop, key, bank).details.symbol for key in results}
    kinds = {(results[key].kind, symbol.kind) for key, symbol in explained.items()}
    assert kinds == {
        ("symbol", "function"), ("symbol", "method"), ("test_guard", "test"), ("test_guard", "function"), ("doc", "document"), ("doc", "file"),
        ("note", "note"), ("commit", "commit"),
    }  # fmt: skip
    by_title = {results[key].title: symbol for key, symbol in explained.items()}
    test = by_title["payment processing > should retry 3 times on timeout"]
    assert (test.path, test.line) == ("src/payments/processor.test.ts", 4)
    assert (by_title["Payment limits"].snippet, by_title["Shop"].snippet) == (
        "A declined card is not charged.", "Takes payments by card and processes orders.",
    )  # fmt: skip


def test_a_test_that_is_a_call_is_explained_by_what_it_calls(shop: Codebase) -> None:
    (test, *_) = ask(None, shop, "should retry 3 times on timeout", include=["tests"]).results
    details = explain_symbol(shop, test.id or "").details
    assert [(call.name, call.path) for call in details.calls] == [
        ("processPayment", "web/payments.ts")
    ]


def test_an_unknown_id_is_still_refused(shop: Codebase) -> None:
    for name in ("test-000000000000", "README.md#No such heading", "0123456789abcdef"):
        with pytest.raises(SymbolNotFound):
            explain_symbol(shop, name)


def test_what_a_file_has_outside_of_symbols_is_a_document(shop: Codebase) -> None:
    results = ask(None, shop, "pub mod gateway processor", 50).results
    (module,) = [one for one in results if answers.result_file(one) == "src/payments/mod.rs"]
    assert module.kind == "doc"
