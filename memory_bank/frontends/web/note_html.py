"""The Markdown of a note as HTML: raw HTML is text, links are resolved.

What stands in a note can't run, and can't load anything but pictures of the work tree: markdown-it
escapes all text, tags are shown as they are written, and only some schemes are links.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, MutableMapping, Sequence
from functools import cache
from typing import Any, Final
from urllib.parse import quote, unquote

from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.rules_block import StateBlock
from markdown_it.rules_core import StateCore
from markdown_it.rules_inline import StateInline
from markdown_it.token import Token
from markdown_it.utils import OptionsDict
from markupsafe import Markup, escape

from memory_bank.base import NamedTuple, lazy_pattern
from memory_bank.base.rendering import has_same_words, make_visible
from memory_bank.frontends.web.templating import quote_path, url_of
from memory_bank.memory.note_view import LinkedPlace, LinkTargets
from memory_bank.notes.okf import StatedSource

_SCHEMES = frozenset({"http", "https", "mailto"})

_SCHEME = lazy_pattern(r"\s*([a-zA-Z][a-zA-Z0-9+.-]*):")

_LINE = lazy_pattern(r"L[1-9]\d*")

_NOT_IN_SLUG = lazy_pattern(r"[^\w\- ]")

_NOTE: Final = "note"

_GHOST: Final = "ghost"

_SIGN = Markup('<span class="hidden-text"> ({})</span></a>')

_NOTHING = "there is no note or file of this name"


def heading_anchor(heading: str) -> str:
    """Return the anchor of a heading, as code hosts make it."""
    return _NOT_IN_SLUG.sub("", heading.strip().lower()).replace(" ", "-")


def note_address(goal: LinkedPlace) -> str:
    """Return the address of a note or file, else of the list of notes that name the goal."""
    if goal.file:
        line = _LINE.match(goal.heading)
        return f"/code/{quote_path(goal.file)}" + (f"#{line[0]}" if line else "")
    if goal.kind != _NOTE:
        return f"/notes?cites={quote(goal.name.encode('utf-8', 'surrogateescape'), safe='')}"
    path = url_of(goal.name)
    inside = f"^{goal.block}" if goal.block else heading_anchor(goal.heading.rpartition("#")[2])
    return f"/notes/{quote_path(path)}" + (f"#{quote(inside)}" if inside else "")


def is_allowed(url: str) -> bool:
    """Return whether a link may lead to an address: one of few schemes, or a relative one."""
    if url.lstrip().startswith(("//", "/\\", "\\")):
        return False
    match = _SCHEME.match(url)
    return match is None or match[1].lower() in _SCHEMES


def parse_wikilink(inside: str, goals: LinkTargets, *, embedded: bool = False) -> Markup:
    """Return the link `[[inside]]`, or the picture that `![[inside]]` embeds."""
    goal, words = goals.wiki(inside)
    if goal and goal.picture and embedded:
        width = words if words.isdecimal() and len(words) < _LONGEST_WIDTH else ""
        return _show_picture(goal.picture, "" if width else words, width)
    if goal is None:
        return Markup('<span class="soft">[[{}]]</span>').format(inside)
    if goal.title and "|" not in inside and not goal.heading:
        words = goal.title
    after = Markup("</a>")
    if goal.kind == _GHOST:
        why = goal.problem or _NOTHING
        after = _SIGN.format(why)
    elif goal.problem:
        after = Markup('</a> <span class="soft small">({})</span>').format(goal.problem)
    return _open_goal(goal) + Markup("{}").format(words) + after


def open_link(href: str, goals: LinkTargets) -> Markup:
    """Return the start of the link to an address that is allowed."""
    if _SCHEME.match(href):
        return Markup('<a class="external" href="{}" rel="noreferrer noopener">').format(href)
    path, _, fragment = href.partition("#")
    goal = goals.markdown(unquote(path), unquote(fragment))
    if goal is None:
        return Markup('<a href="#{}">').format(quote(heading_anchor(unquote(fragment))))
    return _open_goal(goal)


def source_link(source: StatedSource, goals: LinkTargets) -> Markup:
    """Return the name of a source, as a link if it has an address or a place."""
    if _SCHEME.match(source.resource) and is_allowed(source.resource):
        return open_link(source.resource, goals) + Markup("{}</a>").format(source.name)
    goal = goals.reference(source.resource)
    return _open_goal(goal) + Markup("{}</a>").format(source.name) if goal else escape(source.name)


def _open_goal(goal: LinkedPlace) -> Markup:
    kinds = {_NOTE: "inside", _GHOST: _GHOST}
    if goal.kind == _NOTE:
        title = goal.problem or goal.name
    elif goal.kind == _GHOST:
        title = goal.problem or f"{goal.name}: {_NOTHING}"
    else:
        title = goal.name if goal.kind == "name" else f"{goal.kind} {goal.name}"
    kind = kinds.get(goal.kind, "cited")
    return Markup('<a class="{}" href="{}" title="{}">').format(kind, note_address(goal), title)


_LONGEST = 300_000
"""Characters of a text that is rendered; of a longer one, only its source is shown."""

_MOST_MARKS = 10_000
"""Marks of inline Markdown in a text; with more, markdown-it needs quadratic time."""

_MOST_IN_PARAGRAPH = 500
"""Characters that may start a link, code or stress: the parser's time grows with their square."""

_MARKS = "[`<*_"

_NESTING = 100
"""Depth at which markdown-it stops."""

_WIKILINK = lazy_pattern(r"!?\[\[([^\[\]\n]+)\]\]")

_BLOCK_ID = lazy_pattern(r"(?:^|(?<=\s))\^([\w-]+)[ \t]*\Z")

_TASK = lazy_pattern(r"\[([ xX])\](?=\s)")

_RELATION = lazy_pattern(r"([A-Za-z][\w-]*):: *")
"""The start of `extends:: [[note]]`."""

_FOOTNOTE = lazy_pattern(r"\[\^([^\]\s]{1,200})\](?!:)")

_DEFINITION = lazy_pattern(r"\[\^([^\]\s]{1,200})\]:[ \t]*")

_NEWLINE = lazy_pattern(r"\r\n?")

Env = MutableMapping[str, Any]


class Rendered(NamedTuple):
    """A note's text as HTML."""

    html: Markup
    headings: tuple[tuple[int, str, str], ...]
    """Level, text and anchor of each heading."""
    too_long: bool = False


def render(
    text: str, goals: LinkTargets, *, title: str = "", sources: Sequence[StatedSource] = ()
) -> Rendered:
    """Return a Markdown text as HTML, whose footnotes lead to the sources of their names.

    A first heading that says `title` is left out, since the page has it. So is the text of a note
    of one sentence, unless it has links or other marks.
    """
    source = make_visible(_NEWLINE.sub("\n", text))
    marks = _count_marks(source)
    if len(source) > _LONGEST or marks > _MOST_MARKS:
        return Rendered(Markup('<pre tabindex="0">{}</pre>').format(source), (), too_long=True)
    numbered = enumerate((source for source in sources if not source.is_subject), 1)
    sources_by_id = {source.id: (number, source) for number, source in numbered if source.id}
    env: dict[str, Any] = {"goals": goals, "sources": sources_by_id}
    parser = _make_parser()
    tokens = parser.parse(source, env)
    shown_tokens = _drop_title(tokens, title)
    headings = _anchor_headings(shown_tokens)
    html = Markup(parser.renderer.render(shown_tokens, parser.options, env))  # noqa: S704  (it is escaped)
    return Rendered(html, headings)


@cache
def _make_parser() -> MarkdownIt:
    markdown = MarkdownIt("commonmark", {"html": False, "maxNesting": _NESTING})
    markdown.enable(["table", "strikethrough"])
    markdown.validateLink = is_allowed  # type: ignore[method-assign]
    markdown.inline.ruler.before("link", "wikilink", _read_wikilink)
    markdown.inline.ruler.before("link", "footnote", _read_footnote)
    markdown.block.ruler.before("reference", "definition", _read_definition, {"alt": ["paragraph"]})
    markdown.core.ruler.before("inline", "limit", _limit_marks)
    markdown.core.ruler.push("note", _adjust_texts)
    for name, rule in _RULES.items():
        markdown.add_render_rule(name, _adapt_rule(rule))
    markdown.parse("warm")  # the ruler sorts its rules at the first parse, without a lock
    return markdown


def _read_wikilink(state: StateInline, silent: bool) -> bool:  # noqa: FBT001  (as markdown-it calls it)
    match = _WIKILINK.match(state.src, state.pos)
    if match is None or match.end() > state.posMax:
        return False
    if not silent:
        token = state.push("wikilink", "", 0)
        token.content = match[1]
        token.meta["embedded"] = match[0].startswith("!")
    state.pos = match.end()
    return True


def _read_footnote(state: StateInline, silent: bool) -> bool:  # noqa: FBT001  (as markdown-it calls it)
    """Read `[^id]`, if a source or a definition has that id."""
    match = _FOOTNOTE.match(state.src, state.pos)
    is_defined = match and (
        match[1] in state.env["sources"] or match[1] in state.env.get("notes", ())
    )
    if match is None or not is_defined or match.end() > state.posMax:
        return False
    if not silent:
        state.push("footnote", "", 0).content = match[1]
    state.pos = match.end()
    return True


def _read_definition(state: StateBlock, start: int, _: int, silent: bool) -> bool:  # noqa: FBT001
    """Read the line `[^id]: text`; that of a source is left out, since the list has it."""
    line = state.src[state.bMarks[start] + state.tShift[start] : state.eMarks[start]]
    match = None if state.is_code_block(start) else _DEFINITION.match(line)
    if match is None or silent:
        return match is not None
    state.env.setdefault("notes", set()).add(match[1])
    if match[1] not in state.env["sources"]:
        state.push("definition_open", "", 1).content = match[1]
        inline = state.push("inline", "", 0)
        inline.content, inline.map, inline.children = line[match.end() :], [start, start + 1], []
        state.push("definition_close", "", -1)
    state.line = start + 1
    return True


def _link_footnote(token: Token, env: Env) -> Markup:
    number, source = env["sources"].get(token.content, (token.content, None))
    link = Markup('<sup><a href="#{}-{}"{}>{}</a></sup>')
    if source is None:
        return link.format("note", token.content, "", number)
    title = Markup(' title="{0}" aria-label="Source: {0}"').format(source.name)
    return link.format("source", number, title, number)


def _count_marks(text: str) -> int:
    """Count the marks of a text, but those of wikilinks, which are read at once."""
    return sum(map(text.count, _MARKS)) - 2 * len(_WIKILINK.findall(text))


def _limit_marks(state: StateCore) -> None:
    """Let paragraphs with very many marks be text."""
    for token in state.tokens:
        if token.type == "inline" and _count_marks(token.content) > _MOST_IN_PARAGRAPH:
            token.type = "text"


def _adjust_texts(state: StateCore) -> None:
    """Make tokens of tasks, relations and block ids in texts."""
    for number, token in enumerate(state.tokens):
        if token.type != "inline" or not token.children:
            continue
        first, last = token.children[0], token.children[-1]
        is_item = number > 1 and state.tokens[number - 2].type == "list_item_open"
        if is_item and first.type == "text" and (match := _TASK.match(first.content)):
            first.content = first.content[match.end() :]
            token.children.insert(0, Token("task", "", 0, meta={"done": match[1] != " "}))
            state.tokens[number - 2].attrJoin("class", "task")
        if first.type == "text" and (match := _RELATION.match(first.content)):
            first.content = first.content[match.end() :]
            token.children.insert(0, Token("relation", "", 0, content=match[1]))
        if last.type == "text" and (match := _BLOCK_ID.search(last.content)):
            last.content = last.content[: match.start()]
            token.children.append(Token("block_id", "", 0, content=match[1]))


_PARAGRAPH = 3
"""Tokens of a paragraph: its start, its text and its end."""


def _drop_title(tokens: list[Token], title: str) -> list[Token]:
    """Return the tokens without a first heading that is the title."""
    has_heading = len(tokens) > 1 and tokens[0].type == "heading_open" and tokens[0].tag == "h1"
    is_title = (
        has_heading and title and _plain_words(tokens[1]).casefold() == title.strip().casefold()
    )
    tokens = tokens[3:] if is_title else tokens
    if len(tokens) == _PARAGRAPH and tokens[0].type == "paragraph_open":
        is_plain = all(child.type == "text" for child in tokens[1].children or ())
        if is_plain and has_same_words(title, _plain_words(tokens[1])):
            return []
    return tokens


def _anchor_headings(tokens: Sequence[Token]) -> tuple[tuple[int, str, str], ...]:
    """Give each heading its anchor, and its level below the page's title; return these."""
    headings: list[tuple[int, str, str]] = []
    used: dict[str, int] = {}
    last = 1
    for number, token in enumerate(tokens):
        if token.type != "heading_open":
            continue
        text = _plain_words(tokens[number + 1])
        anchor = heading_anchor(text)
        times = used[anchor] = used.get(anchor, -1) + 1
        anchor = f"{anchor}-{times}" if times else anchor
        last = level = max(2, min(int(token.tag[1]), last + 1))
        token.tag = f"h{level}"
        token.attrSet("id", anchor)
        close = tokens[number + 2]
        close.tag, close.meta = token.tag, {"anchor": anchor}
        headings.append((level, text, anchor))
    return tuple(headings)


def _plain_words(inline: Token) -> str:
    """Return the words of an inline text."""
    if inline.type == "text":
        return inline.content.strip()
    words = []
    for token in inline.children or ():
        if token.type == "wikilink":
            words.append(token.content.rpartition("|")[2])
        else:
            words.append(" " if token.type in {"softbreak", "hardbreak"} else token.content)
    return "".join(words).strip()


def _close_heading(token: Token, _: Env) -> Markup:
    link = Markup(' <a class="anchor" href="#{}" aria-label="Link to this section">#</a></{}>\n')
    return link.format(quote(token.meta["anchor"]), token.tag)


_LONGEST_WIDTH = 5
"""Characters that are too many for a picture's width."""


def _show_picture(path: str, words: str, width: str = "") -> Markup:
    markup = Markup('<img src="/pictures/{}" alt="{}" loading="lazy"{}>')
    return markup.format(
        quote_path(path), words, Markup(' width="{}"').format(width) if width else ""
    )


def _show_image(token: Token, env: Env) -> Markup:
    """Show a picture of the work tree, and any other as a link, since it must not be loaded."""
    address = str(token.attrGet("src") or "")
    words = _plain_words(token) or address
    path, _, fragment = address.partition("#")
    goal = None if _SCHEME.match(address) else env["goals"].markdown(unquote(path), fragment)
    if goal and goal.picture:
        return _show_picture(goal.picture, _plain_words(token))
    return open_link(address, env["goals"]) + Markup("picture: {}</a>").format(words)


def _show_task(token: Token, _: Env) -> Markup:
    sign, words = ("☑", "done:") if token.meta["done"] else ("☐", "to do:")
    markup = Markup('<span aria-hidden="true">{}</span><span class="hidden-text">{}</span>')
    return markup.format(sign, words)


def _show_relation(token: Token, _: Env) -> Markup:
    words = token.content.replace("_", " ")
    return Markup('<em class="typed">{}</em> ').format(words[:1].upper() + words[1:])


_TABLE = Markup('<div class="scroll" role="region" aria-label="Table" tabindex="0"><table>\n')

_CODE = Markup('<pre tabindex="0"><code>{}</code></pre>\n')
"""A block that scrolls can be reached with the keyboard."""

_BLOCK = Markup('<span class="soft small" id="^{0}">^{0}</span>')

_RULES: Mapping[str, Callable[[Token, Env], Markup]] = {
    "text": lambda token, _: escape(token.content),
    "code_inline": lambda token, _: Markup("<code>{}</code>").format(token.content),
    "heading_close": _close_heading,
    "link_open": lambda token, env: open_link(str(token.attrGet("href") or ""), env["goals"]),
    "wikilink": lambda token, env: parse_wikilink(
        token.content, env["goals"], embedded=token.meta["embedded"]
    ),
    "image": _show_image,
    "footnote": _link_footnote,
    "definition_open": lambda token, _: Markup('<p class="small" id="note-{0}">{0}: ').format(
        token.content
    ),
    "definition_close": lambda _, __: Markup("</p>\n"),
    "task": _show_task,
    "relation": _show_relation,
    "block_id": lambda token, _: _BLOCK.format(token.content),
    "code_block": lambda token, _: _CODE.format(token.content),
    "fence": lambda token, _: _CODE.format(token.content),
    "table_open": lambda _, __: _TABLE,
    "table_close": lambda _, __: Markup("</table></div>\n"),
}


def _adapt_rule(make: Callable[[Token, Env], Markup]) -> Callable[..., str]:
    """Return a rule as markdown-it calls it."""

    def rule(
        _self: RendererHTML, tokens: Sequence[Token], at: int, _options: OptionsDict, env: Env
    ) -> str:
        return str(make(tokens[at], env))

    return rule
