"""From the words of a question to ranked hits that say why they are there."""
