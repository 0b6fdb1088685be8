"""How a review is written down."""
