"""Command lines of a shell: their commands, the programs that test and build, their files."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import dropwhile, pairwise, takewhile

from memory_bank.base import NamedTuple, lazy_pattern
from memory_bank.sessions.compression import sentences
from memory_bank.sessions.compression.edits import FileChange
from memory_bank.sessions.compression.sentences import compile_rule

_TOKEN = lazy_pattern(
    r"(?P<blank>[ \t]+|\\\n)|(?P<comment>(?<![^\s;&|(])\#[^\n]*)"
    r"|(?P<here><<-?[ \t]*(?P<quote>['\"\\]?)(?P<mark>[A-Za-z_]\w{0,40})(?P=quote)?)"
    r"|(?P<out>(?:\d|&)?>>?\|?(?!&)|(?:\d)?>&(?=[^\d-]))|(?P<dup>\d?[<>]&[\d-]?)|(?P<in><(?!<)|<<<)"
    r"|(?P<end>&&|\|\||[;\n|&()]|\$\()"
    r"|(?P<word>(?:'[^']*'|\"(?:[^\"\\]|\\.)*\"|\\.|\$(?!\()|[^\s;&|<>()'\"\\$])+)|(?P<odd>.)",
    re.DOTALL,
)

_REPLACES = lazy_pattern(
    r"s(?P<mark>[/|#,@])(?P<old>(?:\\.|(?!(?P=mark))[^\\\n])++)(?P=mark)"
    r"(?P<new>(?:\\.|(?!(?P=mark))[^\\\n])*+)(?P=mark)(?P<flags>\w*)"
)

_IN_PLACE = lazy_pattern(r"-[a-zA-Z]{0,4}i(?:\..{0,10})?[a-zA-Z]{0,3}|--in-place(?:=.*)?")

_ASSIGNED = lazy_pattern(r"[A-Za-z_]\w{0,60}=")

# Of a command that are read: hostile ones are longer.
_MOST, _MOST_STEPS, _LONGEST = 60_000, 200, 400

_programs = partial(sentences.list_words, "programs")


@dataclass(slots=True)
class SimpleCommand:
    """A simple command: its words without quotes, and where its output goes."""

    words: list[str] = field(default_factory=list)
    outputs: list[str] = field(default_factory=list)
    inputs: list[str] = field(default_factory=list)
    appends: bool = False
    """Whether its output is added to a file."""
    here: str = ""
    """The text of its here-document."""
    before: str = ""
    """What stands between it and the command before it: `&&`, `;`, `|` …"""
    behind: bool = False
    """Whether nobody waits for it: `&`."""
    folder: str = ""
    """Where `cd` has led, below the folder at the start; empty if nowhere else."""

    @property
    def piped(self) -> bool:
        """Whether it reads what the command before it writes."""
        return self.before == "|"

    @property
    def program(self) -> str:
        """Its program's name in lower case, with the subcommand of git: `git-commit`."""
        words = self.arguments
        name = _name(words[0].casefold()) if words else ""
        rest = _after_flags(words[1:]) if name == "git" else []
        return f"git-{rest[0]}" if rest else name

    @property
    def arguments(self) -> list[str]:
        """Its words without assignments and wrappers such as `sudo`."""
        first = [*dropwhile(_is_before_program, self.words)]
        return first or self.words

    @property
    def operands(self) -> list[str]:
        """Its arguments after the program's name, of git after the subcommand's."""
        words = self.arguments[1:]
        return _after_flags(words)[1:] if self.program.startswith("git-") else words


def _is_before_program(word: str) -> bool:
    """Tell whether a word at the start of a command is not its program."""
    wrappers = sentences.list_words("before", "wrappers")
    return bool(_ASSIGNED.match(word) or word in wrappers or re.match(r"-|\d+\w?$", word))


def split_commands(command: str) -> list[SimpleCommand]:
    """Return the simple commands of a command line; a text that is no shell gives odd words."""
    command = command[:_MOST]
    simple_commands, step, at, target = list[SimpleCommand](), SimpleCommand(), 0, ""
    waiting = list[tuple[SimpleCommand, str]]()
    while len(simple_commands) < _MOST_STEPS and (match := _TOKEN.match(command, at)):
        kind, text, at = match.lastgroup or "", match[0], match.end()
        if match["here"]:
            waiting.append((step, match["mark"]))
        elif match["out"] or match["in"]:
            target = "<" if match["in"] else ">>" if ">>" in text else ">"
        elif kind == "word":
            word = "".join(shlex.split(text)) if re.search(r"['\"\\]", text) else text
            (step.inputs if target == "<" else step.outputs if target else step.words).append(word)
            step.appends |= target == ">>"
            target = ""
        elif kind == "end":
            if step.words or step.outputs:
                step.behind = text == "&"
                simple_commands.append(step)
            step, target = SimpleCommand(before=text, folder=_folder(step)), ""
            if text == "\n" and waiting:
                at = _skip_here_documents(command, at, waiting)
    return [*simple_commands, step] if step.words or step.outputs else simple_commands


def _folder(step: SimpleCommand) -> str:
    """Return the folder in which the next command runs."""
    moves = step.program == "cd" and len(step.words) > 1
    return _path_below(step, step.words[1]) if moves else step.folder


def _path_below(step: SimpleCommand, path: str) -> str:
    """Return a path of a command below the folder at the start."""
    whole = not step.folder or path.startswith(("/", "~")) or path[1:2] == ":"
    return path if whole else f"{step.folder.rstrip('/')}/{path}"


def _skip_here_documents(command: str, at: int, waiting: list[tuple[SimpleCommand, str]]) -> int:
    """Take the here-documents that begin at a position; return where they end."""
    for step, mark in waiting:
        end = re.compile(rf"^\t*{re.escape(mark)}[ \t]*$", re.MULTILINE).search(command, at)
        step.here = command[at : end.start() if end else len(command)]
        at = min(end.end() + 1, len(command)) if end else len(command)
    waiting.clear()
    return at


def list_writes(step: SimpleCommand) -> Iterator[FileChange]:
    """Yield the changes of files by a command, as far as its words say so."""
    for change in _writes(step):
        moved = _path_below(step, change.moved_to) if change.moved_to else ""
        yield replace(change, path=_path_below(step, change.path), moved_to=moved)


def _writes(step: SimpleCommand) -> Iterator[FileChange]:
    text = tuple(step.here.splitlines())
    for path in filter(_is_file, step.outputs):
        yield FileChange(path, "add" if text and not step.appends else "update", added=text)
    if _edits_in_place(step):
        yield from _edited_in_place(step.operands)
        return
    files = [word for word in step.operands if _is_file(word)]
    how = sentences.lists_by_word("writers").get(step.program)
    for path in files[:-1] if how in ("move", "copy") else files:
        match how:
            case "move":
                yield FileChange(path, "move", moved_to=_into(path, files))
            case "copy":
                yield FileChange(_into(path, files), "add")
            case "update":
                yield FileChange(path, "add" if text else "update", added=text)
            case "add" | "delete":
                yield FileChange(path, how)


def _edits_in_place(step: SimpleCommand) -> bool:
    return step.program in ("sed", "gsed", "perl") and any(map(_IN_PLACE.fullmatch, step.operands))


def _edited_in_place(words: list[str]) -> Iterator[FileChange]:
    """Yield what `sed -i` does to files: the texts of its script, else the script as a line."""
    scripts = [after for word, after in pairwise(words) if word in ("-e", "--expression", "-pe")]
    files = [word for word in words if not word.startswith("-") and word not in scripts]
    if not scripts:
        scripts, files = files[:1], files[1:]
    script = "\n".join(scripts)
    removed, added = tuple[str, ...](), tuple(script.splitlines())
    if replaced := _REPLACES.fullmatch(script.strip()):
        times = 2 if "g" in replaced["flags"] else 1  # in more places than one, as a rename is
        old, new = (text.replace(r"\b", "") for text in replaced.group("old", "new"))
        removed, added = (old,) * times, (new,) * times
    yield from (FileChange(path, "update", removed, added) for path in filter(_is_file, files))


def _into(path: str, files: list[str]) -> str:
    target = files[-1]
    if target.endswith("/") or len(files) > 2:  # noqa: PLR2004 - several files go into a folder
        return f"{target.rstrip('/')}/{path.rstrip('/').rpartition('/')[2]}"
    return target


def _is_flag(word: str) -> bool:
    return word.startswith("-")


def _is_file(path: str) -> bool:
    return bool(path) and not re.match(r"/dev/|[&$*-]|\d+$|https?:", path) and len(path) < _LONGEST


def list_reads(step: SimpleCommand) -> Iterator[str]:
    """Yield the files that a command shows."""
    yield from (_path_below(step, path) for path in step.inputs if _is_file(path))
    if step.program in _programs("readers"):
        words = [word for word in step.arguments[1:] if not word.startswith(("-", "+"))]
        for word in words[step.program in _programs("script_first") :]:
            if _is_file(word) and re.search(r"[./\\]|^[A-Z]\w+$", word):
                yield _path_below(step, word)


def only_looks(simple_commands: Sequence[SimpleCommand]) -> bool:
    """Tell whether commands only read, search or list, and change nothing."""
    looks = {*_programs("readers"), *_programs("seekers")}
    return bool(simple_commands) and all(
        step.program in looks and not _edits_in_place(step) and not list(list_writes(step))
        for step in simple_commands
    )


def show_command(command: str) -> str:
    """Return a command line for people: without `cd`, assignments, filters and redirections."""
    entries = list[str]()
    for step in split_commands(command):
        filtering = step.piped and step.program in _programs("filters")
        if not filtering and step.program not in ("cd", "export", "set", "source"):
            words = [*dropwhile(_ASSIGNED.match, step.words[:-1]), *step.words[-1:]]
            entries.append(
                " ".join(word if word.split() == [word] else f'"{word}"' for word in words)
            )
    return "; ".join(filter(None, entries)) or " ".join(command.split())


def _after_flags(words: list[str]) -> list[str]:
    """Return the words of a git command from its subcommand on."""
    while words and _is_flag(words[0]):
        words = words[2 if words[0] in _programs("git_flags") else 1 :]
    return words


def option_values(step: SimpleCommand, *names: str) -> list[str]:
    """Return the values of an option, as of `-m` in `git commit -am "…" -m "…"`."""
    afters = [after for word, after in pairwise(step.words) if word in names]
    long = tuple(f"{name}=" for name in names)
    return [*afters, *(word.partition("=")[2] for word in step.words if word.startswith(long))]


class ProgramRun(NamedTuple):
    """What a command line runs: its program, and the words that choose what of it."""

    runner: str
    targets: frozenset[str]
    check: bool
    """Whether it tests, builds or checks the project."""
    sure: bool = True
    """Whether the exit code of the command line is 0 only if it, and all its checks, passed."""
    selected: bool = False
    """Whether the output may lack what says that a part of it failed."""


def run_of(steps: Sequence[SimpleCommand]) -> ProgramRun:
    """Return what the last command runs that isn't only looking at something."""
    real = [at for at, step in enumerate(steps) if not only_looks([step])] or range(len(steps))
    runs = [(_run(steps[at]), at) for at in real]
    checks = [(run, at) for run, at in runs if run.check] or runs[-1:]
    if not checks:
        return ProgramRun("", frozenset(), check=False)
    return checks[-1][0]._replace(
        sure=all(_tells(steps[at], steps[at + 1 :]) for _, at in checks),
        selected=any(_hides_failures(run, steps[at + 1 :]) for run, at in checks),
    )


def _tells(step: SimpleCommand, rest: Sequence[SimpleCommand]) -> bool:
    """Tell whether commands have the exit code 0 only if the first of them has it.

    No pipe, `||`, `;` or other command hides its code; that of `timeout` may be its own.
    """
    wrapped = step.behind or {"timeout", "!", "if", "while"}.intersection(step.words[:2])
    return not wrapped and all(simple_command.before in ("&&", ")") for simple_command in rest)


def _hides_failures(run: ProgramRun, rest: Sequence[SimpleCommand]) -> bool:
    """Tell whether filters may hide a failure: `tail` keeps the end, where each runner names it."""
    filters = takewhile(lambda simple_command: simple_command.piped, rest)
    whole = run.runner.partition(" ")[0] in _programs("one_summary")
    return not whole and any(
        simple_command.program not in _programs("keep_the_end") for simple_command in filters
    )


def _run(step: SimpleCommand) -> ProgramRun:
    starters = sentences.list_words("before", "starters")
    words = step.arguments
    words = [*dropwhile(lambda word: _name(word) in starters or _is_flag(word), words)] or words
    if len(words) > 1 and re.match(r"(?:python|py)[\d.]*$", _name(words[0])):
        module = words[1] == "-m" and len(words) > 2  # noqa: PLR2004 - `-m` and its name
        words = words[2:] if module else words[words[1].endswith("manage.py") :]
    if not words:
        return ProgramRun("", frozenset(), check=False)
    name = _name(words[0])
    if name == "node" and "--test" in words:
        words = [name, "test", *(word for word in words[1:] if word != "--test")]
    rest = [word for word in words[1:] if not _is_flag(word)]
    if name in _programs("two_words") and rest:
        number = 2 if rest[0] == "run" and len(rest) > 1 else 1
        name, rest = " ".join([name, *rest[:number]]), rest[number:]
    return ProgramRun(name, frozenset(rest), check=bool(compile_rule("check").match(name)))


def _name(word: str) -> str:
    return word.replace("\\", "/").rpartition("/")[2].removesuffix(".exe")


def covers(now: ProgramRun, then: ProgramRun, where: str, tests: tuple[int, int] = (0, 0)) -> bool:
    """Tell whether a run covers what an earlier one did, or the place where that failed.

    `tests` are the numbers of tests of both: a run of all tests by another program, as of
    `make test`, covers one of fewer tests.
    """
    if now.runner != then.runner:
        whole = (
            now.check
            and then.check
            and not any(re.search(r"[./]", target) for target in now.targets)
        )
        return whole and tests[0] >= tests[1] > 0
    if not now.targets or now.targets == then.targets:
        return True
    return any(where.startswith(target.removeprefix("./")) for target in now.targets) or (
        bool(then.targets) and then.targets <= now.targets
    )
