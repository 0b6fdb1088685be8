"""What one asks of a bank in one go; each action is a function whose first argument is the bank."""
