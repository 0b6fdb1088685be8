class CartTest {
    @Test
    void sumsAllPrices() { assertEquals(3, cart().total(0)); }

    @ParameterizedTest(name = "{0}")
    @DisplayName("refuses \"too many\" items")
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
