"""What `why` answers, on a terminal and for agents."""

from __future__ import annotations

from memory_bank.base.rendering import count, same_words
from memory_bank.base.screen import FOUND, NOTHING, Call, cut
from memory_bank.base.text import Quotes, estimate, one_line
from memory_bank.code.index.codebase import Codebase
from memory_bank.memory.records import Behind, Why

_INDENT = "   "


def behind(call: Call, why: Why, code: Codebase | None) -> int:
    """Show the definition, a block for each commit and note behind it, and what hangs on it."""
    call.answer(why, lambda why: _behind(call, why, code))
    call.warn(why.problem)
    return FOUND if why.behind or why.rules or why.tests else NOTHING


_MOST_REASON = 400
"""Most characters of the reason of a commit or note."""


def _behind(call: Call, why: Why, code: Codebase | None) -> None:
    from memory_bank.code.shown import CodeAnswerView  # start-up: lists of notes read no Markdown

    view = CodeAnswerView(call, code.root) if code else None
    if view and why.definition:
        view.definition(why.definition)
        call.console.line()
    for number, current_behind in enumerate(why.behind):
        if number:
            call.console.line()
        name = (
            f"commit {current_behind.id[:8]}"
            if current_behind.kind == "commit"
            else call.place(current_behind.id)
        )
        request = f"  #{current_behind.pull_request}" if current_behind.pull_request else ""
        by = f" {current_behind.author}" if current_behind.author else ""
        call.console.line((name, "place"), f" {current_behind.date[:10]}{by}{request}")
        call.console.line(_INDENT, (current_behind.title, "bold"))
        if current_behind.reason and not same_words(current_behind.title, current_behind.reason):
            call.console.block(cut(current_behind.reason, _MOST_REASON), _INDENT)
    if view:
        view.calls("called by", why.called_by)
        view.notes(f"rules for {why.path}", why.rules)
        view.tests(why.tests)
        view.depended(why.coupled)


_DAY = 10
"""Characters of the date in a timestamp."""

_MOST = 20
"""Most lines of a list."""


_LONGEST_ROW, _MOST_BEHIND = 200, 450
"""Most characters of a line of `why`, and bytes of all: dense code has a token in two."""


def tell_behind(why: Why, quotes: Quotes) -> str:
    """Show the definition, what is behind it and what hangs on it, in less than 800 tokens."""
    symbol, parts = why.definition, [f"{why.path}:{why.line}" if why.line else why.path]
    if symbol:
        place = f"{symbol.path}:{symbol.line}-{symbol.end_line - 1}"
        parts = [f"{symbol.name} | {symbol.kind} | {place}", symbol.signature]
    callers = ", ".join(f"{call.name} ({call.path}:{call.line})" for call in why.called_by)
    parts += [f"called by {callers}"] if callers else []
    coupled = ", ".join(
        f"{coupled_file.file} ({coupled_file.snippet})" for coupled_file in why.coupled
    )
    parts += [f"may change with it: {coupled}"] if coupled else []
    parts += [_behind_row(commit) for commit in why.behind]
    parts += [f"rule {rule.path}: {rule.sentence or rule.title}" for rule in why.rules]
    parts += [f"test {test.test_file}:{test.line} {test.title} ({test.how})" for test in why.tests]
    rows, room = [], _MOST_BEHIND
    for part in parts:
        row = one_line(part)
        row = row if len(row) <= _LONGEST_ROW else f"{row[: _LONGEST_ROW - 1]}…"
        room -= estimate(row) + 1
        if room < 0:
            break
        rows.append(row)
    left_count = len(parts) - len(rows)
    head = "What is behind it, the newest first."
    more = [f"{count(left_count, 'line')} left out."] if left_count else []
    remarks = [*more, *quotes.remarks(problem=why.problem)]
    return quotes.answer(head, quotes.quote("\n".join(rows)), *remarks)


def _behind_row(commit: Behind) -> str:
    name = f"commit {commit.id[:8]}" if commit.kind == "commit" else commit.id
    request = f" #{commit.pull_request}" if commit.pull_request else ""
    reason = f": {commit.reason}" if commit.reason else ""
    return f"{name} {commit.date[:_DAY]}{request} | {commit.title}{reason}"
