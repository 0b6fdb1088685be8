"""Command lines of a shell: their commands, the programs that test and build, their files."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial
from itertools import pairwise
from typing import NamedTuple

from memory_bank.sessions.compression import rules
from memory_bank.sessions.compression.rules import rule

_TOKEN = re.compile(
    r"(?P<blank>[ \t]+|\\\n)|(?P<comment>(?<![^\s;&|(])\#[^\n]*)"
    r"|(?P<here><<-?[ \t]*(?P<quote>['\"\\]?)(?P<mark>[A-Za-z_]\w{0,40})(?P=quote)?)"
    r"|(?P<out>(?:\d|&)?>>?\|?(?!&)|(?:\d)?>&(?=[^\d-]))|(?P<dup>\d?[<>]&[\d-]?)|(?P<in><(?!<)|<<<)"
    r"|(?P<end>&&|\|\||[;\n|&()]|\$\()"
    r"|(?P<word>(?:'[^']*'|\"(?:[^\"\\]|\\.)*\"|\\.|\$(?!\()|[^\s;&|<>()'\"\\$])+)|(?P<odd>.)",
    re.DOTALL,
)

_MOST, _MOST_STEPS, _LONGEST = 60_000, 200, 400

_programs = partial(rules.words, "programs")

_ASSIGNED = re.compile(r"[A-Za-z_]\w{0,60}=")


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
        if not words:
            return ""
        name = words[0].replace("\\", "/").rpartition("/")[2].casefold().removesuffix(".exe")
        if name == "git":
            rest = _after_flags(words[1:])
            return f"git-{rest[0]}" if rest else "git"
        return name

    @property
    def arguments(self) -> list[str]:
        """Its words without assignments and wrappers such as `sudo`."""
        words, at, wrappers = self.words, 0, rules.table("programs.toml")["wrappers"]
        while at < len(words):
            if _ASSIGNED.match(words[at]):
                at += 1
            elif words[at] in wrappers and at + 1 < len(words):
                skip = wrappers[words[at]]
                at += 1
                while at < len(words) and words[at].startswith("-"):
                    at += 1
                at += skip
            else:
                break
        return words[at:]


class Write(NamedTuple):
    """A file that a command changes."""

    path: str
    how: str
    """`add`, `update`, `delete` or `move`."""
    text: str = ""
    """What is written, if the command line has it."""
    moved_to: str = ""


def steps(command: str) -> list[SimpleCommand]:
    """Return the simple commands of a command line; a text that is no shell gives odd words."""
    command = command[:_MOST]
    made, step, at, target = list[SimpleCommand](), SimpleCommand(), 0, ""
    waiting = list[tuple[SimpleCommand, str]]()
    while at < len(command) and len(made) < _MOST_STEPS:
        found = _TOKEN.match(command, at)
        if found is None:
            break
        kind, text, at = found.lastgroup or "", found[0], found.end()
        if found["here"]:
            waiting.append((step, found["mark"]))
        elif found["out"] or found["in"]:
            target = "<" if found["in"] else ">>" if ">>" in text else ">"
        elif kind == "word":
            _place(step, unquoted(text), target)
            target = ""
        elif kind == "end":
            if step.words or step.outputs:
                step.behind = text == "&"
                made.append(step)
            step, target = SimpleCommand(before=text, folder=_folder(step)), ""
            if text == "\n" and waiting:
                at = _here(command, at, waiting)
    return [*made, step] if step.words or step.outputs else made


def _folder(step: SimpleCommand) -> str:
    """Return the folder in which the next command runs."""
    if step.program != "cd" or len(step.words) < 2:  # noqa: PLR2004 - `cd` and its folder
        return step.folder
    return _below(step, step.words[1])


def _below(step: SimpleCommand, path: str) -> str:
    """Return a path of a command below the folder at the start."""
    if not step.folder or path.startswith(("/", "~")) or path[1:2] == ":":
        return path
    return f"{step.folder.rstrip('/')}/{path}"


def _place(step: SimpleCommand, word: str, target: str) -> None:
    if target.startswith(">"):
        step.outputs.append(word)
        step.appends |= target == ">>"
    elif target == "<":
        step.inputs.append(word)
    else:
        step.words.append(word)


def _here(command: str, at: int, waiting: list[tuple[SimpleCommand, str]]) -> int:
    """Take the here-documents that begin at a position; return where they end."""
    for step, mark in waiting:
        end = re.compile(rf"^\t*{re.escape(mark)}[ \t]*$", re.MULTILINE).search(command, at)
        step.here = command[at : end.start() if end else len(command)]
        at = min(end.end() + 1, len(command)) if end else len(command)
    waiting.clear()
    return at


def unquoted(word: str) -> str:
    """Return a word without its quotes and escapes."""
    if not any(mark in word for mark in "'\"\\"):
        return word
    return re.sub(
        r"'([^']*)'|\"((?:[^\"\\]|\\.)*)\"|\\(.)",
        lambda found: found[1] or (found[2] or "").replace('\\"', '"') or found[3] or "",
        word,
        flags=re.DOTALL,
    )


def writes(step: SimpleCommand) -> Iterator[Write]:
    """Yield the files that a command changes, as far as its words say so."""
    for one in _writes(step):
        moved = _below(step, one.moved_to) if one.moved_to else ""
        yield one._replace(path=_below(step, one.path), moved_to=moved)


def _writes(step: SimpleCommand) -> Iterator[Write]:
    for path in step.outputs:
        if _is_file(path):
            yield Write(path, "add" if step.here and not step.appends else "update", step.here)
    program, words = step.program, step.arguments[1:]
    if program.startswith("git-"):
        words = _after_flags(words)[1:]
    if program in ("sed", "gsed", "perl") and any(map(_in_place, words)):
        yield from _edited_in_place(words)
    else:
        yield from _named(program, step, [word for word in words if _is_file(word)])


def _named(program: str, step: SimpleCommand, files: list[str]) -> Iterator[Write]:
    """Yield the files that are arguments of a command that changes files."""
    if program == "tee":
        yield from (Write(path, "add" if step.here else "update", step.here) for path in files)
    elif program in ("mv", "git-mv", "move", "move-item") and len(files) > 1:
        yield from (Write(path, "move", moved_to=_into(path, files)) for path in files[:-1])
    elif program in ("cp", "copy", "copy-item", "install") and len(files) > 1:
        yield from (Write(_into(path, files), "add") for path in files[:-1])
    elif program in ("rm", "git-rm", "del", "remove-item", "unlink"):
        yield from (Write(path, "delete") for path in files)
    elif program in ("touch", "truncate", "new-item"):
        yield from (Write(path, "add") for path in files)


def _edited_in_place(words: list[str]) -> Iterator[Write]:
    """Yield the files that `sed -i` changes; the text of each is its script."""
    scripts, files, taken = list[str](), list[str](), False
    for word in words:
        if taken:
            scripts.append(word)
            taken = False
        elif word in ("-e", "--expression", "-pe"):
            taken = True
        elif not word.startswith("-"):
            (files if scripts else scripts).append(word)
    yield from (Write(path, "update", "\n".join(scripts)) for path in files if _is_file(path))


def _into(path: str, files: list[str]) -> str:
    target = files[-1]
    if target.endswith("/") or len(files) > 2:  # noqa: PLR2004 - several files go into a folder
        return f"{target.rstrip('/')}/{path.rstrip('/').rpartition('/')[2]}"
    return target


def takes_back(step: SimpleCommand) -> list[str] | None:
    """Return the paths whose changes a command of git takes back; None if it takes back nothing.

    `stash pop`, which brings changes again, is returned as that.
    """
    program, words = step.program, _after_flags(step.arguments[1:])[1:]
    named = [word for word in words if not word.startswith("-")]
    if program == "git-stash":
        if named[:1] in (["pop"], ["apply"]):
            return ["stash pop"]
        paths = named[1:] if named[:1] == ["push"] and "-m" not in words else []
        return None if named[:1] not in ([], ["push"], ["save"]) else paths or ["."]
    if program == "git-reset" and "--hard" in words:
        return ["."]
    if program == "git-restore" and not ("--staged" in words and "--worktree" not in words):
        sources = [after for word, after in pairwise(words) if word in ("-s", "--source")]
        return [_below(step, one) for one in named if one not in sources]
    if program == "git-checkout":
        after = words[words.index("--") + 1 :] if "--" in words else named
        plain = "--" in words or all(re.search(r"[./]", one) for one in after)
        new = {"-b", "-B", "--orphan", "--track", "-t"}.intersection(words)
        return [_below(step, one) for one in after] if after and plain and not new else None
    return None


def _in_place(word: str) -> bool:
    return bool(
        re.fullmatch(r"-[a-zA-Z]{0,4}i(?:\..{0,10})?[a-zA-Z]{0,3}|--in-place(?:=.*)?", word)
    )


def _is_file(path: str) -> bool:
    return bool(path) and not re.match(r"/dev/|[&$*-]|\d+$|https?:", path) and len(path) < _LONGEST


def reads(step: SimpleCommand) -> Iterator[str]:
    """Yield the files that a command shows."""
    yield from (_below(step, path) for path in step.inputs if _is_file(path))
    if step.program in _programs("readers"):
        words = [word for word in step.arguments[1:] if not word.startswith(("-", "+"))]
        if step.program in _programs("script_first"):
            words = words[1:]
        for word in words:
            if _is_file(word) and re.search(r"[./\\]|^[A-Z]\w+$", word):
                yield _below(step, word)


def only_looks(found: list[SimpleCommand]) -> bool:
    """Tell whether commands only read, search or list, and change nothing."""
    return bool(found) and all(
        (step.program in _programs("readers") or step.program in _programs("seekers"))
        and not list(writes(step))
        for step in found
    )


def tells(found: list[SimpleCommand], step: SimpleCommand) -> bool:
    """Tell whether commands have the exit code 0 only if one of them has it.

    No pipe, `||`, `;` or other command hides its code; that of `timeout` may be its own.
    """
    at = next(number for number, one in enumerate(found) if one is step)
    wrapped = step.behind or {"timeout", "!", "if", "while"}.intersection(step.words[:2])
    return not wrapped and all(one.before in ("&&", ")") for one in found[at + 1 :])


def filters(found: list[SimpleCommand], step: SimpleCommand) -> list[str]:
    """Return the programs that the output of a command goes through."""
    at = next(number for number, one in enumerate(found) if one is step)
    rest = itertools.takewhile(lambda one: one.piped, found[at + 1 :])
    return [one.program for one in rest]


def shown(command: str) -> str:
    """Return a command line for people: without `cd`, assignments, filters and redirections."""
    kept = list[str]()
    for step in steps(command):
        if (step.piped and step.program in _programs("filters")) or step.program in (
            "cd",
            "export",
            "set",
            "source",
        ):
            continue
        words = step.words
        while len(words) > 1 and _ASSIGNED.match(words[0]):
            words = words[1:]
        kept.append(" ".join(word if word.split() == [word] else f'"{word}"' for word in words))
    return "; ".join(filter(None, kept)) or " ".join(command.split())


def _after_flags(words: list[str]) -> list[str]:
    at = 0
    while at < len(words) and words[at].startswith("-"):
        at += 2 if words[at] in _programs("git_flags") else 1
    return words[at:]


def option(step: SimpleCommand, *names: str) -> list[str]:
    """Return the values of an option, as of `-m` in `git commit -am "…" -m "…"`."""
    found, words = list[str](), step.words
    for at, word in enumerate(words):
        if word in names and at + 1 < len(words):
            found.append(words[at + 1])
        else:
            found += [word[len(name) + 1 :] for name in names if word.startswith(f"{name}=")]
    return found


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


def run_of(steps: list[SimpleCommand]) -> ProgramRun:
    """Return what the last command runs that isn't only looking at something."""
    real = [step for step in steps if not only_looks([step])] or steps
    if not real:
        return ProgramRun("", frozenset(), check=False)
    runs = [(_run(step), step) for step in real]
    checks = [(run, step) for run, step in runs if run.check] or runs[-1:]
    return checks[-1][0]._replace(
        sure=all(tells(steps, step) for _, step in checks),
        selected=any(_selected(run, filters(steps, step)) for run, step in checks),
    )


def _selected(run: ProgramRun, filters: list[str]) -> bool:
    """Tell whether filters may hide a failure: `tail` keeps the end, where each runner names it."""
    whole = run.runner.partition(" ")[0] in _programs("one_summary")
    return not whole and any(one not in _programs("keep_the_end") for one in filters)


def _run(step: SimpleCommand) -> ProgramRun:
    words, starters = step.arguments, rules.table("programs.toml")["starters"]
    while words and (name := _name(words[0])) in starters and len(words) > 1:
        rest = words[1:]
        while rest and (rest[0] in starters[name].split() or rest[0].startswith("-")):
            rest = rest[1:]
        if not rest or (name == "docker" and "exec" not in words and "run" not in words):
            break
        words = rest
    if len(words) > 2 and re.match(r"(?:python|py)[\d.]*$", _name(words[0])) and words[1] == "-m":  # noqa: PLR2004
        words = words[2:]
    elif (
        len(words) > 1
        and _name(words[0]) in ("python", "python3")
        and words[1].endswith("manage.py")
    ):
        words = words[1:]
    if not words:
        return ProgramRun("", frozenset(), check=False)
    name = _name(words[0])
    if name == "node" and "--test" in words:
        words = [name, "test", *(word for word in words[1:] if word != "--test")]
    rest = [word for word in words[1:] if not word.startswith("-")]
    if name in _programs("two_words") and rest:
        taken = 2 if rest[0] == "run" and len(rest) > 1 else 1
        name, rest = " ".join([name, *rest[:taken]]), rest[taken:]
    return ProgramRun(name, frozenset(rest), check=bool(rule("check").match(name)))


def _name(word: str) -> str:
    return word.replace("\\", "/").rpartition("/")[2].removesuffix(".exe")


def covers(now: ProgramRun, then: ProgramRun, where: str, tests: tuple[int, int] = (0, 0)) -> bool:
    """Tell whether a run covers what an earlier one did, or the place where that failed.

    `tests` are the numbers of tests of both: a run of all tests by another program, as of
    `make test`, covers one of fewer tests.
    """
    if now.runner != then.runner:
        whole = now.check and then.check and not any(re.search(r"[./]", one) for one in now.targets)
        return whole and tests[0] >= tests[1] > 0
    if not now.targets or now.targets == then.targets:
        return True
    return any(where.startswith(target.removeprefix("./")) for target in now.targets) or (
        bool(then.targets) and then.targets <= now.targets
    )
