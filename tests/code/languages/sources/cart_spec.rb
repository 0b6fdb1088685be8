RSpec.describe Shop::Cart do
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
