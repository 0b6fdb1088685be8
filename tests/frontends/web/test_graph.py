from __future__ import annotations

import json
import re
from pathlib import Path

import httpx2

from .conftest import LOOKS, Blocking, Dashboard, Look, Serve
from .payloads import FORBIDDEN, PAYLOADS
from .test_style import contrast

STYLE = Path(__file__).parents[3] / "memory_bank/frontends/web/static"
SURFACE = ("#ffffff", "#1c2027")


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


def focused(page: Blocking) -> str:
    found: str = page.evaluate("document.activeElement.textContent.trim()")
    return found


def test_the_neighbourhood_is_there_as_lists_with_links(dashboard: httpx2.Client) -> None:
    text = dashboard.get("/graph").text
    assert "Tantivy over Whoosh" in text
    assert "We chose Tantivy because" in text
    assert 'href="/notes/decisions/tantivy"' in text
    assert 'href="/graph?note=decisions%2Fwhoosh.md"' in text
    assert re.search(r"linked from here:\s*supersedes", text)
    other = dashboard.get("/graph", params={"note": "decisions/whoosh"}).text
    assert re.search(r"links here:\s*supersedes", other)


def test_the_data_are_nodes_edges_and_clusters(dashboard: httpx2.Client) -> None:
    found = dashboard.get("/graph/data", params={"note": "bm25"}).json()
    assert found["centre"] == "facts/bm25.md"
    assert set(found["nodes"][0]) == {
        *("id", "label", "kind", "type", "archived", "degree", "cluster", "x", "y")
    }
    assert found["edges"] == [[1, 0, "link", "bm25_ranking_comes_for_free"]]
    whole = dashboard.get("/graph/data", params={"whole": "1"}).json()
    assert {node["kind"] for node in whole["nodes"]} == {"note", "file", "tag"}
    assert [one["name"] for one in whole["clusters"]]
    notes = dashboard.get("/graph/data", params={"whole": "1", "kind": "note"}).json()
    assert {node["kind"] for node in notes["nodes"]} == {"note"}


def test_names_are_completed_and_wrong_ones_refused(dashboard: httpx2.Client) -> None:
    found = dashboard.get("/graph/names", params={"q": "tant"}).json()
    assert found == [{"id": "decisions/tantivy.md", "label": "Tantivy over Whoosh", "kind": "note"}]
    unknown = dashboard.get("/graph", params={"note": "bm26"})
    assert unknown.status_code == 404
    assert "did you mean facts/bm25" in unknown.text
    for query in ("depth=3", "depth=x", "kind=b"):
        assert dashboard.get(f"/graph?{query}").status_code == 400, query
    assert dashboard.get("/graph/node?id=nothing").status_code == 404


def test_an_empty_bank_says_what_will_be_here(serve: Serve, tmp_path: Path) -> None:
    (tmp_path / "empty/.memories").mkdir(parents=True)
    with serve(cwd=tmp_path / "empty").client() as client:
        assert "There are no notes yet" in client.get("/graph").text
        assert client.get("/graph/data").json()["nodes"] == []


def test_the_picture_is_drawn_in_each_width_and_theme(unchanged: Dashboard, look: Look) -> None:
    url = unchanged.url
    for width, theme in LOOKS:
        page = drawn(look(f"{url}/graph", width=width, theme=theme))
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        assert page.evaluate("document.getElementById('graph-picture').picture.graph.order") == 6
        assert page.locator("#graph-list a").count() == 6


def test_a_click_chooses_and_a_double_click_walks(unchanged: Dashboard, look: Look) -> None:
    page = drawn(look(f"{unchanged.url}/graph"))
    page.mouse.click(*place_of(page, "facts/bm25.md"))
    heading = page.locator("#graph-node h2")
    heading.get_by_text("BM25").wait_for()
    assert (
        page.get_by_role("link", name="Read the note").get_attribute("href") == "/notes/facts/bm25"
    )
    page.mouse.dblclick(*place_of(page, "decisions/whoosh.md"))
    page.wait_for_url("**/graph?note=decisions%2Fwhoosh.md")
    drawn(page)
    assert page.locator("#graph-note").input_value() == "decisions/whoosh.md"
    page.go_back()
    page.locator("#graph-list a", has_text="BM25").wait_for()
    assert page.locator("#graph-note").input_value() == "decisions/tantivy.md"


def test_the_keyboard_goes_through_the_list_chooses_and_walks(
    unchanged: Dashboard, look: Look
) -> None:
    page = drawn(look(f"{unchanged.url}/graph"))
    first = page.locator("#graph-list a").first
    first.focus()
    assert focused(page) == "Tantivy over Whoosh"
    page.keyboard.press("End")
    page.keyboard.press("ArrowUp")
    page.keyboard.press("Home")
    page.keyboard.press("ArrowDown")
    chosen = focused(page)
    assert chosen != "Tantivy over Whoosh"
    page.keyboard.press(" ")
    page.locator("#graph-node h2", has_text=chosen).wait_for()
    assert page.evaluate("document.getElementById('graph-picture').picture.chosen")
    page.keyboard.press("Enter")
    page.wait_for_url("**/graph?note=*")
    drawn(page)
    assert focused(page) == chosen


def test_the_whole_graph_is_searched_and_filtered(unchanged: Dashboard, look: Look) -> None:
    page = drawn(look(f"{unchanged.url}/graph?note=bm25"))
    assert page.locator("#graph-list a").count() == 2
    page.get_by_role("button", name="Show the whole graph").click()
    page.wait_for_url("**whole=1*")
    drawn(page)
    assert page.locator("#graph-list a").count() == 6
    cluster = page.locator("#graph-clusters button").first
    cluster.click()
    assert cluster.get_attribute("aria-pressed") == "true"
    assert page.evaluate("document.getElementById('graph-picture').picture.marked.size") >= 3
    page.get_by_label("Find in the picture").fill("whoosh")
    page.locator("#graph-count", has_text="2 found.").wait_for()
    assert cluster.get_attribute("aria-pressed") == "false"
    assert page.locator("#graph-list a").count() == 2
    marked = page.evaluate("[...document.getElementById('graph-picture').picture.marked]")
    assert sorted(marked) == ["decisions/tantivy.md", "decisions/whoosh.md"]
    page.get_by_text("Filters").click()
    page.get_by_label("Type").select_option("decision")
    page.wait_for_url("**type=decision*")
    drawn(page)
    page.get_by_label("tags", exact=True).uncheck()
    page.locator("#graph-count", has_text="3 nodes").wait_for()


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


def test_the_field_completes_names_and_walks(unchanged: Dashboard, look: Look) -> None:
    page = drawn(look(f"{unchanged.url}/graph"))
    page.locator("#graph-note").fill("bm2")
    page.wait_for_selector("#graph-names option", state="attached")
    page.locator("#graph-note").fill("facts/bm25.md")
    page.wait_for_url("**/graph?note=facts%2Fbm25.md")
    page.locator("#graph-note").fill("nothing of the kind")
    page.keyboard.press("Enter")
    page.locator("#graph-message", has_text="there is no note").wait_for()


def test_without_javascript_the_lists_remain(unchanged: Dashboard, look: Look) -> None:
    page = look(f"{unchanged.url}/graph", java_script_enabled=False)
    assert "needs JavaScript" in page.locator("#graph-message").inner_text()
    page.locator("#graph-list a", has_text="BM25").click()
    assert page.url.endswith("/graph?note=facts%2Fbm25.md")
    page.locator("#graph-note").fill("whoosh")
    page.get_by_role("button", name="Show", exact=True).click()
    assert page.locator("#graph-node h2").inner_text().strip() == "Whoosh as the keyword index"


def test_without_webgl_it_is_said_and_the_lists_work(unchanged: Dashboard, look: Look) -> None:
    page = look(f"{unchanged.url}/graph")
    page.add_init_script("HTMLCanvasElement.prototype.getContext = () => null")
    page.reload()
    page.locator("#graph-message", has_text="no WebGL").wait_for()
    page.locator("#graph-list a", has_text="BM25").click()
    page.locator("#graph-node h2", has_text="BM25").wait_for()
    page.get_by_label("Find in the picture").fill("whoosh")
    page.locator("#graph-count", has_text="2 found.").wait_for()


def test_no_text_of_a_note_runs(serve: Serve, look: Look, project: Path) -> None:
    for number, text in enumerate(PAYLOADS):
        quoted = json.dumps(text)
        link = text.replace("]", ")").replace("|", "/").replace("\0", "")
        (project / f".memories/p{number}.md").write_text(
            f"---\ntitle: {quoted}\ntype: {quoted}\ntags: [{quoted}]\n---\n{text}\n\n"
            f"[[{link}]] [[hub]]\n"
        )
    (project / ".memories/hub.md").write_text("# Hub\n")
    served = serve()
    with served.client() as client:
        pages = [client.get("/graph?note=hub&depth=2").text, client.get("/graph?whole=1").text]
        pages += [client.get(f"/graph/node?id=p{at}.md").text for at in range(len(PAYLOADS))]
    for page in pages:
        own = page.lower()
        for part in FORBIDDEN:
            if part != "49":
                assert part not in own, part
    page = drawn(look(f"{served.url}/graph?whole=1"))
    page.get_by_label("Find in the picture").fill("alert")
    page.locator("#graph-count", has_text="found.").wait_for()
    page.locator("#graph-list a").first.click()
    page.locator("#graph-node h2", has_text="alert").wait_for()


def test_the_colours_of_clusters_can_be_told_from_the_surface() -> None:
    text = (STYLE / "graph.css").read_text(encoding="utf-8")
    found = re.findall(r"--cluster-(\w+): light-dark\((#[0-9a-f]{6}), (#[0-9a-f]{6})\)", text)
    assert len(found) == 9
    for name, *colours in found:
        for colour, surface in zip(colours, SURFACE, strict=True):
            assert contrast(colour, surface) >= 4.5, f"{name} {colour}"
    rest = text.split("--cluster-rest", 1)[1].split("}", 1)[1]
    assert not re.findall(r"#[0-9a-fA-F]{3,8}\b|rgba?\(|hsla?\(", rest)


def test_each_cluster_has_a_colour_of_the_script() -> None:
    script = (STYLE / "graph_picture.js").read_text(encoding="utf-8")
    style = (STYLE / "graph.css").read_text(encoding="utf-8")
    assert "[0, 1, 2, 3, 4, 5, 6, 7, REST]" in script
    for name in (*range(8), "rest", "text", "surface", "line", "edge", "focus"):
        assert f".graph-colour-{name} " in style
