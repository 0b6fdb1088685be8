"""Ways to turn a text into a vector; one file each."""
