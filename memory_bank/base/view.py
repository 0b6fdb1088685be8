"""The view of an answer: what it says, made once from its record, for a terminal and for agents.

A verb makes its view; the writers here know nothing of verbs. With `--json`, and in structured
answers, the record itself is the answer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import accumulate
from types import MappingProxyType

from memory_bank.base import NamedTuple, shorten
from memory_bank.base.hit_view import (
    WEAKER,
    Place,
    ShownHit,
    Spans,
    format_place,
    print_hits,
    style_piece,
)
from memory_bank.base.rendering import count, make_visible
from memory_bank.base.screen import FOUND, NOTHING, Call, Piece, join_pieces
from memory_bank.base.text import Quotes, estimate, one_line

_NO_FACTS: Mapping[str, object] = MappingProxyType({})

_LONGEST_CELL = 60
"""Most characters of a cell that gives way, for agents."""

_MOST_ROWS = 500
"""Most rows of a table, for agents."""

_MOST_LINES = 20
"""Most lines of a list, for agents."""

_HANG = 2
"""Columns by which a line continues behind its start."""

_LONGEST_ROW = 240
"""Most characters of a row below a title, for agents."""


class Table(NamedTuple):
    """Rows, whose cells are quoted for agents."""

    headings: Sequence[str]
    rows: Sequence[Sequence[str | Place]]
    gives_way: str = ""
    """The column whose cells are cut where there is little room."""
    about: Mapping[str, object] = _NO_FACTS
    """What is true of all rows."""
    below: Sequence[str] = ()
    """What stands below each row; empty for nothing."""
    marked: int | None = None
    """The row that is marked by `>`."""
    title: str = ""
    """Names the rows as a part of a thing; an agent reads all such parts in one quote."""
    most: int = _MOST_ROWS
    """Most rows for agents."""


class Entry(NamedTuple):
    """One thing: its name or place, what is known of it, and its text."""

    place: Place | str = ""
    about: Mapping[str, object] = _NO_FACTS
    """What is known of it, by name: all of it is for agents; for people, what is a place."""
    text: str = ""
    title: str = ""
    verb: str = ""
    """What was done, which a person reads before the place."""
    more: Sequence[str | Place] = ()
    """What a person reads behind the place."""
    line: Sequence[str | Place] = ()
    """What a person reads below, on one line."""
    markdown: str = ""
    """What a terminal renders in place of the text; a pipe gets the text alone, as it is."""


class Block(NamedTuple):
    """Lines of pieces, some of which are places."""

    lines: Sequence[Sequence[Piece | Place]]


class Lines(NamedTuple):
    """Places or texts, each on a line, and what they are."""

    what: str
    lines: Sequence[str | Place]


Part = Entry | ShownHit | Table | Block | Lines | str


class View(NamedTuple):
    """An answer in words."""

    head: str = ""
    """Our own sentence, without its full stop; a person reads it if there are no parts."""
    parts: Sequence[Part] = ()
    """What was found or done, quoted for agents; a text is our own heading of what follows."""
    facts: Mapping[str, object] = _NO_FACTS
    """What an agent reads behind the head, such as an id that it needs next."""
    advice: str = ""
    """What an agent may do about it, as sentences behind the head."""
    notices: Sequence[str] = ()
    problem: str | None = None
    """Why the answer may be incomplete."""
    warning: str | None = None
    """What is wrong with what was done, in our own words."""
    then: str = ""
    """What an agent does next."""
    text: str = ""
    """The whole answer, if it is our own text or has quotes of its own."""
    code: int = FOUND
    document: object = None
    """What JSON has, if that is not the record itself."""
    remarks: Sequence[str] = ()
    """What a person reads at the end."""
    fallback: str = ""
    """The reason why it was not searched by meaning or elsewhere, which the head has for agents."""
    mode: str = ""
    most_tokens: int = 0
    """Most estimated tokens of what an agent reads of one thing; 0 for all of it."""
    spans: Spans | None = None
    """Where the words of the query stand in a text, to highlight them."""


def write_view(call: Call, record: object, view: View) -> int:
    """Print a record as JSON, or its view, and what limits the answer; return the exit code."""
    if call.json:
        call.document(record if view.document is None else view.document)
    else:
        write_terminal(call, view)
        call.warn(view.warning)
    call.incomplete(view.fallback, view.problem, mode=view.mode)
    call.notices(view.notices)
    for remark in view.remarks if not call.json else ():
        call.remark(remark)
    return view.code


def write_terminal(call: Call, view: View) -> None:
    """Print a view for a person; remarks go to stderr."""
    if view.text:
        call.console.block(view.text)
        return
    if view.head and not view.parts and (view.code != NOTHING or not view.remarks):
        text = _append_facts(f"{view.head[0].lower()}{view.head[1:]}", view.facts)
        (call.remark if view.code == NOTHING else call.console.line)(text)
    _print_parts(call, view.parts)
    if hits := [part for part in view.parts if isinstance(part, ShownHit)]:
        others = len(hits) < len(view.parts)
        if others:
            call.console.line()
        notices = sum(1 + len(notice) // call.console.columns for notice in view.notices)
        remarks = notices + len(view.remarks)
        print_hits(call, hits, view.spans or _no_spans, remarks=remarks, whole=others)


def _print_parts(call: Call, parts: Sequence[Part]) -> None:
    """Print all but hits, which fit a screen together."""
    for number, part in enumerate(parts):
        if isinstance(part, str):
            call.console.line((part, "dim"))
        elif isinstance(part, ShownHit):
            continue
        elif isinstance(part, Table):
            _print_table(call, part)
        elif isinstance(part, Block):
            for pieces in part.lines:
                _print_wrapped(call, [style_piece(call, piece) for piece in pieces])
        elif isinstance(part, Lines):
            for line in part.lines:
                call.console.line(f"  {part.what}: ", (format_place(call, line), "place"))
        else:
            if number and (part.title or part.text):
                call.console.line()
            _print_entry(call, part)


def _print_wrapped(call: Call, pieces: Sequence[Piece]) -> None:
    """Print a line; on a terminal it continues below itself, a little more indented."""
    text = join_pieces(pieces)
    indent = len(text) - len(text.lstrip())
    if not indent:
        call.console.hanging(_HANG, pieces)
        return
    first = pieces[0] if isinstance(pieces[0], str) else pieces[0][0]
    style = "" if isinstance(pieces[0], str) else pieces[0][1]
    call.console.hanging(indent + _HANG, [(first.lstrip(), style), *pieces[1:]])


def _print_table(call: Call, table: Table) -> None:
    rows = _marked_rows(table, partial(format_place, call), "  ")
    if table.title:
        call.console.line((f"{table.title} ({len(rows)})", "bold"))
        rows = [[f"  {first}", *cells] for first, *cells in rows]
    call.console.table(table.headings, rows, table.gives_way, table.below)


def _no_spans(_: str) -> Sequence[tuple[int, int]]:
    return ()


def _print_entry(call: Call, entry: Entry) -> None:
    console = call.console
    if entry.markdown and not console.terminal:
        text = make_visible(entry.text.replace("\r\n", "\n"))
        console.write(text if text.endswith("\n") else f"{text}\n")
        return
    verb: list[Piece] = [f"{entry.verb} "] if entry.verb else []
    if entry.place:
        title = [f"  {entry.title}"] if entry.title else []
        more = [style_piece(call, part) for part in entry.more or title]
        console.line(*verb, (format_place(call, entry.place), "place"), *more)
    elif entry.title:
        console.line((one_line(entry.title), "bold"))
    if line := " · ".join(filter(None, (format_place(call, part) for part in entry.line))):
        console.block(line, style="tag")
    for name, value in entry.about.items():
        if isinstance(value, Place) and value.path:
            console.line(f"  {name.replace('_', ' ')}: ", (format_place(call, value), "place"))
    if entry.markdown:
        console.line()
        console.markdown(entry.markdown)
    elif entry.text:
        console.line()
        console.block(entry.text)


def write_agent(view: View, quotes: Quotes) -> str:
    """Return a view for an agent, in which all text of notes is quoted."""
    if view.text:
        return view.text
    untitled = [part for part in view.parts if isinstance(part, Table) and not part.title]
    headings = [" | ".join(table.headings) for table in untitled]
    head = ": ".join(filter(None, (_append_facts(view.head, view.facts), *headings)))
    parts = _hit_texts([part for part in view.parts if isinstance(part, ShownHit)], quotes)
    parts += _part_texts(view.parts, quotes)
    lines = [line for part in view.parts for line in _lines_of(part)]
    if lines:
        first = _fit_to_tokens(lines, view.most_tokens)
        parts.append(quotes.quote("\n".join(first).strip("\n")))
        more = len(lines) - len(first)
        parts += [f"{count(more, 'line')} left out."] if more else []
    warning = f"Warning: {view.warning}." if view.warning else ""
    sentences = " ".join(filter(None, (f"{head}." if head else "", view.advice, warning)))
    notices, problem = quotes.remarks(view.notices), quotes.remarks(problem=view.problem)
    return quotes.answer(sentences, *notices, *parts, *problem, view.then)


def _part_texts(parts: Sequence[Part], quotes: Quotes) -> Iterator[str]:
    """Yield parts that stand by themselves, each in quotes, and our own headings."""
    for part in parts:
        if isinstance(part, str):
            yield part
        elif isinstance(part, Table) and not part.title:
            texts = [" | ".join(_cells(part, row)) for row in _marked_rows(part, _named_place)]
            for number, text in enumerate(part.below):
                texts[number] += f"\n  {one_line(text)}" if text else ""
            yield quotes.quote(_first_rows(texts, part.most), part.about)
        elif isinstance(part, Lines):
            yield quotes.quote(first_lines(part.lines), {"what": part.what})
        elif isinstance(part, Entry) and (part.about or part.text):  # else for people only
            yield quotes.quote(part.text, _plain(part.about))


def _lines_of(part: Part) -> Iterator[str]:
    """Yield the lines of a part that is quoted together with others of its kind."""
    if isinstance(part, Table) and part.title:
        yield f"{part.title}:"
        yield from _titled_rows(part)
    elif isinstance(part, Block):
        yield from map(_join_pieces, part.lines[:_MOST_ROWS])
        if (more := len(part.lines) - _MOST_ROWS) > 0:
            yield f"and {more} more"


def _fit_to_tokens(lines: Sequence[str], most: int) -> Sequence[str]:
    """Return the first lines that have `most` tokens together, or all; long ones are cut."""
    if not most:
        return lines
    cut_lines = [shorten(line, _LONGEST_ROW) for line in lines]
    totals = accumulate(estimate(line) + 1 for line in cut_lines)
    return cut_lines[: sum(total <= most for total in totals)]


def _hit_texts(hits: Sequence[ShownHit], quotes: Quotes) -> list[str]:
    """Return hits quoted one by one, the weaker ones apart, and rows of hits together."""
    whole = [(hit.weak, quotes.quote(hit.text, hit.about)) for hit in hits if hit.about]
    parts = [text for weak, text in whole if not weak]
    weaker = [text for weak, text in whole if weak]
    parts += [f"{WEAKER}:", *weaker] if weaker else []
    if rows := "\n".join(hit.text for hit in hits if not hit.about):
        parts.append(quotes.quote(rows, {"what": "more"} if whole else _NO_FACTS))
    return parts


def _append_facts(head: str, facts: Mapping[str, object]) -> str:
    texts = ", ".join(f"{name}: {value}" for name, value in facts.items())
    return f"{head} ({texts})" if texts else head


def _plain(about: Mapping[str, object]) -> dict[str, object]:
    return {
        name: _named_place(value) if isinstance(value, Place) else value
        for name, value in about.items()
    }


def _first_rows(rows: Sequence[str], most: int) -> str:
    """Return as many rows as an agent gets, and the number of the others."""
    more = [f"and {len(rows) - most} more"] if len(rows) > most else []
    return "\n".join([*rows[:most], *more])


def _titled_rows(table: Table) -> Iterator[str]:
    """Yield a line for each of the first rows, with what stands below it, and how many follow."""
    for number, row in enumerate(table.rows[: table.most]):
        below = table.below[number] if number < len(table.below) else ""
        text = f"- {' | '.join(filter(None, map(_named_place, row)))}"
        text += f": {below}" if below else ""
        yield shorten(one_line(text), _LONGEST_ROW)
    if len(table.rows) > table.most:
        yield f"and {len(table.rows) - table.most} more"


def _join_pieces(line: Sequence[Piece | Place]) -> str:
    """Return a line of pieces without styles."""
    texts = [
        _named_place(piece) if isinstance(piece, Place) else join_pieces([piece]) for piece in line
    ]
    return "".join(texts)


def first_lines(lines: Sequence[str | Place]) -> str:
    """Return the first lines, and the number of the others."""
    return _first_rows([one_line(_named_place(line)) for line in lines], _MOST_LINES)


def _named_place(place: str | Place) -> str:
    if isinstance(place, str):
        return place
    return f"{place.path}:{place.line}" if place.line else place.path


def _marked_rows(
    table: Table, text_of: Callable[[str | Place], str], gap: str = ""
) -> list[list[str]]:
    """Return the rows as texts, the marked one after `>`, the others after a gap."""
    rows = [list(map(text_of, row)) for row in table.rows]
    if table.marked is None:
        return rows
    return [
        [f"{'> ' if number == table.marked else gap}{first}", *cells]
        for number, (first, *cells) in enumerate(rows)
    ]


def _cells(table: Table, row: Sequence[str]) -> list[str]:
    cells = [one_line(cell) for cell in row]
    return [
        shorten(cell, _LONGEST_CELL) if heading == table.gives_way else cell
        for heading, cell in zip(table.headings, cells, strict=True)
    ]
