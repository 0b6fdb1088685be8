"""`memory-bank`, `mb` and `python -m memory_bank`."""

from __future__ import annotations

import gc
import os
import sys
from typing import NoReturn


def main() -> None:
    """Run the command line and leave with its exit code."""
    gc.set_threshold(50_000)  # start-up: imports leave little to collect
    if sys.argv[1:2] == ["hook"] and {"-h", "--help"}.isdisjoint(sys.argv):
        _answer_hook()
    _fill_streams()
    if sys.argv[1:2] == ["merge-driver"] and {"-h", "--help"}.isdisjoint(sys.argv):
        from memory_bank.frontends.merge_driver import run as merge  # start-up: git runs it a file

        sys.exit(merge(sys.argv[2:]))
    from memory_bank.frontends.cli.main import run  # streams that are closed fail its imports

    sys.exit(run(sys.argv[1:]))


def _answer_hook() -> NoReturn:
    """Answer the hook of an agent's program, and leave without tidying up: the agent waits."""
    from memory_bank.agents.hook import run  # start-up: the command line is not loaded

    os._exit(run(sys.argv[2:]))


def _fill_streams() -> None:
    """Put nothing in the place of streams that were closed: files would get their numbers."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: PTH123, SIM115  (for as long as we run)


if __name__ == "__main__":
    if not sys.flags.safe_path:
        del sys.path[0]  # the working directory, which may be anybody's repository
    main()
