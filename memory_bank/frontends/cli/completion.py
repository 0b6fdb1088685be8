"""`memory-bank completion`: print a shell's completion script, and answer it.

A script passes the command line up to the cursor, as typed. It gets a line for each completion: its
kind (`plain`, `dir` or `file`), its text and its help, separated by tabs. bash inserts the text
unchanged, so it is quoted here; zsh and fish quote it themselves.
"""

from __future__ import annotations

import os
import re
from typing import Annotated, ClassVar, NamedTuple

from click.shell_completion import CompletionItem, ShellComplete, add_completion_class

from memory_bank.base.operation import Param, operation
from memory_bank.base.screen import Call
from memory_bank.frontends.cli.overview import COMPLETE

_NAMES = ("memory-bank", "mb")

_BASH = """\
%(complete_func)s() {
    local line
    COMPREPLY=()
    while IFS= read -r line; do
        case $line in
            dir*) compopt -o dirnames 2> /dev/null ;;
            file*) compopt -o default 2> /dev/null ;;
            plain*) COMPREPLY+=("${line#plain$'\\t'}") ;;
        esac
    done < <(env COMP_LINE="${COMP_LINE:0:COMP_POINT}" COMP_WORDBREAKS="$COMP_WORDBREAKS" \\
        %(complete_var)s=%(shell)s_complete "$1")
}

complete -o nosort -F %(complete_func)s %(prog_name)s 2> /dev/null ||
    complete -F %(complete_func)s %(prog_name)s
"""

_ZSH = """\
#compdef %(prog_name)s

%(complete_func)s() {
    local -a parts plain described shown
    local line
    (( $+commands[%(prog_name)s] )) || return 1
    for line in "${(@f)$(env COMP_LINE="${(j: :)words[1,CURRENT]}" \\
        %(complete_var)s=%(shell)s_complete %(prog_name)s)}"; do
        parts=("${(@s:\t:)line}")
        case $parts[1] in
            dir) _path_files -/ ;;
            file) _path_files -f ;;
            plain)
                if [[ -n $parts[3] ]]; then
                    described+=("$parts[2]")
                    shown+=("$parts[2]  -- $parts[3]")
                else
                    plain+=("$parts[2]")
                fi ;;
        esac
    done
    (( $#described )) && compadd -U -l -V described -d shown -a described
    (( $#plain )) && compadd -U -V plain -a plain
}

if [[ $zsh_eval_context[-1] == loadautofunc ]]; then
    %(complete_func)s "$@"
else
    (( $+functions[compdef] )) || { autoload -Uz compinit && compinit -i }
    compdef %(complete_func)s %(prog_name)s
fi
"""

_FISH = """\
function %(complete_func)s
    set -l line (commandline -cp | string collect)
    for found in (env %(complete_var)s=%(shell)s_complete COMP_LINE="$line" %(prog_name)s)
        set -l parts (string split -m 1 \\t -- $found)
        switch $parts[1]
            case dir
                __fish_complete_directories (commandline -ct)
            case file
                __fish_complete_path (commandline -ct)
            case plain
                printf '%%s\\n' $parts[2]
        end
    end
end

complete --no-files --command %(prog_name)s --arguments "(%(complete_func)s)"
"""

_SPACE = re.compile(r"\s+")


class _Shell(ShellComplete):
    """A shell that passes the line up to the cursor as COMP_LINE."""

    is_fish: ClassVar[bool] = False

    def source(self) -> str:
        """Return the script."""
        return self.source_template % {**self.source_vars(), "shell": self.name}

    def get_completion_args(self) -> tuple[list[str], str]:
        """Return the words before the cursor without the program, and the word at it."""
        self._typed = typed(
            os.environ.get("COMP_LINE", ""),
            breaks=os.environ.get("COMP_WORDBREAKS", ""),
            is_fish=self.is_fish,
        )
        return list(self._typed.words[1:]), self._typed.last

    def format_completion(self, item: CompletionItem[str]) -> str:
        """Return the line of a completion."""
        return "\t".join((item.type, self._whole(item), _SPACE.sub(" ", item.help or ""))).rstrip()

    def _whole(self, item: CompletionItem[str]) -> str:
        """Return a completed word; click omits the option before `=`."""
        option, equals, _ = self._typed.last.partition("=")
        is_value = equals and option.startswith("-") and not item.value.startswith("-")
        return f"{option}={item.value}" if is_value else item.value


class Bash(_Shell):
    """The completion of bash."""

    name = "bash-line"
    source_template = _BASH

    def format_completion(self, item: CompletionItem[str]) -> str:
        """Return the line of a completion: the part that bash replaces, quoted as it was begun."""
        if item.type != "plain":
            return item.type
        return f"plain\t{quoted(self._whole(item)[self._typed.kept :], self._typed.quote)}"


class Zsh(_Shell):
    """The completion of zsh, loaded if the user's settings have not loaded it."""

    name = "zsh-line"
    source_template = _ZSH


class Fish(_Shell):
    """The completion of fish."""

    name = "fish-line"
    source_template = _FISH
    is_fish = True


SHELLS = {"bash": Bash, "zsh": Zsh, "fish": Fish}


def register() -> None:
    """Let click answer the scripts of this module."""
    for shell in SHELLS.values():
        add_completion_class(shell)


@operation(
    "completion",
    why="""
    Prints a script that your shell runs when it starts. It completes commands, options, files,
    note names, tags and types, for `memory-bank` and for `mb`. In zsh it loads the completion
    system (`compinit`) if your `.zshrc` has not done so above.
    """,
    examples=(
        ("echo 'eval \"$(memory-bank completion bash)\"' >> ~/.bashrc", "bash"),
        ("echo 'eval \"$(memory-bank completion zsh)\"' >> ~/.zshrc", "zsh"),
        ("echo 'memory-bank completion fish | source' >> ~/.config/fish/config.fish", "fish"),
    ),
    group="Look after",
)
def command(
    call: Call, *, shell: Annotated[str, Param(argument=True, choices=tuple(SHELLS))]
) -> int:
    """Print a completion script for a shell."""
    from memory_bank.frontends.cli.root import root

    scripts = (SHELLS[shell](root(), {}, name, COMPLETE).source() for name in _NAMES)
    script = "\n".join(scripts)
    if call.json:
        call.console.document({"shell": shell, "script": script})
    else:
        call.console.write(script)
    return 0


_ESCAPED_IN = {'"': '"\\$`\n', "'": ""}

_ESCAPED_IN_FISH = {'"': '"\\$\n', "'": "'\\"}

_SPECIAL = re.compile(r"(?![\w@%+=:,./-])[\x00-\x7f]")

_BLANKS = " \t\n"

_SPECIAL_IN_DOUBLE = re.compile(r'["\\$`]')


class Typed(NamedTuple):
    """A command line up to the cursor, without its quotes."""

    words: tuple[str, ...]
    """The words before the one at the cursor."""
    last: str
    """The word at the cursor, as far as it is typed."""
    quote: str
    """The quote that is open at the cursor; empty if none is."""
    kept: int
    """Number of characters of `last` that bash keeps when it inserts a completion."""


def typed(line: str, *, breaks: str = "", is_fish: bool = False) -> Typed:
    """Split a command line; `breaks` are bash's COMP_WORDBREAKS.

    bash replaces only what follows the last of these, or the last quote.
    """
    escaped = _ESCAPED_IN_FISH if is_fish else _ESCAPED_IN
    words: list[str] = []
    last = quote = ""
    begun, kept = False, 0
    characters = iter(line)
    for char in characters:
        if char == "\\" and (not quote or escaped[quote]):
            following = next(characters, "")
            is_literal = quote and following not in escaped[quote]
            last += char + following if is_literal else following
            begun = True
        elif char == quote or (not quote and char in "'\""):
            quote = "" if quote else char
            begun, kept = True, len(last)
        elif quote or char not in _BLANKS:
            last += char
            begun, kept = True, len(last) if not quote and char in breaks else kept
        elif begun:
            words.append(last)
            last, begun, kept = "", False, 0
    return Typed(tuple(words), last, quote, kept)


def quoted(text: str, quote: str = "") -> str:
    """Return a text as bash reads it back, inside an open quote if one is given."""
    if quote == "'":
        return text.replace("'", r"'\''")
    special = _SPECIAL_IN_DOUBLE if quote else _SPECIAL
    return special.sub(lambda found: f"\\{found[0]}", text)
