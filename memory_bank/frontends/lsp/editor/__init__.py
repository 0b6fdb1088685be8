"""What an editor is told about a text."""
