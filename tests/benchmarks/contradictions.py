"""Notes that repeat or contradict another one: how many are found, how many remarks are wrong?

python -m tests.benchmarks.contradictions --keep DIR

`planted_pairs.json` has texts that contradict or repeat a note of three project banks, and texts on
the same subjects that do neither. In addition each note of the banks is compared with all others,
as if it were new: with `--show` to be read, as some do repeat each other. `own` are texts on this
repository's notes, whose planted pairs no constant was fitted on.
"""

import argparse
import json
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from memory_bank.bank.bank import Bank, open_bank
from memory_bank.bank.findings import SameSubject
from memory_bank.memory.same_subject import on_same_subject, sentences
from memory_bank.notes import front_matter
from memory_bank.search.manifest import document_rows
from tests.benchmarks import collections, projects

PAIRS = Path(__file__).with_name("planted_pairs.json")
BANKS = ("adr", "shop", "wild", "own")


class Row(NamedTuple):
    """What is said of a text."""

    kind: str
    """`contradicts`, `repeats`, `near` (an innocent text) or `note`."""
    bank: str
    wanted: str
    """The note that it contradicts or repeats, or the note itself."""
    remarks: tuple[SameSubject, ...]

    @property
    def found(self) -> bool:
        """Tell whether a remark names the note."""
        return any(one.path == self.wanted for one in self.remarks)


def rows(bank: Bank, name: str) -> Iterator[Row]:
    """Yield what is said of each planted text of a bank, and of each of its notes."""
    pairs = json.loads(PAIRS.read_text(encoding="utf-8"))

    def said(text: str, path: str = "") -> tuple[SameSubject, ...]:
        return bank.read(lambda view: on_same_subject(view, sentences(text), without={path}))

    for one in pairs["planted"]:
        if one["bank"] == name:
            yield Row(one["kind"], name, one["note"], said(one["text"]))
    for one in pairs["innocent"]:
        if one["bank"] == name:
            yield Row("near", name, "", said(one["text"]))
    for path in bank.read(
        lambda view: [row.key for row in document_rows.all_documents(view.manifest)]
    ):
        text = (bank.layout.root / path).read_text(encoding="utf-8", errors="replace")
        yield Row("note", name, path, said(front_matter.split(text).body, path))


def main() -> None:
    """Print the figures of both halves."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--keep", type=Path)
    parser.add_argument("--show", action="store_true", help="print the remarks on innocent texts")
    given = parser.parse_args()
    work = given.keep or Path(tempfile.mkdtemp())
    folder = collections.unpacked("projects", work) / "projects"
    made: list[Row] = []
    for name in BANKS:
        with open_bank(projects.notes(folder, name, work)) as bank:
            bank.sync()
            made += rows(bank, name)
    for name, banks in (("project banks", BANKS[:3]), ("own", BANKS[3:])):
        print(name)
        for kind in ("contradicts", "repeats", "near", "note"):
            some = [row for row in made if row.kind == kind and row.bank in banks]
            planted = kind in ("contradicts", "repeats")
            hits = sum(row.found if planted else bool(row.remarks) for row in some)
            same = sum(row.found and row.remarks[0].kind == kind for row in some)
            print(f"  {kind}: {hits} of {len(some)}" + (f", named so {same}" if planted else ""))
            for row in some if given.show else ():
                if not row.found if planted else row.remarks:
                    print("   ", row.bank, row.wanted, *map(shown, row.remarks), sep="\n      ")


def shown(one: SameSubject) -> str:
    """Return a remark as text to be read."""
    return (
        f"{one.score} {one.kind} {one.path} {one.differs}\n        {one.text}\n        {one.other}"
    )


if __name__ == "__main__":
    main()
