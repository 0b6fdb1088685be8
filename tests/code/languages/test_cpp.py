"""What is found in C++."""

from __future__ import annotations

import pytest

from memory_bank.code.parse import parsing
from memory_bank.code.parse.parsed_file import ParsedFile

CART = """#include <vector>
#include "shop/prices.hpp"

#define LIMIT 50

namespace shop::carts {

/// What a customer wants to buy.
template <typename T, int N>
class Cart : public Base<T> {
 public:
  static constexpr int kMost = 5;
  Cart() : count_(0) {}
  explicit Cart(Store& store);
  virtual ~Cart() = default;
  virtual int *print() const = 0;
  bool operator==(const Cart& other) const { return same(other); }
  operator bool() const { return count_ > 0; }
  enum class State { Open, Paid };
 private:
  int count_ = 0;
};

/**
 * Sums the prices.
 */
template <typename T, int N>
int Cart<T, N>::total(
    int tax) const {
  auto twice = [](int x) { return times(x, 2); };
  return std::accumulate<int>(lines.begin(), store->prices()) + this->tax(tax)
      + *std::make_unique<Line>(1) + cents(new Money(2));
}

Cart::Cart(Store& store) : count_(1) { init(); }
Cart::~Cart() {}

std::ostream& operator<<(std::ostream& out, const Cart& cart) { return out; }

using Names = std::vector<std::string>;
constexpr double kRate = 3.14;
struct Point { int x; };
auto helper() -> int { return 1; }

}  // namespace shop::carts

namespace { int hidden() { return 1; } }
extern "C" { int exported(void) { return 1; } }

class SHOP_EXPORT Widget final : public Base {
 public:
  void draw() { paint(); }
};
"""
TESTS = """TEST(CartTest, SumsAllPrices) { EXPECT_EQ(3, Cart().total()); }
TEST_F(CartTest, AddsTwo) {
  add(2);
}
TEST_P(Rates, Round) {}

TEST_CASE("carts are printed", "[cart]") {
  Cart cart;
  SECTION("with two items") {
    cart.add(2);
  }
  SECTION("empty") { SECTION("twice") { REQUIRE(cart.print() == 1); } }
}

SCENARIO("buying") { GIVEN("a cart") { WHEN("it is paid") { pay(); } } }

int section(int a) { return a; }
"""


def cpp(text: str) -> ParsedFile:
    return parsing.parse(text.encode(), "cpp")


def test_definitions_of_cpp() -> None:
    assert cpp(CART).problem == ""
    found = [(one.qualified.removeprefix("shop.carts."), one) for one in cpp(CART).symbols]
    assert [(one.kind, name) for name, one in found] == [
        ("constant", "LIMIT"), ("module", "shop.carts"), ("class", "Cart"),
        ("constant", "Cart.kMost"), ("method", "Cart.Cart"), ("method", "Cart.~Cart"),
        ("method", "Cart.print"), ("method", "Cart.operator=="), ("method", "Cart.operator bool"),
        ("enum", "Cart.State"), ("method", "Cart.total"), ("method", "Cart.Cart"),
        ("method", "Cart.~Cart"), ("function", "operator<<"), ("type", "Names"),
        ("constant", "kRate"), ("type", "Point"), ("function", "helper"), ("function", "hidden"),
        ("function", "exported"), ("class", "Widget"), ("method", "Widget.draw"),
    ]  # fmt: skip
    by_name = dict(found)
    cart, total = by_name["Cart"], by_name["Cart.total"]
    assert cart.signature == "class Cart : public Base<T>"
    assert (cart.doc, cart.line, cart.end_line) == ("What a customer wants to buy.", 8, 23)
    assert total.signature == "int Cart<T, N>::total(int tax) const"
    assert (total.doc, total.line, total.end_line) == ("Sums the prices.", 24, 34)
    assert by_name["Cart.Cart"].signature == "Cart::Cart(Store& store)"
    assert by_name["Cart.print"].signature == "virtual int *print() const = 0"
    assert by_name["shop.carts"].signature == "namespace shop::carts"
    assert by_name["Widget"].signature == "class SHOP_EXPORT Widget final : public Base"


def test_calls_of_cpp() -> None:
    found = {one.qualified: one.calls for one in cpp(CART).symbols}
    assert set(found["shop.carts.Cart.total"]) == {
        *("times", "std::accumulate", "lines.begin", "store->prices", "this->tax"),
        *("std::make_unique", "cents", "Money"),
    }
    assert found["Widget.draw"] == ("paint",)


def test_imports_of_cpp() -> None:
    assert [(one.target, one.line) for one in cpp(CART).imports] == [
        ("vector", 1), ("shop/prices.hpp", 2),
    ]  # fmt: skip


def test_tests_of_googletest_and_catch2() -> None:
    found = cpp(TESTS).tests
    assert [(one.title, one.framework, one.line, one.end_line) for one in found] == [
        ("cart > sums all prices", "googletest", 1, 2),
        ("cart > adds two", "googletest", 2, 5),
        ("rates > round", "googletest", 5, 6),
        ("carts are printed", "catch2", 7, 14),
        ("carts are printed > with two items", "catch2", 9, 12),
        ("carts are printed > empty", "catch2", 12, 13),
        ("carts are printed > empty > twice", "catch2", 12, 13),
        ("buying", "catch2", 15, 16),
        ("buying > a cart", "catch2", 15, 16),
        ("buying > a cart > it is paid", "catch2", 15, 16),
    ]
    assert set(found[0].calls) == {"EXPECT_EQ", "Cart().total", "Cart"}
    assert found[4].calls == ("cart.add",)
    assert found[4].snippet == 'SECTION("with two items") {'
    assert [one.qualified for one in cpp(TESTS).symbols] == ["section"]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("\n  ", "\n\t"),
        ("total(\n    int tax) const {", "total(int tax) const\n{"),
        ("return std::", "// all\n  return /* of it */ std::"),
        ("Sums the prices", "Adds all prices"),
        ("Store& store", "Store &store"),
        ("{ Open, Paid }", "{ Open, Paid, }"),
    ],
)
def test_layout_and_comments_leave_the_fingerprints_of_cpp(old: str, new: str) -> None:
    assert old in CART
    assert [one.fingerprint for one in cpp(CART.replace(old, new)).symbols] == [
        one.fingerprint for one in cpp(CART).symbols
    ]


@pytest.mark.parametrize(
    ("old", "new", "changed"),
    [
        ("LIMIT 50", "LIMIT 51", {"LIMIT"}),
        ("times(x, 2)", "times(x, 3)", {"Cart.total"}),
        ("count_ > 0", "count_ >= 0", {"Cart", "Cart.operator bool"}),
        ("double kRate", "float kRate", {"kRate"}),
        ("int N>\nint", "int M>\nint", {"Cart.total"}),
        ("accumulate<int>", "accumulate<long>", {"Cart.total"}),
    ],
)
def test_a_change_changes_the_fingerprints_of_cpp(old: str, new: str, changed: set[str]) -> None:
    assert old in CART
    before, after = cpp(CART).symbols, cpp(CART.replace(old, new, 1)).symbols
    found = {
        one.qualified.removeprefix("shop.carts.")
        for one, other in zip(before, after, strict=True)
        if one.fingerprint != other.fingerprint
    }
    assert found - {"shop.carts"} == changed


def test_broken_cpp_gives_what_can_be_read() -> None:
    found = cpp("int first() { return 1; }\n\nint broken( { ;\n\nint last() { return 2; }\n")
    assert found.problem
    assert "first" in {one.name for one in found.symbols}


@pytest.mark.parametrize("path", ["a.cc", "a.cpp", "a.cxx", "a.hpp", "a.hh", "a.hxx", "a.ipp"])
def test_suffixes_of_cpp(path: str) -> None:
    assert parsing.language_of(path) == "cpp"


def test_macros_do_not_hide_definitions() -> None:
    found = cpp(
        "SHOP_BEGIN_NAMESPACE\nnamespace shop SHOP_VISIBLE(default)\n{\n"
        "class Cart {\n  Q_OBJECT\n public:\n  int total() { return 1; }\n};\n}\nSHOP_END_NAMESPACE\n"
    )
    assert [one.qualified for one in found.symbols] == ["shop", "shop.Cart", "shop.Cart.total"]
    assert found.problem == ""
    lines = [(one.line, one.end_line) for one in found.symbols]
    assert lines == [(2, 10), (4, 9), (7, 8)]
