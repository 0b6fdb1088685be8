<?php
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
