import httpx2

from .conftest import Blocking, Dashboard, Look


def background(page: Blocking) -> str:
    found: str = page.evaluate("getComputedStyle(document.body).backgroundColor")
    return found


def test_the_switch_of_themes_is_remembered(unchanged: Dashboard, look: Look) -> None:
    page = look(unchanged.url)
    light = background(page)
    switch = page.get_by_role("button", name="Theme")
    assert switch.inner_text() == "Theme: system"
    switch.click()
    assert switch.inner_text() == "Theme: light"
    switch.click()
    assert background(page) != light
    page.reload()
    assert background(page) != light
    assert switch.inner_text() == "Theme: dark"
    switch.click()
    assert background(page) == light


def test_the_keyboard_reaches_the_content_and_the_search_field(
    unchanged: Dashboard, look: Look
) -> None:
    page = look(unchanged.url)
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to the content"
    assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "solid"
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "content"
    page.keyboard.press("/")
    assert page.evaluate("document.activeElement.closest('dialog').id") == "palette"
    page.keyboard.type("a/b")
    assert page.evaluate("document.activeElement.value") == "a/b"
    page.keyboard.press("Escape")
    assert page.locator("#palette").is_hidden()


def test_the_palette_leads_to_a_note_and_letters_lead_to_pages(
    unchanged: Dashboard, look: Look
) -> None:
    page = look(unchanged.url)
    page.keyboard.press("Control+k")
    page.keyboard.type("bm2")
    page.get_by_role("link", name="BM25").wait_for()
    page.keyboard.press("Enter")
    page.wait_for_url("**/notes/facts/bm25")
    page.keyboard.press("g")
    page.keyboard.press("s")
    page.wait_for_url("**/sessions")
    page.keyboard.press("?")
    page.get_by_role("button", name="Turn single letters off").click()
    page.keyboard.press("Escape")
    page.keyboard.press("g")
    page.keyboard.press("h")
    assert page.url.endswith("/sessions")


def test_the_palette_opens_without_javascript(unchanged: Dashboard, look: Look) -> None:
    page = look(unchanged.url, java_script_enabled=False)
    page.get_by_role("link", name="Search or jump").click()
    page.locator("#palette input").fill("bm25")
    page.keyboard.press("Enter")
    page.wait_for_url("**/search?q=bm25")


def test_a_page_is_whole_without_javascript(unchanged: Dashboard, look: Look) -> None:
    page = look(unchanged.url, java_script_enabled=False)
    assert page.get_by_role("link", name="Home").get_attribute("aria-current") == "page"
    assert page.get_by_role("button", name="Theme").count() == 0
    assert page.get_by_role("searchbox").count() >= 1


def test_landmarks_and_names_are_there(dashboard: httpx2.Client) -> None:
    text = dashboard.get("/").text
    for part in (
        '<html lang="en">',
        "<main ",
        '<nav aria-label="Main" class="menu">',
        "<header",
        "<footer",
    ):
        assert text.count(part) == 1, part
    assert "<title>project</title>" in text
    assert text.count("<h1") == 1


def test_htmx_gets_the_content_alone(dashboard: httpx2.Client) -> None:
    part = dashboard.get("/nothing", headers={"hx-request": "true"})
    assert part.status_code == 404
    assert "<html" not in part.text
    assert "There is no such page" in part.text
    assert "HX-Request" in part.headers["vary"]
