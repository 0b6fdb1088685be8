"""What is found in Bash, and in tests of bats."""

from __future__ import annotations

import subprocess
import sys

import pytest

from memory_bank.code.parse import parsing
from memory_bank.code.parse.parsed_file import ParsedFile

DEPLOY = """#!/usr/bin/env bash
# Deploy the service.
set -eu

source ./common.sh
. "$(dirname "$0")/hosts.sh"
. "$HERE/keys.sh"

readonly retries=3
declare -r port=80
TARGET=production
other=1

# Copy files
# to the host.
copy_files() {
  local host=$(pick_host "$1") LIMIT=2
  docker-compose up | tee "$LOG"
}

function restart { copy_files; }
"""
BATS = """load helper

@test "copies each file" {
  run copy_files a
  if [ "$status" -eq 0 ]; then restart; fi
}

@test 'restarts' {
  restart
}
"""


def bash(text: str) -> ParsedFile:
    return parsing.parse(text.encode(), "bash")


def test_definitions_of_bash() -> None:
    found = {one.qualified: one for one in bash(DEPLOY).symbols}
    assert [(one.kind, name) for name, one in found.items()] == [
        ("constant", "retries"), ("constant", "port"), ("constant", "TARGET"),
        ("function", "copy_files"), ("function", "restart"),
    ]  # fmt: skip
    copy = found["copy_files"]
    assert (copy.doc, copy.signature) == ("Copy files\nto the host.", "copy_files()")
    assert (copy.line, copy.end_line) == (14, 20)
    assert copy.calls == ("pick_host", "docker-compose", "tee")
    assert bash(DEPLOY).doc == "Deploy the service."


def test_imports_of_bash() -> None:
    found = [(one.target, one.line) for one in bash(DEPLOY).imports]
    assert found == [("./common.sh", 5), ("./hosts.sh", 6), ("./keys.sh", 7)]


def test_tests_of_bats() -> None:
    first, second = bash(BATS).tests
    assert (first.title, first.line, first.end_line) == ("copies each file", 3, 7)
    assert first.calls == ("copy_files", "restart")
    assert (second.title, second.framework, second.calls) == ("restarts", "bats", ("restart",))


@pytest.mark.parametrize("first", ["#!/bin/sh", "#!/usr/bin/env bash", "#!/usr/bin/bash -e"])
def test_a_script_of_bash_is_told_by_its_first_line(first: str) -> None:
    assert parsing.language_of("bin/deploy", first) == "bash"


def test_characters_beyond_the_first_plane_do_not_crash_the_process() -> None:
    """The grammar's scanner reads beyond a table for them; what is there depends on the memory."""
    crashes = "{\U000e8620\xe4 > \U000b26db$\U0009bcd9Y\xc3>\x9f\x1e\0"
    program = (
        "import sys\nfrom memory_bank.code.parse.parsing import parse\n"
        "data = sys.stdin.buffer.read()\nfor _ in range(2000): parse(data, 'bash')\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], input=crashes.encode(), check=False, capture_output=True
    )
    assert done.returncode == 0, done.stderr.decode()
    (found,) = parsing.parse("deploy() { echo 🚀; }\n".encode(), "bash").symbols
    assert (found.name, found.line) == ("deploy", 1)
