"""Names and numbers of a file whose code is another in a new version."""

import pytest

from memory_bank.code.code_words import CodeWords, NamedCode
from memory_bank.code.languages.base import detect_language
from memory_bank.code.parse import parsing

CODE = '''"""Talk of RETRIES and old_name."""
import old_import


RETRIES = 3
MODE = "fast"


# old_comment is explained here
def charge(order, tries=RETRIES):
    """Charge it, by old_doc."""
    for _ in range(tries):
        if order.pay(timeout=30):
            return True
    return False


def test_charge():
    assert charge(old_test)
'''
NAMES = frozenset(
    [
        "RETRIES",
        "MODE",
        "charge",
        "tries",
        "old_import",
        "old_comment",
        "old_doc",
        "old_test",
        "pay",
    ]
)


def words(text: str, path: str = "a.py") -> CodeWords:
    data, language = text.encode(), detect_language(path)
    return CodeWords(data, parsing.parse(data, language) if language else None)


def lost(old: str, new: str, path: str = "a.py", **numbers: str) -> tuple[str, ...]:
    stated = {key[1:]: frozenset(said.split()) for key, said in numbers.items()}
    return words(old, path).list_lost(words(new, path), NamedCode(NAMES, stated))


@pytest.mark.parametrize(
    ("old", "new", "names"),
    [
        ("RETRIES = 3", "RETRIES = 5", {"RETRIES"}),
        ('MODE = "fast"', 'MODE = "slow"', {"MODE"}),
        ("order.pay(", "order.settle(", {"pay"}),
        ("range(tries)", "range(tries + 1)", {"tries"}),
        ("def charge(order,", "def charge(order, currency,", {"charge"}),
    ],
)
def test_a_change_of_what_is_named_is_seen(old: str, new: str, names: set[str]) -> None:
    assert set(lost(CODE, CODE.replace(old, new))) == names


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("import old_import", "import new_import"),
        ("# old_comment is", "# It is"),
        ("by old_doc", "by this"),
        ("charge(old_test)", "charge(new_test)"),
        ("return True", "return order"),
        ('MODE = "fast"', "MODE = 'fast'"),
        ('MODE = "fast"', 'MODE = (\n    "fast"\n)'),
        ("order, tries=RETRIES", "\n    order,\n    tries=RETRIES,\n"),
        ("tries=RETRIES", "tries: int = RETRIES"),
    ],
)
def test_imports_comments_tests_layout_and_other_code_do_not_count(old: str, new: str) -> None:
    assert old in CODE
    assert lost(CODE, CODE.replace(old, new)) == ()


def test_code_that_only_moved_in_its_file_is_the_same() -> None:
    head, tail = CODE.split("# old_comment", 1)
    function, test = tail.split("def test_charge", 1)
    assert lost(CODE, f"# old_comment{function}\n{head}def test_charge{test}") == ()


def test_a_number_counts_with_a_word_of_its_sentence_only() -> None:
    new = CODE.replace("timeout=30", "timeout=60")
    plain = NamedCode(frozenset(), {"30": frozenset(["timeout", "seconds"])})
    assert words(CODE).list_lost(words(new), plain) == ("30",)
    assert (
        words(CODE).list_lost(words(new), plain._replace(numbers={"30": frozenset(["disk"])})) == ()
    )
    moved = CODE.replace("timeout=30", "\n            timeout=30,\n        ")
    assert words(CODE).list_lost(words(moved), plain) == ()
    assert words(f"{CODE}\nread(seconds / 30)").list_lost(words(CODE), plain) == ()


def test_settings_are_compared_by_key_and_versions_are_no_values() -> None:
    old = "tries: 3\n# pay later\nMODE: fast\ncharge: 1.2.3\n"
    assert lost(old, old.replace("3\n#", "4\n#"), "conf.yml") == ("tries",)
    assert lost(old, old.replace("fast", "slow"), "conf.yml") == ("MODE",)
    assert lost(old, old.replace("1.2.3", "1.3.0"), "conf.yml") == ()
    assert lost(old, old.replace("# pay later\n", ""), "conf.yml") == ()


def test_modules_of_tests_are_left_out() -> None:
    rust = "pub fn charge() {}\n\n#[cfg(test)]\nmod tests {\n    fn pay() -> u8 { 3 }\n}\n"
    assert lost(rust, rust.replace("fn pay() -> u8 { 3 }", ""), "a.rs") == ()
    assert lost(rust, "pub fn collect() {}\n", "a.rs") == ("charge",)


def test_parameters_are_counted_in_any_form() -> None:
    go = "func (r *Repo) charge(a, b string) error { return nil }\n"
    assert lost(go, go.replace("a, b string", "a, b string, c int"), "a.go") == ("charge",)
    rust = "fn charge<F: Fn(u8, u8) -> bool>(f: F) -> Vec<u8> { vec![] }\n"
    assert lost(rust, rust.replace("Fn(u8, u8)", "Fn(u8, u8, u8)"), "a.rs") == ()
    assert lost(rust, rust.replace("(f: F)", "(f: F, g: u8)"), "a.rs") == ("charge",)
