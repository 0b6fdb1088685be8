"""Links of a note, ghosts, paths between notes, and related notes: `memory-bank links`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Annotated
from urllib.parse import quote

from memory_bank.bank import open_index
from memory_bank.bank.backlinks import GHOST, LinkShown, find_node
from memory_bank.bank.bank import Bank
from memory_bank.bank.open_index import NoteRow
from memory_bank.base import NamedTuple, lazy_pattern
from memory_bank.base.documents import Link
from memory_bank.base.operation import Param, operation
from memory_bank.base.rendering import count, quote_path
from memory_bank.base.screen import FOUND, NOTHING, Call, Piece, count_cells, print_list
from memory_bank.search.index import IndexView
from memory_bank.search.manifest import document_rows, link_rows
from memory_bank.search.manifest.link_rows import find_problems, read_links_of
from memory_bank.search.manifest.manifest import Manifest

if TYPE_CHECKING:
    import networkx as nx


class NoteLinks(NamedTuple):
    """The links of one note or ghost."""

    path: str
    outgoing: tuple[LinkShown, ...]
    incoming: tuple[LinkShown, ...]


@dataclass(frozen=True, slots=True)
class Ghost:
    """A link target that is not a note."""

    name: str
    count: int
    sources: tuple[str, ...]


class PathStep(NamedTuple):
    """One link of a path, from `source` to `target`; a path may follow it backwards."""

    source: str
    target: str
    type: str


class Related(NamedTuple):
    """A note near another one in the graph."""

    path: str
    score: float


def links_of(bank: Bank, name: str) -> NoteLinks:
    """Return the links from a note and to it; for `ghost:NAME`, those to the ghost.

    A name that no note but a ghost has means the ghost. Raises NoteNotFound.
    """
    node = find_node(bank, name)
    if node.startswith(GHOST):
        ghost = node.removeprefix(GHOST)
        rows = bank.read(lambda view: link_rows.find_to_ghost(view.manifest, ghost))
        return NoteLinks(node, (), tuple(map(LinkShown, rows)))

    def read(view: IndexView) -> tuple[Sequence[Link], Sequence[Link], Sequence[str]]:
        note = open_index.note_at(view.manifest, node)
        number = note.number if note else -1
        out = link_rows.read_outgoing(view.manifest, number)
        into = link_rows.read_incoming(view.manifest, number)
        return out, into, link_rows.find_problems(view.manifest, out)

    out, into, problems = bank.read(read)
    return NoteLinks(
        node,
        tuple(LinkShown(row, problem or None) for row, problem in zip(out, problems, strict=True)),
        tuple(map(LinkShown, into)),
    )


def ghosts(bank: Bank) -> tuple[Ghost, ...]:
    """Return the link targets that are not notes, the most linked first."""
    bank.catch_up()
    rows = bank.read(lambda view: link_rows.all_links(view.manifest))
    sources: dict[str, list[str]] = {}
    for row in rows:
        if row.dest is None and not row.ambiguous and row.ghost:
            sources.setdefault(row.ghost, []).append(row.source_key)
    all_ghosts = [Ghost(name, len(by), tuple(sorted(set(by)))) for name, by in sources.items()]
    return tuple(sorted(all_ghosts, key=lambda ghost: (-ghost.count, ghost.name)))


def path_between(bank: Bank, start: str, goal: str) -> tuple[PathStep, ...]:
    """Return the shortest path of links between two notes or ghosts; empty if there is none.

    Links are traversed in both directions; a step backwards keeps its source and target.
    """
    import networkx as nx  # start-up: few calls need the graph

    ends = find_node(bank, start), find_node(bank, goal)
    graph = bank.read(lambda view: read_graph(view.manifest))
    first, last = (find_in_graph(graph, node) for node in ends)
    try:
        # a view without directions has its neighbours in the order of a set
        nodes = nx.bidirectional_shortest_path(nx.Graph(graph.edges()), first, last)
    except (nx.NetworkXNoPath, nx.NodeNotFound):
        return ()
    steps = [(a, b) if graph.has_edge(a, b) else (b, a) for a, b in pairwise(nodes)]
    return tuple(PathStep(a, b, next(iter(graph[a][b]))[1]) for a, b in steps)


def related(bank: Bank, name: str, limit: int = 10) -> tuple[Related, ...]:
    """Return the notes and ghosts nearest to a note by links and shared neighbours.

    By the Adamic–Adar index (2003): a shared neighbour with few links counts more than a hub. A
    direct link adds 1.
    """
    import networkx as nx  # start-up: few calls need the graph

    node = find_node(bank, name)
    graph: nx.Graph[str] = nx.Graph(bank.read(lambda view: read_graph(view.manifest)))
    node = find_in_graph(graph, node)
    if node not in graph:
        return ()
    direct = set(graph[node])
    near = {neighbour for middle in direct for neighbour in graph[middle]} | direct
    pairs = [(node, neighbour) for neighbour in near if neighbour != node]
    scores = [
        Related(neighbour, score + (neighbour in direct))
        for _, neighbour, score in nx.adamic_adar_index(graph, pairs)
    ]
    best = sorted(scores, key=lambda row: (-row.score, row.path))[:limit]
    return tuple(row._replace(score=round(row.score, 4)) for row in best)


def count_problems(view: IndexView) -> Counter[str]:
    """Count ghosts, broken links and orphans of the whole bank."""
    rows = link_rows.all_links(view.manifest)
    linked = {row.dest for row in rows if row.dest not in {None, row.source}}
    linking = {row.source for row in rows if row.dest != row.source}
    notes = document_rows.list_numbers(view.manifest)
    return Counter(
        ghosts=len(
            {row.ghost for row in rows if row.dest is None and not row.ambiguous and row.ghost}
        ),
        broken_links=sum(1 for problem in link_rows.find_problems(view.manifest, rows) if problem),
        orphans=len(notes - linked - linking),
    )


LINK, EMBED, FILE_REF, TAG_EDGE = ("link", "embed", "file_ref", "tag")
"""Kinds of edges."""

_EDGE_KINDS = {"embed": EMBED, "image": EMBED, "reference": FILE_REF}
"""Kinds of edges by kinds of links; a plain link else."""


def read_graph(manifest: Manifest, notes: Iterable[NoteRow] = ()) -> nx.MultiDiGraph[str]:
    """Return the graph of notes and ghosts; the key of an edge is its kind and type.

    Notes have their path as name; the given ones come first, with their row as attribute `note`.
    Ghosts are named as they are first written, since letters' case makes no other one.
    """
    import networkx as nx  # start-up: few calls need the graph

    graph: nx.MultiDiGraph[str] = nx.MultiDiGraph()
    graph.add_nodes_from((note.path, {"note": note}) for note in notes)
    ghost_names: dict[str, str] = {}
    for source, target, ghost, kind, link_type in link_rows.list_edges(manifest):
        name = target or ghost_names.setdefault(ghost.casefold(), GHOST + ghost)
        graph.add_edge(source, name, key=(_EDGE_KINDS.get(kind, LINK), link_type))
    return graph


def find_in_graph(graph: nx.Graph[str], node: str) -> str:
    """Return a node as the graph names it, where a ghost is written in one way only."""
    if node in graph or not node.startswith(GHOST):
        return node
    return next((name for name in graph if name.casefold() == node.casefold()), node)


@operation(
    "links",
    why="""
    Lists the links from a note and to it, each with its type and the words around it. A link
    target that is not a note is a ghost: a source file, a person, a note to be written. NAME may
    be a ghost too: `links src/index.py` lists the notes that link to the file.

    --path finds the shortest path of links between two notes, --related the notes that share
    neighbours with this one.
    """,
    examples=(
        ("memory-bank links tantivy", "in both directions"),
        ("memory-bank links src/index.py", "what is known about a file"),
        ("memory-bank links --ghosts", "all link targets that are not notes"),
        ("memory-bank links tantivy --path bm25", "how two notes are connected"),
    ),
    group="Find",
)
def links(
    call: Call,
    *,
    name: Annotated[str | None, Param(argument=True, complete="notes")] = None,
    only_ghosts: Annotated[
        bool, Param("Only ghosts: of this note, or of the whole bank", flags="--ghosts")
    ] = False,
    goal: Annotated[
        str | None, Param("Path to a note", flags="--path", metavar="OTHER", complete="notes")
    ] = None,
    near: Annotated[bool, Param("Notes that share neighbours with it", flags="--related")] = False,
) -> int:
    """List links, ghosts, paths and related notes."""
    if sum((only_ghosts, goal is not None, near)) > 1:
        raise call.usage_error("choose one: --ghosts, --path, or --related")
    if name is None and not only_ghosts:
        raise call.usage_error("name a note, or give --ghosts")
    line, table = call.console.line, call.console.table
    with call.open() as bank:
        if name is None:
            targets = ghosts(bank)
            rows = [(to.name, str(to.count), _first_paths(to.sources)) for to in targets]
            heads = ("ghost", "links", "from")
            return print_list(call, "ghosts", targets, lambda: table(heads, rows), "no ghosts")
        if goal is not None:
            steps = path_between(bank, name, goal)
            nothing = f"no path of links connects {name} and {goal}"

            def show() -> None:
                for step in steps:
                    line(quote_path(step.source), "  ", (step.type, "tag"), f" → {step.target}")

            return print_list(call, "steps", steps, show, nothing)
        if near:
            related_notes = related(bank, name)
            scores = [(_target(call, row.path), f"{row.score:.2f}") for row in related_notes]
            titles = ("related", "score")
            nothing = f"no notes are related to {name}"
            return print_list(
                call, "related", related_notes, lambda: table(titles, scores), nothing
            )
        return _show_links(call, bank, name, ghosts=only_ghosts)


def _show_links(call: Call, bank: Bank, name: str, *, ghosts: bool) -> int:
    note_links = links_of(bank, name)
    into = () if ghosts else note_links.incoming
    out = [link for link in note_links.outgoing if not ghosts or link.target.startswith(GHOST)]
    if call.json:
        call.document({"path": note_links.path, "outgoing": out, "incoming": into})
        return FOUND if out or into else NOTHING
    for heading, links in (("from", out), ("to", into)):
        if links:
            call.console.line(
                (f"{count(len(links), 'link')} {heading} {quote_path(note_links.path)}", "bold")
            )
        for link in links:
            _show_link(call, link)
    if not out and not into:
        call.remark(f"{note_links.path} has no {'such ' if ghosts else ''}links")
    return FOUND if out or into else NOTHING


def _show_link(call: Call, link: LinkShown) -> None:
    console = call.console
    where = (call.place(link.source, link.row.line), "place")
    goal: tuple[Piece, ...] = ((link.row.type, "tag"), f" → {link.target}")
    width = sum(map(count_cells, ("  ", where[0], "  ", link.row.type, " → ", link.target)))
    if console.terminal and width > console.columns:
        console.line("  ", where)
        console.line("    ", *goal)
    else:
        console.line("  ", where, "  ", *goal)
    if link.problem:
        console.line("      ", (link.problem, "bad"))
    console.block(link.context, "      ", "dim")


def _target(call: Call, path: str) -> str:
    return path if path.startswith(GHOST) else call.place(path, 1)


def _first_paths(paths: Sequence[str]) -> str:
    """Return the first few paths, and the number of the others."""
    first, others = paths[:3], len(paths[3:])
    return ", ".join(first) + (f" and {others} more" if others else "")


_REFERENCE = "reference"

_MOST = 3
"""Links that are named; of others, how many."""

_SYMBOL = lazy_pattern(
    r"\w+\(\)|[^\W\d]\w*(?:(?:\.|::)[^\W\d]\w*)+(?<!\.md)|[a-z]+[A-Z]\w*|[^\W_]*_\w*"
)
"""Names that may be symbols of the code, which are not looked up."""


def describe_dead_links(bank: Bank, path: str, text: str) -> str:
    """Return on one line which links of a note's new text lead nowhere; empty if none does.

    A link leads nowhere if no note, file or person has its name, if its note lacks the heading or
    block, or if it may mean several notes.
    """
    if "[" not in text:
        return ""

    def read(view: IndexView) -> dict[str, int]:
        rows = [
            row
            for row in read_links_of(view.manifest, [path])
            if row.kind != _REFERENCE and (row.target in text or quote(row.target) in text)
        ]
        lines: dict[str, int] = {}
        for row, problem in zip(rows, find_problems(view.manifest, rows), strict=True):
            if reason := problem or _describe_ghost(bank, row):
                lines.setdefault(reason, row.line)
        return lines

    reasons = [f"line {line}: {reason}" for reason, line in bank.read(read).items()]
    more = f", and {len(reasons) - _MOST} more" if len(reasons) > _MOST else ""
    return "; ".join(reasons[:_MOST]) + more


def _describe_ghost(bank: Bank, row: Link) -> str:
    """Return a message if a link leads to no note, file or symbol; else an empty text."""
    if row.dest is not None or ":" in row.ghost or _SYMBOL.fullmatch(row.ghost):
        return ""
    files = row.files(bank.roots.place(row.source_key))
    if any(map(bank.layout.project_has, files)):
        return ""
    return f"{row.target!r} leads to no note or file"
