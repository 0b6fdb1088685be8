<?php
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
