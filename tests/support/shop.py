"""The code of a small shop, in a repository of its own."""

FILES = {
    "shop/__init__.py": "",
    "shop/orders.py": '''"""Orders of customers."""

from shop import payments
from shop.payments import Gateway

LIMIT = 3


class Order:
    """What a customer wants."""

    def place(self):
        """Charge the customer, and retry on a timeout."""
        self.check()
        return charge_with_retry(Gateway(), self.total)

    def check(self):
        if not self.lines:
            raise ValueError("empty order")


def charge_with_retry(gateway, amount):
    """Charge up to three times."""
    for _ in range(LIMIT):
        return gateway.charge(amount)
''',
    "shop/payments.py": '''class Gateway:
    """The bank's door."""

    def charge(self, amount):
        return self.send(amount)

    def send(self, amount):
        """Send an amount over the wire."""
        return amount


def describe():
    return "payments"
''',
    "shop/reports.py": """from .orders import Order


def describe():
    return Order().place()
""",
    "tests/test_orders.py": '''from shop.orders import Order, charge_with_retry


def test_an_empty_order_is_refused():
    Order().check()


def test_charge_with_retry():
    """Three times at most."""
    assert run()


def run():
    return 1
''',
}
