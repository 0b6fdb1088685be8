"""The context of one command: its bank, the text that it reads, and where its output goes."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import click

from memory_bank.base import repairs
from memory_bank.base.detached import start_background
from memory_bank.base.errors import BadInput, MemoryBankError, NoBank
from memory_bank.base.rendering import to_plain
from memory_bank.base.repairs import Reports
from memory_bank.base.screen import BadUsage, show_place
from memory_bank.frontends.cli.console import Console
from memory_bank.frontends.hints import hint_text

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

    from memory_bank.bank.bank import Bank
    from memory_bank.base.settings import Settings
    from memory_bank.code.index.codebase import Codebase


class Aborted(BadInput):
    """The user left an empty text in the editor."""


@contextmanager
def _check_directory() -> Iterator[None]:
    """Raise NoBank if the working directory is gone."""
    try:
        yield
    except FileNotFoundError as error:
        raise NoBank(
            "the working directory no longer exists", "change to an existing directory"
        ) from error


def _keep_edited(file: Path, start: str, error: BaseException) -> None:
    """Report where an edited text is kept; delete an unchanged or an empty one."""
    unchanged = file.exists() and file.read_bytes() == start.encode("utf-8", "surrogateescape")
    if unchanged or isinstance(error, Aborted):
        file.unlink()
        file.parent.rmdir()
    elif isinstance(error, MemoryBankError):
        error.kept = f"your text is kept in {file}"
    else:
        Console(sys.stderr).line(f"your text is kept in {file}")


def _read_stdin() -> str:
    if sys.stdin is None:
        return ""
    buffer = getattr(sys.stdin, "buffer", None)
    return sys.stdin.read() if buffer is None else _decode_text(buffer.read(), "stdin")


def _decode_text(data: bytes, source: str) -> str:
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise BadInput(
            f"{source} is not UTF-8: byte {error.start + 1} is 0x{data[error.start]:02x}",
            "convert it, for example with iconv",
        ) from error


SHARED = "shared_"
"""Start of the reasons why the shared index was not searched."""

_PENDING = "vectors_pending"

_FALLBACKS = {
    "embeddings_disabled": "embeddings are off",
    _PENDING: "some vectors are not computed yet, `memory-bank sync` computes them",
    "embedder_unavailable": "the embedder is not available, see `memory-bank embedder list`",
}

Value = TypeVar("Value")


class CommandCall:
    """One call of a command: where its bank is and where its output goes."""

    def __init__(
        self,
        command: str,
        *,
        bank: str | None = None,
        json: bool = False,
        allow_secret: bool = False,
    ) -> None:
        """Keep the options that every command has."""
        self.command = command
        self.named_bank = bank
        """The folder given by `--bank` or MEMORY_BANK."""
        self.json = json
        self.allow_secret = allow_secret
        self._file: Callable[[str], Path] = Path
        """Returns a note's file."""
        self._console = Console(sys.stdout)
        self._stderr = Console(sys.stderr)
        self._bars = Bars(self._stderr)
        self._repairs, self._notices = Reports(), Reports()

    @property
    def console(self) -> Console:
        """The console on stdout, for the answer; progress bars are removed first."""
        self._bars.stop()
        return self._console

    @property
    def stderr(self) -> Console:
        """The console on stderr, for remarks; progress bars are removed first."""
        self._bars.stop()
        return self._stderr

    @property
    def progress(self) -> Report | None:
        """The callback for the progress of a long action; None without a terminal."""
        return self._bars.report

    @property
    def interactive(self) -> bool:
        """Whether a person can be asked: stdin is a terminal."""
        return sys.stdin is not None and sys.stdin.isatty()

    @contextmanager
    def open(self) -> Iterator[Bank]:
        """Open the bank, and close it at the end."""
        from memory_bank.bank.bank import Conditions, open_bank

        conditions = Conditions(self.progress, repairs=self._repairs, notices=self._notices)
        with _check_directory():
            bank = open_bank(
                self.named_bank, allow_secrets=self.allow_secret, conditions=conditions
            )
        self._file = bank.roots.file
        try:
            with bank:
                yield bank
                if bank.waiting:
                    with suppress(OSError):
                        start_background(str(bank.layout.root))
        finally:
            self._bars.stop()
            if not self.json:  # a JSON document contains both
                self._print_reports()

    @contextmanager
    def open_if_there(self, *, needed: bool = False) -> Iterator[Bank | None]:
        """Open the bank; yield None where there is none, unless it is `needed` or was named."""
        with ExitStack() as exit_stack:
            try:
                bank = exit_stack.enter_context(self.open())
            except NoBank:
                if needed or self.named_bank:
                    raise
                bank = None
            yield bank

    @contextmanager
    def open_code(self) -> Iterator[Codebase]:
        """Open the code of the work tree, and close it at the end; no bank is needed."""
        from memory_bank.code.index.codebase import open_codebase

        with _check_directory():
            code = open_codebase(bank=self.named_bank)
        try:
            with code:
                yield code
        finally:
            self._bars.stop()

    def settings(self) -> Settings:
        """Return the bank's settings; outside a bank the user's."""
        from memory_bank.base.settings import load

        with self.open_if_there() as bank:
            return bank.settings if bank else load()

    def place(self, path: str, line: int | None = None) -> str:
        """Return where a note is, as seen from the working directory."""
        return show_place(self._file(path), line)

    def answer(self, value: Value, render: Callable[[Value], None]) -> None:
        """Print an answer: as JSON with `--json`, else by `render`."""
        if self.json:
            self.document(value)
        else:
            render(value)

    def document(self, value: object) -> None:
        """Print an answer as JSON, including repairs and notices."""
        document, repaired, notices = to_plain(value), self._repairs.take(), self._notices.take()
        if repaired and isinstance(document, dict):
            document = {**document, "repaired": repaired}
        if isinstance(document, dict) and (all_notices := [*document.pop("notices", ()), *notices]):
            document = {**document, "notices": all_notices}
        self.console.document(document)

    def show_repaired(self, repaired: Sequence[str]) -> None:
        """Print repairs as part of the answer."""
        if repaired:
            self.console.line(("repaired: ", "good"), repairs.describe_repairs(repaired))

    def remark(self, text: str) -> None:
        """Print a remark on stderr."""
        self.console.flush()  # keeps the order when both go to one terminal
        self.stderr.labelled("", "", text)

    def warn(self, text: str | None) -> None:
        """Print a warning on stderr, if there is one."""
        if text:
            self.console.flush()
            self.stderr.labelled("warning: ", "warn", text)

    def notices(self, notices: Sequence[str]) -> None:
        """Print an answer's notices on stderr; a JSON document contains them."""
        for notice in notices if not self.json else ():
            self.remark(notice)

    def incomplete(
        self, reason: str | None, problem: str | None = None, *, mode: str = "lexical"
    ) -> None:
        """Print what an answer lacks: results by meaning or of other banks, or what `problem` says.

        With a problem, vectors that are not computed yet are part of it, so both are one warning.
        """
        if reason == _PENDING and problem:
            self.warn(f"{problem} ({reason})")
            return
        if reason and reason.startswith(SHARED):  # a notice says why
            self.warn(f"only this bank was searched ({reason})")
        elif reason:
            why = _FALLBACKS.get(reason, "the embedder gave no answer")
            text = "lexical results only" if mode == "lexical" else "some results are lexical only"
            self.warn(f"{text}: {why} ({reason})")
        self.warn(problem)

    def _print_reports(self) -> None:
        """Print repairs and notices on stderr."""
        if repaired := self._repairs.take():
            self.stderr.labelled("repaired: ", "dim", repairs.describe_repairs(repaired))
        for notice in self._notices.take():
            self.remark(notice)

    def usage_error(self, message: str) -> BadUsage:
        """Return the error for a wrong combination of options."""
        return BadUsage(message, f"see `{self.command} -h`")

    def hint(self, hint: str | None) -> str | None:
        """Return the command line's wording of a hint in a record."""
        return hint_text(hint)

    def read_text(self, text: str | None) -> str | None:
        """Return the text of an argument or of stdin; None when there is neither, on a terminal."""
        if text is not None and text != "-":
            return text
        return None if text is None and self.interactive else _read_stdin()

    @contextmanager
    def edit_text(self, name: str, start: str) -> Iterator[str]:
        """Let the user edit a text in a temporary file of that name; yield the edited text.

        The file is deleted at the end. When the body raises, it is kept, and the error names it.
        Raises Aborted for an empty text.
        """
        import shutil  # start-up: few commands open an editor
        import tempfile

        folder = Path(tempfile.mkdtemp(prefix="memory-bank-"))
        file = folder / name
        file.write_bytes(start.encode("utf-8", "surrogateescape"))
        try:
            click.edit(filename=str(file))
            edited = _decode_text(file.read_bytes(), "the text")
            if not edited.strip():
                raise Aborted("aborted: the text is empty, so nothing was written")
            yield edited
        except BaseException as error:
            _keep_edited(file, start, error)
            raise
        shutil.rmtree(folder, ignore_errors=True)

    @contextmanager
    def read_or_edit_text(self, text: str | None) -> Iterator[str]:
        """Yield the text of an argument or of stdin; without either, that of an editor."""
        content = self.read_text(text)
        if content is not None:
            yield content
            return
        with self.edit_text("text.md", "") as edited:
            yield edited

    def confirm(self, question: str, *, default: bool = False) -> bool:
        """Ask a person a question that is answered by yes or no."""
        self.console.flush()
        self.stderr.flush()
        return click.confirm(question, default=default, err=True)


_DELAY = 0.5
"""Seconds before the first bar is drawn."""

Report = Callable[[str, int, int], None]


class Bars:
    """One progress bar for each task."""

    def __init__(self, console: Console) -> None:
        """Draw on a console; nothing is drawn if it is no terminal."""
        self._console = console
        self._started = time.monotonic()
        self._drawn: Progress | None = None
        self._tasks: dict[str, TaskID] = {}

    @property
    def report(self) -> Report | None:
        """The progress callback; None if the console is no terminal."""
        return self._report if self._console.terminal else None

    def stop(self) -> None:
        """Remove the bars."""
        if self._drawn is not None:
            self._drawn.stop()
            self._drawn = None
            self._tasks = {}

    def _report(self, task: str, completed: int, total: int) -> None:
        if self._drawn is None:
            if time.monotonic() - self._started < _DELAY or completed >= total:
                return
            from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

            columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
            self._drawn = Progress(*columns, console=self._console.rich, transient=True)
            self._drawn.start()
        if task not in self._tasks:
            self._tasks[task] = self._drawn.add_task(task, total=total)
        self._drawn.update(self._tasks[task], completed=completed, total=total)
