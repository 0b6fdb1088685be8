"""`memory-bank`, `mb` and `python -m memory_bank`."""

from __future__ import annotations

import gc
import os
import sys

TYPE_CHECKING = False  # `typing` would have to be loaded to say so
if TYPE_CHECKING:
    from memory_bank.indexer.scout import Scout


def main() -> None:
    """Run the command line and leave with its exit code."""
    # A command lives for a tenth of a second: what it makes need not be looked over for garbage
    # every 700 objects, nor once more when it ends.
    gc.set_threshold(100_000, 50, 50)
    _fill_streams()
    scout = _sent_ahead(sys.argv[1:])
    from memory_bank.frontends.cli._outermost import run

    code = run(sys.argv[1:], scout)
    if scout is not None:
        os._exit(code)  # what a question opened is closed: to tidy up the rest takes 6 ms
    gc.freeze()
    sys.exit(code)


def _fill_streams() -> None:
    """Put nothing in the place of streams that were closed: files would get their numbers."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: PTH123, SIM115  (for as long as we run)


def _sent_ahead(args: list[str]) -> Scout | None:
    """Send for news of the files before anything is loaded, where a question will need them."""
    from memory_bank.frontends.cli import _question

    question = _question.read(args)
    if question is None:
        return None
    from memory_bank.filenames import meant
    from memory_bank.indexer.scout import Scout

    return Scout.sent(lambda: meant(question.bank))


if __name__ == "__main__":
    main()
