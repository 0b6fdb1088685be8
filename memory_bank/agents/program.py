"""A program of agents, and the files of it that this program changes."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Program:
    """A program with a file of the user's own and one of the project."""

    name: str
    title: str
    docs: str
    """The documentation of its format."""
    user_file: str
    """The user's own file; `~`, `$CONFIG` (settings of programs) and `$XDG` are filled in."""
    project_file: str = ""
    """The file below the project; empty if the program has none."""
    home: str = field(default="", kw_only=True)
    """The variable that names the folder of the user's own file."""
    next_project: str = field(default="restart it", kw_only=True)
    """The steps of the user, including trust, before the program uses what the project's file
    has."""
    next_user: str = field(default="restart it", kw_only=True)

    def next_step(self, scope: str) -> str:
        """Return the steps of the user before the program uses what was added."""
        return self.next_project if scope == "project" else self.next_user


def user_file(
    program: Program,
    environ: Mapping[str, str] = os.environ,
    platform: str = sys.platform,
) -> Path:
    """Return the user's own file of a program on a platform."""
    if folder := environ.get(program.home or "-"):
        return Path(folder, Path(program.user_file).name)
    home = Path.home()
    xdg = config = Path(environ.get("XDG_CONFIG_HOME") or home / ".config")
    if platform == "win32":
        xdg = config = Path(environ.get("APPDATA") or home / "AppData/Roaming")
    elif platform == "darwin":
        # Zed keeps its settings in ~/.config here too, whatever XDG_CONFIG_HOME says
        xdg, config = home / ".config", home / "Library/Application Support"
    first, _, rest = program.user_file.partition("/")
    return {"~": home, "$CONFIG": config, "$XDG": xdg}[first] / rest
