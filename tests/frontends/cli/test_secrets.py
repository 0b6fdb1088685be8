"""A secret on the command line: refused with its kind and line, kept for its author, allowed when asked."""

import random
import string

from tests.frontends.cli.conftest import Run

SECRET = "gh" + "p_" + "".join(random.Random(3).choices(string.ascii_letters + string.digits, k=36))


def test_a_write_of_a_secret_is_refused_unless_it_is_allowed(mb: Run) -> None:
    for words in (
        ("remember", SECRET),
        ("append", "bm25", SECRET),
        ("edit", "tantivy", "--section", "Consequences", "--new", SECRET),
        ("mv", "whoosh", f"decisions/{SECRET}"),
    ):
        answer = mb(*words)
        assert answer.code == 2
        assert "GitHub token" in answer.err
        assert "--allow-secret" in answer.err
        assert SECRET not in answer.out + answer.err
        assert mb(*words, "--allow-secret").code == 0


def test_even_a_traceback_has_no_value(real: Run) -> None:
    answer = real("remember", "-", stdin=SECRET, env={"MEMORY_BANK_DEBUG": "1"})
    assert "Traceback" in answer.err
    assert SECRET not in answer.err
