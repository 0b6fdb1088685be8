#include <vector>
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
