"""Texts that are cheap to write and dear to parse: a part of a language, over and over."""

from contextlib import suppress
from pathlib import Path

REPEATED = {
    "round brackets": "(",
    "square brackets": "[",
    "curly brackets": "{",
    "angle brackets": "<",
    "calls": "x(",
    "generics on lines": "a<\n",
    "generics": "a<b<",
    "unclosed text": '"a',
    "unclosed comment": "/*",
    "operators": "a+",
    "signs": "-!",
    "attributes": "[A(",
    "annotations": "@a(",
    "attributes of Rust": "#[a",
    "heredocs": "<<E\n",
    "templates in texts": "`${",
    "texts in texts": 'f"{"#{',
    "templates": "template<",
    "casts": "(a)",
    "arrows": "a=>",
    "lists of words": "%w(",
    "functions": "function f(){ def f(a):\n",
    "closing brackets": "))(",
}
DEAR = (
    ("c_sharp", "generics on lines"),
    ("java", "generics on lines"),
    ("c", "arrows"),
    ("bash", "angle brackets"),
    ("ruby", "lists of words"),
)
"""Those that take gigabytes, crash, or take minutes."""


def hostile(name: str, size: int, language: str = "") -> bytes:
    """Return so many bytes of a text; PHP needs its tag."""
    start = "<?php " if language == "php" else ""
    return (start + REPEATED[name] * size)[:size].encode()


def memory(pid: int) -> int:
    """Return the bytes that a process takes with those that it started; Linux only."""
    found = 0
    with suppress(OSError):  # it has ended
        words = Path(f"/proc/{pid}/cmdline").read_bytes()
        found = 4096 * int(Path(f"/proc/{pid}/statm").read_text().split()[1])
        for task in Path(f"/proc/{pid}/task").iterdir():
            for one in (task / "children").read_text().split():
                # until it runs its own program, it has the memory of this one
                if Path(f"/proc/{one}/cmdline").read_bytes() != words:
                    found += memory(int(one))
    return found
