"""The dashboard: what is in a bank, as pages for a browser."""
