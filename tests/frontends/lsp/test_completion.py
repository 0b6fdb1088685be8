import time
from collections.abc import Iterator

import pytest

from memory_bank.code.index.codebase import Codebase, open_codebase
from memory_bank.code.lookup import find_meant_symbols
from memory_bank.frontends.lsp.completion import Completion, list_choices
from tests.frontends.lsp.conftest import Make, cursor
from tests.git.history_builder import run
from tests.support.files import write_files

NOTES = {
    "facts/bm25.md": "---\ntype: fact\ntags: [search, ranking]\naliases: [Okapi]\n---\n"
    "# Best matching\n\n## How it ranks\n\n## a | b\n\nText. ^rare\n",
    "decisions/tantivy.md": "---\ntype: decision\n---\n# Tantivy over Whoosh\n\n[[facts/bm25]]\n",
}


def chosen(make: Make, text: str) -> dict[str, str]:
    """Return what the note becomes with each choice, by its label."""
    plain, offset = cursor(text)
    found, _ = list_choices(make(NOTES, new=plain), "new.md", plain, offset)
    return {one.label: applied(plain, one) for one in found}


def applied(text: str, choice: Completion) -> str:
    return text[: choice.start] + choice.text + text[choice.end :]


@pytest.mark.parametrize(
    ("text", "label", "becomes"),
    [
        ("See [[bm‸", "facts/bm25", "See [[facts/bm25]]"),
        ("See [[‸", "facts/bm25", "See [[facts/bm25]]"),
        ("See [[bm‸]] now", "facts/bm25", "See [[facts/bm25]] now"),
        ("See [[bm‸|it]] now", "facts/bm25", "See [[facts/bm25|it]] now"),
        ("See [[fa‸cts]] now", "facts/bm25", "See [[facts/bm25]] now"),
        ("See [[best m‸", "Best matching", "See [[facts/bm25|Best matching]]"),
        ("See [[best m‸]]", "Best matching", "See [[facts/bm25|Best matching]]"),
        ("See [[oka‸", "Okapi", "See [[facts/bm25|Okapi]]"),
        ("See [[bm25#‸", "How it ranks", "See [[bm25#How it ranks]]"),
        ("See [[Okapi#rank‸]]", "How it ranks", "See [[Okapi#How it ranks]]"),
        ("See [[bm25^‸", "rare", "See [[bm25^rare]]"),
        ("See [[bm25#^ra‸", "rare", "See [[bm25#^rare]]"),
        ("# Here\n\n[[#‸", "Here", "# Here\n\n[[#Here]]"),
        ("😀 [[日本]] [[bm‸ 😀", "facts/bm25", "😀 [[日本]] [[facts/bm25]] 😀"),
        ("---\ntype: fa‸\n---\n", "fact", "---\ntype: fact\n---\n"),
        ("---\ntags: [search, ra‸]\n---\n", "ranking", "---\ntags: [search, ranking]\n---\n"),
        ("---\ntags:\n- se‸\n---\n", "search", "---\ntags:\n- search\n---\n"),
        ("---\r\ntags:\r\n  - x\r\n  - se‸\r\n---\r\n", "search", "---\r\ntags:\r\n  - x\r\n  - search\r\n---\r\n"),
        ("---\nstatus: ‸\n---\n", "archived", "---\nstatus: archived\n---\n"),
    ],
)  # fmt: skip
def test_a_choice_makes_a_whole_link(make: Make, text: str, label: str, becomes: str) -> None:
    assert chosen(make, text)[label] == becomes


@pytest.mark.parametrize(
    "text",
    ["See [bm‸", "See bm25‸", "[[bm25]]‸", "[[bm25|te‸", "tags: ‸", "[[bm25#zzz‸", "[[\nbm‸"],
)
def test_elsewhere_nothing_is_offered(make: Make, text: str) -> None:
    assert chosen(make, text) == {}


def test_a_heading_that_no_link_can_name_is_not_offered(make: Make) -> None:
    assert set(chosen(make, "[[bm25#‸")) == {"Best matching", "How it ranks"}


def test_the_files_of_the_project_are_offered(make: Make) -> None:
    texts = make(NOTES, new="[[src/")
    project = texts.bank.layout.project
    files = ("src/index.py", "src/ignored.py", ".gitignore")
    write_files(project, dict.fromkeys(files, "ignored.py\n"))
    run(project, "init", "-q")
    found, _ = list_choices(texts, "new.md", "[[src/", 6)
    assert [one.text for one in found] == ["src/index.py]]"]


def test_many_notes_are_offered_in_parts(make: Make) -> None:
    texts = make({f"n{number:03}.md": "x\n" for number in range(250)}, new="[[n")
    found, complete = list_choices(texts, "new.md", "[[n", 3)
    assert (len(found), complete) == (200, False)
    assert list_choices(texts, "new.md", "[[n249", 6)[0][0].label == "n249"


def test_letters_that_many_names_nearly_have_take_no_time(make: Make) -> None:
    text = f"[[{'a' * 30}b"
    texts = make({f"{'a' * 100}{number}.md": "x\n" for number in range(50)}, new=text)
    began = time.process_time()
    assert not list_choices(texts, "new.md", text, len(text))[0]
    assert time.process_time() - began < 10


@pytest.fixture
def code(make: Make) -> Iterator[Codebase]:
    """Return the code of a project with a bank, read once."""
    project = make(NOTES).bank.layout.project
    write_files(project, CODE)
    run(project, "init", "-q")
    with open_codebase(project) as opened:
        opened.refresh()
        yield opened


CODE = {
    "shop/pay.py": "class Gateway:\n    def send(self):\n        pass\n\n\ndef main():\n    pass\n",
    "shop/run.py": "def main():\n    pass\n",
    "shop/a note, or: two.py": "LIMIT = 3\n",
    "tests/test_pay.py": "def test_send():\n    pass\n",
}
QUOTED = '"shop/a note, or: two.py"'


@pytest.mark.parametrize(
    ("text", "becomes"),
    [
        ("---\nfile_refs: [shop/p‸]\n---\n", ["---\nfile_refs: [shop/pay.py]\n---\n"]),
        ("---\nfile_refs:\n  - pay‸\n---\n", [
            "---\nfile_refs:\n  - shop/pay.py\n---\n",
            "---\nfile_refs:\n  - tests/test_pay.py\n---\n",
        ]),
        ("---\nfile_refs: [x, sh‸op/ol.py]\n---\n", [
            f"---\nfile_refs: [x, {QUOTED}]\n---\n",
            "---\nfile_refs: [x, shop/pay.py]\n---\n",
            "---\nfile_refs: [x, shop/run.py]\n---\n",
        ]),
        ('---\nfile_refs: ["shop/r‸"]\n---\n', ['---\nfile_refs: ["shop/run.py"]\n---\n']),
        ("---\nsymbol_refs: [send‸]\n---\n", ["---\nsymbol_refs: [Gateway.send]\n---\n"]),
        ("---\nsymbol_refs:\n- gtw‸\n---\n", [
            "---\nsymbol_refs:\n- Gateway\n---\n", "---\nsymbol_refs:\n- Gateway.send\n---\n",
        ]),
        ("---\nsymbol_refs: ma‸\n---\n", [
            "---\nsymbol_refs: shop/pay.py#main\n---\n",
            "---\nsymbol_refs: shop/run.py#main\n---\n",
        ]),
        ("---\nsymbol_refs: [a_b%‸]\n---\n", []),
    ],
)  # fmt: skip
def test_references_are_completed_as_valid_yaml(
    make: Make, code: Codebase, text: str, becomes: list[str]
) -> None:
    plain, offset = cursor(text)
    texts = make({}, new=plain)
    found, _ = list_choices(texts, "new.md", plain, offset, lambda: code)
    made = [applied(plain, one) for one in found]
    assert made[: len(becomes) or None] == becomes  # then those that only have the letters


def test_each_completed_symbol_is_one_that_the_note_belongs_to(make: Make, code: Codebase) -> None:
    plain, offset = cursor("---\nsymbol_refs: [‸]\n---\n")
    found, _ = list_choices(make({}, new=plain), "new.md", plain, offset, lambda: code)
    names = [one.text.strip('"') for one in found]
    assert {len(find_meant_symbols(code.table, name)) for name in names} == {1}
    assert len(names) == 5


def test_symbols_come_when_the_code_has_been_read(make: Make) -> None:
    plain, offset = cursor("---\nsymbol_refs: [‸]\n---\n")
    texts = make(NOTES, new=plain)
    assert list_choices(texts, "new.md", plain, offset)[0] == ()
    run(texts.bank.layout.project, "init", "-q")
    with open_codebase(texts.bank.layout.project) as unread:
        found, complete = list_choices(texts, "new.md", plain, offset, lambda: unread)
    assert (found, complete) == ((), False)
