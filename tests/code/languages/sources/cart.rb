# frozen_string_literal: true

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
