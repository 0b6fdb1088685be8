"""How many source files of ordinary repositories the parser refuses, and what it takes for a file.

    python -m tests.benchmarks.parse_limits /path/to/a/clone ...

A refusal says that a file takes too much memory or time: it should be of hostile files alone.
"""

import argparse
import resource
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from memory_bank.code.index.work_tree import MAX_FILE_BYTES, WorkTree
from memory_bank.code.languages.base import detect_language
from memory_bank.code.parse import parse_process


def files(root: Path) -> Iterator[tuple[str, bytes, str]]:
    """Yield the path, content and language of each source file that is read."""
    tree = WorkTree(root, max_bytes=MAX_FILE_BYTES)
    for path in tree.scan().files:
        language = detect_language(path)
        read = tree.read(path) if language else None
        if language and read and not read.reason:
            yield path, read.data, language


def main(words: Sequence[str] | None = None) -> None:
    """Print a line for each repository, and one for each refused file."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("repositories", nargs="*", type=Path)
    roots = parser.parse_args(words).repositories
    if not roots:
        print("no repository given: nothing is measured")
    for root in roots:
        count = refused = size = 0
        longest = 0.0
        for path, data, language in files(root.resolve()):
            began = time.perf_counter()
            found = parse_process.parse(data, language)
            longest = max(longest, time.perf_counter() - began)
            count, size = count + 1, size + len(data)
            if found.refused:
                refused += 1
                print(f"  {path}: {found.refused}")
        print(f"{root.name}: {refused} of {count} files refused, {size / 1e6:.1f} MB;"
              f" the slowest took {longest:.2f} s", flush=True)  # fmt: skip
    parse_process._end()
    most = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    print(f"the process that parses took at most {most / 1000:.0f} MB")


if __name__ == "__main__":
    main()
