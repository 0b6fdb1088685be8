"""`memory-bank`, `mb` and `python -m memory_bank`."""

from __future__ import annotations

import gc
import os
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from memory_bank.indexer.scout import Scout
    from memory_bank.layout import Layout


def main() -> None:
    """Run the command line and leave with its exit code."""
    # A command lives for a tenth of a second: what it makes need not be looked over for garbage
    # every 700 objects, nor once more when it ends.
    gc.set_threshold(100_000, 50, 50)
    _fill_streams()
    scout = _sent_ahead(sys.argv[1:])
    from memory_bank.frontends.cli import run

    code = run(sys.argv[1:], scout)
    gc.freeze()
    sys.exit(code)


def _fill_streams() -> None:
    """Put nothing in the place of streams that were closed: files would get their numbers."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: PTH123, SIM115  (for as long as we run)


def _sent_ahead(args: list[str]) -> Scout | None:
    """Send for news of the files before anything is loaded, where a question will need them.

    What the arguments mean is found out later, by those who know; who was sent to the wrong bank
    by mistake is not believed there.
    """
    if args[:1] != ["recall"] or len(args) == 1 or not {"-h", "--help"}.isdisjoint(args):
        return None
    from memory_bank.indexer.scout import Scout

    def find() -> Layout:
        from memory_bank.layout import locate

        return locate(_named(args) or os.environ.get("MEMORY_BANK") or None)

    return Scout.sent(find)


def _named(args: list[str]) -> str | None:
    """Return the bank that is named behind `--bank`, which the command reads in the same way."""
    for number, word in enumerate(args):
        if word == "--":
            break
        if word == "--bank":
            return next(iter(args[number + 1 :]), None)
        if word.startswith("--bank="):
            return word.partition("=")[2]
    return None


if __name__ == "__main__":
    main()
