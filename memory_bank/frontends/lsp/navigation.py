"""Answers about links, what is in notes, what can follow at the cursor, and what is wrong."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import partial
from pathlib import Path

from lsprotocol.types import (
    CompletionItem,
    CompletionItemKind,
    CompletionList,
    CompletionParams,
    DefinitionParams,
    Diagnostic,
    DiagnosticSeverity,
    DocumentLink,
    DocumentLinkParams,
    DocumentSymbol,
    DocumentSymbolParams,
    Hover,
    HoverParams,
    Location,
    MarkupContent,
    MarkupKind,
    Position,
    Range,
    ReferenceParams,
    SymbolInformation,
    SymbolKind,
    TextEdit,
    WorkspaceSymbol,
)

from memory_bank.base.text import clean, one_line
from memory_bank.code import lookup
from memory_bank.code.code_names import named_symbol
from memory_bank.code.index.codebase import Codebase
from memory_bank.frontends.lsp import destinations, open_texts, problems
from memory_bank.frontends.lsp.buffers import Editor, FileRequest, positions
from memory_bank.frontends.lsp.completion import Completion, choices
from memory_bank.frontends.lsp.destinations import LinkTarget, Preview
from memory_bank.frontends.lsp.open_banks import Codebases, OpenBank
from memory_bank.frontends.lsp.open_texts import OutlineHeading, file_of, link_at
from memory_bank.notes.links import WholeLink

_SIGNS = re.compile(r"([\\`*_{}\[\]()<>#+!|~&$-])")

_TICKS = re.compile(r"`+")

_LANGUAGE = re.compile(r"\w*")


def of_preview(shown: Preview) -> str:
    """Return a preview: the title, what the note is, and its first lines as code."""
    words = " · ".join(escaped(word) for word in _about(shown, "#") if word)
    head = [f"**{escaped(shown.title)}**" + (f" — {words}" if words else "")]
    if shown.path != shown.title:
        head.append(code(shown.path))
    if shown.heading:
        head.append(f"§ {escaped(shown.heading)}")
    head += [escaped(line) for line in _of_code(shown)]
    more = "\n…" if shown.more else ""
    body = fenced(shown.text + more, shown.language) if shown.text else ""
    return "\n\n".join(filter(None, ("  \n".join(head), body)))


def _about(shown: Preview, mark: str) -> Iterable[str]:
    """Return the type of a note, its status unless it is active, and its tags."""
    meta = shown.meta
    status = meta.status if meta.status != "active" else ""
    return (meta.type, status, *(mark + tag for tag in meta.tags))


def _of_code(shown: Preview) -> list[str]:
    """Return a line for each thing that is said of the code that a note cites."""
    stale, touched = shown.marks
    said = [f"stale: {stale}"] if stale else []
    return [*said, *(f"cited file changed: {one}" for one in touched)]


def plain(shown: Preview) -> str:
    """Return a preview for an editor that shows no Markdown."""
    about = " · ".join(filter(None, _about(shown, "")))
    head = (shown.title, shown.path if shown.path != shown.title else "", about, shown.heading)
    return "\n".join(clean(part) for part in (*head, *_of_code(shown), shown.text) if part)


def escaped(text: str) -> str:
    """Return a text of a file on one line, without any sign of Markdown."""
    return _SIGNS.sub(r"\\\1", one_line(text))


def code(text: str) -> str:
    """Return a text of a file as inline code."""
    line = one_line(text)
    ticks = "`" * (1 + max((len(run) for run in _TICKS.findall(line)), default=0))
    pad = " " if line.startswith("`") or line.endswith("`") else ""
    return f"{ticks}{pad}{line}{pad}{ticks}"


def fenced(text: str, language: str = "") -> str:
    """Return a text of a file as a block of code, whose fence the text can't end."""
    shown = clean(text)
    longest = max((len(run) for run in _TICKS.findall(shown)), default=0)
    fence = "`" * max(3, longest + 1)
    name = language if _LANGUAGE.fullmatch(language) else ""
    return f"{fence}{name}\n{shown}\n{fence}"


def definition(
    asked: FileRequest, params: DefinitionParams, codebases: Codebases
) -> list[Location]:
    """Return the place to which the link under the cursor leads, or each that it may mean."""
    found = _link(asked, params.position)
    if found is None:
        return []
    written, goal = found
    if name := named_symbol(goal.ghost, written.link.heading):
        return _symbol_places(asked, name, codebases)
    if goal.candidates:
        return [asked.location(path, 0, 0) for path in goal.candidates]
    place = _place(asked, goal)
    return [place] if place else []


def _symbol_places(asked: FileRequest, name: str, codebases: Codebases) -> list[Location]:
    """Return the places of the symbols that a link means, as far as the code was read."""
    code = _code_around(asked, codebases)
    if code is None:
        return []
    with code.lock:
        rows = lookup.symbols_meant(code.table, name)
    return [
        Location(asked.uri_of(str(code.root / one.path)), _line_range(one.symbol.line))
        for one in rows
    ]


def references(asked: FileRequest, params: ReferenceParams) -> list[Location]:
    """Return the links to what is under the cursor.

    That is a link's goal, a heading or a block; before the text and on the title, it is the note.
    """
    note = asked.texts.note(asked.path) if asked.path else None
    if note is None:
        return []
    offset = asked.offset(params.position)
    here = destinations.part_at(note, offset)
    goal, heading, block = LinkTarget(asked.path), here.heading, here.block
    written = link_at(note, offset)
    if written:
        goal = destinations.leads_to(asked.texts, asked.path, [written.link])[0]
        heading, block = written.link.heading, written.link.block
    elif not here.known:
        return []
    if not (goal.path or goal.ghost):
        return []
    found = destinations.references(asked.texts, goal, heading=heading, block=block)
    places = [asked.location(*place) for place in found]
    if params.context.include_declaration and (place := _place(asked, goal)):
        places.insert(0, place)
    return places


def hover(asked: FileRequest, params: HoverParams) -> Hover | None:
    """Return the preview of the goal of the link under the cursor."""
    found = _link(asked, params.position)
    if found is None:
        return None
    written, goal = found
    shown = destinations.preview(asked.texts, goal, written.link)
    area = asked.range(written.first, written.last)
    if shown is None:
        if not goal.problem:
            return None
        return Hover(markup(asked.editor, escaped(goal.problem), goal.problem), area)
    return Hover(markup(asked.editor, of_preview(shown), plain(shown)), area)


def markup(editor: Editor, as_markdown: str, as_plain: str) -> MarkupContent:
    """Return a hover's text in a format that the editor shows."""
    documents = editor.capabilities.text_document
    wanted = documents.hover.content_format if documents and documents.hover else None
    if wanted and MarkupKind.Markdown not in wanted:
        return MarkupContent(MarkupKind.PlainText, as_plain)
    return MarkupContent(MarkupKind.Markdown, as_markdown)


def symbols(
    asked: FileRequest, _: DocumentSymbolParams
) -> list[DocumentSymbol] | list[SymbolInformation]:
    """Return the headings of a note, as a tree if the editor shows one."""
    note = asked.texts.note(asked.path) if asked.path else None
    if note is None:
        return []
    documents = asked.editor.capabilities.text_document
    shown = documents.document_symbol if documents else None
    found = open_texts.outline(note)
    if shown and shown.hierarchical_document_symbol_support:
        return [_symbol(asked, one) for one in found]
    return _flat(asked, found, "")


def links(asked: FileRequest, _: DocumentLinkParams) -> list[DocumentLink]:
    """Return the links of a note that lead to a file."""
    note = asked.texts.note(asked.path) if asked.path else None
    if note is None:
        return []
    return [
        DocumentLink(
            range=asked.range(written.first, written.last),
            target=_target(asked, goal),
            tooltip=one_line(goal.path or Path(goal.file).name),
        )
        for written, goal in destinations.written_goals(asked.texts, asked.path, note)
        if goal.file
    ]


def workspace_symbols(
    opened: Sequence[OpenBank], editor: Editor, words: str
) -> list[WorkspaceSymbol]:
    """Return the notes and headings of all banks that have some words."""
    return [
        WorkspaceSymbol(
            location=Location(
                editor.uri_of(file_of(bank.shared.bank(), one.path)), _line_range(one.line)
            ),
            name=one_line(one.name) or one.path,
            kind=SymbolKind.File if one.is_note else SymbolKind.String,
            container_name=one_line(" > ".join(filter(None, (one.path, one.around)))),
        )
        for bank in opened
        for one in open_texts.search(bank.shared.bank(), words)
    ]


def _link(asked: FileRequest, position: Position) -> tuple[WholeLink, LinkTarget] | None:
    note = asked.texts.note(asked.path) if asked.path else None
    written = link_at(note, asked.offset(position)) if note else None
    if written is None:
        return None
    return written, destinations.leads_to(asked.texts, asked.path, [written.link])[0]


def _place(asked: FileRequest, goal: LinkTarget) -> Location | None:
    if not goal.file:
        return None
    return Location(asked.uri_of(goal.file), _line_range(goal.line))


def _target(asked: FileRequest, goal: LinkTarget) -> str:
    fragment = f"#L{goal.line}" if goal.line > 1 else ""
    return asked.uri_of(goal.file) + fragment


def _line_range(line: int) -> Range:
    return Range(Position(line - 1, 0), Position(line - 1, 0))


def _symbol(asked: FileRequest, heading: OutlineHeading) -> DocumentSymbol:
    return DocumentSymbol(
        name=one_line(heading.name),
        kind=SymbolKind.String,
        range=asked.range(heading.start, heading.end),
        selection_range=asked.range(heading.start, heading.line_end),
        children=[_symbol(asked, one) for one in heading.below],
    )


def _flat(
    asked: FileRequest, headings: Sequence[OutlineHeading], above: str
) -> list[SymbolInformation]:
    found = []
    for one in headings:
        place = Location(asked.uri(asked.path), asked.range(one.start, one.end))
        found.append(
            SymbolInformation(
                location=place,
                name=one_line(one.name),
                kind=SymbolKind.String,
                container_name=above or None,
            )
        )
        found += _flat(asked, one.below, one_line(one.name))
    return found


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


def complete(asked: FileRequest, params: CompletionParams, codebases: Codebases) -> CompletionList:
    """Return the choices at the cursor of a note, the best first."""
    if not asked.path:
        return CompletionList(is_incomplete=False, items=[])
    code_of = partial(_code_around, asked, codebases)
    offset = asked.offset(params.position)
    found = choices(asked.texts, asked.path, asked.text, offset, code_of)
    items = [_item(asked, number, choice) for number, choice in enumerate(found.found)]
    return CompletionList(is_incomplete=not found.complete, items=items)


def _item(asked: FileRequest, number: int, choice: Completion) -> CompletionItem:
    return CompletionItem(
        label=one_line(choice.label),
        kind=_KINDS[choice.kind],
        detail=one_line(choice.detail) or None,
        filter_text=choice.typed,
        sort_text=f"{number:06}",
        text_edit=TextEdit(asked.range(choice.start, choice.end), choice.text),
    )


def _code_around(asked: FileRequest, codebases: Codebases) -> Codebase | None:
    """Return the code around the bank, which is read in its thread; None without any."""
    shared = codebases.of(asked.bank.layout.root)
    return shared.asked() if shared is not None and shared.enabled else None


SOURCE = "memory-bank"

_SEVERITIES = {
    "error": DiagnosticSeverity.Error,
    "warning": DiagnosticSeverity.Warning,
    "info": DiagnosticSeverity.Information,
}


def of_note(asked: FileRequest) -> list[Diagnostic]:
    """Return the problems of a note's text in the editor, and of its file."""
    if not asked.path:
        return []
    saved = asked.opened.findings.get(asked.path, ())
    lines = positions(asked.text, asked.editor.encoding)
    return [
        Diagnostic(
            range=lines.range(one.start, one.end),
            message=one_line(one.message),
            severity=_SEVERITIES[one.severity],
            code=one.rule,
            source=SOURCE,
        )
        for one in problems.problems(asked.texts, asked.path, saved)
    ]


def find(opened: OpenBank) -> None:
    """Run all rules on a bank's files; it may take a while, and blocks no request."""
    with opened.shared.another(embeds=False) as bank:
        opened.findings = problems.all_findings(bank)
