"""What counts as the same definition, where staleness is measured."""

import pytest

from tests.benchmarks.definitions import definitions_in
from tests.benchmarks.staleness import truth

PYTHON = "def charge(order):\n    '''Charge it.'''\n    return order.pay('now')\n"
JAVASCRIPT = "exports.charge = function (order) {\n  return order.pay('now', 1)\n}\n"


def kinds(old: str, new: str, suffix: str, path: str = "") -> dict[str, str]:
    old_found, new_found = definitions_in(old, suffix), definitions_in(new, suffix)
    assert old_found is not None
    assert new_found is not None
    first = f"a{suffix}"
    was = {(first, name): one for name, one in old_found.items()}
    now = {(path or first, name): one for name, one in new_found.items()}
    return {place[1]: kind for place, kind, _ in truth(was, now)}


@pytest.mark.parametrize(
    ("old", "new", "kind"),
    [
        ("'''Charge it.'''", "'''Charge an order.'''  # twice", "reformatted"),
        ("('now')", "(\n        u'no' \"w\"\n    )", "reformatted"),
        ("'now'", "'later'", "changed"),
        ("def charge", "def collect", "renamed"),
        ("def charge(order)", "def collect(order, now)", "gone"),
    ],
)
def test_python_is_compared_by_its_syntax_tree(old: str, new: str, kind: str) -> None:
    assert kinds(PYTHON, PYTHON.replace(old, new), ".py") == {"charge": kind}


@pytest.mark.parametrize(
    ("old", "new", "kind"),
    [
        ("('now', 1)\n", '("now", 1); // at once\n', "reformatted"),
        ("('now', 1)", "(\n    'now',\n    1\n  )", "reformatted"),
        ("'now'", "'no  w'", "changed"),
        ("exports.charge", "exports.collect", "renamed"),
    ],
)
def test_javascript_is_compared_by_its_text(old: str, new: str, kind: str) -> None:
    assert kinds(JAVASCRIPT, JAVASCRIPT.replace(old, new), ".js") == {"charge": kind}


def test_code_in_another_file_moved() -> None:
    assert kinds(PYTHON, f"import x\n\n{PYTHON}", ".py", "b.py") == {"charge": "moved"}
    twice = f"{PYTHON}\nclass A:\n" + "".join(f"    {line}\n" for line in PYTHON.splitlines())
    assert kinds(PYTHON, twice, ".py", "b.py") == {"charge": "in several new places"}


def test_what_cannot_be_read_says_nothing() -> None:
    assert definitions_in("print 'x'\n", ".py") is None
