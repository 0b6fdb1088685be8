TEST(CartTest, SumsAllPrices) { EXPECT_EQ(3, Cart().total()); }
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
