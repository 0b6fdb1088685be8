"""What must hold on every page, measured in a browser: widths, contrast, headings, the keyboard."""

from itertools import pairwise

import pytest

from .conftest import THEMES, Dashboard, Look

PAGES = (
    "/",
    "/notes",
    "/notes/decisions/tantivy",
    "/notes/decisions/tantivy/history",
    "/search?q=why+tantivy&kind=notes",
    "/search?q=nothing+of+the+kind&kind=notes",
    "/graph",
    "/sessions",
    "/review?full=1",
    "/health",
)
CONTRAST = """() => {
  const parts = (text) => text.match(/[\\d.]+/g).map(Number);
  const light = (rgb) => rgb.slice(0, 3).map((one) => one / 255)
    .map((one) => (one <= 0.04045 ? one / 12.92 : ((one + 0.055) / 1.055) ** 2.4))
    .reduce((sum, one, at) => sum + one * [0.2126, 0.7152, 0.0722][at], 0);
  const ground = (one) => {
    for (; one; one = one.parentElement) {
      const found = parts(getComputedStyle(one).backgroundColor);
      if (found.length < 4 || found[3] === 1) return found;
    }
    return [255, 255, 255];
  };
  const low = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const one = node.parentElement;
    if (!node.data.trim() || !one.checkVisibility({ opacityProperty: true })) continue;
    const [a, b] = [light(parts(getComputedStyle(one).color)), light(ground(one))];
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    if (ratio < 4.5) low.push(`${ratio.toFixed(2)} ${node.data.trim().slice(0, 40)}`);
  }
  return low;
}"""


@pytest.mark.parametrize("path", PAGES)
def test_a_page_fits_any_width_and_zoom(unchanged: Dashboard, look: Look, path: str) -> None:
    for width in (320, 640):  # 640 is 1280 at 200 %
        page = look(f"{unchanged.url}{path}", width=width)
        page.evaluate("document.querySelectorAll('details').forEach((one) => (one.open = true))")
        assert page.evaluate("document.documentElement.scrollWidth") <= width


@pytest.mark.parametrize("path", PAGES)
def test_every_text_can_be_read_and_headings_are_in_order(
    unchanged: Dashboard, look: Look, path: str
) -> None:
    for theme in THEMES:
        page = look(f"{unchanged.url}{path}", theme=theme)
        page.evaluate("document.querySelectorAll('details').forEach((one) => (one.open = true))")
        assert page.evaluate(CONTRAST) == []
    levels = page.evaluate("[...document.querySelectorAll('main :is(h1,h2,h3,h4)')].map(h => +h.tagName[1])")  # fmt: skip
    assert levels.count(1) == 1
    assert all(after <= before + 1 for before, after in pairwise(levels))


@pytest.mark.parametrize("path", PAGES)
def test_everything_that_can_be_clicked_has_a_name_and_takes_the_focus(
    unchanged: Dashboard, look: Look, path: str
) -> None:
    page = look(f"{unchanged.url}{path}")
    nameless = page.evaluate("""() => [...document.querySelectorAll('a[href], button, input:not([type=hidden]), select, textarea, summary')]
      .filter((one) => one.checkVisibility() && !one.closest('dialog'))
      .filter((one) => !(one.textContent.trim() || one.getAttribute('aria-label') || one.labels?.length) || one.tabIndex < 0)
      .map((one) => one.outerHTML.slice(0, 80))""")  # fmt: skip
    assert nameless == []
