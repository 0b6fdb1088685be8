"""What is found in C."""

from __future__ import annotations

import pytest

from memory_bank.code.parse import parsing
from memory_bank.code.parse.parsed_file import ParsedFile

CART = """/** @file
 * Carts of a shop.
 */
#ifndef CART_H
#define CART_H
#include <stdio.h>
#include "store/prices.h"

#define LIMIT 50
#define TWICE(a) ((a) + (a))

/// What a customer
/// wants to buy.
struct cart {
    int count;
    struct line { int cents; } *lines;
};

typedef struct { int x; } point_t;
typedef struct node { struct node *next; } node_t;
typedef int (*rate_t)(int cents);
typedef enum { OPEN, PAID } state_t;
enum color { RED, GREEN };
union number { int whole; double real; };

const int rate = 3;
static const char *const NAMES[] = {"a", "b"};
int counter = 0;

int prototype(int a);
extern void other(void);

/*
 * Sums the prices.
 */
static inline int *total(
    const struct cart *cart, size_t tax)
{
    const int first = 1;
    for (int i = 0; i < cart->count; i++) add(&first, cart->lines[i].cents * 2);
    return cart->store->rate(TWICE(tax)) + (*fallback)(2) + local(first);
}

#ifdef DEBUG
EXPORT int debug(void) { return printf("%d", counter); }
#endif

int (*chosen(int which))(int) { return 0; }
#endif
"""


def c(text: str) -> ParsedFile:
    return parsing.parse(text.encode(), "c")


def test_definitions_of_c() -> None:
    found = {one.qualified: one for one in c(CART).symbols}
    assert [(one.kind, name) for name, one in found.items()] == [
        ("constant", "LIMIT"), ("function", "TWICE"), ("type", "cart"), ("type", "cart.line"),
        ("type", "point_t"), ("type", "node_t"), ("type", "rate_t"), ("enum", "state_t"),
        ("enum", "color"), ("type", "number"), ("constant", "rate"), ("constant", "NAMES"),
        ("function", "total"), ("function", "debug"), ("function", "chosen"),
    ]  # fmt: skip
    cart, total = found["cart"], found["total"]
    assert cart.signature == "struct cart"
    assert (cart.doc, cart.line, cart.end_line) == ("What a customer\nwants to buy.", 12, 18)
    assert total.signature == "static inline int *total(const struct cart *cart, size_t tax)"
    assert (total.doc, total.line, total.end_line) == ("Sums the prices.", 33, 43)
    assert found["LIMIT"].signature == "#define LIMIT 50"
    assert found["TWICE"].signature == "#define TWICE(a)"
    assert found["node_t"].signature == "typedef struct node {…} node_t"
    assert c(CART).doc == "@file\nCarts of a shop."


def test_calls_of_c() -> None:
    found = {one.qualified: one.calls for one in c(CART).symbols}
    assert set(found["total"]) == {"add", "cart->store->rate", "TWICE", "local"}
    assert found["debug"] == ("printf",)


def test_imports_of_c() -> None:
    assert [(one.target, one.line) for one in c(CART).imports] == [
        ("stdio.h", 6), ("store/prices.h", 7),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("\n    ", "\n\t"),
        (
            "total(\n    const struct cart *cart, size_t tax)\n{",
            "total(const struct cart* cart, size_t tax) {",
        ),
        ("return cart->", "// all\n    return /* of it */ cart->"),
        ("Sums the prices", "Adds all prices"),
        ("int count;", "int count; ///< how many"),
        ("{ RED, GREEN }", "{ RED, GREEN, }"),
    ],
)
def test_layout_and_comments_leave_the_fingerprints_of_c(old: str, new: str) -> None:
    assert old in CART
    assert [one.fingerprint for one in c(CART.replace(old, new)).symbols] == [
        one.fingerprint for one in c(CART).symbols
    ]


@pytest.mark.parametrize(
    ("old", "new", "changed"),
    [
        ("LIMIT 50", "LIMIT 51", {"LIMIT"}),
        ("(a) + (a)", "(a) * (a)", {"TWICE"}),
        ("cents * 2", "cents / 2", {"total"}),
        ("fallback", "otherwise", {"total"}),
        ('{"a", "b"}', '{"a", "c"}', {"NAMES"}),
        ("int whole", "long whole", {"number"}),
        ("if DEBUG", "if TRACE", set()),
    ],
)
def test_a_change_changes_the_fingerprints_of_c(old: str, new: str, changed: set[str]) -> None:
    before, after = c(CART).symbols, c(CART.replace(old, new, 1)).symbols
    assert changed == {
        one.qualified
        for one, other in zip(before, after, strict=True)
        if one.fingerprint != other.fingerprint
    }


def test_broken_c_gives_what_can_be_read() -> None:
    found = c("int first(void) { return 1; }\n\nint broken( { ;\n\nint last(void) { return 2; }\n")
    assert found.problem
    assert "first" in {one.name for one in found.symbols}


@pytest.mark.parametrize("path", ["src/cart.c", "include/cart.h"])
def test_suffixes_of_c(path: str) -> None:
    assert parsing.language_of(path) == "c"


@pytest.mark.parametrize(
    ("text", "names"),
    [
        (
            "namespace shop {\nclass Cart {\n  int total() { return 1; }\n};\n}",
            "shop shop.Cart shop.Cart.total",
        ),
        (
            "template <class T>\nclass Cart : Base {\n int total() { return 1; }\n};",
            "Cart Cart.total",
        ),
        ("struct Cart {\n public:\n  int total() { return 1; }\n};", "Cart Cart.total"),
        (
            "/* class Cart { */\nint class = 1;\nint template(int class) { return class; }",
            "template",
        ),
    ],
)
def test_headers_with_words_of_cpp_are_read_by_its_rules(text: str, names: str) -> None:
    assert [one.qualified for one in c(text).symbols] == names.split()
