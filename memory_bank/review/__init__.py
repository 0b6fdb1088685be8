"""What is wrong with notes, and what a change does to them."""
