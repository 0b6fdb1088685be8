"""Files that a test writes."""

from collections.abc import Mapping
from pathlib import Path


def write_files(folder: Path, texts: Mapping[str, str]) -> None:
    """Write texts below a folder, by their names, with the line ends that they have."""
    for name, text in texts.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(text.encode())


def read_files(folder: Path) -> dict[str, bytes]:
    """Return the bytes of all files below a folder, by their names, without git's and derived ones."""
    names = (one.relative_to(folder) for one in folder.rglob("*") if one.is_file())
    kept = [one for one in names if not {".git", ".index"} & {*one.parts}]
    return {one.as_posix(): (folder / one).read_bytes() for one in kept}
