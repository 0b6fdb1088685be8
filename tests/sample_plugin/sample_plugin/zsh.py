"""The language `zsh`, by the grammar of bash."""

from memory_bank.code.languages import bash

RULES = bash.RULES._replace(name="zsh", suffixes=(".zsh",), names=(".zshrc",), programs=())
