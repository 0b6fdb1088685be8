"""Record what a program tells its hooks, as fixtures of the tests of its client.

    python -m tests.agents.hooks.programs.record PROGRAM FOLDER

Plays a session of a program whose hooks `memory-bank agents install` wrote, keeps what each of them
reads from stdin, and writes it with the program's version, without paths and ids of this machine.
The hooks are the project's, since those of a user name the installed command by its path.
To be done again for each new version of a program.
"""

import json
import re
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.agents.hooks.programs.every import PROGRAMS
from tests.agents.hooks.programs.machine import Machine
from tests.agents.hooks.programs.program import Program

_KEEPING = """#!{python} -P
import subprocess, sys, time
from pathlib import Path
data = sys.stdin.buffer.read() if sys.argv[1:2] == ["hook"] else None
if data is not None:
    Path({folder!r}, " ".join([str(time.time_ns()), *sys.argv[2:4]])).write_bytes(data)
sys.exit(subprocess.run([{python!r}, "-P", "-m", "memory_bank", *sys.argv[1:]], input=data).returncode)
"""
"""A `memory-bank` that keeps what its hooks read."""

_UUID = r"[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}"
_OPENCODE = r"(?<=\b(?:ses|msg|prt|evt)_)[0-9A-Za-z]{26}\b"
_IDS = re.compile(f"{_UUID}|{_OPENCODE}")
_NUMBERS = re.compile(r"(?<=PGID: )\d+")


def record(program: Program, place: Path) -> list[tuple[str, str]]:
    """Play a session in a new folder; return clients and events, and what came with them."""
    machine = Machine(place / "home", place / "shop")
    machine.project.mkdir()
    subprocess.run(["git", "init", "-q", str(machine.project)], check=True)
    machine.set_up(program)
    machine.memory_bank("init")
    for client, _ in program.hooks:
        machine.memory_bank(
            "agents", "install", client, "--only", "hooks", "--scope", "project", "--yes"
        )
    if program.server:
        machine.memory_bank("agents", "install", program.client, "--only", "server", "--yes")
    kept = machine.home / "kept"
    kept.mkdir()
    command = machine.home / "bin" / "memory-bank"
    command.write_text(_KEEPING.format(python=sys.executable, folder=str(kept)))
    plan = [*program.work(machine.project), *program.ask_memory("recall", {"query": "gamma"})]
    machine.play(program, "Make the notes say gamma", plan)
    return [(file.name.partition(" ")[2], file.read_text()) for file in sorted(kept.iterdir())]


def cleaned(text: str, place: Path) -> str:
    """Return a text with the paths of a user and with ids that are numbered."""
    ids: dict[str, str] = {}

    def number(found: re.Match[str]) -> str:
        zeros = re.sub("[0-9A-Za-z]", "0", found[0])
        return ids.setdefault(found[0], f"{zeros[:-4]}{len(ids) + 1:04}")

    text = text.replace(str(place / "shop"), "/home/dev/shop").replace(
        str(place / "home"), "/home/dev"
    )
    text = text.replace(re.sub(r"\W", "-", str(place / "shop")), "-home-dev-shop")
    return _NUMBERS.sub("4711", _IDS.sub(number, text))


def main(name: str, folder: str) -> None:
    """Write the fixtures of a program into a folder."""
    program = next(one for one in PROGRAMS if one.name == name)
    program.install()
    with TemporaryDirectory(ignore_cleanup_errors=True) as temporary:
        place = Path(temporary).resolve()
        texts = [f"{event}\n{text}" for event, text in record(program, place)]
        events = cleaned("\0".join(texts), place).split("\0")
    about = {"source": "recorded", "program": program.package, "version": program.version}
    about["date"] = f"{datetime.now(UTC):%Y-%m-%d}"
    for number, one in enumerate(events, 1):
        name, _, text = one.partition("\n")
        client, _, event = name.partition(" ")
        told = {**about, "client": client, "event": event, "stdin": json.loads(text)}
        hook = event if client == program.client else f"as-{client}-{event}"
        file = Path(folder, f"recorded-{number:02}-{hook}.json")
        file.write_text(json.dumps(told, indent=2) + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
