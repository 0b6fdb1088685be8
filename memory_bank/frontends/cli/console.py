"""A console: prints text, tables, Markdown and JSON, with every harmful character escaped.

On a terminal, rich writes what it prints: it wraps texts and lays out tables.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from typing import TYPE_CHECKING, TextIO

from memory_bank.base.errors import StorageFailed
from memory_bank.base.rendering import make_visible, one_line, render_document
from memory_bank.base.screen import Piece, count_cells, cut

if TYPE_CHECKING:
    from rich.console import Console as RichConsole
    from rich.console import RenderableType
    from rich.text import Text


_STYLES = {
    "bold": "1",
    "dim": "2",
    "place": "36",
    "good": "32",
    "bad": "31",
    "warn": "33",
    "tag": "35",
    "match": "1;33",
}

_HANG = 2
"""Columns by which the first part of a wrapped line stands before the others."""

_GAP = 2
"""Columns between two columns of a table."""

_UNBROKEN = 16
"""Columns of a cell that is never wrapped, such as a date with a time."""

_TIE = "\u2420"
"""Stands for a space at which no line is wrapped."""

_LEAST = 12
"""Columns that a cell which gives way has at least."""

_PLAIN = frozenset(
    [
        "kind",
        "name",
        "about",
        "test",
        "because",
        "why",
        "found by",
        "what it is",
        "state",
        "subject",
    ]
)
"""Headings of cells that say themselves what they are, below the first cell of a row."""

_EMPTY = frozenset(["", "-", "0"])
"""Cells that say nothing."""

_STACKED = 4
"""Columns before what is printed below the first cell of a row."""

_NARROW, _BROAD, _UNKNOWN = 40, 100, 80

_NARROWEST = 20
"""Columns that running text has at least, however far it is indented."""

_USUAL_ROWS = 24
"""Rows of a terminal that does not say its height."""

_MODERN = frozenset(["WT_SESSION", "TERM", "TERM_PROGRAM", "ANSICON"])
"""Variables that consoles with colours set on Windows."""


class Console:
    """An output stream; harmful characters are escaped, since notes may contain anything."""

    def __init__(self, stream: TextIO) -> None:
        """Write to a stream, in colours if it is a terminal that wants them."""
        self.stream = stream
        self.terminal = stream.isatty() and os.environ.get("TERM") != "dumb"
        self.coloured = _wants_colour(terminal=self.terminal)

    @property
    def columns(self) -> int:
        """The number of columns of the terminal."""
        return max(_NARROW, _read_size(self.stream, "COLUMNS", _UNKNOWN))

    @property
    def rows(self) -> int:
        """The number of rows of the terminal."""
        return _read_size(self.stream, "LINES", _USUAL_ROWS)

    @property
    def width(self) -> int:
        """The number of columns for running text."""
        return min(self.columns, _BROAD)

    def line(self, *pieces: Piece) -> None:
        """Print one line; line ends inside it are escaped."""
        if self.terminal:
            self._print(self._text(pieces))
        else:
            self.write("".join(map(self._paint, pieces)) + "\n")

    def block(self, text: str, indent: str = "", style: str = "") -> None:
        """Print text of several lines, indented; long lines are wrapped on a terminal."""
        lines = make_visible(text.replace("\r\n", "\n")).split("\n")
        self._print_wrapped(indent, len(indent), [[(line, style)] for line in lines], self.width)

    def labelled(self, label: str, style: str, text: str) -> None:
        """Print a label followed by a text, which is wrapped on a terminal."""
        self._print_wrapped((label, style), len(label), [[text]], self.width)

    def hanging(self, indent: int, pieces: Sequence[Piece]) -> None:
        """Print a line, its first part less indented; on a terminal it is wrapped below that."""
        self._print_wrapped(" " * max(indent - _HANG, 0), indent, [pieces], self.columns)

    def fold_line(self, line: str, indent: int) -> list[str]:
        """Return a line as lines that fit the width of a terminal behind an indent."""
        if not self.terminal or count_cells(line) + indent <= self.width:
            return [line]
        return [part.plain for part in self._wrap([line], self.width - indent)]

    def _print_wrapped(
        self, prefix: Piece, indent: int, lines: Iterable[Sequence[Piece]], width: int
    ) -> None:
        """Print lines after a prefix; on a terminal they are wrapped, and what follows indented."""
        if not self.terminal:
            for line in lines:
                self.line(prefix, *line)
            return
        from rich.text import Text

        first, others = self._text([prefix]), self._text([" " * indent])
        parts = [
            (others if number else first).copy().append_text(part)
            for line in lines
            for number, part in enumerate(self._wrap(line, max(width - indent, _NARROWEST)))
        ]
        self._print(Text("\n", end="").join(parts))

    def _text(self, pieces: Sequence[Piece]) -> Text:
        """Return pieces as a text of rich."""
        from rich.ansi import SGR_STYLE_MAP
        from rich.text import Text

        text = Text(end="")
        for piece in pieces:
            words, style = (piece, "") if isinstance(piece, str) else piece
            codes = _STYLES.get(style, "").split(";")
            text.append(
                one_line(words), " ".join(SGR_STYLE_MAP[int(code)] for code in codes if code)
            )
        return text

    def _wrap(self, pieces: Sequence[Piece], width: int) -> list[Text]:
        """Wrap pieces between words; a longer word has a line of its own.

        Only words of wide characters, such as those of Chinese, are broken.
        """
        text = self._text(pieces)
        lines: list[Text] = []
        long_words = [
            match.span()
            for match in re.finditer(rf"\S{{{width + 1},}} *", text.plain)
            if count_cells(match[0]) <= len(match[0])
        ]
        parts = text.divide(at for span in long_words for at in span)
        for number, part in enumerate(parts):  # every second one is a long word
            part.rstrip()
            if number % 2:
                lines.append(part)
            elif part or not long_words:
                lines += part.wrap(self.rich, width)
        for line in lines:
            line.rstrip()
        return lines

    def document(self, value: object, *, indent: int | None = 2) -> None:
        """Print one JSON document."""
        encoding = getattr(self.stream, "encoding", None) or "utf-8"
        ascii_only = not encoding.lower().startswith("utf")
        self.write(render_document(value, indent=indent, ascii_only=ascii_only) + "\n")

    def table(
        self,
        headings: Sequence[str],
        rows: Sequence[Sequence[str]],
        gives_way: str = "",
        below: Sequence[str] = (),
    ) -> None:
        """Print rows in columns; in a narrow terminal, cells stand below the first one of the row.

        Where rows are too long, cells that are the same in all are printed once at the end, and
        those of the column `gives_way` are cut. Only running text is wrapped, between words.
        """
        lines = [[one_line(cell) for cell in row] for row in rows]
        shared_cells = ""
        if self.terminal and rows and _measure_width([headings, *lines]) > self.columns:
            headings, lines, shared_cells = _drop_same_columns(headings, lines)
        if self.terminal and gives_way in headings:
            lines = _cut_column(headings, lines, headings.index(gives_way), self.columns)
        if lines and all(row[0].startswith(" ") for row in lines):
            indent = min(len(row[0]) - len(row[0].lstrip()) for row in lines)
            headings = (" " * indent + headings[0], *headings[1:])
        if not self.terminal:
            self._print_aligned(lines, below)
        elif widths := _fit_widths([headings, *lines], self.columns):
            self._print_grid([headings], widths, "bold", "bold")
            self._print_grid(lines, widths, "place", below=below)
        else:
            for number, (first, *cells) in enumerate(lines):
                self.line((first, "place"))
                parts = [
                    cell if heading in _PLAIN else f"{heading} {cell}"
                    for heading, cell in zip(headings[1:], cells, strict=True)
                    if cell
                ]
                text = f"{_TIE}· ".join(
                    part.replace(" ", _TIE) if count_cells(part) <= _UNBROKEN else part
                    for part in parts
                )
                for line in self._wrap([text], self.columns - _STACKED) if text else ():
                    self.line(" " * _STACKED, line.plain.replace(_TIE, " "))
                self._print_below(below, number)
        if shared_cells:
            self.labelled("in all: ", "dim", shared_cells)

    def _print_below(self, below: Sequence[str], number: int) -> None:
        """Print what stands below a row, if anything; a terminal gets one line of it."""
        if number < len(below) and below[number]:
            text = one_line(below[number])
            text = cut(text, self.columns - _STACKED) if self.terminal else text
            self.line(" " * _STACKED, (text, "dim"))

    def _print_aligned(self, rows: Sequence[Sequence[str]], below: Sequence[str]) -> None:
        """Print rows in columns as wide as their cells."""
        widths = [max(map(count_cells, column)) for column in zip(*rows, strict=True)]
        for number, row in enumerate(rows):
            cells = [
                cell + " " * (width - count_cells(cell))
                for cell, width in zip(row, widths, strict=True)
            ]
            self.line((" " * _GAP).join(cells).rstrip(" "))
            self._print_below(below, number)

    def _print_grid(
        self,
        rows: Sequence[Sequence[str]],
        widths: Sequence[int],
        first: str = "",
        rest: str = "",
        below: Sequence[str] = (),
    ) -> None:
        """Print rows in columns of these widths; a longer cell continues below itself."""
        from rich.table import Table

        for number, group in enumerate([[row] for row in rows] if any(below) else [rows]):
            grid = Table.grid(padding=(0, _GAP, 0, 0))
            for width in widths:
                grid.add_column(width=width, overflow="fold")
            for first_cell, *cells in group:
                grid.add_row(
                    self._text([(first_cell, first)]),
                    *(self._text([(cell, rest)]) for cell in cells),
                )
            self._print(grid)
            self._print_below(below, number)

    def markdown(self, text: str) -> None:
        """Print rendered Markdown; links show their targets."""
        from rich.markdown import Markdown

        self._print(Markdown(make_visible(text), hyperlinks=False), width=self.width)

    def _print(self, renderable: RenderableType, width: int | None = None) -> None:
        """Print what rich renders, without the white space that fills its lines."""
        with self.rich.capture() as capture:
            self.rich.print(renderable, width=width, soft_wrap=width is None)
        self.write("".join(f"{line.rstrip()}\n" for line in capture.get().split("\n")[:-1]))

    @cached_property
    def rich(self) -> RichConsole:
        """A console of rich on the same stream, as wide as the terminal."""
        from rich.console import Console as RichConsole

        return RichConsole(
            file=self.stream,
            width=self.columns,
            color_system="auto" if self.coloured else None,
            highlight=False,
            markup=False,
            emoji=False,
        )

    def write(self, text: str) -> None:
        """Write text unchanged; raise StorageFailed if the stream can't be written."""
        with _explain_failure():
            self.stream.write(text)

    def flush(self) -> None:
        """Flush the stream; raise StorageFailed if it can't be written."""
        with _explain_failure():
            self.stream.flush()

    def _paint(self, piece: Piece) -> str:
        text, style = (piece, "") if isinstance(piece, str) else piece
        line = one_line(text)
        code = _STYLES.get(style, "")
        return f"\x1b[{code}m{line}\x1b[0m" if code and line and self.coloured else line


@contextmanager
def _explain_failure() -> Iterator[None]:
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        raise StorageFailed(f"the answer can't be written: {error.strerror}") from error


def _measure_width(rows: Sequence[Sequence[str]]) -> int:
    """Return the columns of the longest line of rows that are not wrapped."""
    widths = [max(map(count_cells, column)) for column in zip(*rows, strict=True)]
    return sum(widths) + _GAP * (len(widths) - 1)


def _drop_same_columns(
    headings: Sequence[str], rows: Sequence[Sequence[str]]
) -> tuple[Sequence[str], list[list[str]], str]:
    """Take out the columns, but the first, whose cells are all the same; return those cells, too.

    Of a single row, only empty cells are taken out.
    """
    columns = list(zip(*rows, strict=True))
    is_same = [
        at > 0 and len(set(column)) == 1 and (len(rows) > 1 or column[0] in _EMPTY)
        for at, column in enumerate(columns)
    ]
    texts = [f"{headings[at]} {column[0]}" for at, column in enumerate(columns)
            if is_same[at] and column[0] not in _EMPTY]  # fmt: skip
    kept_columns = [at for at, same in enumerate(is_same) if not same]
    narrowed = [[row[at] for at in kept_columns] for row in rows]
    return [headings[at] for at in kept_columns], narrowed, " · ".join(texts)


def _cut_column(
    headings: Sequence[str], rows: list[list[str]], at: int, columns: int
) -> list[list[str]]:
    """Cut the cells of a column so that rows fit, or else that the others can be wrapped."""
    over = _measure_width([headings, *rows]) - columns
    if over <= 0 or not rows:
        return rows
    width = max(_LEAST, max(count_cells(row[at]) for row in rows) - over)
    return [
        [_shorten_cell(cell, width) if column == at else cell for column, cell in enumerate(row)]
        for row in rows
    ]


def _shorten_cell(text: str, columns: int) -> str:
    """Cut a text; of a path of headings or tests, the last parts stay."""
    while count_cells(text) > columns and len(
        rest := text.removeprefix("… > ").partition(" > ")[2]
    ):
        text = f"… > {rest}"
    return cut(text, columns)


def _fit_widths(rows: Sequence[Sequence[str]], columns: int) -> list[int] | None:
    """Return the width of each column so that no word is broken; None if there is no room."""
    by_column = list(zip(*rows, strict=True))
    widest = [max(map(count_cells, column)) for column in by_column]
    least = [
        wide if not at or wide <= _UNBROKEN else max(_UNBROKEN, *map(_longest_word, column))
        for at, (wide, column) in enumerate(zip(widest, by_column, strict=True))
    ]
    spare = columns - sum(least) - _GAP * (len(least) - 1)
    if spare < 0:
        return None
    widths = list(least)
    narrow_first = sorted(range(len(least)), key=lambda at: widest[at] - least[at])
    for index, at in zip(range(len(least), 0, -1), narrow_first, strict=True):
        more = min(widest[at] - least[at], spare // index)
        widths[at] += more
        spare -= more
    return widths


def _longest_word(text: str) -> int:
    """Return the columns of the longest word; one of wide characters may be broken."""
    return max((len(word) for word in text.split() if count_cells(word) <= len(word)), default=0)


def prepare_streams() -> None:
    """Escape characters that the encoding of stdout or stderr does not have."""
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is None:
            continue
        reconfigure(errors="backslashreplace")
        if os.name == "nt" and not stream.isatty():  # pragma: no cover  (pipes use a code page)
            reconfigure(encoding="utf-8")


def _read_size(stream: TextIO, variable: str, usual: int) -> int:
    """Return a terminal's size by COLUMNS or LINES; the import of `shutil` would take 3 ms."""
    size = os.environ.get(variable, "")
    if size.isdecimal() and int(size):
        return int(size)
    try:
        terminal_size = os.get_terminal_size(stream.fileno())
    except (OSError, ValueError):
        return usual
    return (terminal_size.columns if variable == "COLUMNS" else terminal_size.lines) or usual


def _wants_colour(*, terminal: bool) -> bool:
    if os.environ.get("NO_COLOR"):
        return False
    if os.environ.get("FORCE_COLOR", "0") not in {"", "0"}:
        return True
    if os.name == "nt":  # pragma: no cover  (old consoles print the escape codes)
        return terminal and not _MODERN.isdisjoint(os.environ)
    return terminal
