"""Files of code as documents: a section is a symbol or a test."""

import hashlib
from itertools import pairwise
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from memory_bank.base.documents import Document, Span, Unchanged
from memory_bank.code.index.symbol_table import SIZE, SymbolTable, divide_lines
from memory_bank.code.sources import FileSource
from tests.support.files import write_files


def read(source: FileSource, path: str) -> Document:
    found = source.read(path)
    assert isinstance(found, Document)
    return found


def texts(document: Document) -> dict[str, str]:
    """Return the text of each section, by its headings."""
    found: dict[str, str] = {}
    for passage in document.passages:
        section = passage.section
        name = ".".join(document.sections[section].headings) if section >= 0 else ""
        found[name] = f"{found.get(name, '')}{passage.text}\n"
    return found


def test_each_line_belongs_to_the_innermost_symbol(table: SymbolTable) -> None:
    document = read(FileSource(table.tree, table), "shop/orders.py")
    found = texts(document)
    assert "What a customer wants." in found["Order"]
    assert "self.lines" in found["Order.check"]
    assert "self.lines" not in found["Order"] + found["Order.place"]
    assert "import payments" in found[""]
    assert "Orders of customers." in found[""]
    assert "def " not in found[""]


def test_a_section_is_named_by_the_symbol_s_id(table: SymbolTable) -> None:
    document = read(FileSource(table.tree, table), "shop/orders.py")
    (place,) = table.symbols("s.qualified = 'Order.place'")
    (section,) = (one for one in document.sections if one.name == place.id)
    assert (section.line, section.end_line) == (place.symbol.line, place.symbol.end_line)
    assert dict(section.fields) == {"kind": "method", "language": "python", "symbol": "place"}
    assert dict(document.fields) == {"lane": "symbols", "language": "python"}


def test_tests_are_sections_beside_symbols(table: SymbolTable) -> None:
    document = read(FileSource(table.tree, table), "tests/test_orders.py")
    names = {one.name for one in document.sections}
    assert names >= {one.id for one in table.tests("1")}
    assert "return 1" in texts(document)["run"]
    assert set(document.fields) >= {("lane", "symbols"), ("lane", "tests")}


def test_the_signature_changes_with_content_and_ids(shop: Path, table: SymbolTable) -> None:
    source = FileSource(table.tree, table)
    before = source.scan().signatures
    known = read(source, "shop/reports.py").hash
    unchanged = source.read("shop/reports.py", known)
    assert unchanged == Unchanged(before["shop/reports.py"], unchanged.dates)  # type: ignore[union-attr]
    (shop / "shop/payments.py").unlink()  # its twin: the other one has another id now
    table.refresh()
    after = source.scan().signatures
    assert after.keys() == before.keys() - {"shop/payments.py"}
    assert [path for path in after if after[path] != before[path]] == ["shop/reports.py"]
    assert read(source, "shop/reports.py").hash != known


def test_a_file_that_changed_since_is_read_again_later(shop: Path, table: SymbolTable) -> None:
    source = FileSource(table.tree, table)
    with (shop / "shop/orders.py").open("a") as file:
        file.write("\n\ndef more():\n    pass\n")
    document = read(source, "shop/orders.py")
    assert document.signature == ""
    (shop / "shop/orders.py").write_text("")
    assert isinstance(source.read("shop/orders.py"), Document)
    (shop / "shop/orders.py").unlink()
    assert source.read("shop/orders.py") is None


def test_lines_are_returned_while_the_file_is_the_same(table: SymbolTable) -> None:
    source = FileSource(table.tree, table)
    document = read(source, "shop/payments.py")
    assert source.text("shop/payments.py", document.hash, Span(1, 3)) == (
        'class Gateway:\n    """The bank\'s door."""'
    )
    assert source.text("shop/payments.py", hashlib.sha256(b"").hexdigest(), Span(1, 3)) is None


def test_bytes_that_are_not_utf_8_are_read(shop: Path, table: SymbolTable) -> None:
    (shop / "latin.py").write_bytes(b"import os\n\ndef cafe():\n    return 'caf\xe9'\n")
    table.refresh()
    assert "caf\ufffd" in texts(read(FileSource(table.tree, table), "latin.py"))["cafe"]


def test_a_long_body_is_divided(shop: Path, table: SymbolTable) -> None:
    lines = "".join(f"    value_{number} = {number}\n" for number in range(400))
    write_files(shop, {"long.py": f"def long():\n{lines}"})
    table.refresh()
    document = read(FileSource(table.tree, table), "long.py")
    assert len(document.passages) > 4
    assert all(len(one.text) <= SIZE * 1.1 for one in document.passages)
    assert [one.line for one in document.passages][1:] == [
        one.end_line for one in document.passages
    ][:-1]


@given(st.lists(st.text("ab{}; \t", max_size=30), max_size=60), st.integers(5, 80))
def test_no_line_with_a_letter_is_lost(lines: list[str], size: int) -> None:
    passages = list(divide_lines(lines, range(1, len(lines) + 1), 0, size))
    kept = [line for passage in passages for line in passage.text.split("\n")]
    wanted = [line.strip() for line in lines if any(map(str.isalnum, line))]
    assert [line for line in kept if any(map(str.isalnum, line))] == wanted
    for one, other in pairwise(passages):
        assert one.line < one.end_line <= other.line
    assert all(passage.text.strip() for passage in passages)


def test_a_file_in_which_nothing_is_found_is_no_problem(shop: Path, table: SymbolTable) -> None:
    (shop / "empty.py").write_text("")
    table.refresh()
    assert read(FileSource(table.tree, table), "empty.py").passages == ()
