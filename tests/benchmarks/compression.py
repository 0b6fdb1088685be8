"""What the notes of sessions say rightly and wrongly, of twenty sessions of which it is known.

    python -m tests.benchmarks.compression [FOLDER] [--by hooks|claude-code|codex] [--details FILE]

FOLDER has other sessions in the same form. Each is fed to a fresh bank by commands alone, as hook events
or as a transcript; the program that judges the notes comes with the sessions.
"""

import subprocess
import sys
import tempfile
from pathlib import Path

from tests.benchmarks import collections


def main(arguments: list[str]) -> int:
    """Run the program that comes with the sessions on them; return its exit code."""
    with tempfile.TemporaryDirectory() as work:
        folder = collections.unpacked("sessions", Path(work)) / "sessions"
        own = arguments if arguments and not arguments[0].startswith("-") else ["dev", *arguments]
        command = [sys.executable, "measure.py", "--cmd", f"{sys.executable} -m memory_bank", *own]
        return subprocess.run(command, cwd=folder, check=False).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
