"""What the text of a note names of code."""

import pytest

from memory_bank.trust.citations import list_named_code


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("Call `charge(order)` first.", {"charge", "order"}),
        ("`Queue.retry` and `axum::serve`", {"Queue", "retry", "axum", "serve"}),
        ("Plain words, `timeout`, max_tries, RetryPolicy and retry() count.", {
            "timeout", "max_tries", "RetryPolicy", "retry",
        }),
        ("The flag `--no-verify` and the key `requires-python`", {"no-verify", "requires-python"}),
        ("`port: 80` and `if x is None` and `i`", {"port"}),
        ("Run `cargo test` and `flask run --debug`.", {"debug"}),
        ("See `src/jobs.py`, src/my_jobs.py, `conf.toml` and https://a.org/some_page.", set()),
        ("[[src/my_jobs.py]] and [`retry`](../src/my_jobs.py#L3)", {"retry"}),
        ("An example:\n\n```python\nno_name = RetryPolicy()\n```\n", set()),
        ("| `first_cell` | b |\n|---|---|\n| c | `last_cell` |\n", {"first_cell", "last_cell"}),
    ],
)  # fmt: skip
def test_names_are_words_in_code_or_such_as_english_lacks(text: str, names: set[str]) -> None:
    assert list_named_code(text).names == names


def test_numbers_are_stated_with_the_words_of_their_sentence() -> None:
    found = list_named_code(
        "The timeout is 30s. At most 5,000 rows, 2_000 each; see #12 of 2024-05-06."
    )
    assert set(found.numbers) == {"30", "5000", "2000"}
    assert found.numbers["30"] == {"timeout"}
    assert "row" in found.numbers["5000"]
    assert "timeout" not in found.numbers["5000"]
    assert list_named_code("There is 1 table in version 1.2.3.").numbers == {}
