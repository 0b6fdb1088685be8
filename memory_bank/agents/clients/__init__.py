"""What is known of each program; one file each."""
