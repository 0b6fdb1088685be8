"""What is found in PHP."""

from __future__ import annotations

import pytest

from memory_bank.code.parse import parsing
from memory_bank.code.parse.parsed_file import ParsedFile

CART = r"""<?php
declare(strict_types=1);

namespace Shop\Carts;

use Shop\Prices\Money;
use Shop\{Item, Store as Shelf};
use function Shop\tax;

require_once __DIR__ . '/rates.php';
include 'helpers.php';

const LIMIT = 50, LEAST = 1;
define('CURRENCY', 'EUR');

/**
 * What a customer wants to buy.
 */
#[Entity]
final class Cart extends Base implements Priced
{
    use Counts;

    public const MAX = 3;
    private int $count = 0;

    public function __construct(private Shelf $store) { parent::__construct($store); }

    // Sums the prices.
    #[Pure]
    public static function total(
        int $tax = 3,
    ): int {
        $line = new Line(1);
        $this->store->prices($line)->sum();
        return self::round(array_sum($this?->rates()) + \Shop\tax($tax));
    }
}

interface Priced { public function print(): void; }
trait Counts { protected function count(): int { return $this->count * 2; } }
enum State: string { case Open = 'o'; const FIRST = self::Open; public function label(): string { return 'x'; } }

function helper(array $items): ?Cart { return null; }
"""
PLAIN = r"""<h1><?= title() ?></h1>
<?php
namespace A { class One {} }
namespace B\C { function two() {} }
"""
TESTS = r"""<?php
class CartTest extends TestCase
{
    public function testSumsAllPrices(): void { $this->assertSame(3, (new Cart())->total()); }

    /**
     * Rounding.
     *
     * @test
     */
    public function it_rounds_up(): void {}

    #[Test]
    #[TestDox('refuses too many items')]
    public function limit(): void {}

    public function provide(): array { return []; }
}
"""


def php(text: str) -> ParsedFile:
    return parsing.parse(text.encode(), "php")


def test_definitions_of_php() -> None:
    assert php(CART).problem == ""
    found = {one.qualified.removeprefix("Shop.Carts."): one for one in php(CART).symbols}
    assert [(one.kind, name) for name, one in found.items()] == [
        ("module", "Shop.Carts"), ("constant", "LIMIT"), ("constant", "LEAST"),
        ("constant", "CURRENCY"), ("class", "Cart"), ("constant", "Cart.MAX"),
        ("method", "Cart.__construct"), ("method", "Cart.total"), ("interface", "Priced"),
        ("method", "Priced.print"), ("class", "Counts"), ("method", "Counts.count"),
        ("enum", "State"), ("constant", "State.FIRST"), ("method", "State.label"),
        ("function", "helper"),
    ]  # fmt: skip
    cart, total = found["Cart"], found["Cart.total"]
    assert cart.signature == "final class Cart extends Base implements Priced"
    assert cart.doc == "What a customer wants to buy."
    assert (cart.line, cart.end_line) == (16, 39)
    assert total.signature == "public static function total(int $tax = 3): int"
    assert (total.doc, total.line, total.end_line) == ("Sums the prices.", 29, 38)
    assert found["helper"].signature == "function helper(array $items): ?Cart"
    assert found["CURRENCY"].signature == "define('CURRENCY', 'EUR')"


def test_namespaces_with_bodies_and_pages_of_php() -> None:
    found = [one.qualified for one in php(PLAIN).symbols]
    assert found == ["A", "A.One", "B.C", "B.C.two"]
    assert (
        php("<?php\nnamespace A;\nclass X {}\nnamespace B;\nclass Y {}").symbols[-1].qualified
        == "B.Y"
    )


def test_calls_of_php() -> None:
    found = {one.name: one.calls for one in php(CART).symbols}
    assert set(found["total"]) == {
        *("Line", "$this->store->prices", ".sum", "self::round", "array_sum", "tax"),
        "$this?->rates",
    }
    assert found["__construct"] == ("parent::__construct",)


def test_imports_of_php() -> None:
    assert [(one.target, one.line) for one in php(CART).imports] == [
        (r"Shop\Prices\Money", 6), (r"Shop\Item", 7), (r"Shop\Store", 7), (r"Shop\tax", 8),
        ("./rates.php", 10), ("helpers.php", 11),
    ]  # fmt: skip


def test_tests_of_phpunit() -> None:
    found = php(TESTS).tests
    assert [(one.title, one.framework, one.line) for one in found] == [
        ("cart > sums all prices", "phpunit", 4),
        ("cart > it rounds up", "phpunit", 11),
        ("cart > refuses too many items", "phpunit", 13),
    ]
    assert found[0].symbol == "CartTest.testSumsAllPrices"
    assert set(found[0].calls) == {"$this->assertSame", ".total", "Cart"}
    assert found[2].snippet == "public function limit(): void {}"
    assert parsing.may_hold_tests("tests/Unit/CartTest.php", "php")
    assert not parsing.may_hold_tests("src/Cart.php", "php")


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("\n    ", "\n\t"),
        ("(\n        int $tax = 3,\n    )", "(int $tax = 3)"),
        ("\n{\n", " {\n"),
        ("->prices($line)->sum", "\n  ->prices($line) // all\n  # of them\n->sum"),
        ("What a customer", "All that a customer"),
    ],
)
def test_layout_and_comments_leave_the_fingerprints_of_php(old: str, new: str) -> None:
    assert old in CART
    assert [one.fingerprint for one in php(CART.replace(old, new)).symbols] == [
        one.fingerprint for one in php(CART).symbols
    ]


@pytest.mark.parametrize(
    ("old", "new", "changed"),
    [
        ("* 2", "* 3", {"Counts", "Counts.count"}),
        ("* 2", "+ 2", {"Counts", "Counts.count"}),
        ("$tax = 3", "$rate = 3", {"Cart", "Cart.total"}),
        ("'EUR'", "'USD'", {"CURRENCY"}),
        ("return self::round", "return static::round", {"Cart", "Cart.total"}),
        ("protected function", "public function", {"Counts", "Counts.count"}),
    ],
)
def test_a_change_changes_the_fingerprints_of_php(old: str, new: str, changed: set[str]) -> None:
    before, after = php(CART).symbols, php(CART.replace(old, new, 1)).symbols
    assert {f"Shop.Carts.{one}" for one in changed} == {
        one.qualified
        for one, other in zip(before, after, strict=True)
        if one.fingerprint != other.fingerprint
    }


def test_broken_php_gives_what_can_be_read() -> None:
    found = php("<?php\nfunction first() { return 1; }\nfunction broken( { ;\nfunction last() {}")
    assert found.problem
    assert "first" in {one.name for one in found.symbols}


@pytest.mark.parametrize("path", ["src/Cart.php", "views/cart.phtml"])
def test_suffixes_of_php(path: str) -> None:
    assert parsing.language_of(path) == "php"


def test_programs_of_php() -> None:
    assert parsing.language_of("bin/console", "#!/usr/bin/env php") == "php"


def test_one_line_defines_a_bounded_number_of_constants() -> None:
    text = "<?php\nconst " + ", ".join(f"A{number} = {number}" for number in range(20_000)) + ";"
    assert [one.name for one in php(text).symbols] == [f"A{number}" for number in range(200)]
