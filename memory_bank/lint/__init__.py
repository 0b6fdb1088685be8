"""What is wrong with a bank: one file a rule."""
