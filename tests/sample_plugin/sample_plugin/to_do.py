"""Notes that ask for work."""

from memory_bank.review.rules.base import bank_rule, problem


@bank_rule("info", "a note asks for work")
def to_do(bank):
    for path in bank.files:
        for number, line in enumerate((bank.text(path) or "").splitlines(), 1):
            if "TODO" in line:
                yield problem(path, number, "asks for work", "do it")
