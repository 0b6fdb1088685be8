"""What is found in C#."""

from __future__ import annotations

import pytest

from memory_bank.code.parse import parsing
from memory_bank.code.parse.parsed_file import ParsedFile

CART = """using System;
using static System.Math;
using Money = Shop.Prices.Money;

namespace Shop.Carts;

/// <summary>
/// What a customer wants to buy, see <see cref="T:Shop.Item"/>.
/// </summary>
/// <typeparam name="T">The items.</typeparam>
[Serializable]
[Table("carts")]
public sealed class Cart<T> : Base, IPriced where T : class
{
    /// <summary>The most items.</summary>
    public const int Limit = 50, Least = 1;
    private static readonly string Currency = "EUR";
    public int Count { get; set; }

    public Cart(IStore store) : base(store) { Count = 0; }
    ~Cart() { Dispose(); }

    /* Sums the prices. */
    [Obsolete] public async Task<int> TotalAsync(
        int tax = 3) => await _store.Get<int>(1).ValueAsync() + tax;

    public static Cart<T> operator +(Cart<T> a, Cart<T> b) => a.Merge(b);

    void IPriced.Print()
    {
        int Twice(int x) => x * 2;
        _log?.Write(new List<int>(Count), Twice(4), Shop.Tools.Now());
    }

    enum State { Open, Paid }
    public delegate int Rate(int cents);
}

public record Line(int Cents, int Many);
public readonly record struct Money(int Cents) { public int Euros() => Cents / 100; }
struct Point { }
interface IPriced { void Print(); }
"""
NESTED = """namespace Shop
{
    class Outer { }
    namespace Inner { class Deep { void Run() { } } }
}
"""
TESTS = """public class CartTests
{
    [Fact] public void SumsAllPrices() { Assert.Equal(3, new Cart().Total()); }

    [Theory(DisplayName = "refuses too many items")]
    [InlineData(51)]
    public void Limit(int many) { }

    [Test, Description("costs nothing")] public void TestEmpty() { }
    [TestMethod("is printed")] public void Prints() { }
    [Xunit.FactAttribute] public void Rounds() { }
    private void Helper() { }
}
"""


def c_sharp(text: str) -> ParsedFile:
    return parsing.parse(text.encode(), "c_sharp")


def test_definitions_of_c_sharp() -> None:
    found = {one.qualified.removeprefix("Shop.Carts."): one for one in c_sharp(CART).symbols}
    assert c_sharp(CART).problem == ""
    assert [(one.kind, name) for name, one in found.items()] == [
        ("module", "Shop.Carts"), ("class", "Cart"), ("constant", "Cart.Limit"),
        ("constant", "Cart.Least"), ("constant", "Cart.Currency"), ("method", "Cart.Cart"),
        ("method", "Cart.~Cart"), ("method", "Cart.TotalAsync"), ("method", "Cart.operator+"),
        ("method", "Cart.Print"), ("function", "Cart.Print.Twice"), ("enum", "Cart.State"),
        ("type", "Cart.Rate"), ("class", "Line"), ("class", "Money"), ("method", "Money.Euros"),
        ("type", "Point"), ("interface", "IPriced"), ("method", "IPriced.Print"),
    ]  # fmt: skip
    cart, total = found["Cart"], found["Cart.TotalAsync"]
    assert cart.signature == "public sealed class Cart<T> : Base, IPriced where T : class"
    assert cart.doc == "What a customer wants to buy, see Shop.Item.\n\nT: The items."
    assert (cart.line, cart.end_line) == (7, 38)
    assert total.signature == "public async Task<int> TotalAsync(int tax = 3)"
    assert (total.doc, total.line, total.end_line) == ("Sums the prices.", 23, 26)
    assert found["Cart.Limit"].doc == "The most items."
    assert found["Line"].signature == "public record Line(int Cents, int Many)"
    assert found["Cart.Cart"].signature == "public Cart(IStore store) : base(store)"


def test_namespaces_with_bodies_qualify_what_is_inside() -> None:
    assert [one.qualified for one in c_sharp(NESTED).symbols] == [
        *("Shop", "Shop.Outer", "Shop.Inner", "Shop.Inner.Deep", "Shop.Inner.Deep.Run"),
    ]


def test_calls_of_c_sharp() -> None:
    found = {one.qualified: one.calls for one in c_sharp(CART).symbols}
    assert set(found["Shop.Carts.Cart.TotalAsync"]) == {"_store.Get().ValueAsync", "_store.Get"}
    assert set(found["Shop.Carts.Cart.Print"]) == {
        *("_log?.Write", "List", "Twice", "Shop.Tools.Now"),
    }
    assert found["Shop.Carts.Cart.operator+"] == ("a.Merge",)


def test_imports_of_c_sharp() -> None:
    assert [(one.target, one.line) for one in c_sharp(CART).imports] == [
        *(("System", 1), ("System.Math", 2), ("Shop.Prices.Money", 3)),
    ]


def test_tests_of_xunit_nunit_and_mstest() -> None:
    found = c_sharp(TESTS).tests
    assert [(one.title, one.framework, one.line) for one in found] == [
        ("cart > sums all prices", "xunit", 3),
        ("cart > refuses too many items", "xunit", 5),
        ("cart > costs nothing", "nunit", 9),
        ("cart > is printed", "mstest", 10),
        ("cart > rounds", "xunit", 11),
    ]
    assert found[0].symbol == "CartTests.SumsAllPrices"
    assert set(found[0].calls) == {"Assert.Equal", "Cart().Total", "Cart"}
    assert (found[1].snippet, found[1].end_line) == ("public void Limit(int many) { }", 8)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("\n    ", "\n\t"),
        ("(\n        int tax", "(int tax"),
        ("\n{\n", " {\n"),
        ("await _store", "await /* the store */ _store"),
        ("The most items", "At most so many"),
        ("{ Open, Paid }", "{ Open, Paid, }"),
    ],
)
def test_layout_and_comments_leave_the_fingerprints_of_c_sharp(old: str, new: str) -> None:
    assert old in CART
    assert [one.fingerprint for one in c_sharp(CART.replace(old, new)).symbols] == [
        one.fingerprint for one in c_sharp(CART).symbols
    ]


@pytest.mark.parametrize(
    ("old", "new", "changed"),
    [
        ("Cents / 100", "Cents / 10", {"Money", "Money.Euros"}),
        ("Cents / 100", "Cents % 100", {"Money", "Money.Euros"}),
        ("x * 2", "y * 2", {"Cart", "Cart.Print", "Cart.Print.Twice"}),
        ('"EUR"', '"USD"', {"Cart", "Cart.Currency"}),
        ("private static", "public static", {"Cart", "Cart.Currency"}),
    ],
)
def test_a_change_changes_the_fingerprints_of_c_sharp(
    old: str, new: str, changed: set[str]
) -> None:
    before, after = c_sharp(CART).symbols, c_sharp(CART.replace(old, new, 1)).symbols
    assert {f"Shop.Carts.{one}" for one in changed} == {
        one.qualified
        for one, other in zip(before, after, strict=True)
        if one.fingerprint != other.fingerprint
    }


def test_broken_c_sharp_gives_what_can_be_read() -> None:
    found = c_sharp(
        "class Cart {\n    int First() { return 1; }\n    int Broken( { ;\n    int Last() {}"
    )
    assert found.problem
    assert "First" in {one.name for one in found.symbols}


def test_suffixes_of_c_sharp() -> None:
    assert parsing.language_of("src/Cart.cs") == "c_sharp"
