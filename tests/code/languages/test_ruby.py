"""What is found in Ruby."""

from __future__ import annotations

import pytest

from memory_bank.code.parse import parsing
from memory_bank.code.parse.parsed_file import ParsedFile

CART = """# frozen_string_literal: true

require 'set'
require_relative "rates"
autoload :Money, 'shop/money'

LIMIT = 50

module Shop # of all
  # What a customer wants to buy.
  #
  # Not more than LIMIT.
  class Cart < Base::Priced
    include Enumerable
    RATES = [1, 2].freeze

    def initialize(store) = super(store)

    # Sums the prices.
    def total(tax: 3, &block)
      @items.map { |item| item.cents }.sum + store.get(1).value * tax
      Shop::Rates.of(self.class.name) unless empty?
    end

    def self.make(store); new(store); end

    class << self
      def build # one
        make(nil)
      end
    end

    private def secret; end

    Line = Struct.new(:cents, :many) do
      def sum; cents * many; end
    end

    def ==(other); end
  end
end

class Shop::Other; end

=begin
Helps
everywhere.
=end
def helper; end
"""
SPEC = """RSpec.describe Shop::Cart do
  describe "#total" do
    context 'without items' do
      it "is zero" do
        expect(Cart.new.total).to eq(0)
      end
      it { is_expected.to be_empty }
    end
  end
end

class CartTest < Minitest::Test
  def test_sums_prices
    assert_equal 3, cart.total
  end

  test "refuses too many items" do
    add(51)
  end
end
"""


def ruby(text: str) -> ParsedFile:
    return parsing.parse(text.encode(), "ruby")


def test_definitions_of_ruby() -> None:
    assert ruby(CART).problem == ""
    found = {one.qualified: one for one in ruby(CART).symbols}
    assert [(one.kind, name) for name, one in found.items()] == [
        ("constant", "LIMIT"), ("module", "Shop"), ("class", "Shop.Cart"),
        ("constant", "Shop.Cart.RATES"), ("method", "Shop.Cart.initialize"),
        ("method", "Shop.Cart.total"), ("method", "Shop.Cart.make"),
        ("method", "Shop.Cart.build"), ("method", "Shop.Cart.secret"),
        ("type", "Shop.Cart.Line"), ("method", "Shop.Cart.Line.sum"), ("method", "Shop.Cart.=="),
        ("class", "Shop.Other"), ("function", "helper"),
    ]  # fmt: skip
    cart, total = found["Shop.Cart"], found["Shop.Cart.total"]
    assert cart.signature == "class Cart < Base::Priced"
    assert cart.doc == "What a customer wants to buy.\n\nNot more than LIMIT."
    assert (cart.line, cart.end_line) == (10, 41)
    assert total.signature == "def total(tax: 3, &block)"
    assert (total.doc, total.line, total.end_line) == ("Sums the prices.", 19, 24)
    assert found["Shop"].signature == "module Shop"
    assert found["Shop.Cart.make"].signature == "def self.make(store)"
    assert found["Shop.Cart.build"].signature == "def build"
    assert found["Shop.Cart.Line"].signature == "Line = Struct.new(:cents, :many)"
    assert (found["helper"].doc, found["helper"].line) == ("Helps\neverywhere.", 45)
    assert found["helper"].signature == "def helper"


def test_calls_of_ruby() -> None:
    found = {one.qualified: one.calls for one in ruby(CART).symbols}
    assert set(found["Shop.Cart.total"]) == {
        *("@items.map", "item.cents", ".sum", "store.get", ".value"),
        *("Shop::Rates.of", "self.class", "self.class.name", "empty?"),
    }
    assert found["Shop.Cart.make"] == ("new",)
    assert found["Shop.Cart.build"] == ("make",)


def test_imports_of_ruby() -> None:
    assert [(one.target, one.line) for one in ruby(CART).imports] == [
        ("set", 3), ("./rates", 4), ("shop/money", 5),
    ]  # fmt: skip


def test_tests_of_rspec_and_minitest() -> None:
    found = ruby(SPEC).tests
    assert [(one.title, one.framework, one.line) for one in found] == [
        ("Shop::Cart > #total > without items > is zero", "rspec", 4),
        ("cart > sums prices", "minitest", 13),
        ("cart > refuses too many items", "minitest", 17),
    ]
    assert (found[0].snippet, found[0].end_line) == ('it "is zero" do', 7)
    assert set(found[0].calls) == {"expect", "Cart.new", "Cart.new.total", ".to", "eq"}
    assert found[1].symbol == "CartTest.test_sums_prices"
    assert found[2].calls == ("add",)
    assert parsing.may_hold_tests("spec/cart_spec.rb", "ruby")
    assert not parsing.may_hold_tests("lib/cart.rb", "ruby")


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("\n    ", "\n  "),
        ('"rates"', "'rates'"),
        ("'shop/money'", '"shop/money"'),
        ("Sums the prices", "Adds all prices"),
        ("; new(store); end", "\n  # a new one\n  new(store)\nend"),
        ("[1, 2]", "[1,\n2,\n]"),
    ],
)
def test_layout_and_comments_leave_the_fingerprints_of_ruby(old: str, new: str) -> None:
    assert old in CART
    assert [one.fingerprint for one in ruby(CART.replace(old, new)).symbols] == [
        one.fingerprint for one in ruby(CART).symbols
    ]


@pytest.mark.parametrize(
    ("old", "new", "changed"),
    [
        ("LIMIT = 50", "LIMIT = 51", {"LIMIT"}),
        ("cents * many;", "cents + many;", {"Cart", "Cart.Line", "Cart.Line.sum"}),
        ("tax: 3", "rate: 3", {"Cart", "Cart.total"}),
        ("get(1)", "get('1')", {"Cart", "Cart.total"}),
        ("unless empty?", "if empty?", {"Cart", "Cart.total"}),
        (":cents, :many", ":cents, :count", {"Cart", "Cart.Line"}),
    ],
)
def test_a_change_changes_the_fingerprints_of_ruby(old: str, new: str, changed: set[str]) -> None:
    before, after = ruby(CART).symbols, ruby(CART.replace(old, new, 1)).symbols
    found = {
        one.qualified.removeprefix("Shop.")
        for one, other in zip(before, after, strict=True)
        if one.fingerprint != other.fingerprint
    }
    assert found - {"Shop"} == changed


def test_broken_ruby_gives_what_can_be_read() -> None:
    found = ruby("def first\n  1\nend\n\ndef broken(\n\nclass Last\nend\n")
    assert found.problem
    assert "first" in {one.name for one in found.symbols}


@pytest.mark.parametrize("path", ["lib/cart.rb", "lib/tasks/x.rake", "Rakefile", "a/Gemfile"])
def test_names_of_ruby_files(path: str) -> None:
    assert parsing.language_of(path) == "ruby"


def test_programs_of_ruby() -> None:
    assert parsing.language_of("bin/x", "#!/usr/bin/env ruby") == "ruby"
