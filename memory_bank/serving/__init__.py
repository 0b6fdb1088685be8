"""What front-ends that run for long share: an open bank, work behind it, progress, changes."""
