"""Record the terminal of the README: commands that are run here, as SVGs with CSS only.

    python -m tests.support.film

The commands run in a clone of this repository, with its own notes. What they print, colours
included, is typed out in docs/pictures/terminal-light.svg and terminal-dark.svg. Without motion
(`prefers-reduced-motion`, or where CSS does not run) all of it is there at once.
"""

import os
import subprocess
import sys
from html import escape
from pathlib import Path
from tempfile import TemporaryDirectory

from rich.text import Text

from tests.support.homes import name_homes

ROOT = Path(__file__).parents[2]
COMMANDS = (
    'mb recall "why is the lock on a folder?" --limit 1',
    'mb remember "flock is released when a process dies" --type fact --tags locks',
    "git status --short",
)
WIDTH = 84
CELL, LINE, PAD = 8.4, 20, 18
"""Pixels of a character, a line, and the margin."""
THEMES = {
    "light": ("#fdfdfb", "#1b1c19", {"cyan": "#3f48cc", "green": "#116032", "yellow": "#8a4b00", "red": "#a3271b", "dim": "#6c6d66"}),
    "dark": ("#151614", "#e9e9e3", {"cyan": "#aab2ff", "green": "#86d79b", "yellow": "#f0b866", "red": "#ff9f92", "dim": "#94958c"}),
}  # fmt: skip
"""The ground, the ink, and the terminal's colours: those of the dashboard."""
HELD, TYPED, BETWEEN = 3.0, 1.6, 1.4
"""Seconds that all is shown at first, that a command is typed, and that an answer is read."""


def run() -> list[tuple[str, list[Text]]]:
    """Return the commands with the lines that they print."""
    with TemporaryDirectory() as place:
        clone = Path(place) / "memory_bank"
        subprocess.run(["git", "clone", "-q", str(ROOT), str(clone)], check=True)
        env = {**os.environ, **name_homes(Path(place))}
        env |= {"FORCE_COLOR": "1", "COLUMNS": str(WIDTH), "PYTHONPATH": str(ROOT)}
        env["PATH"] = f"{place}{os.pathsep}{env['PATH']}"
        program = Path(place) / "mb"
        program.write_text(f'#!/bin/sh\nexec {sys.executable} -m memory_bank "$@"\n')
        program.chmod(0o755)
        subprocess.run(["mb", "doctor"], cwd=clone, env=env, capture_output=True, check=False)
        return [
            (command, [Text.from_ansi(line) for line in _output(command, clone, env)])
            for command in COMMANDS
        ]


def _output(command: str, folder: Path, env: dict[str, str]) -> list[str]:
    done = subprocess.run(
        ["sh", "-c", command], cwd=folder, env=env, capture_output=True, text=True, check=True
    )
    lines = done.stdout.rstrip("\n").splitlines()
    return lines[:-1] if lines and not lines[-1] else lines


def drawn(scenes: list[tuple[str, list[Text]]], theme: str) -> str:
    """Return the SVG of the commands in a theme."""
    ground, ink, colours = THEMES[theme]
    total = HELD + sum(TYPED + BETWEEN for _ in scenes) + 2
    body, style, y, at = [], [], PAD + 13.0, HELD

    def appears(name: str, moment: float) -> None:
        share = 100 * moment / total
        start = 100 * HELD / total
        style.append(
            f".{name}{{animation:{name} {total:.1f}s infinite}}@keyframes {name}{{0%,{start:.1f}%"
            f"{{opacity:1}}{start + 0.1:.1f}%,{share:.1f}%{{opacity:0}}{share + 0.1:.1f}%,100%{{opacity:1}}}}"
        )

    for number, (command, lines) in enumerate(scenes):
        appears(f"c{number}", at)
        body.append(f'<g class="c{number}">{_line(Text(f"$ {command}"), y, colours)}</g>')
        at += TYPED
        appears(f"a{number}", at)
        rows = []
        for line in lines:
            y += LINE
            rows.append(_line(line, y, colours))
        body.append(f'<g class="a{number}">{"".join(rows)}</g>')
        y += LINE * 1.6
        at += BETWEEN
    width, height = WIDTH * CELL + 2 * PAD, y - LINE + PAD
    css = "".join(style) + "@media (prefers-reduced-motion:reduce){*{animation:none!important}}"
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height:.0f}" '
        f'width="{width:.0f}" role="img"><title>mb recall finds why, mb remember writes a file, '
        f"git sees it</title><style>text{{font:14px ui-monospace,Menlo,Consolas,'DejaVu Sans Mono',"
        f"monospace;white-space:pre;fill:{ink}}}{css}</style>"
        f'<rect width="100%" height="100%" rx="10" fill="{ground}"/>{"".join(body)}</svg>\n'
    )


def _line(line: Text, y: float, colours: dict[str, str]) -> str:
    """Return a line of text; each piece has its column and its width, whatever the font is."""
    parts, column = [], 0
    for piece in line.divide(
        sorted({edge for span in line.spans for edge in (span.start, span.end)})
    ):
        style = piece.spans[0].style if piece.spans else ""
        words = str(style).split()
        marks = "".join(
            [
                next((f' style="fill:{colours[one]}"' for one in words if one in colours), ""),
                ' font-weight="bold"' if "bold" in words else "",
            ]
        )
        text = piece.plain
        if text.strip():
            wide = f' textLength="{len(text) * CELL:.1f}" lengthAdjust="spacingAndGlyphs"'
            parts.append(
                f'<text x="{PAD + column * CELL:.1f}" y="{y:.0f}"{wide}{marks}>{escape(text)}</text>'
            )
        column += len(text)
    return "".join(parts)


if __name__ == "__main__":
    made = run()
    for name in THEMES:
        file = ROOT / f"docs/pictures/terminal-{name}.svg"
        file.write_text(drawn(made, name), encoding="utf-8")
        print(file.name, f"{file.stat().st_size:,} bytes")  # noqa: T201  (a script)
