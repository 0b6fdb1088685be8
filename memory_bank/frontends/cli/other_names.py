"""Names of commands in other programs, and the command here that does the same."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from shlex import join
from types import MappingProxyType

from memory_bank.base.errors import similar_names

_WORDS = {
    "recall": "fetch find grep query",
    "notes": "all dir latest list ls new recent",
    "remember": "add capture create insert memorise memorize note put save store touch write",
    "show": "cat display get open print read view",
    "edit": "change modify replace vi vim",
    "append": "prepend extend",
    "rm": "del delete remove unlink",
    "restore": "recover undelete undo",
    "mv": "move rename",
    "merge": "combine join",
    "links": "backlinks graph neighbours refs related",
    "tags": "labels tag",
    "stats": "count info status",
    "sync": "build embed index rebuild refresh reindex",
    "doctor": "check diagnose fsck health repair verify",
    "config": "settings set",
    "init": "setup start",
    "serve": "server",
    "embedder": "embedders model models",
    "eval": "benchmark evaluate measure test",
    "watch": "daemon follow monitor",
    "-h": "commands help man usage",
    "--version": "version",
}

_NAMES: Mapping[str, str] = MappingProxyType(
    {word: name for name, words in _WORDS.items() for word in words.split()}
)

_SAME_ARGUMENTS = frozenset(["recall", "remember", "show", "edit", "rm", "mv", "append", "links"])
"""Commands whose arguments are those that the other programs take."""

_SIMILAR = 0.75

_LONGEST = 60
"""Characters of the longest arguments that are repeated in a message."""


def suggested(program: str, args: Sequence[str], commands: Sequence[str]) -> str:
    """Return the command line to type instead of an unknown command; empty if there is none.

    A name that is similar to one of `commands` is not taken for another program's.
    """
    word = args[0].casefold()
    if word not in _NAMES:
        typed = similar_names(word, commands, least=_SIMILAR)
        near = [] if typed else [name for name in _NAMES if name[0] == word[:1]]
        word = next(iter(similar_names(word, near, least=_SIMILAR)), "")
    if not word:
        return ""
    name, rest = _NAMES[word], join(args[1:])
    same = name in _SAME_ARGUMENTS and not any(arg.startswith("-") for arg in args[1:])
    return f"{program} {name} {rest if same and len(rest) <= _LONGEST else ''}".rstrip()
