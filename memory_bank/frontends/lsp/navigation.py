"""Answers about links, what can follow at the cursor, and what is wrong."""

from __future__ import annotations

from functools import partial

from lsprotocol.types import (
    CompletionItem,
    CompletionItemKind,
    CompletionList,
    CompletionParams,
    DefinitionParams,
    Diagnostic,
    DiagnosticSeverity,
    Hover,
    HoverParams,
    Location,
    MarkupContent,
    MarkupKind,
    Position,
    Range,
    ReferenceParams,
    TextEdit,
)

from memory_bank.base import lazy_pattern
from memory_bank.base.text import escape_text, one_line
from memory_bank.code import lookup
from memory_bank.code.index.codebase import Codebase
from memory_bank.frontends.lsp import open_texts, problems
from memory_bank.frontends.lsp.buffers import (
    Codebases,
    Editor,
    FileRequest,
    OpenBank,
    read_positions,
)
from memory_bank.frontends.lsp.completion import Completion, list_choices
from memory_bank.frontends.lsp.open_texts import LinkTarget, link_at
from memory_bank.notes.links import WholeLink
from memory_bank.notes.note import Note

_SIGNS = lazy_pattern(r"([\\`*_{}\[\]()<>#+!|~&$-])")

_TICKS = lazy_pattern(r"`+")


def escape_markdown(text: str) -> str:
    """Return a text of a file on one line, without any sign of Markdown."""
    return _SIGNS.sub(r"\\\1", one_line(text))


def format_code(text: str) -> str:
    """Return a text of a file as inline code."""
    line = one_line(text)
    ticks = "`" * (1 + max((len(run) for run in _TICKS.findall(line)), default=0))
    pad = " " if line.startswith("`") or line.endswith("`") else ""
    return f"{ticks}{pad}{line}{pad}{ticks}"


def find_definition(
    file_request: FileRequest, params: DefinitionParams, codebases: Codebases
) -> list[Location]:
    """Return the place to which the link under the cursor leads, or each that it may mean."""
    link = _find_link(file_request, params.position)
    if link is None:
        return []
    written, goal = link
    if name := lookup.named_symbol(goal.ghost, written.link.heading):
        return _find_symbol_places(file_request, name, codebases)
    if goal.candidates:
        return [file_request.location(path, 0, 0) for path in goal.candidates]
    place = _locate_goal(file_request, goal)
    return [place] if place else []


def _find_symbol_places(
    file_request: FileRequest, name: str, codebases: Codebases
) -> list[Location]:
    """Return the places of the symbols that a link means, as far as the code was read."""
    code = _find_code(file_request, codebases)
    if code is None:
        return []
    with code.lock:
        rows = lookup.find_meant_symbols(code.table, name)
    return [
        Location(file_request.uri_of(str(code.root / row.path)), _make_line_range(row.symbol.line))
        for row in rows
    ]


def find_references(file_request: FileRequest, params: ReferenceParams) -> list[Location]:
    """Return the links to the goal of the link, to the heading or to the block under the cursor.

    Before the text and on the title, they are the links to the note.
    """
    note = file_request.texts.note(file_request.path) if file_request.path else None
    if note is None:
        return []
    offset = file_request.offset(params.position)
    if written := link_at(note, offset):
        goal = open_texts.leads_to(file_request.texts, file_request.path, [written.link])[0]
        heading, block = written.link.heading, written.link.block
    elif part := open_texts.part_at(note, offset):
        goal, (heading, block) = LinkTarget(file_request.path), part
    else:
        return []
    if not (goal.path or goal.ghost):
        return []
    spans = open_texts.find_references(file_request.texts, goal, heading=heading, block=block)
    places = [file_request.location(*place) for place in spans]
    if params.context.include_declaration and (place := _locate_goal(file_request, goal)):
        places.insert(0, place)
    return places


def hover(file_request: FileRequest, params: HoverParams) -> Hover | None:
    """Return which note the link under the cursor leads to, or why it leads to none."""
    link = _find_link(file_request, params.position)
    if link is None:
        return None
    written, goal = link
    note = file_request.texts.note(goal.path) if goal.path else None
    if note is None and not goal.problem:
        return None
    as_markdown, plain = (
        describe_note(note) if note else (escape_markdown(goal.problem), goal.problem)
    )
    return Hover(
        format_hover(file_request.editor, as_markdown, plain),
        file_request.range(written.first, written.last),
    )


def describe_note(note: Note) -> tuple[str, str]:
    """Return the title, type, tags and path of a linked note, as Markdown and as plain text."""
    status = note.meta.status if note.meta.status != "active" else ""
    kind = list(filter(None, (note.meta.type, status)))
    tags = [f"#{tag}" for tag in note.meta.tags]
    words = " · ".join(map(escape_markdown, (*kind, *tags)))
    head = f"**{escape_markdown(note.title)}**{f' — {words}' if words else ''}"
    plain = [
        escape_text(note.title),
        escape_text(" · ".join((*kind, *note.meta.tags))),
        escape_text(note.path),
    ]
    return f"{head}  \n{format_code(note.path)}", "\n".join(filter(None, plain))


def format_hover(editor: Editor, as_markdown: str, as_plain: str) -> MarkupContent:
    """Return a hover's text in a format that the editor shows."""
    documents = editor.capabilities.text_document
    markup_kinds = documents.hover.content_format if documents and documents.hover else None
    if markup_kinds and MarkupKind.Markdown not in markup_kinds:
        return MarkupContent(MarkupKind.PlainText, as_plain)
    return MarkupContent(MarkupKind.Markdown, as_markdown)


def _find_link(
    file_request: FileRequest, position: Position
) -> tuple[WholeLink, LinkTarget] | None:
    note = file_request.texts.note(file_request.path) if file_request.path else None
    written = link_at(note, file_request.offset(position)) if note else None
    if written is None:
        return None
    return written, open_texts.leads_to(file_request.texts, file_request.path, [written.link])[0]


def _locate_goal(file_request: FileRequest, goal: LinkTarget) -> Location | None:
    if not goal.file:
        return None
    return Location(file_request.uri_of(goal.file), _make_line_range(goal.line))


def _make_line_range(line: int) -> Range:
    return Range(Position(line - 1, 0), Position(line - 1, 0))


_KINDS = {
    "note": CompletionItemKind.File,
    "title": CompletionItemKind.Reference,
    "alias": CompletionItemKind.Reference,
    "heading": CompletionItemKind.Module,
    "block": CompletionItemKind.Constant,
    "file": CompletionItemKind.File,
    "symbol": CompletionItemKind.Function,
    "value": CompletionItemKind.Value,
}


def complete(
    file_request: FileRequest, params: CompletionParams, codebases: Codebases
) -> CompletionList:
    """Return the choices at the cursor of a note, the best first."""
    if not file_request.path:
        return CompletionList(is_incomplete=False, items=[])
    code_of = partial(_find_code, file_request, codebases)
    offset = file_request.offset(params.position)
    choices, is_complete = list_choices(
        file_request.texts, file_request.path, file_request.text, offset, code_of
    )
    items = [_make_item(file_request, number, choice) for number, choice in enumerate(choices)]
    return CompletionList(is_incomplete=not is_complete, items=items)


def _make_item(file_request: FileRequest, number: int, choice: Completion) -> CompletionItem:
    return CompletionItem(
        label=one_line(choice.label),
        kind=_KINDS[choice.kind],
        detail=one_line(choice.detail) or None,
        filter_text=choice.typed,
        sort_text=f"{number:06}",
        text_edit=TextEdit(file_request.range(choice.start, choice.end), choice.text),
    )


def _find_code(file_request: FileRequest, codebases: Codebases) -> Codebase | None:
    """Return the code around the bank, which is read in its thread; None without any."""
    shared = codebases.of(file_request.bank.layout.root)
    return shared.wake() if shared is not None and shared.enabled else None


SOURCE = "memory-bank"

_SEVERITIES = {
    "error": DiagnosticSeverity.Error,
    "warning": DiagnosticSeverity.Warning,
    "info": DiagnosticSeverity.Information,
}


def list_diagnostics(file_request: FileRequest) -> list[Diagnostic]:
    """Return the problems of a note's text in the editor, and of its file."""
    if not file_request.path:
        return []
    saved = file_request.opened.findings.get(file_request.path, ())
    lines = read_positions(file_request.text, file_request.editor.encoding)
    return [
        Diagnostic(
            range=lines.range(text_problem.start, text_problem.end),
            message=one_line(text_problem.message),
            severity=_SEVERITIES[text_problem.severity],
            code=text_problem.rule,
            source=SOURCE,
        )
        for text_problem in problems.list_problems(file_request.texts, file_request.path, saved)
    ]


def run_rules(opened: OpenBank) -> None:
    """Run all rules on a bank's files; it may take a while, and blocks no request."""
    with opened.shared.another(embeds=False) as bank:
        opened.findings = problems.all_findings(bank)
