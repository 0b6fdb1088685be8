"""Take the pictures of the dashboard: each page at two widths and in both themes.

    python -m tests.frontends.web.pictures [PAGE …]

The example is a shop: decisions of people and of an agent, one that was replaced, code that changed
since. Its dates are relative to now. The font is Inter, wherever the pictures are taken (Debian:
`apt-get install fonts-inter fonts-dejavu-core pngquant`).
"""

import os
import shutil
import subprocess
import sys
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from playwright.sync_api import sync_playwright

from memory_bank.sessions.records import Prompt, Summary
from tests.support.files import write_files
from tests.support.homes import name_homes
from tests.support.session_builder import observation, session, write

FOLDER = Path(__file__).parents[3] / "docs/pictures"
PAGES = {
    "home": "/",
    "palette": "/",
    "notes": "/notes",
    "search": "/search?q=why+are+amounts+integers",
    "note": "/notes/decisions/cents",
    "history": "/notes/decisions/cents/history",
    "graph": "/graph",
    "sessions": "/sessions",
    "session": "/sessions/s-0412",
    "review": "/review?range=HEAD~1..HEAD",
    "new": "/new?title=The+gateway+answers+504+under+load",
    "edit": "/notes/decisions/cents/edit",
    "none": "/search?q=how+is+the+app+translated&kind=notes",
    "error": "/notes/decisions/centz",
}
LOOKS = {"wide-light": (1280, 800, "light"), "wide-dark": (1280, 800, "dark")} | {
    "phone-light": (390, 780, "light"),
    "phone-dark": (390, 780, "dark"),
}
FONT = ":root { --sans: Inter, sans-serif; --mono: 'DejaVu Sans Mono', monospace; }"
MOST_BYTES = 60_000
_COLOURS = (64, 32, 16)
"""Numbers of colours; the next one if a picture is too large with the one before."""
_NOW = datetime.now(UTC).replace(hour=9, minute=0, second=0, microsecond=0) - timedelta(days=1)
_CLAUDE = "Co-authored-by: Claude <noreply@anthropic.com>"
_CENTS = """---
type: decision
tags: [prices, architecture]
---
# Amounts of money are kept in cents

Floats lost a cent in every tenth order, so amounts are integers. Sums by `total(items)` are exact; see
[[src/shop/prices.py#total]]. We tried decimals first: they were slow, and JSON has none.

## Consequences

- Every amount [has a currency](currency.md) beside it.
- VAT is rounded once for the whole order: [[facts/vat]].
- The queue sends integers, see [[decisions/queue]].

## Open

Japan has no cents, which [[Currencies without cents]] will say.
"""
_FILES: tuple[tuple[str, str, int, dict[str, str]], ...] = (
    (
        "Mira Olsen",
        "Keep amounts in cents (#7)\n\nReviewed-by: Jo Park <jo@example.org>",
        40,
        {
            "src/shop/prices.py": "def total(items):\n    return sum(item.cents for item in items)\n",
            "src/shop/jobs.py": "def take(queue):\n    return queue.pop()\n",
            ".memories/.gitignore": ".index/\n.trash/\n.mb-*\nsessions/\n",
            ".memories/decisions/cents.md": _CENTS.replace("We tried", "We also tried"),
            ".memories/decisions/euro.md": (
                "---\ntype: decision\ntags: [prices]\n---\n# All amounts are in euros\n\n"
                "One currency is simple: [[decisions/cents]].\n"
            ),
            ".memories/facts/vat.md": (
                "---\ntype: fact\ntags: [prices]\n---\n# VAT is rounded once\n\n"
                "For the whole order, half a cent up: [[decisions/cents#Consequences]].\n"
            ),
        },
    ),
    (
        "Jo Park",
        "Keep jobs in a table (#12)",
        25,
        {
            ".memories/decisions/queue.md": (
                "---\ntype: decision\ntags: [jobs, architecture]\n---\n# Postgres is the queue\n\n"
                "Jobs wait in a table, taken with SKIP LOCKED: one thing less to run. See\n"
                "[[src/shop/jobs.py#take]] and [[facts/retries]].\n"
            ),
            ".memories/facts/retries.md": (
                "---\ntype: fact\ntags: [jobs]\n---\n# The gateway answers 504 under load\n\n"
                "Three tries with a pause are enough; [[decisions/queue]] keeps the job meanwhile.\n"
            ),
        },
    ),
    (
        "Jo Park",
        f"Say why decimals were not taken\n\nA sum took forty times as long.\n\n{_CLAUDE}",
        12,
        {".memories/decisions/cents.md": _CENTS},
    ),
    (
        "Mira Olsen",
        f"Let amounts have a currency\n\n{_CLAUDE}",
        3,
        {
            ".memories/decisions/currency.md": (
                "---\ntype: decision\ntags: [prices]\nsupersedes: '[[decisions/euro]]'\n---\n"
                "# Each amount has a currency\n\nShops outside the euro joined, so "
                "[[decisions/cents|cents]] are of a currency.\n"
            ),
            "src/shop/prices.py": (
                "def total(items, currency):\n"
                "    return sum(item.cents for item in items if item.currency == currency)\n"
            ),
            ".memories/plans/japan.md": (
                "---\ntype: plan\ntags: [prices]\n---\n# Open a shop in Japan\n\n"
                "Needs [[Currencies without cents]] and [[decisions/currency]].\n"
            ),
        },
    ),
)


def build(folder: Path) -> Path:
    """Make the example repository in a folder that does not exist yet."""
    folder.mkdir(parents=True)
    _git(folder, "init", "-q", "-b", "main")
    for author, message, days, files in _FILES:
        write_files(folder, files)
        when = (_NOW - timedelta(days=days)).isoformat()
        mail = f"{author.split()[0].lower()}@example.org"
        who = {"NAME": author, "EMAIL": mail, "DATE": when}
        variables = {f"GIT_{one}_{key}": who[key] for one in ("AUTHOR", "COMMITTER") for key in who}
        _git(folder, "add", "-A")
        _git(folder, "commit", "-q", "-m", message, **variables)
    _add_sessions(folder)
    return folder


def _add_sessions(folder: Path) -> None:
    works = (
        ("s-0412", "Retry the gateway", "bugfix", 1, 5200, "claude-code"),
        ("s-0411", "Charge each order in its currency", "feature", 3, 8400, "claude-code"),
        ("s-0398", "Why orders took a second", "discovery", 6, 3100, "codex"),
    )
    for number, (name, title, kind, days, tokens, agent) in enumerate(works, 1):
        start = _NOW - timedelta(days=days)
        found = observation(
            number,
            title,
            kind,
            created_at=start + timedelta(minutes=7),
            prompt_number=1,
            discovery_tokens=tokens,
            narrative="The cause was found by a log of one order, and the tests cover it now.",
            facts=("The gateway answers 504 under load", "Three tries are enough"),
            files_read=(".memories/decisions/cents.md",),
            files_modified=("src/shop/prices.py",),
        )
        asked = (Prompt(name, 1, f"{title}, please", start),)
        told = Summary("", name, "shop", start, request=title, learned="A 504 means: try again")
        end = start + timedelta(hours=1)
        made = session(name, found, agent=agent, prompts=asked, ended_at=end, summary=told)
        write(folder / ".memories", made)


def take(folder: Path, names: list[str]) -> None:
    """Serve the example, and take the pictures of some pages."""
    with ExitStack() as stack:
        place = Path(stack.enter_context(TemporaryDirectory()))
        project = build(place / "shop")
        env = {**os.environ, **name_homes(place)}
        words = ["-m", "memory_bank", "serve", "web", "--write", "--http", "127.0.0.1:0"]
        server = stack.enter_context(
            subprocess.Popen(
                [sys.executable, *words], cwd=project, stdout=subprocess.PIPE, text=True, env=env
            )
        )
        stack.callback(server.terminate)
        assert server.stdout is not None
        entrance = server.stdout.readline().split()[-1]
        url = entrance.partition("/?")[0]
        playwright = stack.enter_context(sync_playwright())
        program = shutil.which("chromium") or shutil.which("google-chrome")
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        for look, (width, height, theme) in LOOKS.items():
            page: Any = browser.new_page(
                viewport={"width": width, "height": height}, color_scheme=theme, bypass_csp=True
            )
            page.goto(entrance)
            page.wait_for_selector("text=commit since")  # it is counted in the background
            for name in names:
                page.goto(url + PAGES[name])
                page.add_style_tag(content=FONT)
                if name == "palette":
                    page.keyboard.press("Control+k")
                    page.keyboard.type("amount")
                page.wait_for_timeout(4000)  # parts that come later, on a busy machine, too
                file = folder / f"{name}-{look}.png"
                page.screenshot(path=file)
                _shrink(file)
        browser.close()


def _shrink(file: Path) -> None:
    for colours in _COLOURS:
        if file.stat().st_size > MOST_BYTES or colours == _COLOURS[0]:
            subprocess.run(["pngquant", "--force", "--ext=.png", str(colours), file], check=True)


def _git(folder: Path, *words: str, **variables: str) -> None:
    plain = {name: text for name, text in os.environ.items() if not name.startswith("GIT_")}
    subprocess.run(["git", "-C", str(folder), *words], check=True, env={**plain, **variables})


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    take(FOLDER, sys.argv[1:] or list(PAGES))
