"""Groups of tools, one file each; the file's name is what `--toolsets` calls the group."""
