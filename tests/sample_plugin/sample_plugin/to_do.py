"""Notes that ask for work."""

from memory_bank.review.rules.base import Problem, bank_rule


@bank_rule("info", "a note asks for work")
def to_do(bank):
    for path in bank.files:
        for number, line in enumerate((bank.text(path) or "").splitlines(), 1):
            if "TODO" in line:
                yield Problem(path, number, "asks for work", "do it")
