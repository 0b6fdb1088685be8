"""Read notes of other programs; one file each."""
