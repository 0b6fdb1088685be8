"""The shared index: the reviewed notes of many repositories on one engine, read by all of them."""
