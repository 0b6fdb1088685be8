/** @file
 * Carts of a shop.
 */
#ifndef CART_H
#define CART_H
#include <stdio.h>
#include "store/prices.h"

#define LIMIT 50
#define TWICE(a) ((a) + (a))

/// What a customer
/// wants to buy.
struct cart {
    int count;
    struct line { int cents; } *lines;
};

typedef struct { int x; } point_t;
typedef struct node { struct node *next; } node_t;
typedef int (*rate_t)(int cents);
typedef enum { OPEN, PAID } state_t;
enum color { RED, GREEN };
union number { int whole; double real; };

const int rate = 3;
static const char *const NAMES[] = {"a", "b"};
int counter = 0;

int prototype(int a);
extern void other(void);

/*
 * Sums the prices.
 */
static inline int *total(
    const struct cart *cart, size_t tax)
{
    const int first = 1;
    for (int i = 0; i < cart->count; i++) add(&first, cart->lines[i].cents * 2);
    return cart->store->rate(TWICE(tax)) + (*fallback)(2) + local(first);
}

#ifdef DEBUG
EXPORT int debug(void) { return printf("%d", counter); }
#endif

int (*chosen(int which))(int) { return 0; }
#endif
