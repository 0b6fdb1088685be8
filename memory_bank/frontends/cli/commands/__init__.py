"""The commands: one file each, named as the command is."""
