"""What is found in Java."""

from __future__ import annotations

import pytest

from memory_bank.code.parse import parsing
from memory_bank.code.parse.parsed_file import ParsedFile

CART = """package org.shop.cart;

import java.util.List;
import java.util.function.*;
import static java.lang.Math.max;

/**
 * What a customer wants to buy.
 *
 * @param <T> items
 */
@Entity
@Table(name = "carts")
public final class Cart<T extends Item> extends Base implements Priced {
    /** The most items. */
    public static final int LIMIT = 50, LEAST = 1;
    private int count;

    // Starts without items.
    public Cart(Store store) {
        super(store);
        this.count = 0;
    }

    @Override
    @Deprecated public int total(
            int tax) throws Full {
        List<T> found = new ArrayList<>();
        run(new Task() { void start() { go(); } });
        return store.prices().stream().mapToInt(one -> one.cents()).sum()
                + max(tax, Rates.<T>of(this.count));
    }

    record Line(int cents, int many) {
        Line { Checks.positive(many); }
        int sum() { return cents * many; }
    }

    enum State { OPEN, PAID { void close() {} }; State next() { return PAID; } }

    static class Builder {
        Cart<?> build() { return null; }
    }
}

interface Priced {
    String CURRENCY = "EUR";
    int total(int tax);
}

@interface Audited { String value() default ""; }
"""
TESTS = """class CartTest {
    @Test
    void sumsAllPrices() { assertEquals(3, cart().total(0)); }

    @ParameterizedTest(name = "{0}")
    @DisplayName("refuses \\"too many\\" items")
    void limit(int many) { new Cart(store).add(many); }

    @Nested
    @DisplayName("an empty cart")
    class Empty {
        @Test void costsNothing() { }
    }

    void helper() { }
}

public class OldTest extends TestCase {
    public void testRounds() { round(1); }
}
"""


def java(text: str) -> ParsedFile:
    return parsing.parse(text.encode(), "java")


def test_definitions_of_java() -> None:
    found = {one.qualified: one for one in java(CART).symbols}
    assert [(one.kind, name) for name, one in found.items()] == [
        ("class", "Cart"), ("constant", "Cart.LIMIT"), ("constant", "Cart.LEAST"),
        ("method", "Cart.Cart"), ("method", "Cart.total"), ("method", "Cart.total.start"), ("class", "Cart.Line"),
        ("method", "Cart.Line.Line"), ("method", "Cart.Line.sum"), ("enum", "Cart.State"),
        ("method", "Cart.State.close"), ("method", "Cart.State.next"),
        ("class", "Cart.Builder"), ("method", "Cart.Builder.build"), ("interface", "Priced"),
        ("constant", "Priced.CURRENCY"), ("method", "Priced.total"), ("interface", "Audited"),
        ("method", "Audited.value"),
    ]  # fmt: skip
    cart, total = found["Cart"], found["Cart.total"]
    assert cart.signature == (
        "public final class Cart<T extends Item> extends Base implements Priced"
    )
    assert cart.doc == "What a customer wants to buy.\n\n@param <T> items"
    assert (cart.line, cart.end_line) == (7, 45)
    assert total.signature == "public int total(int tax) throws Full"
    assert (total.line, total.end_line) == (25, 33)
    assert found["Cart.LIMIT"].signature == "public static final int LIMIT = 50, LEAST = 1"
    assert found["Cart.LIMIT"].doc == "The most items."
    assert found["Cart.Cart"].doc == "Starts without items."
    assert found["Cart.Line"].signature == "record Line(int cents, int many)"


def test_calls_of_java() -> None:
    found = {one.qualified: one.calls for one in java(CART).symbols}
    assert set(found["Cart.total"]) == {
        *(
            "run",
            "Task",
            "ArrayList",
            "store.prices",
            ".stream",
            ".mapToInt",
            "one.cents",
            ".sum",
            "max",
            ".of",
        ),
    }
    assert found["Cart.Line.Line"] == ("Checks.positive",)
    assert found["Cart.Line.sum"] == ()


def test_imports_of_java() -> None:
    assert [(one.target, one.names, one.line) for one in java(CART).imports] == [
        ("java.util.List", (), 3),
        ("java.util.function", ("*",), 4),
        ("java.lang.Math.max", (), 5),
    ]


def test_tests_of_junit() -> None:
    found = java(TESTS).tests
    assert [(one.title, one.snippet) for one in found] == [
        ("cart > sums all prices", "void sumsAllPrices() { assertEquals(3, cart().total(0)); }"),
        ('cart > refuses "too many" items', "void limit(int many) { new Cart(store).add(many); }"),
        ("cart > an empty cart > costs nothing", "@Test void costsNothing() { }"),
        ("old > rounds", "public void testRounds() { round(1); }"),
    ]
    assert found[0].symbol == "CartTest.sumsAllPrices"
    assert set(found[0].calls) == {"assertEquals", ".total", "cart"}
    assert (found[1].line, found[1].end_line, found[1].framework) == (5, 8, "junit")
    assert found[2].symbol == "CartTest.Empty.costsNothing"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("\n    ", "\n\t"),
        ("(\n            int tax)", "(int tax)"),
        ("\n        return store", " /* sum */ return store"),
        (".sum()\n                +", ".sum() +  // all\n"),
        ("The most items", "At most so many"),
    ],
)
def test_layout_and_comments_leave_the_fingerprints_of_java(old: str, new: str) -> None:
    assert old in CART
    assert [one.fingerprint for one in java(CART.replace(old, new)).symbols] == [
        one.fingerprint for one in java(CART).symbols
    ]


@pytest.mark.parametrize(
    ("old", "new", "changed"),
    [
        ("LIMIT = 50", "LIMIT = 51", {"Cart", "Cart.LIMIT", "Cart.LEAST"}),
        ("cents * many", "cents / many", {"Cart", "Cart.Line", "Cart.Line.sum"}),
        ("int tax)", "int rate)", {"Cart", "Cart.total"}),
        ('"EUR"', '"USD"', {"Priced", "Priced.CURRENCY"}),
    ],
)
def test_a_change_changes_the_fingerprints_of_java(old: str, new: str, changed: set[str]) -> None:
    before, after = java(CART).symbols, java(CART.replace(old, new, 1)).symbols
    assert changed == {
        one.qualified
        for one, other in zip(before, after, strict=True)
        if one.fingerprint != other.fingerprint
    }


def test_broken_java_gives_what_can_be_read() -> None:
    found = java(
        "class Cart {\n    int first() { return 1; }\n    int broken( { ;\n    int last() {}"
    )
    assert found.problem
    assert "first" in {one.name for one in found.symbols}


def test_suffixes_of_java() -> None:
    assert parsing.language_of("src/Cart.java") == "java"
