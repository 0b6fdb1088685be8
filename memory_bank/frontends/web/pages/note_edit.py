"""Write and change notes: text, status, and what is made of a session."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any
from urllib.parse import quote

from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.routing import Route

from memory_bank.bank.bank import Bank
from memory_bank.base.errors import (
    BadInput,
    Conflict,
    MemoryBankError,
    NoteNotFound,
    UnreadableNote,
)
from memory_bank.base.rendering import make_visible
from memory_bank.frontends.hints import PAGE_HINTS
from memory_bank.frontends.lsp import completion
from memory_bank.frontends.lsp.open_texts import Texts
from memory_bank.frontends.web.app import http_status
from memory_bank.frontends.web.note_fields import (
    NoteFields,
    read_fields,
    rewrite_fields,
    split_items,
)
from memory_bank.frontends.web.note_graph import whole_graph
from memory_bank.frontends.web.site import Site
from memory_bank.frontends.web.templating import url_of
from memory_bank.memory import change, confirm, create, edit, note_view, show
from memory_bank.memory.records import WrittenNote
from memory_bank.memory.remember import CREATED, remember
from memory_bank.memory.retrieval import ask_hits
from memory_bank.notes.names import WORD
from memory_bank.notes.note_change import claim_spans
from memory_bank.notes.schema import KNOWN_TYPES

TITLE = "Edit"

PLACE = None

PATH = "/notes"

NEW = "/new"

_MOST_WORDS = 60
"""Words of a text for which notes are searched while somebody writes."""

_MOST_KNOWN = 5
"""Notes on the same subject that the editor lists."""

_MOST_TARGETS = 20

_SNIPPET = 110
"""Characters of a snippet of each."""

_START = 2000
"""Characters of a note for which others are searched."""

_TITLE = 300
"""Characters of a title in a page's address."""


_Done = tuple[str, str | None]
"""The path of a note that was written, and a warning."""


def routes(site: Site) -> Sequence[Route]:
    """Return the route of the notes that are close to another."""

    async def known(request: Request) -> Response:
        query_params = request.query_params
        notes = await site.ask(_find_similar_to, query_params.get("note", ""))
        values = {"known": notes[:3], "texts": False, "nothing": "Nothing else is."}
        return await site.page(request, "known.html", values)

    return [Route(f"{NEW}/known", known)]


def write_routes(site: Site) -> Sequence[Route]:
    """Return the routes of the form of a new note, of a note's form, and of its buttons."""
    buttons = [
        Route(f"{PATH}/{{name:path}}/{word}", _make_handler(site, action, word), methods=["POST"])
        for word, action in _ACTIONS.items()
    ]
    return [*_list_new_routes(site), *_list_edit_routes(site), *buttons]


def _list_new_routes(site: Site) -> list[Route]:
    async def new(request: Request) -> Response:
        query_params = request.query_params
        fields = NoteFields(
            title=query_params.get("title", "")[:_TITLE], type=query_params.get("type", "")
        )
        return await _show_new_page(site, request, fields)

    async def known(request: Request) -> Response:
        fields = NoteFields.from_form(request.state.form)
        text = f"{fields.title} {fields.text}"
        nothing = "Nothing close to it is known." if text.strip() else "Write first."
        notes = await site.ask(_find_similar, text, request.query_params.get("besides", ""))
        values = {"known": notes, "texts": True, "nothing": nothing}
        return await site.page(request, "known.html", values)

    async def add(request: Request) -> Response:
        fields = NoteFields.from_form(request.state.form)
        if request.state.form.get("look"):
            notes = await site.ask(_find_similar, f"{fields.title} {fields.text}", "")
            more = {"known": notes, "texts": True, "nothing": "Nothing close to it is known."}
            return await _show_new_page(site, request, fields, more)
        try:
            remembered = await site.ask(_remember_fields, fields)
        except MemoryBankError as error:
            form_values = {
                "problem": site.hide(error.message),
                "hint": site.hide(error.hint_in(PAGE_HINTS)),
            }
            return await _show_new_page(site, request, fields, form_values, http_status(error))
        word = "created" if remembered.action == CREATED else "known"
        return await _lead_to_note(site, request, (remembered.path, remembered.warning), word)

    async def targets(request: Request) -> Response:
        query_params = request.query_params
        return JSONResponse(
            await site.ask(_list_targets, query_params.get("q", ""), query_params.get("note", ""))
        )

    return [
        Route(NEW, new),
        Route(NEW, add, methods=["POST"]),
        Route(f"{NEW}/targets", targets),
        Route(f"{NEW}/known", known, methods=["POST"]),
    ]


def _list_edit_routes(site: Site) -> list[Route]:
    async def form(request: Request) -> Response:
        name = request.path_params["name"]
        try:
            values = await site.ask(_edit_values, name, source="source" in request.query_params)
        except NoteNotFound:
            # a note may have the name "edit"
            note = await site.ask(note_view.find_exactly, f"{name}/edit")
            if note is None:
                raise
            return RedirectResponse(f"{PATH}/{quote(url_of(note))}", 303)
        return await site.page(request, "note_edit.html", values, title=TITLE)

    async def save(request: Request) -> Response:
        name, submitted = request.path_params["name"], request.state.form
        try:
            answer = await site.ask(_save_form, name, submitted)
            return await _lead_to_note(
                site, request, answer, "created" if submitted.get("create") else "saved"
            )
        except MemoryBankError as error:
            values = await _fill_refused_form(site, name, submitted, error)
            status = http_status(error)
            return await site.page(request, "note_edit.html", values, title=TITLE, status=status)

    return [
        Route(f"{PATH}/{{name:path}}/edit", form),
        Route(f"{PATH}/{{name:path}}/edit", save, methods=["POST"]),
    ]


def _list_targets(bank: Bank, typed: str, path: str) -> list[dict[str, str]]:
    """Return what may follow two opening brackets: notes, files and, behind `file#`, symbols."""
    text = f"[[{typed}"
    choices, _ = completion.list_choices(Texts(bank), path, text, len(text))
    return [
        {
            "label": make_visible(choice.label),
            "detail": make_visible(choice.detail),
            "kind": choice.kind,
            "text": choice.text,
        }
        for choice in choices[:_MOST_TARGETS]
    ]


def _find_similar(bank: Bank, text: str, besides: str) -> list[dict[str, str]]:
    """Return the notes that probably say what a text is about, without counting an access."""
    words = " ".join(WORD.findall(text)[:_MOST_WORDS])
    if not words:
        return []
    hits = ask_hits.ask_hits(bank, None, words, _MOST_KNOWN + 1, ("notes",))
    return [
        {
            "path": hit.path,
            "title": "".join(piece.text for piece in hit.title),
            "text": _shorten_snippet("".join(piece.text for piece in hit.snippet)),
        }
        for hit in hits.hits
        if hit.path != besides and hit.origin is None
    ][:_MOST_KNOWN]


def _shorten_snippet(text: str) -> str:
    """Return the start of a snippet, up to the end of a word."""
    if len(text) <= _SNIPPET:
        return text
    return text[:_SNIPPET].rpartition(" ")[0].rstrip(" \u2026") + " \u2026"


def _find_similar_to(bank: Bank, name: str) -> list[dict[str, str]]:
    """Return the notes that are close to a note and not linked with it; raise NoteNotFound."""
    note = bank.store.read(bank.find(name))
    graph = whole_graph(bank)
    linked = graph.neighbours(note.path) if note.path in graph.nodes else set()
    notes = _find_similar(bank, f"{note.title} {note.body_text[:_START]}", note.path)
    return [note for note in notes if note["path"] not in linked]


def _remember_fields(bank: Bank, fields: NoteFields) -> WrittenNote:
    if not fields.title and not fields.text.strip():
        raise BadInput("there is neither a title nor a text", "say it in one sentence")
    return remember(
        bank,
        fields.content,
        type=fields.type,
        tags=split_items(fields.tags),
        file_refs=split_items(fields.files),
    )


async def _show_new_page(
    site: Site,
    request: Request,
    fields: NoteFields,
    more: dict[str, Any] | None = None,
    status: int = 200,
) -> Response:
    values = _fill_form("", "", "") | fields._asdict() | {"new": True, **(more or {})}
    return await site.page(request, "note_edit.html", values, title="New note", status=status)


def _make_handler(
    site: Site, action: Callable[[Bank, str, dict[str, str]], _Done], word: str
) -> Callable[[Request], Any]:
    """Return the function that answers a button of the page of a note."""

    async def press_button(request: Request) -> Response:
        answer = await site.ask(action, request.path_params["name"], request.state.form)
        return await _lead_to_note(site, request, answer, word)

    return press_button


async def _lead_to_note(site: Site, request: Request, done: _Done, word: str) -> Response:
    """Lead to the note; a warning is shown first."""
    path, warning = done
    if not warning:
        return RedirectResponse(f"{PATH}/{quote(url_of(path))}?done={word}", 303)
    values = {"warning": warning, "url": url_of(path)}
    return await site.page(request, "note_done.html", values, title="Done, with a warning")


def _edit_values(bank: Bank, name: str, *, source: bool = False) -> dict[str, Any]:
    note = edit.show_to_edit(bank, name)
    fields = None if source else read_fields(note.content)
    if fields is None:
        return _fill_form(note.path, note.content, note.etag) | {"source": True}
    return _fill_form(note.path, "", note.etag) | fields._asdict()


def _fill_form(path: str, text: str, etag: str) -> dict[str, Any]:
    return {
        **NoteFields(text=text.replace("\r\n", "\n").replace("\r", "\n"))._asdict(),
        "path": path,
        "url": url_of(path),
        "etag": etag,
        "problem": "",
        "hint": "",
        "conflict": None,
        "gone": False,
        "new": False,
        "source": False,
        "types": KNOWN_TYPES[:-1],
        "words": claim_spans,
    }


def _save_form(bank: Bank, name: str, form: dict[str, str]) -> _Done:
    """Write what a form says: the whole text of the file, or the fields of a note."""
    fields = NoteFields.from_form(form)
    if form.get("create"):
        text, tags = fields.text if form.get("source") else fields.content, split_items(fields.tags)
        create.create(bank, name, text, tags=tags, type=fields.type)
        return name, None
    note = change.rewrite(bank, name, _read_text(bank, name, form), if_match=_read_etag(form))
    return note.path, note.warning


def _read_text(bank: Bank, name: str, form: dict[str, str]) -> str:
    """Return the text of the file that a form would make of a note."""
    fields = NoteFields.from_form(form)
    if form.get("source") or "title" not in form:
        return fields.text
    return rewrite_fields(show.show(bank, change.check_writable(bank, name)).content, fields)


async def _fill_refused_form(
    site: Site, name: str, form: dict[str, str], error: MemoryBankError
) -> dict[str, Any]:
    """Return the values of a form with the text that was sent, and why it was not saved."""
    values = _fill_form(name, "", form.get("etag", "")) | NoteFields.from_form(form)._asdict()
    values["source"] = bool(form.get("source")) or "title" not in form
    values |= {"problem": site.hide(error.message), "hint": site.hide(error.hint_in(PAGE_HINTS))}
    if isinstance(error, NoteNotFound):
        return values | {"gone": True}
    if not isinstance(error, Conflict):
        return values
    try:
        text = await site.ask(_read_text, name, form)
        note, difference = await site.ask(change.compare_text, name, text)
    except (NoteNotFound, BadInput, UnreadableNote):
        return values
    return values | {"conflict": note, "difference": difference, "etag": note.etag}


def _read_etag(form: dict[str, str]) -> str:
    """Return the etag in a form, or one that no note has if the form lacks it."""
    return form.get("etag") or "none"


def _set_status(bank: Bank, name: str, form: dict[str, str], *, status: str) -> _Done:
    note = change.set_status(bank, name, status, if_match=_read_etag(form))
    return note.path, note.warning


def _confirm_note(bank: Bank, name: str, form: dict[str, str]) -> _Done:
    (note,) = confirm.confirm(bank, [name], if_match=_read_etag(form)).notes
    return note.path, note.warning


def _promote_observation(bank: Bank, name: str, form: dict[str, str]) -> _Done:
    del name  # an observation has its own
    return confirm.promote(bank, form.get("observation", "")).path, None


_ACTIONS: dict[str, Callable[[Bank, str, dict[str, str]], _Done]] = {
    "archive": partial(_set_status, status="archived"),
    "restore": partial(_set_status, status="active"),
    "confirm": _confirm_note,
    "promote": _promote_observation,
}
