"""One index of many repositories."""
