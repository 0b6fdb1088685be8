import math
from pathlib import Path

import httpx2
import pytest

from .conftest import LOOKS, WIDTHS, Blocking, Dashboard, Look, Serve


def drawn(page: Blocking) -> Blocking:
    """Wait until the picture is there."""
    page.wait_for_selector("#graph-message", state="hidden")
    return page


def place_of(page: Blocking, node: str) -> tuple[float, float]:
    """Return where a node of the picture is on the page."""
    found = page.evaluate(
        """(id) => {
          const { picture } = document.getElementById("graph-picture");
          const at = picture.sigma.framedGraphToViewport(picture.sigma.getNodeDisplayData(id));
          const box = picture.element.getBoundingClientRect();
          return [box.x + at.x, box.y + at.y];
        }""",
        node,
    )
    return found[0], found[1]


def test_the_data_are_nodes_edges_and_clusters(dashboard: httpx2.Client) -> None:
    found = dashboard.get("/graph/data", params={"note": "bm25"}).json()
    assert found["centre"] == "facts/bm25.md"
    assert set(found["nodes"][0]) == {
        *("id", "label", "kind", "type", "archived", "degree", "cluster")
    }
    assert found["edges"] == [[1, 0, "link", "bm25_ranking_comes_for_free"]]
    whole = dashboard.get("/graph/data", params={"whole": "1"}).json()
    assert {node["kind"] for node in whole["nodes"]} == {"note"}
    assert [one["name"] for one in whole["clusters"]]
    more = dashboard.get("/graph/data?whole=1&kind=file&kind=tag").json()
    assert {node["kind"] for node in more["nodes"]} == {"note", "file", "tag"}


def test_the_picture_is_drawn_in_each_width_and_theme(unchanged: Dashboard, look: Look) -> None:
    url = unchanged.url
    for width, theme in LOOKS:
        page = drawn(look(f"{url}/graph", width=width, theme=theme))
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        assert page.evaluate("document.getElementById('graph-picture').picture.graph.order") == 3
        assert page.locator("#graph-list a").count() == 3


_PLACES = """() => {
  const { graph, data } = document.getElementById("graph-picture").picture;
  return data.nodes.map((node) => [graph.getNodeAttribute(node.id, "x"), graph.getNodeAttribute(node.id, "y")]);
}"""


def test_linked_nodes_lie_nearer_and_at_each_visit_where_they_were(
    project: Path, serve: Serve, look: Look
) -> None:
    groups = range(4)
    for group in groups:
        for number in range(8):
            links = " ".join(f"[[n/{group}-{other}]]" for other in range(8))
            links += f" [[n/{(group + 1) % 4}-0]]" * (number == 0)
            note = project / f".memories/n/{group}-{number}.md"
            note.parent.mkdir(exist_ok=True)
            note.write_text(f"# Note {group} {number}\n\n{links}\n")
    url = f"{serve().url}/graph?whole=1&type="
    first, again = (drawn(look(url)).evaluate(_PLACES) for _ in range(2))
    assert first == again
    names = drawn(look(url)).evaluate(
        "document.getElementById('graph-picture').picture.data.nodes.map((node) => node.id)"
    )
    places = {name: place for name, place in zip(names, first, strict=True) if name[:2] == "n/"}
    assert len(set(map(tuple, places.values()))) == 32
    pairs = [(one, other) for one in places for other in places if one < other]

    def mean(near: bool) -> float:
        some = [pair for pair in pairs if (pair[0][:3] == pair[1][:3]) == near]
        return sum(math.dist(places[one], places[other]) for one, other in some) / len(some)

    assert mean(True) < 0.5 * mean(False)


def test_a_click_chooses_and_a_second_one_opens_the_note(unchanged: Dashboard, look: Look) -> None:
    page = drawn(look(f"{unchanged.url}/graph"))
    page.mouse.click(*place_of(page, "facts/bm25.md"))
    page.locator("#graph-node h2").get_by_text("BM25").wait_for()
    read = page.get_by_role("link", name="Read")
    assert read.get_attribute("href") == "/notes/facts/bm25"
    page.locator("#graph-node").get_by_role("link", name="Tantivy over Whoosh").click()
    page.locator("#graph-node h2").get_by_text("Tantivy").wait_for()
    assert page.url.endswith("/graph"), "a neighbour in the picture is chosen there"
    page.mouse.click(*place_of(page, "facts/bm25.md"))
    page.locator("#graph-node h2").get_by_text("BM25").wait_for()
    page.wait_for_timeout(500)
    page.mouse.click(*place_of(page, "facts/bm25.md"))
    page.wait_for_url("**/notes/facts/bm25")


def test_files_are_shown_on_request(unchanged: Dashboard, look: Look) -> None:
    page = drawn(look(f"{unchanged.url}/graph"))
    before = page.evaluate("document.getElementById('graph-picture').picture.graph.order")
    page.get_by_role("link", name="Show files").click()
    page.wait_for_url("**kind=file*")
    drawn(page)
    assert page.evaluate("document.getElementById('graph-picture').picture.graph.order") > before


@pytest.mark.parametrize("width", WIDTHS)
def test_names_in_a_dense_graph_cover_no_node(
    project: Path, serve: Serve, look: Look, width: int
) -> None:
    for number in range(40):
        links = " ".join(f"[[n{number * step % 40}]]" for step in (7, 11, 13)) + " [[n0]]"
        text = f"---\ntags: [{('observability', 'payments', 'prices')[number % 3]}]\n---\n"
        (project / f".memories/facts/n{number}.md").write_text(
            f"{text}# Note {number}\n\n{links}\n"
        )
    page = drawn(look(f"{serve().url}/graph", width=width))
    covered = page.evaluate(
        """() => {
        const picture = document.getElementById("graph-picture").picture;
        const covers = (a, b) =>
            a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
        const nodes = picture.obstacles();
        return picture.nameBoxes.filter((name) => nodes.some((node) => covers(name, node))).length;
        }"""
    )
    assert covered == 0


def test_no_label_covers_another(project: Path, serve: Serve, look: Look) -> None:
    for number in range(30):
        name = f"A quite long title of note {number}"
        (project / f".memories/facts/n{number}.md").write_text(f"# {name}\n\n[[facts/bm25]]\n")
    page = drawn(look(f"{serve().url}/graph?note=facts/bm25.md", width=390))
    boxes = page.evaluate("document.getElementById('graph-picture').picture.labels")
    assert len(boxes) > 2
    assert any(one.get("text", "").startswith("BM25") for one in boxes), "the note in the middle"
    for number, one in enumerate(boxes):
        for other in boxes[:number]:
            beside = one["left"] >= other["right"] or other["left"] >= one["right"]
            assert beside or one["top"] >= other["bottom"] or other["top"] >= one["bottom"]
    taken = page.evaluate("document.getElementById('graph-picture').picture.obstacles()")
    for one in (box for box in boxes if not box.get("text", "").startswith("BM25")):
        for other in taken if one.get("text") else ():
            beside = one["left"] >= other["right"] or other["left"] >= one["right"]
            assert beside or one["top"] >= other["bottom"] or other["top"] >= one["bottom"]


def test_the_field_completes_names(unchanged: Dashboard, look: Look) -> None:
    page = drawn(look(f"{unchanged.url}/graph"))
    page.locator("details > summary", has_text="as a list").click()
    page.get_by_label("Around").fill("bm2")
    page.wait_for_selector("#graph-names option", state="attached")
    page.get_by_label("Around").fill("facts/bm25.md")
    page.get_by_role("button", name="Show").click()
    page.wait_for_url("**/graph?note=facts%2Fbm25.md*")


def test_without_javascript_the_lists_remain(unchanged: Dashboard, look: Look) -> None:
    page = look(f"{unchanged.url}/graph", java_script_enabled=False)
    assert "needs JavaScript" in page.locator("#graph-message").inner_text()
    page.locator("details > summary", has_text="as a list").click()
    page.locator("#graph-list a", has_text="BM25").click()
    assert page.url.endswith("/graph?note=facts%2Fbm25.md")
    page.locator("details > summary", has_text="as a list").click()
    page.get_by_label("Around").fill("whoosh")
    page.get_by_role("button", name="Show", exact=True).click()
    assert page.locator("#graph-node h2").inner_text().strip() == "Whoosh as the keyword index"


def test_without_webgl_it_is_said_and_the_lists_work(unchanged: Dashboard, look: Look) -> None:
    page = look(f"{unchanged.url}/graph")
    page.add_init_script("HTMLCanvasElement.prototype.getContext = () => null")
    page.reload()
    page.locator("#graph-message", has_text="no WebGL").wait_for()
    page.locator("details > summary", has_text="as a list").click()
    page.locator("#graph-list a", has_text="BM25").click()
    page.locator("#graph-node h2", has_text="BM25").wait_for()
