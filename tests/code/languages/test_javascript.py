"""What is found in JavaScript."""

from __future__ import annotations

import pytest

from memory_bank.code.parse import parsing
from memory_bank.code.parse.parsed_file import ParsedFile

CART = """/**
 * Carts of a shop.
 */
import React, { useState as state } from "react";
import * as prices from './prices.js';
export * from './tax';
export { total as sum } from './total';
const fs = require('fs'), { join, sep: separator } = require("path");
let first = 1;

const LIMIT = 3;

/**
 * A cart.
 * @param {Store} store where orders are
 */
export default class Cart extends Store {
  static RATE = 2;
  #secret = () => 2;
  // What it costs.
  get total() { return this.items.map(price).reduce(prices.add, 0); }
  async *[Symbol.iterator]() {}
}

// Add two.
export const add = async (a, b) => {
  const inner = function () { return deep(); };
  return (await prices.load())?.get(a).plus(b);
};

const api = {
  open() { connect(); },
  close: function () {},
  'read all': () => 1,
  admin: { remove() {} },
};

exports.parse = function (text) { return new Parser(text); };
module.exports.Reader = class { read() {} };
Cart.prototype.clear = function () {};
run({ hidden() {} });

function View() { return (<Panel title={name()}><b><menu.Item/></b></Panel>); }
import('./lazy').then(View);
"""
TESTS = """describe('queue', () => {
  describe("on timeout", function () {
    it.only(`retries ${3} times`, async () => {
      await new Queue().push(1);
    });
    test.each([[1, 2]])('adds %d', (a) => add(a));
  });
  describe(Queue, () => { it('is empty', () => {}); it.todo("is full"); });
});
edit('no test', () => {});
pattern.test('no test');
"""


def javascript(text: str) -> ParsedFile:
    return parsing.parse(text.encode(), "javascript")


def test_definitions_of_javascript() -> None:
    found = {one.qualified: one for one in javascript(CART).symbols}
    assert [(one.kind, name) for name, one in found.items()] == [
        ("constant", "LIMIT"), ("class", "Cart"), ("constant", "Cart.RATE"),
        ("method", "Cart.#secret"), ("method", "Cart.total"), ("function", "add"),
        ("function", "add.inner"), ("constant", "api"), ("method", "api.open"),
        ("method", "api.close"), ("method", "api.read all"), ("method", "api.admin.remove"),
        ("function", "parse"), ("class", "Reader"), ("method", "Reader.read"),
        ("method", "Cart.clear"), ("function", "View"),
    ]  # fmt: skip
    cart, add = found["Cart"], found["add"]
    assert (cart.signature, cart.line, cart.end_line) == ("class Cart extends Store", 13, 24)
    assert cart.doc == "A cart.\n@param {Store} store where orders are"
    assert (add.signature, add.doc, add.line) == ("const add = async (a, b)", "Add two.", 25)
    assert found["Cart.total"].doc == "What it costs."
    assert found["parse"].signature == "exports.parse = function (text)"
    assert javascript(CART).doc == "Carts of a shop."


def test_calls_of_javascript() -> None:
    found = {one.qualified: one.calls for one in javascript(CART).symbols}
    assert set(found["Cart.total"]) == {"this.items.map", ".reduce"}
    assert set(found["add"]) == {".plus", ".get", "prices.load"}
    assert found["add.inner"] == ("deep",)
    assert found["parse"] == ("Parser",)
    assert found["View"] == ("Panel", "name", "menu.Item")


def test_imports_of_javascript() -> None:
    assert [(one.target, one.names, one.line) for one in javascript(CART).imports] == [
        ("react", ("React", "useState"), 4), ("./prices.js", (), 5), ("./tax", (), 6),
        ("./total", ("total",), 7), ("fs", (), 8), ("path", ("join", "sep"), 8), ("./lazy", (), 44),
    ]  # fmt: skip


def test_tests_of_javascript() -> None:
    found = javascript(TESTS).tests
    assert [(one.title, one.line) for one in found] == [
        ("queue > on timeout > retries ${3} times", 3), ("queue > on timeout > adds %d", 6),
        ("queue > Queue > is empty", 8), ("queue > Queue > is full", 8),
    ]  # fmt: skip
    assert {"Queue", "Queue().push"} <= set(found[0].calls)
    assert (found[0].end_line, found[0].framework, found[0].symbol) == (6, "describe", "")


@pytest.mark.parametrize(
    "path", ["src/cart.test.js", "src/__tests__/cart.js", "test/a.mjs", "a_spec.js", "e/a.cy.js"]
)
def test_files_that_may_hold_tests_of_javascript(path: str) -> None:
    assert parsing.may_hold_tests(path, "javascript")
    assert not parsing.may_hold_tests("src/contest.js", "javascript")


def test_a_reformat_leaves_the_fingerprints_of_javascript() -> None:
    text = "const f = (a) => {\n  if (a) { return g(a, 'x') }\n  return [1, 2];\n};\n"
    other = 'const f = (\n  a,\n) => {\n\n  if (a) {\n return g(a, "x"); } // note\n  return [\n1, 2,]\n}\n'
    (first,), (second,) = javascript(text).symbols, javascript(other).symbols
    assert first.fingerprint == second.fingerprint
    for old, new in (("'x'", "'y'"), ("[1, 2]", "[1, 3]"), ("g(", "h("), ("if (a)", "if (b)")):
        assert javascript(text.replace(old, new)).symbols[0].fingerprint != first.fingerprint
