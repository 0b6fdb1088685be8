"""How fluid the dashboard's graph is: `python -m tests.benchmarks.graph_frames [FOLDER]`.

A real server shows the whole graph of a bank, by default one made for it with 5,000 nodes and
20,000 links; a headless Chromium, which renders in software, pans and zooms it as a person does.
"""

import argparse
import asyncio
import json
import os
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from itertools import pairwise
from pathlib import Path

from playwright.async_api import async_playwright

NOTES, TAGS, FILES, GHOSTS = 4500, 50, 300, 150
LINKS = 20_000
_SECONDS = 4.0
_PROGRAMS = ("chromium", "chromium-browser", "google-chrome", "chrome")
_MOVE = """([kind, seconds]) => new Promise((done) => {
  const { sigma, element } = document.getElementById("graph-picture").picture;
  const layer = element.querySelector(".sigma-mouse");
  const box = layer.getBoundingClientRect();
  const frames = [], draws = [], start = performance.now();
  const drew = () => draws.push(performance.now());
  const send = (Event, name, x, y, more) =>
    layer.dispatchEvent(new Event(name, { bubbles: true, cancelable: true, button: 0, buttons: 1,
      clientX: box.x + box.width / 2 + x, clientY: box.y + box.height / 2 + y, ...more }));
  sigma.on("afterRender", drew);
  if (kind === "pan") send(MouseEvent, "mousedown", 0, 0);
  const frame = (now) => {
    frames.push(now);
    const step = frames.length;
    if (kind === "pan") send(MouseEvent, "mousemove", 120 * Math.sin(step / 12), 60 * Math.cos(step / 9));
    else if (step % 4 === 0) send(WheelEvent, "wheel", 0, 0, { deltaY: step % 48 < 24 ? -120 : 120 });
    if (now - start < seconds * 1000) return requestAnimationFrame(frame);
    if (kind === "pan") send(MouseEvent, "mouseup", 0, 0);
    sigma.off("afterRender", drew);
    done([frames, draws]);
  };
  requestAnimationFrame(frame);
})"""
"""Drags the picture round and round, or turns the wheel in and out, with an event each frame."""


def make_bank(root: Path) -> None:
    """Write notes in groups: most links stay in the group."""
    chance = random.Random(1)
    size = NOTES // TAGS
    for number in range(NOTES):
        group = number // size
        near = [group * size + int(size * chance.random() ** 2) for _ in range(3)]
        links = {chance.randrange(NOTES) if chance.random() < 0.1 else one for one in near}
        words = " ".join(f"[[n/{one}]]" for one in sorted(links - {number}))
        if chance.random() < GHOSTS / NOTES * 5:
            words += f" [[Idea {chance.randrange(GHOSTS)}]]"
        file = f"src/part{chance.randrange(FILES)}.py"
        note = root / f".memories/n/{number}.md"
        note.parent.mkdir(parents=True, exist_ok=True)
        note.write_text(
            f"---\ntype: fact\ntags: [topic{group}]\nfile_refs: [{file}]\n---\n"
            f"# Note {number}\n\nThis is about {words}.\n",
            encoding="utf-8",
        )


def rate(times: list[float]) -> tuple[float, float]:
    """Return the frames per second, and the 95th percentile of the time between two."""
    gaps = [after - before for before, after in pairwise(times)]
    if not gaps:
        return 0.0, 0.0
    return 1000 * len(gaps) / sum(gaps), statistics.quantiles(gaps, n=20)[-1] if gaps[1:] else gaps[
        0
    ]


async def measure(url: str, token: str) -> None:
    """Print how long the picture takes, and its frames."""
    program = next(filter(None, map(shutil.which, _PROGRAMS)))
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        page = await browser.new_page(viewport={"width": 1280, "height": 900})
        await page.goto(f"{url}graph?token={token}", timeout=600_000)  # which makes the index
        for which in ("first", "again"):
            start = time.perf_counter()
            await page.goto(f"{url}graph?whole=1")
            await page.wait_for_selector("#graph-message", state="hidden", timeout=120_000)
            print(f"the whole is drawn, {which}, after {time.perf_counter() - start:.1f} s")
        size = "(({ graph }) => [graph.order, graph.size])(document.getElementById('graph-picture').picture)"
        print("nodes and links: {:,} and {:,}".format(*await page.evaluate(size)))
        gl = "document.createElement('canvas').getContext('webgl2')"
        print("renderer:", await page.evaluate(f"(g => g.getParameter(g.RENDERER))({gl})"))
        for kind in ("pan", "zoom"):
            frames, draws = await page.evaluate(_MOVE, [kind, _SECONDS])
            every, slow = rate(frames)
            print(
                f"{kind}: {every:.0f} frames a second, 95 % within {slow:.0f} ms;"
                f" the picture was drawn {rate(draws)[0]:.0f} times a second"
            )
            await page.wait_for_timeout(1000)
        print("load:", *os.getloadavg())
        await browser.close()


def main() -> None:
    """Serve a bank, and measure."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", nargs="?", type=Path, help="a folder with a bank")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as work:
        folder = options.folder or Path(work)
        if options.folder is None:
            make_bank(folder)
        words = ["-m", "memory_bank", "serve", "web", "--json", "--http", "127.0.0.1:0"]
        server = subprocess.Popen(
            [sys.executable, *words], cwd=folder, stdout=subprocess.PIPE, text=True
        )
        try:
            assert server.stdout is not None
            said = json.loads(server.stdout.readline())
            asyncio.run(measure(said["url"], said["token"]))
        finally:
            server.terminate()
            server.wait()


if __name__ == "__main__":
    main()
