"""`memory-bank`, `mb` and `python -m memory_bank`."""

from __future__ import annotations

import gc
import sys


def main() -> None:
    """Run the command line and leave with its exit code."""
    # A command lives for a tenth of a second: what it makes need not be looked over for garbage
    # every 700 objects, nor once more when it ends.
    gc.set_threshold(100_000, 50, 50)
    from memory_bank.frontends.cli import run

    code = run(sys.argv[1:])
    gc.freeze()
    sys.exit(code)


if __name__ == "__main__":
    main()
