"""What was done with a bank on this machine: private, never in a note."""
