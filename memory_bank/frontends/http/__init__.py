"""What front-ends that are reached over HTTP share: addresses, host names, limits, the server."""
