package org.shop.cart;

import java.util.List;
import java.util.function.*;
import static java.lang.Math.max;

/**
 * What a customer wants to buy.
 *
 * @param <T> items
 */
@Entity
@Table(name = "carts")
public final class Cart<T extends Item> extends Base implements Priced {
    /** The most items. */
    public static final int LIMIT = 50, LEAST = 1;
    private int count;

    // Starts without items.
    public Cart(Store store) {
        super(store);
        this.count = 0;
    }

    @Override
    @Deprecated public int total(
            int tax) throws Full {
        List<T> found = new ArrayList<>();
        run(new Task() { void start() { go(); } });
        return store.prices().stream().mapToInt(one -> one.cents()).sum()
                + max(tax, Rates.<T>of(this.count));
    }

    record Line(int cents, int many) {
        Line { Checks.positive(many); }
        int sum() { return cents * many; }
    }

    enum State { OPEN, PAID { void close() {} }; State next() { return PAID; } }

    static class Builder {
        Cart<?> build() { return null; }
    }
}

interface Priced {
    String CURRENCY = "EUR";
    int total(int tax);
}

@interface Audited { String value() default ""; }
